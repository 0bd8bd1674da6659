"""The table of corpora: each entry is complete, and `prepare` reads what `fetch` leaves."""

from __future__ import annotations

import dataclasses
import gzip
import json
import re
import shlex

import pytest

from data.fetching import commands
from data.fetching.folder import LOCK, PublicCorpus, read_table
from given.extras.arrow_corpus import ArrowPairs
from reference.data import read_pairs
from reference.vocab import join_subwords

from .conftest import archive, fetch, names, run

ENGLISH = [f"Cat {n} sleeps .\n" for n in range(60)]
FRENCH = [f"Le chat {n} dort .\n" for n in range(60)]


def imitation(corpus: PublicCorpus) -> dict[str, bytes]:
    """Small files with the names and members of a corpus."""
    members: dict[str, dict[str, bytes]] = {file.name: {} for file in corpus.files}
    kinds = [member for parts in corpus.texts.values() for member in parts] or [f"{name}:" for name in members]
    files: dict[str, bytes] = {}
    for position, reference in enumerate(kinds):
        name, _, member = reference.partition(":")
        lines = ENGLISH if ".en" in (member or name).removesuffix(".sgm")[-6:] else FRENCH
        lines = [f"{(position // 2) % 9} {line}" if corpus.name == "wmt14-de-en" else line for line in lines]
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


def without_checksums(corpus: PublicCorpus) -> PublicCorpus:
    return dataclasses.replace(corpus, files=tuple(dataclasses.replace(file, checksum="") for file in corpus.files))


LARGE = ("wmt14-de-en",)  # takes seconds


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in sorted(read_table())]
)
def test_prepare_reads_what_fetch_leaves(name, server, tmp_path, capsys, monkeypatch):
    """All four corpora, by the command that `fetch` prints."""
    corpus = without_checksums(read_table()[name])
    monkeypatch.setattr(commands, "read_table", lambda: {name: corpus})
    server.files = imitation(corpus)
    assert fetch(tmp_path / "raw", "--url", server.url, "--json", name=name) == 0
    told = capsys.readouterr()
    result = json.loads(told.out)
    assert f"licence: {corpus.licence}\n" in told.err and result["licence"] == corpus.licence
    assert names(tmp_path / "raw") == {*server.files, *corpus.texts, LOCK} == {*result["files"], LOCK}
    program, *following = shlex.split(result["next"])
    assert [program, *following[:3]] == ["python", "-m", "data", "prepare"]
    assert run(*following[2:], "--dev", 4, "--test", 4, "--output", tmp_path / "corpus") == 0
    pairs = [path for path in (tmp_path / "corpus").iterdir() if path.stem == "train"]
    train = ArrowPairs(pairs[0]) if pairs[0].suffix == ".arrow" else read_pairs(pairs[0])
    source, target = (join_subwords(side) for side in train[0])
    assert ("chat" in source and "at" in target) if name != "opus-books-en-it" else "Cat" in source and "chat" in target
    if name == "wmt14-de-en":
        assert len((tmp_path / "raw" / "train.de").read_text().splitlines()) == 180
        assert (tmp_path / "raw" / "newstest2014.en").read_text().splitlines()[1].endswith("sleeps . &")


def test_the_list(capsys, tmp_path):
    assert run("fetch") == 0
    text = capsys.readouterr().out
    assert all(name in text and corpus.licence in text for name, corpus in read_table().items())
    assert run("fetch", "--json") == 0
    assert [entry["corpus"] for entry in json.loads(capsys.readouterr().out)] == list(read_table())
    assert run("fetch", "--output", tmp_path) == 2
    assert capsys.readouterr().err == "error: --output: name the corpus too\n"


def test_the_table_is_complete():
    """Every entry says what a user must know, and every text comes out of a file of the corpus."""
    for corpus in read_table().values():
        assert all([corpus.title, corpus.home, corpus.licence, corpus.citation, corpus.format])
        files = {file.name: file for file in corpus.files}
        for members in corpus.texts.values():
            assert all(member.partition(":")[0] in files and member.partition(":")[2] for member in members)
        for file in corpus.files:
            assert re.fullmatch(r"(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})?", file.checksum)
            assert file.url.endswith("/" + file.name) or not file.url
        made = {*files, *corpus.texts}
        assert set(re.findall(r"\{folder\}/(\S+)", corpus.prepare)) <= made


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
