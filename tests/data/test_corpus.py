"""The promises of the README about the bundled corpus, measured on the recorded one; `generate` and `check`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from data import __main__ as command_line
from data import files
from data.files import DEV, DEV_ALIGN, MANIFEST, SAMPLE_ALIGN, TEST, TEST_ALIGN, TEST_SOURCE, TRAIN, TRAIN_ALIGN
from data.generator.build import build
from data.generator.draw.chance import read_settings
from data.generator.tables import read_lexicon

from .conftest import run

slow = pytest.mark.slow  # the whole corpus is drawn for them, which takes five seconds


@slow
def test_the_committed_manifest_is_that_of_the_generator(corpus, recorded):
    """The same seed gives the same bytes, here and where the manifest was written, whatever the hash seed."""
    assert corpus.manifest() == recorded


@slow
def test_the_promises_of_the_readme(corpus):
    """Sizes, short pairs, no French side twice, no reference beside its source, every token aligned, a sample."""
    contents = {name: content.decode().splitlines() for name, content in corpus.contents().items()}
    splits = {name: [line.split("|||") for line in contents[name]] for name in (TRAIN, DEV, TEST)}
    every = [pair for split in splits.values() for pair in split]
    assert [len(split) for split in splits.values()] == [8701, 971, 971]
    for side, expected in ((0, 1382), (1, 1362)):
        tokens = {token for pair in splits[TRAIN] for token in pair[side].split()}
        assert abs(len(tokens) + 3 - expected) <= 10
    assert all(len(pair) == 2 and len(side.split()) <= 15 for pair in every for side in pair)
    assert len({french.replace("@@ ", "") for french, _ in every}) == len(every)
    assert contents[TEST_SOURCE] == [french for french, _ in splits[TEST]]
    for name, aligned in ((TRAIN, TRAIN_ALIGN), (DEV, DEV_ALIGN), (TEST, TEST_ALIGN)):
        for pair, line in zip(splits[name], contents[aligned], strict=True):
            links = [link.split("-") for link in line.split()]
            for side, linked in zip(pair, zip(*links, strict=True), strict=True):
                assert set(map(int, linked)) == set(range(len(side.split())))
    assert contents[SAMPLE_ALIGN] == contents[DEV_ALIGN][:100]


@slow
def test_another_test_seed_changes_the_test_split_alone():
    """Training, dev and encoding stay to the byte; the fresh test shares nothing with any split before it."""
    lexicon, settings = read_lexicon(), read_settings()
    small = {"train": 600, "dev": 80, "test": 80, "french_vocabulary": 400, "english_vocabulary": 400}
    settings = dataclasses.replace(settings, size=dataclasses.replace(settings.size, **small))
    first, fresh = build(lexicon, settings, 1), build(lexicon, settings, 1, 2)
    before, after = first.contents(), fresh.contents()
    for name in before:
        assert (before[name] == after[name]) == ("test" not in name)
    used = {pair.french for split in (first.train, first.dev, first.test) for pair in split}
    assert not used & {pair.french for pair in fresh.test}
    assert len(fresh.test) == 80


# -- the command line -----------------------------------------------------------------------------------


@pytest.fixture
def whole_corpus(corpus, monkeypatch):
    """Takes the corpus that was drawn already where the command would draw the same again."""
    monkeypatch.setattr(command_line, "_build", lambda settings, seed, test_seed: corpus)


@slow
@pytest.mark.usefixtures("whole_corpus")
def test_generate_and_check(tmp_path, capsys, corpus):
    """The files that `generate` writes pass the check; a changed or missing file does not."""
    assert run("generate", "--output", tmp_path) == 0
    output = capsys.readouterr().out
    assert "8701 train, 971 dev, 971 test pairs" in output and "1382 French" in output
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {*corpus.contents(), "manifest.json"}
    assert (tmp_path / "manifest.json").read_bytes() == MANIFEST.read_bytes()
    assert run("check", "--output", tmp_path) == 0
    assert "all 8 files are as the manifest says" in capsys.readouterr().out
    dev = tmp_path / "corpus/fren.dev.bpe"
    dev.write_text(dev.read_text().replace("je ", "jeu ", 1))
    assert run("check", "--output", tmp_path) == 1
    assert "corpus/fren.dev.bpe: the file in" in capsys.readouterr().err
    dev.unlink()
    assert run("check", "--output", tmp_path) == 2
    assert capsys.readouterr().err == f"data: {dev}: missing; 'python -m data generate' writes it\n"


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A folder in the place of `data/`, with its manifest."""
    for name, path in (("DATA_FOLDER", ""), ("MANIFEST", "manifest.json"), ("GENERATED", "private/generated.json")):
        monkeypatch.setattr(files, name, tmp_path / path)
    (tmp_path / "manifest.json").write_bytes(MANIFEST.read_bytes())
    return tmp_path


@slow
@pytest.mark.usefixtures("whole_corpus")
def test_a_changed_lexicon_is_noticed(place, capsys):
    """In its usual place, the corpus must be what the manifest records, unless the manifest is to be renewed."""
    content = json.loads(MANIFEST.read_text())
    content["files"]["corpus/fren.dev.bpe"] = "0" * 64
    (place / "manifest.json").write_text(json.dumps(content))
    assert run("generate") == 1
    error = capsys.readouterr().err
    assert "corpus/fren.dev.bpe" in error and "--update-manifest" in error
    assert not (place / "corpus").exists()
    assert run("generate", "--update-manifest") == 0
    assert (place / "manifest.json").read_bytes() == MANIFEST.read_bytes()


def test_a_corpus_of_one_s_own_is_never_overwritten(place, capsys):
    (place / "corpus").mkdir()
    (place / "corpus" / "fren.train.bpe").write_text("a|||b\n")
    assert run("generate", "--output", place) == 2
    assert "corpus/fren.train.bpe: not made by 'generate'" in capsys.readouterr().err
    assert run("generate", "--output", place, "--keep-own") == 0
    assert "a corpus of your own; it stays" in capsys.readouterr().out
    assert (place / "corpus" / "fren.train.bpe").read_text() == "a|||b\n"
    assert [path.name for path in place.rglob("*.bpe")] == ["fren.train.bpe"]
