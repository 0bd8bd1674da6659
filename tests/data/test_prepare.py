"""Corpora from parallel text: cutting, dropping, splitting, encoding; what the command says and leaves alone."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytest

from data.files import CorpusError
from data.preparation.corpus import prepare
from data.preparation.encodings import UNKNOWN_WORD as UNKNOWN
from data.preparation.encodings import Choices, Encoding, empty_tokenizer, read_encoding
from reference.data import read_pairs
from reference.vocab import join_subwords

from .conftest import run

PAIRS = [(f"Ein Haus, {n} Katzen .", f"A house, {n} cats .") for n in range(60)]


cut_words = Encoding(empty_tokenizer("signs", lowercase=False)).cut


def made(splits: dict, choices: Choices) -> tuple[dict[str, bytes], dict]:
    """The files of the corpus and its summary."""
    with tempfile.TemporaryDirectory() as folder:
        summary = prepare(splits, choices, Path(folder))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}, summary


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("L'homme, 3.5 % !", ["L", "'", "homme", ",", "3", ".", "5", "%", "!"]),
        ("a\u0301 \u00e1", ["\u00e1", "\u00e1"]),
        ("x|||y\u00a0z\u200b", ["x", "y", "z"]),
        ("नमस्ते", ["नमस्ते"]),
        ("", []),
    ],
)
def test_words_and_signs(text, words):
    assert cut_words(text) == words


@pytest.mark.parametrize(("encoding", "joint"), [("bpe", True), ("bpe", False), ("words", True)])
def test_a_corpus_reads_back(tmp_path, encoding, joint):
    files, summary = made({"train": PAIRS}, Choices(encoding, joint=joint, vocabulary=200, dev=5, test=5))
    assert summary["pairs"] == {"train": 50, "dev": 5, "test": 5}
    sources = []
    for split, count in summary["pairs"].items():
        (tmp_path / split).write_bytes(files[f"{split}.{encoding}"])
        pairs = read_pairs(tmp_path / split)
        assert len(pairs) == count
        sources += [join_subwords(source) for source, _ in pairs]
    if encoding == "bpe":
        assert sorted(sources) == sorted(" ".join(cut_words(source)) for source, _ in PAIRS)
    name = "tokenizer.json" if joint else "tokenizer_source.json"
    (tmp_path / name).write_bytes(files[name])
    line = (tmp_path / "train").read_text().split("|||")[0]
    assert " ".join(read_encoding(tmp_path / name).encode(join_subwords(line.split()))) == line


@pytest.mark.parametrize("joint", [True, False])
def test_references_hold_the_true_words(joint):
    """Else a translation that says <unk> would match; the training split and all sources keep to the encoding."""
    splits = {"train": [("a a a b", "x x x y")], "dev": [("a b", "x y")], "test": [("b a", "y x")]}
    files, _ = made(splits, Choices("words", vocabulary=2 if joint else 1, joint=joint))
    assert files["train.words"].decode() == f"a a a {UNKNOWN}|||x x x {UNKNOWN}\n"
    assert files["dev.words"].decode() == f"a {UNKNOWN}|||x y\n"
    assert files["test.words"].decode() == f"{UNKNOWN} a|||y x\n"


def test_no_source_stands_in_two_splits():
    splits = {"train": [("one", "1"), ("two", "2"), ("", "3"), ("three " * 9, "4")], "test": [("two", "zwei")]}
    files, summary = made(splits, Choices("words", dev=0, most_tokens=8))
    assert files["train.words"] == b"one|||1\n" and files["test.words"].startswith(b"<unk>|||")
    assert summary["dropped"] == {"source seen before": 1, "empty": 1, "too long": 1}


@pytest.mark.parametrize(
    ("splits", "choices", "message"),
    [
        ({"train": []}, Choices(), "no pair is left for training .the text is empty.$"),
        ({"train": [("", "")] * 2}, Choices(), "no pair is left for training .2 empty.$"),
        ({"test": PAIRS}, Choices(), "it has no split 'train', only test"),
        (
            {"train": PAIRS},
            Choices(dev=40, test=6),
            "60 pairs are too few to take 40 of them for dev and 6 of them for test; name a smaller --dev or --test$",
        ),
        ({"train": PAIRS}, Choices(dev=0, test=0, most_tokens=2), "no pair is left for training .60 too long.$"),
    ],
)
def test_what_cannot_be_a_corpus(splits, choices, message):
    with pytest.raises(CorpusError, match=message):
        made(splits, choices)


def test_wrong_input(tmp_path, capsys):
    """One line, status 2."""
    good, short = tmp_path / "good", tmp_path / "short"
    good.write_text("a\nb\n")
    short.write_text("a\n")
    (tmp_path / "latin").write_bytes("é\n".encode("latin-1"))
    (tmp_path / "bad.gz").write_bytes(b"no gzip")
    whole = gzip.compress(b"a\nb\n" * 99)
    (tmp_path / "cut.gz").write_bytes(whole[:-9])
    (tmp_path / "spoilt.gz").write_bytes(whole[:12] + b"\xff" * 9 + whole[21:])
    for train, message in (
        ((good, short), "short ends after 1 lines"),
        ((good, tmp_path / "none"), "none: No such file"),
        ((good, tmp_path / "latin"), "latin:1: not UTF-8 text"),
        ((good, tmp_path / "bad.gz"), "bad.gz: Not a gzipped file"),
        ((tmp_path / "cut.gz", tmp_path / "cut.gz"), "cut.gz: "),
        ((tmp_path / "spoilt.gz", tmp_path / "spoilt.gz"), "spoilt.gz: "),
    ):
        assert run("prepare", "--train", *train, "--output", tmp_path / "out") == 2
        said = capsys.readouterr().err
        assert message in said and said.count("\n") == 1
    assert run("prepare", "--dataset", "x", "--output", tmp_path / "out") == 2
    assert "--languages" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow  # the library takes seconds to load
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dataset(tmp_path, capsys, monkeypatch):
    """A folder that the library datasets reads, in the form that WMT14 and OPUS Books have."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "books"
    folder.mkdir()
    rows = [json.dumps({"id": str(n), "translation": {"en": en, "it": de}}) for n, (de, en) in enumerate(PAIRS)]
    (folder / "train.jsonl").write_text("\n".join(rows))
    where = ["--dataset", folder, "--encoding", "words", "--dev", 5, "--test", 5, "--output", tmp_path / "enit"]
    assert run("prepare", *where, "--languages", "en", "it") == 0
    assert "50 train, 5 dev, 5 test" in capsys.readouterr().out
    assert (tmp_path / "enit/train.words").read_text().startswith("A house , ")
    assert run("prepare", *where, "--languages", "en", "fr") == 2
    assert "a row has en, it; expected texts in en and fr" in capsys.readouterr().err
    for side in (0, 1):
        (tmp_path / f"dev{side}").write_text(f"{'xy'[side]} 1\n" * 3)
    more = ["--languages", "en", "it", "--dev-files", tmp_path / "dev0", tmp_path / "dev1"]
    assert run("prepare", *where, *more) == 0
    assert "55 train, 1 dev, 5 test" in capsys.readouterr().out
    assert (tmp_path / "enit/dev.words").read_text() == "<unk> 1|||y 1\n"
    assert run("prepare", "--dataset", tmp_path / "none", *where[2:], "--languages", "en", "it") == 2
    assert capsys.readouterr().err.count("\n") == 1
    table = tmp_path / "table"
    table.mkdir()
    (table / "train.csv").write_text("de,en\n,empty\n" + "".join(f'"{de}","{en}"\n' for de, en in PAIRS))
    where = ["--dataset", table, *where[2:-1], tmp_path / "deen", "--languages", "de"]
    assert run("prepare", *where, "en") == 0
    said = capsys.readouterr().out
    assert "50 train, 5 dev, 5 test\n" in said and "dropped: 1 empty\n" in said
    assert run("prepare", *where, "it") == 2
    assert "a row has de, en; expected texts in de and it" in capsys.readouterr().err


@pytest.fixture
def text(tmp_path: Path) -> list[object]:
    """Options that name a small text."""
    for side in ("de", "en"):
        lines = "".join(f"{side} {n}\n" for n in range(20)).encode()
        (tmp_path / f"{side}.gz").write_bytes(gzip.compress(lines))
    return ["--train", tmp_path / "de.gz", tmp_path / "en.gz", "--dev", 4, "--test", 0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--vocabulary", 0], "'0': expected a whole number of at least 1"),
        (["--languages", "de", "../en"], "argument --languages: '../en' is not the code of a language"),
        (["--output", ""], "argument --output: the name is empty"),
    ],
)
def test_options_that_do_not_fit(text, tmp_path, capsys, more, message):
    assert run("prepare", *text, "--output", tmp_path / "out", *more) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_one_corpus_at_a_time(text, tmp_path):
    """What an earlier one left there goes; other files stay."""
    output = tmp_path / "corpus"
    assert run("prepare", *text, "--test", 5, "--joint", "--output", output) == 0
    assert names(output) == {"train.bpe", "dev.bpe", "test.bpe", "tokenizer.json", "languages.json", "summary.json"}
    (output / "notes.txt").write_text("mine")
    both = {"tokenizer_source.json", "tokenizer_target.json", "languages.json", "summary.json", "notes.txt"}
    assert run("prepare", *text, "--encoding", "words", "--output", output) == 0
    assert names(output) == {"train.words", "dev.words", *both}
    assert (output / "notes.txt").read_text() == "mine"


def test_nothing_of_the_users_is_lost(text, tmp_path, capsys):
    """Files without a record of ours: not a byte is changed."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "test.bpe").write_text("mine")
    assert run("prepare", *text, "--output", tmp_path / "out") == 2
    assert "has files that 'prepare' did not write; choose another --output" in capsys.readouterr().err
    assert names(tmp_path / "out") == {"test.bpe"} and (tmp_path / "out" / "test.bpe").read_text() == "mine"


def test_what_was_dropped_as_too_long(tmp_path, capsys):
    for side in ("de", "en"):
        (tmp_path / side).write_text(f"{side}\n" + "".join(f"{n} " + "a " * n + "\n" for n in (3, 120, 600)))
    where = ["--train", tmp_path / "de", tmp_path / "en", "--dev", 0, "--test", 0, "--output", tmp_path / "out"]
    assert run("prepare", *where) == 0
    said = capsys.readouterr().out
    assert "dropped: 2 too long\n" in said and "there is no dev split" in said and "next:" not in said


def test_columns_of_a_file(tmp_path, capsys):
    table = tmp_path / "pairs.tsv.gz"
    lines = [f"Cat {n} .|||Le chat {n} .\n" for n in range(60)]
    table.write_bytes(gzip.compress("".join([*lines, "\n"]).encode()))
    more = ["--dev", 4, "--test", 0, "--encoding", "words", "--output", tmp_path / "out"]
    assert run("prepare", "--pairs", table, "--separator", "|||", *more) == 0
    assert (tmp_path / "out" / "train.words").read_text().startswith("Cat 0 .|||Le chat 0 .\n")
    capsys.readouterr()
    assert run("prepare", "--pairs", table, "--columns", 3, 1, *more) == 2
    assert f"{table}:1: 1 columns, separated by '\\t'; expected at least 3" in capsys.readouterr().err
