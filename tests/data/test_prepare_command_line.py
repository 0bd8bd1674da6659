"""``prepare`` and ``encode`` as processes: lines, bytes, broken streams, wrong numbers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from .conftest import run


@pytest.fixture
def text(tmp_path: Path) -> list[object]:
    """Options that name a small text."""
    for side in ("de", "en"):
        (tmp_path / side).write_text("".join(f"{side} {n}\n" for n in range(20)))
    return ["--train", tmp_path / "de", tmp_path / "en", "--dev", 4, "--test", 0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--vocabulary", "9" * 20], ": expected a whole number from 1 to 10000000"),
        (["--vocabulary", 0], "'0': expected a whole number from 1 to 10000000"),
        (["--languages", "de", "../en"], "argument --languages: '../en' is not the code of a language"),
        (["--output", ""], "argument --output: the name is empty"),
        (["--separator", ""], "argument --separator: it is empty; leave it out for a tab"),
    ],
)
def test_values_out_of_range(text, tmp_path, capsys, more, message):
    assert run("prepare", *text, "--output", tmp_path / "out", *more) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--config", "de-en"], "--config needs --dataset; leave it out"),
        (["--columns", 2, 1], "--columns needs --pairs; leave it out"),
        (["--min-count", 50], "--min-count 50 needs --encoding words; leave it out"),
        (["--languages", "en", "en"], "--languages en en: two names for two encodings, or --joint"),
    ],
)
def test_options_that_do_not_fit(text, tmp_path, capsys, more, message):
    assert run("prepare", *text, *more, "--output", tmp_path / "out") == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_one_corpus_at_a_time(text, tmp_path, capsys):
    """What an earlier one left there goes, and the output says so; other files stay."""
    output = tmp_path / "corpus"
    assert run("prepare", *text, "--test", 5, "--joint", "--output", output) == 0
    assert names(output) == {"train.bpe", "dev.bpe", "test.bpe", "tokenizer.json", "languages.json", "summary.json"}
    (output / "notes.txt").write_text("mine")
    assert "removed" not in capsys.readouterr().out
    assert run("prepare", *text, "--output", output) == 0
    assert "removed, since they belonged to the corpus that was here before: test.bpe, tokenizer.json\n" in (
        capsys.readouterr().out
    )
    both = {"tokenizer_source.json", "tokenizer_target.json", "languages.json", "summary.json", "notes.txt"}
    assert names(output) == {"train.bpe", "dev.bpe", *both}
    assert run("prepare", *text, "--encoding", "words", "--json", "--output", output) == 0
    assert json.loads(capsys.readouterr().out)["removed"] == ["dev.bpe", "train.bpe"]
    assert names(output) == {"train.words", "dev.words", *both}
    assert (output / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["test.bpe", "summary.json"])
def test_nothing_of_the_users_is_lost(text, tmp_path, capsys, name):
    """A file with a name of ours and no record of it: not a byte is changed."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    assert run("prepare", *text, "--output", tmp_path / "out") == 2
    assert capsys.readouterr().err == (
        f"error: {tmp_path / 'out' / name}: not written by an earlier 'prepare'; "
        "move it away, or choose another --output\n"
    )
    assert names(tmp_path / "out") == {name} and (tmp_path / "out" / name).read_text() == "mine"


def test_what_was_dropped_as_too_long(tmp_path, capsys):
    """The limit is named; what the reference cannot read is a note."""
    for side in ("de", "en"):
        (tmp_path / side).write_text(f"{side}\n" + "".join(f"{n} " + "a " * n + "\n" for n in (3, 120, 600)))
    where = ["--train", tmp_path / "de", tmp_path / "en", "--dev", 0, "--test", 0, "--output", tmp_path / "out"]
    assert run("prepare", *where) == 0
    said = capsys.readouterr().out
    assert "dropped: 2 too long (over 100 tokens per side)\n" in said and "there is no dev split" in said
    assert "next:" not in said and "reads no more" not in said
    assert run("prepare", *where, "--most-tokens", 999, "--learn-anew") == 0
    assert "note: the longest side has 601 tokens" in (said := capsys.readouterr().out) and "--most-tokens 511" in said


def test_columns_of_a_file(tmp_path, capsys):
    table = tmp_path / "pairs.tsv.gz"
    lines = [f"Cat {n} .|||Le chat {n} .\n" for n in range(60)]
    table.write_bytes(gzip.compress("".join([*lines, "\n"]).encode()))
    more = ["--dev", 4, "--test", 0, "--encoding", "words", "--output", tmp_path / "out"]
    assert run("prepare", "--pairs", table, "--separator", "|||", *more) == 0
    assert (tmp_path / "out" / "train.words").read_text().startswith("Cat 0 .|||Le chat 0 .\n")
    capsys.readouterr()
    assert run("prepare", "--pairs", table, "--columns", 3, 1, *more) == 2
    assert capsys.readouterr().err == (
        f"error: {table}:1: 1 column, separated by tabs; expected at least 3 (--columns names source and target)\n"
    )
    assert run("prepare", "--train", table, table, "--columns", 1, 2, *more) == 2
    assert capsys.readouterr().err == "error: --columns needs --pairs; leave it out\n"
