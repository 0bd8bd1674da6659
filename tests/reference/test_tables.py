"""The report's tables: what is finished is kept, and the figures are what they say."""

from pathlib import Path

import pytest

from benchmarks import tables
from benchmarks.__main__ import main
from benchmarks.tables import TABLES, Column, verdict
from given.config import COURSE, Config

WORDS = (("je", "i"), ("tu", "you"), ("elle", "she")), (("mange", "eat"), ("dors", "sleep"), ("parle", "speak"))
LINES = [f"{a} {c} .|||{b} {d} .\n" for a, b in WORDS[0] for c, d in WORDS[1]]
TINY = {"d_model": 8, "d_ff": 8, "n_layers": 1, "n_heads": 2, "epochs": 1, "batch_size": 4, "max_length": 6}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Small tables on a small corpus, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train").write_text("".join(LINES))
    (tmp_path / "dev").write_text("".join(LINES[::2]))
    (tmp_path / "test").write_text("".join(LINES[1::2]))
    monkeypatch.setitem(
        TABLES, 1, (Column("1 epoch", (0.4, 0.5), TINY), Column("2 epochs", (0.4,), TINY | {"epochs": 2}))
    )
    masked = TINY | tables.DIAGONAL
    monkeypatch.setitem(
        TABLES, 3, (Column("small, no mask", (0.4,), TINY), Column("small, diagonal mask", (0.5,), masked))
    )
    return tmp_path


def run(*more):
    return main(["tables", "--train", "train", "--dev", "dev", "--output", "out", *more])


def test_the_columns_are_those_of_the_report():
    """Its tables 1, 2 and 3: what each column changes in the course's defaults."""
    assert [dict(column.changes) for column in TABLES[1]] == [
        {}, {"epochs": 20}, {"epochs": 30}, {"epochs": 40}, {"d_model": 256}, {"d_model": 512}, {"d_model": 1024},
        {"d_ff": 128}, {"d_ff": 512}, {"d_ff": 1024}, {},
    ]  # fmt: skip
    assert [dict(column.changes) for column in TABLES[2]] == [
        {"n_layers": 4}, {"n_layers": 8}, {"n_heads": 2}, {"n_heads": 1}, {"n_heads": 8}, {},
        {"learning_rate": 0.01}, {"learning_rate": 0.0001},
        {"d_model": 256, "d_ff": 512, "n_layers": 4, "epochs": 50},
    ]  # fmt: skip
    sizes = [(64, 128, 10), (128, 256, 20), (256, 512, 20)]
    found = [Config.from_dict(COURSE.to_dict() | dict(column.changes)) for column in TABLES[3]]
    assert [(one.d_model, one.d_ff, one.epochs) for one in found] == [size for size in sizes for _ in range(2)]
    assert [(one.n_heads, one.diagonal_width) for one in found] == [(2, 0), (2, 2)] * 3


@pytest.mark.slow
def test_a_model_is_trained_and_measured(small, capsys):
    assert run("--tables", "1", "--only", "2 epochs", "--seeds", "1", "--test", "test") == 0
    out = capsys.readouterr().out
    assert "test BLEU" in out and "not run" not in out
    [last] = Path("out").rglob("last.pt")
    assert tables.Checkpoint.load(last).epoch == 2


@pytest.mark.parametrize(
    ("differences", "interval", "words"),
    [
        ([0.01, 0.03], "-0.107 to +0.147", "no effect"),
        ([0.02, 0.02], "+0.020 to +0.020", "helps"),
        ([-0.02, -0.03, -0.04], "-0.055 to -0.005", "harms"),
        ([0.02], "–", "one seed"),
    ],
)
def test_the_verdict_follows_students_interval(differences, interval, words):
    """By hand: 0.02 ± 12.706 · 0.01414 / √2, and -0.03 ± 4.303 · 0.01 / √3."""
    found = verdict(differences)
    assert found[0] == interval and found[1].startswith(words)
