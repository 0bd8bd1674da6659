"""The promises of the README about the bundled corpus, measured on the recorded one; `generate`; wrong tables."""

import json
import shutil

import pytest

from data import __main__ as command_line
from data.__main__ import DATA_FOLDER, MANIFEST, main
from data.generator.build import DEV, TEST, TEST_SOURCE, TRAIN, build, contents_of
from data.generator.chance import read_settings
from data.generator.entries import LEXICON_FOLDER, Lexicon
from foundation.command_line import UserError

RECORD = (DATA_FOLDER / MANIFEST).read_bytes()


@pytest.fixture(scope="module")
def corpus():
    """The corpus that the manifest records, as `make data` has drawn it."""
    texts = ((DATA_FOLDER / name).read_text(encoding="utf-8") for name in (TRAIN, DEV, TEST))
    pairs = ([tuple(line.split("|||")) for line in text.splitlines()] for text in texts)
    return dict(zip(("train", "dev", "test"), pairs, strict=True))


def test_the_promises_of_the_readme(corpus):
    """Sizes, short pairs, no French side twice, no reference beside its source."""
    contents = {name: content.decode().splitlines() for name, content in contents_of(corpus).items()}
    splits = {name: [line.split("|||") for line in contents[name]] for name in (TRAIN, DEV, TEST)}
    every = [pair for split in splits.values() for pair in split]
    assert [len(split) for split in splits.values()] == [8701, 971, 971]
    for side, expected in ((0, 1382), (1, 1362)):
        tokens = {token for pair in splits[TRAIN] for token in pair[side].split()}
        assert abs(len(tokens) + 3 - expected) <= 10
    assert all(len(pair) == 2 and len(side.split()) <= 15 for pair in every for side in pair)
    assert len({french.replace("@@ ", "") for french, _ in every}) == len(every)
    assert contents[TEST_SOURCE] == [french for french, _ in splits[TEST]]


@pytest.mark.slow
def test_another_test_seed_changes_the_test_split_alone():
    """Training, dev and encoding stay to the byte; the fresh test shares nothing with any split before it."""
    lexicon, settings = Lexicon(), read_settings()
    settings["size"] |= {"train": 600, "dev": 80, "test": 80, "french_vocabulary": 400, "english_vocabulary": 400}
    first, fresh = (build(lexicon, settings, 1, test_seed) for test_seed in (1, 2))
    assert (first["train"], first["dev"]) == (fresh["train"], fresh["dev"])
    words = [{pair[0].replace("@@ ", "") for pair in pairs} for pairs in (*first.values(), fresh["test"])]
    assert list(map(len, words)) == [600, 80, 80, 80] and len(set.union(*words)) == 840


# -- the command line -----------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder in the place of `data/`, with its manifest."""
    monkeypatch.setattr(command_line, "DATA_FOLDER", tmp_path)
    (tmp_path / MANIFEST).write_bytes(RECORD)
    return tmp_path


def test_generate(place, tmp_path, capsys, corpus, monkeypatch):
    """In its usual place, the corpus must be to the byte what the manifest records, unless that is to be renewed."""
    monkeypatch.setattr(command_line, "build", lambda *arguments: corpus)
    content = json.loads(RECORD)
    content["files"][DEV] = "0" * 64
    (place / MANIFEST).write_text(json.dumps(content))
    assert main(["generate", "--output", str(place)]) == 2
    error = capsys.readouterr().err
    assert f"data: {DEV}: the lexicon" in error and "--update-manifest" in error
    assert not (place / "corpus").exists()
    assert main(["generate", "--output", str(place), "--update-manifest"]) == 0
    output = capsys.readouterr().out
    assert "8701 train, 971 dev, 971 test pairs" in output and "1382 French" in output
    assert (place / MANIFEST).read_bytes() == RECORD
    assert main(["generate", "--output", str(place), "--seed", "7"]) == 0
    printed = capsys.readouterr()
    assert "not the corpus that data/manifest.json records" in printed.out
    assert "note: so short a test seed can be guessed" in printed.err
    assert main(["generate", "--output", str(tmp_path / "other")]) == 0
    names = {str(path.relative_to(tmp_path / "other")) for path in (tmp_path / "other").rglob("*.*")}
    assert names == {*contents_of(corpus), MANIFEST}


def test_a_corpus_of_one_s_own_is_never_overwritten(place, capsys):
    (place / "corpus").mkdir()
    (place / TRAIN).write_text("a|||b\n")
    assert main(["generate", "--output", str(place)]) == 0
    assert f"{TRAIN}: a corpus of your own, not made by 'generate': it stays" in capsys.readouterr().out
    assert [path.read_text() for path in place.rglob("*.bpe")] == ["a|||b\n"]


@pytest.mark.parametrize("line", ["truc\tm\tthing\tfoot\t-", "truc\tm\tthing\tfood", "truc\tm\tthing\tfood\tloc=à"])
def test_a_mistake_in_a_table_has_file_and_line(tmp_path, line):
    shutil.copytree(LEXICON_FOLDER, tmp_path / "lexicon")
    path = tmp_path / "lexicon" / "nouns.tsv"
    number = len(path.read_text(encoding="utf-8").splitlines()) + 1
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(UserError, match=f"nouns.tsv:{number}: wrong cells: "):
        Lexicon(tmp_path / "lexicon")
