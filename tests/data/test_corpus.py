"""What the README promises of the corpus, measured on the one that the manifest records; `generate` and `check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.generator import commands
from data.generator.build import Corpus, build
from data.generator.corpus_files import (
    DEV,
    DEV_ALIGN,
    MANIFEST,
    SAMPLE_ALIGN,
    TEST,
    TEST_ALIGN,
    TEST_SOURCE,
    TRAIN,
    TRAIN_ALIGN,
    describe,
    read_manifest,
    render,
)
from data.generator.settings import Settings
from data.generator.words import Lexicon

from .conftest import run

pytestmark = pytest.mark.slow  # the whole corpus is drawn for them, which takes five seconds

SPECIAL_IDS = 3


def pairs(content: bytes) -> list[tuple[str, str]]:
    """The two sides of each line."""
    lines = content.decode("utf-8").splitlines()
    return [(french, english) for french, english in (line.split("|||") for line in lines)]


def test_the_committed_manifest_is_that_of_the_generator(corpus: Corpus, files: dict[str, bytes]) -> None:
    """The same seed gives the same bytes, here and where the manifest was written, whatever the hash seed."""
    assert describe(corpus, files) == read_manifest()


def test_counts_and_vocabularies(files: dict[str, bytes]) -> None:
    """8,701, 971 and 971 pairs; vocabularies near 1,382 and 1,362."""
    assert [len(pairs(files[name])) for name in (TRAIN, DEV, TEST)] == [8701, 971, 971]
    for side, expected in ((0, 1382), (1, 1362)):
        tokens = {token for pair in pairs(files[TRAIN]) for token in pair[side].split()}
        assert abs(len(tokens) + SPECIAL_IDS - expected) <= 10


def test_what_the_readme_promises(files: dict[str, bytes], settings: Settings) -> None:
    """Short pairs, no French side twice, no reference beside its source, every token aligned, a sample for students."""
    splits = {name: pairs(files[name]) for name in (TRAIN, DEV, TEST)}
    every = [pair for split in splits.values() for pair in split]
    assert all(len(side.split()) <= settings.size.max_tokens for pair in every for side in pair)
    assert len({french.replace("@@ ", "") for french, _ in every}) == len(every)
    assert files[TEST_SOURCE].decode().splitlines() == [french for french, _ in splits[TEST]]
    for name, aligned in ((TRAIN, TRAIN_ALIGN), (DEV, DEV_ALIGN), (TEST, TEST_ALIGN)):
        for pair, line in zip(splits[name], files[aligned].decode().splitlines(), strict=True):
            links = [link.split("-") for link in line.split()]
            for side, linked in zip(pair, zip(*links, strict=True), strict=True):
                assert set(map(int, linked)) == set(range(len(side.split())))
    assert files[SAMPLE_ALIGN].splitlines() == files[DEV_ALIGN].splitlines()[:100]


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


# -- the command line -----------------------------------------------------------------------------------


@pytest.fixture
def whole_corpus(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the corpus that was drawn already where the command would draw the same again."""
    monkeypatch.setattr(commands, "_build", lambda settings, seed, test_seed: corpus)


@pytest.mark.usefixtures("whole_corpus")
def test_generate_and_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is written passes the check; a changed file does not."""
    assert run("generate", "--output", tmp_path) == 0
    said = capsys.readouterr().out
    assert "8701 train, 971 dev, 971 test pairs" in said and "1382 French" in said
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {
        "corpus/fren.train.bpe", "corpus/fren.dev.bpe", "corpus/fren.test.src.bpe", "private/fren.train.align",
        "corpus/fren.dev.align", "private/fren.dev.align", "private/fren.test.bpe", "private/fren.test.align",
        "manifest.json",
    }  # fmt: skip
    assert json.loads((tmp_path / "manifest.json").read_text()) == json.loads(MANIFEST.read_text())
    assert run("check", "--output", tmp_path) == 0
    assert "all 8 files are as the manifest says" in capsys.readouterr().out
    dev = tmp_path / "corpus/fren.dev.bpe"
    dev.write_text(dev.read_text().replace("je ", "jeu ", 1))
    assert run("check", "--output", tmp_path) == 1
    assert "corpus/fren.dev.bpe: the file in" in capsys.readouterr().err
    dev.unlink()
    assert run("check", "--output", tmp_path) == 2
    assert capsys.readouterr().err == f"data: {dev}: missing; 'python -m data generate' writes it\n"


@pytest.mark.usefixtures("whole_corpus")
def test_a_changed_lexicon_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In its usual place, the corpus must be what the manifest records, unless the manifest is to be renewed."""
    manifest = tmp_path / "manifest.json"
    recorded = json.loads(MANIFEST.read_text())
    recorded["files"]["corpus/fren.dev.bpe"] = "0" * 64
    manifest.write_text(json.dumps(recorded))
    monkeypatch.setattr(commands, "MANIFEST", manifest)
    monkeypatch.setattr(commands, "DATA_FOLDER", tmp_path)
    monkeypatch.setattr(commands, "read_manifest", lambda path=manifest: read_manifest(path))
    assert run("generate", "--output", tmp_path) == 1
    error = capsys.readouterr().err
    assert "corpus/fren.dev.bpe" in error and "--update-manifest" in error
    assert not (tmp_path / "corpus").exists()
    assert run("generate", "--output", tmp_path, "--update-manifest") == 0
    assert json.loads(manifest.read_text()) == json.loads(MANIFEST.read_text())
