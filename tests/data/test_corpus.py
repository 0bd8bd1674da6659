"""What the README promises of the corpus, measured on the one that the manifest records."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import sys

import pytest

from data.generator.build import Corpus, build
from data.generator.check import broken_promises
from data.generator.corpus_files import (
    DEV,
    TEST,
    TEST_SOURCE,
    TRAIN,
    TRAIN_ALIGN,
    describe,
    read_manifest,
    render,
)
from data.generator.settings import Settings
from data.generator.words.lexicon import Lexicon
from foundation.places import ROOT

pytestmark = pytest.mark.slow  # the whole corpus is drawn for them, which takes five seconds

SPECIAL_IDS = 3


def pairs(content: bytes) -> list[tuple[str, str]]:
    """The two sides of each line."""
    lines = content.decode("utf-8").splitlines()
    return [(french, english) for french, english in (line.split("|||") for line in lines)]


def test_the_committed_manifest_is_that_of_the_generator(corpus: Corpus, files: dict[str, bytes]) -> None:
    """The same seed gives the same bytes, here and where the manifest was written."""
    assert describe(corpus, files) == read_manifest()


def test_counts_and_vocabularies(files: dict[str, bytes]) -> None:
    """8,701, 971 and 971 pairs; vocabularies near 1,382 and 1,362."""
    assert [len(pairs(files[name])) for name in (TRAIN, DEV, TEST)] == [8701, 971, 971]
    for side, expected in ((0, 1382), (1, 1362)):
        tokens = {token for pair in pairs(files[TRAIN]) for token in pair[side].split()}
        assert abs(len(tokens) + SPECIAL_IDS - expected) <= 10


def test_check_finds_what_is_wrong(files: dict[str, bytes], settings: Settings) -> None:
    """Each promise, broken on purpose."""
    assert broken_promises(files, settings.size) == []
    train = files[TRAIN].decode().splitlines()

    def problems(**changed: bytes) -> str:
        names = {"train": TRAIN, "dev": DEV, "source": TEST_SOURCE, "align": TRAIN_ALIGN}
        broken = {**files, **{names[name]: content for name, content in changed.items()}}
        return "\n".join(broken_promises(broken, settings.size))

    def lines(content: list[str]) -> bytes:
        return ("\n".join(content) + "\n").encode()

    assert "8700 lines, expected 8701" in problems(train=lines(train[:-1]))
    assert "fren.train.bpe:3: not a pair" in problems(train=lines([*train[:2], "x", *train[3:]]))
    long = " ".join(["a"] * 16) + "|||b"
    assert "fren.train.bpe:1: a side is longer than 15" in problems(train=lines([long, *train[1:]]))
    dev = files[DEV].decode().splitlines()
    assert "its French side also occurs at corpus/fren.train.bpe:1" in problems(dev=lines([train[0], *dev[1:]]))
    assert "not the French sides" in problems(source=lines(["x ."] * 971))
    aligned = files[TRAIN_ALIGN].decode().splitlines()
    assert "fren.train.align:1: does not link every token" in problems(align=lines(["0-0", *aligned[1:]]))
    for wrong in ("0-x", "0", "0-0-0", "0-0,1-1"):
        assert "fren.train.align:2: not links such as 0-0 1-2" in problems(
            align=lines([aligned[0], wrong, *aligned[2:]])
        )
    damaged = files[DEV].replace(b"\n", b"\n\xff", 1)
    assert problems(dev=damaged) == "corpus/fren.dev.bpe:2: not UTF-8: invalid start byte"


# -- other seeds and fresh test sets --------------------------------------------------------------------


@pytest.fixture(scope="module")
def first(lexicon: Lexicon, small: Settings) -> Corpus:
    """A small corpus."""
    return build(lexicon, small, 1)


def test_another_test_seed_changes_the_test_split_alone(first: Corpus, lexicon: Lexicon, small: Settings) -> None:
    """Training, dev and encoding stay to the byte; the fresh test shares nothing with any split before it."""
    fresh = build(lexicon, small, 1, 2)
    before, after = render(first), render(fresh)
    for name in before:
        assert (before[name] == after[name]) == ("test" not in name)
    used = {pair.french for split in (first.train, first.dev, first.test) for pair in split}
    assert not used & {pair.french for pair in fresh.test}
    assert len(fresh.test) == small.size.test


def test_same_bytes_whatever_the_hash_seed(first: Corpus, small: Settings) -> None:
    """In a process of its own, with another hash seed."""
    script = (
        "import dataclasses, hashlib\n"
        "from data.generator.build import build\n"
        "from data.generator.corpus_files import render\n"
        "from data.generator.settings import read_settings\n"
        "from data.generator.words.lexicon import read_lexicon\n"
        "settings = read_settings()\n"
        f"size = dataclasses.replace(settings.size, **{dataclasses.asdict(small.size)!r})\n"
        "files = render(build(read_lexicon(), dataclasses.replace(settings, size=size), 1))\n"
        "print(hashlib.sha256(b''.join(files[name] for name in sorted(files))).hexdigest())\n"
    )
    files = render(first)
    expected = hashlib.sha256(b"".join(files[name] for name in sorted(files))).hexdigest()
    command, environment = [sys.executable, "-c", script], {**os.environ, "PYTHONHASHSEED": "4242"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
