"""Public corpora: the table, `prepare` after `fetch`, downloads that break off, checksums, nobody's files lost."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import shlex
import signal
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from data import fetching
from data.fetching import Corpus, read_table
from given.extras.arrow_corpus import ArrowPairs
from reference.data import read_pairs
from reference.vocab import join_subwords

from .conftest import run

ENGLISH = [f"Cat {n} sleeps .\n" for n in range(60)]
FRENCH = [f"Le chat {n} dort .\n" for n in range(60)]


class Server(ThreadingHTTPServer):
    """Serves `files`; `faults` says what goes wrong, one entry per request, and then nothing."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.faults: list[str] = []
        self.requests: list[dict[str, str]] = []
        self.date: str | None = "Mon, 01 Jun 2026 10:00:00 GMT"
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:  # noqa: N802
        self.server.requests.append(dict(self.headers))
        fault = self.server.faults.pop(0) if self.server.faults else ""
        content = self.server.files.get(self.path.lstrip("/"))
        if fault.isdecimal() or content is None:
            self.send_response(int(fault or 404))
            self.end_headers()
            return
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range") in (None, self.server.date)
        start = int(asked[1]) if asked and same else 0
        if start >= len(content) and start:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if self.server.date:
            self.send_header("Last-Modified", self.server.date)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start : (start + len(content)) // 2] if fault == "break" else content[start:])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that would have been waited."""
    waited: list[float] = []
    monkeypatch.setattr(fetching, "pause", waited.append)
    return waited


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, server: Server) -> Corpus:
    """The table's only entry: one file of incompressible length, without a checksum."""
    server.files["text"] = b"".join(b"%d\n" % n for n in range(50_000))
    file = {"name": "text", "url": server.url + "text", "checksum": ""}
    corpus = {**read_table()["tatoeba-fr-en"], "files": [file], "texts": {}}
    monkeypatch.setattr(fetching, "read_table", lambda: {"tatoeba-fr-en": corpus})
    return corpus


def fetch(folder: Path, *more: object, name: str = "tatoeba-fr-en") -> int:
    return run("fetch", name, "--output", folder, *more)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def archive(name: str, members: dict[str, bytes]) -> bytes:
    """A zip or tgz file."""
    content = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(content, "w") as opened:
            for member, text in members.items():
                opened.writestr(member, text)
    else:
        with tarfile.open(fileobj=content, mode="w:gz") as opened_tar:
            for member, text in members.items():
                info = tarfile.TarInfo(member)
                info.size = len(text)
                opened_tar.addfile(info, io.BytesIO(text))
    return content.getvalue()


def imitation(corpus_name: str, corpus: Corpus) -> dict[str, bytes]:
    """Small files with the names and members of a corpus."""
    members: dict[str, dict[str, bytes]] = {file["name"]: {} for file in corpus["files"]}
    kinds = [member for parts in corpus["texts"].values() for member in parts] or [f"{name}:" for name in members]
    files: dict[str, bytes] = {}
    for position, reference in enumerate(kinds):
        name, _, member = reference.partition(":")
        lines = ENGLISH if ".en" in (member or name).removesuffix(".sgm")[-6:] else FRENCH
        lines = [f"{(position // 2) % 9} {line}" if corpus_name == "wmt14-de-en" else line for line in lines]
        if member.endswith(".txt"):
            lines = [f"{en.strip()}\t{fr.strip()}\tCC-BY 2.0\n" for en, fr in zip(ENGLISH, FRENCH, strict=True)]
        if member.endswith(".sgm"):
            lines = [f'<seg id="{n}"> {line.strip()} &amp; </seg>\n' for n, line in enumerate(lines)]
        if member:
            members[name][member] = "".join(lines).encode().removesuffix(b"\n")
        else:
            split = name.split(".")[0]
            files[name] = gzip.compress("".join(f"{split} {line}" for line in lines).encode())
    return files or {name: archive(name, held) for name, held in members.items()}


def without_checksums(corpus: Corpus) -> Corpus:
    return {**corpus, "files": [{**file, "checksum": ""} for file in corpus["files"]]}


LARGE = ("wmt14-de-en",)  # takes seconds


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in sorted(read_table())]
)
def test_prepare_reads_what_fetch_leaves(name, server, tmp_path, capsys, monkeypatch):
    """All four corpora, by the command that `fetch` prints."""
    corpus = without_checksums(read_table()[name])
    monkeypatch.setattr(fetching, "read_table", lambda: {name: corpus})
    server.files = imitation(name, corpus)
    assert fetch(tmp_path / "raw", "--url", server.url, name=name) == 0
    told = capsys.readouterr().out
    assert f"licence: {corpus['licence']}\n" in told
    assert names(tmp_path / "raw") == {*server.files, *corpus["texts"]}
    program, *following = shlex.split(told.partition("next: ")[2])
    assert [program, *following[:3]] == ["python", "-m", "data", "prepare"]
    assert run(*following[2:], "--dev", 4, "--test", 4, "--output", tmp_path / "corpus") == 0
    pairs = [path for path in (tmp_path / "corpus").iterdir() if path.stem == "train"]
    train = ArrowPairs(pairs[0]) if pairs[0].suffix == ".arrow" else read_pairs(pairs[0])
    source, target = (join_subwords(side) for side in train[0])
    assert ("chat" in source and "at" in target) if name != "opus-books-en-it" else "Cat" in source and "chat" in target
    if name == "wmt14-de-en":
        assert len((tmp_path / "raw" / "train.de").read_text().splitlines()) == 180
        assert (tmp_path / "raw" / "newstest2014.en").read_text().splitlines()[1].endswith("sleeps . &")


def test_the_list(capsys):
    assert run("fetch") == 0
    text = capsys.readouterr().out
    assert all(name in text and corpus["licence"] in text for name, corpus in read_table().items())


@pytest.mark.parametrize(
    ("name", "url", "message"),
    [
        ("tatoeba-fr-en", "file:///etc/hosts", "not an address that begins with http:// or https://"),
        ("tatoeba-fr-en", "http://", "not an address"),
        ("tatoeba-fr-en", "http://a:b/x", "not an address"),
        ("tatoeba-fr-en", "http://a/x y", "not an address"),
        ("tatoeba-fr-en", "", "not an address"),
        ("multi30k-de-en", "http://127.0.0.1/train.de.gz", "multi30k-de-en has 6 files; write FILE=URL"),
        ("multi30k-de-en", "val.de.gz=ftp://x/y", "not an address"),
        ("nonesuch", "http://a/", "invalid choice: 'nonesuch'"),
    ],
)
def test_wrong_names_and_addresses(tmp_path, capsys, name, url, message):
    assert fetch(tmp_path / "out", "--url", url, name=name) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_other_bytes_than_the_checksum_says(server, small, tmp_path, monkeypatch, capsys, kind):
    expected = f"{kind}:{hashlib.new(kind, server.files['text']).hexdigest()}"
    small["files"][0]["checksum"] = expected
    whole = server.files["text"]
    server.files["text"] = whole[:-1] + b"!"
    assert fetch(tmp_path) == 2
    error = capsys.readouterr().err
    assert f"not {expected} as in the table of corpora\n" in error and error.count("\n") == 1
    assert names(tmp_path) == set()
    server.files["text"] = whole
    assert fetch(tmp_path) == 0 and names(tmp_path) == {"text"}
    (tmp_path / "text").write_text("mine")
    asked = len(server.requests)
    assert fetch(tmp_path) == 2
    assert capsys.readouterr().err == (
        f"data: {tmp_path / 'text'}: not as in the table of corpora; move it away, or choose another --output\n"
    )
    assert (tmp_path / "text").read_text() == "mine" and len(server.requests) == asked


def test_a_download_that_breaks_off_is_resumed(server, small, tmp_path, pauses):
    server.faults = ["503", "break", "break"]
    assert fetch(tmp_path) == 0
    assert (tmp_path / "text").read_bytes() == server.files["text"]
    assert "Range" not in server.requests[1]
    half = len(server.files["text"]) // 2
    assert server.requests[2]["Range"] == f"bytes={half}-" and server.requests[2]["If-Range"] == server.date
    assert pauses == [1, 1, 1]  # each attempt got further, so the count began anew
    assert names(tmp_path) == {"text"}


@pytest.mark.parametrize("date", ["Tue, 02 Jun 2026 10:00:00 GMT", None])
def test_two_versions_are_never_joined(server, small, tmp_path, date):
    """The file changes on the server between two calls, or has no date from the first."""
    server.date = date and server.date
    server.faults = ["break"]
    assert fetch(tmp_path, "--retries", 0) == 2
    server.files["text"] = server.files["text"][::-1]
    server.date = date
    assert fetch(tmp_path) == 0
    assert (tmp_path / "text").read_bytes() == server.files["text"]


def test_a_web_page_is_no_archive(server, tmp_path, capsys):
    server.files["fra-eng.zip"] = b"<html>Log in</html>"
    assert fetch(tmp_path, "--url", server.url) == 2
    assert capsys.readouterr().err == f"data: {server.url}fra-eng.zip: what the server sent is not a .zip file\n"
    assert names(tmp_path) == set()


def test_a_refusal_is_final(server, small, tmp_path, pauses, capsys):
    server.faults = ["404"]
    assert fetch(tmp_path) == 2
    assert pauses == [] and names(tmp_path) == set()
    assert capsys.readouterr().err == f"data: {server.url}text: HTTP 404 Not Found\n"


def test_ctrl_c_leaves_what_has_arrived(server, small, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(fetching, "pause", lambda _: signal.raise_signal(signal.SIGINT))
        server.faults = ["break"]
        assert fetch(tmp_path) == 130
    assert capsys.readouterr().err.endswith("data: stopped\n")
    assert fetch(tmp_path) == 0 and "Range" in server.requests[1]
