"""Training from a memory-mapped file is the same, to the last bit, as from lines; and it resumes."""

from pathlib import Path

import pytest
import torch

from given.extras import arrow_corpus
from given.extras.arrow_corpus import ArrowPairs, write_arrow
from given.run_folder import Checkpoint
from reference.__main__ import main
from reference.data import read_pairs, take_census

LINES = [f"{'a ' * (n % 7)}b{n % 5} c|||x {'y ' * (n % 5)}é{n % 3}\n" for n in range(50)]


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """A corpus in several chunks."""
    monkeypatch.setattr(arrow_corpus, "ROWS", 8)
    path = tmp_path / "train.bpe"
    path.write_text("".join(LINES), encoding="utf-8")
    write_arrow(path, path.with_suffix(".arrow"))
    return path


def test_the_pairs_are_those_of_the_lines(lines):
    pairs, mapped = read_pairs(lines), ArrowPairs(lines.with_suffix(".arrow"))
    assert list(mapped) == pairs and len(mapped) == len(pairs) == 50
    assert mapped[7:9] == pairs[7:9]
    assert take_census(mapped) == take_census(pairs) and mapped.census.longest == (8, 6)
    with pytest.raises(IndexError):
        mapped[50]


def train(train_file: Path, dev: Path, output: Path, *more: object) -> dict[str, torch.Tensor]:
    """The weights at the end."""
    where = ["--train", train_file, "--dev", dev, "--output", output]
    assert main(["train", *map(str, [*where, *more])]) == 0
    return Checkpoint.load(output / "last.pt").weights


@pytest.mark.slow
def test_a_run_is_the_same_and_resumes_within_an_epoch(lines, tmp_path, capsys):
    """Also from the one file to the other."""
    arrow, flags = lines.with_suffix(".arrow"), ["--preset", "tiny", "--batch-size", 4, "--bucketing"]
    whole = train(lines, lines, tmp_path / "lines", *flags, "--max-steps", 20)
    mapped = train(arrow, lines, tmp_path / "arrow", *flags, "--max-steps", 20)
    assert all(torch.equal(whole[name], mapped[name]) for name in whole)
    assert "up to 8 and 6 tokens" in capsys.readouterr().out
    train(arrow, lines, tmp_path / "short", *flags, "--max-steps", 7)
    resumed = train(lines, arrow, tmp_path / "short", "--resume", "--max-steps", 20)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_wrong_files(lines, tmp_path, capsys):
    """One line, status 2, no run folder."""
    (tmp_path / "text.arrow").write_text("a|||b\n")
    for name, more, message in (
        ("none.arrow", [], "none.arrow: no file that `data prepare --arrow` wrote"),
        ("text.arrow", [], "text.arrow: no file that `data prepare --arrow` wrote"),
        ("train.arrow", ["--most-tokens", 7], "train.arrow: a side of 8 tokens, expected at most 7; prepare it again"),
    ):
        where = ["--train", tmp_path / name, "--dev", lines, "--output", tmp_path / "run", *more]
        assert main(["train", *map(str, where)]) == 2
        said = capsys.readouterr().err
        assert message in said and said.count("\n") == 1
