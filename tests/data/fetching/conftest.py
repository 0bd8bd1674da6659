"""A server on this machine that breaks off, refuses, ignores ranges, or sends other bytes."""

from __future__ import annotations

import dataclasses
import io
import re
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from data.fetching import commands, download
from data.fetching.folder import PublicCorpus, RemoteFile, read_table

from ..conftest import run


class Server(ThreadingHTTPServer):
    """Serves `files`; `faults` says what goes wrong, one entry per request, and then nothing."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.faults: list[str] = []
        self.requests: list[dict[str, str]] = []
        self.ranges = True
        self.tag: str | None = '"1"'
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:  # noqa: N802
        self.server.requests.append(dict(self.headers))
        fault = self.server.faults.pop(0) if self.server.faults else ""
        content = self.server.files.get(self.path.lstrip("/"))
        if fault.isdecimal() or content is None:
            self.send_response(int(fault or 404))
            self.send_header("Retry-After", "7")
            self.end_headers()
            return
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range") in (None, self.server.tag)
        start = int(asked[1]) if asked and same and self.server.ranges else 0
        if start >= len(content) and start:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            first = 1 if fault == "elsewhere" else start  # as many bytes as were asked for, but others
            self.send_header("Content-Range", f"bytes {first}-{first + len(content) - start - 1}/{len(content)}")
            content = content[:start] + content[first : first + len(content) - start]
        if self.server.tag:
            self.send_header("ETag", self.server.tag)
        if fault != "no length":
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
    monkeypatch.setattr(download, "pause", waited.append)
    return waited


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, server: Server) -> PublicCorpus:
    """The table's only entry: one file of incompressible length, without a checksum."""
    server.files["text"] = b"".join(b"%d\n" % n for n in range(50_000))
    corpus = dataclasses.replace(
        read_table()["tatoeba-fr-en"], files=(RemoteFile("text", server.url + "text", ""),), texts={}
    )
    monkeypatch.setattr(commands, "read_table", lambda: {"tatoeba-fr-en": corpus})
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
