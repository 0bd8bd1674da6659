"""The report's tables: what is finished is kept, and the figures are what they say."""

import json
import math

import pytest
import torch

from autograder.scoring import score
from benchmarks.__main__ import main
from benchmarks.tables import columns, mask, one_run
from benchmarks.tables.columns import BASE, TABLES, Column
from benchmarks.tables.one_run import Corpus, find_result, make_results, place
from given.config import COURSE
from given.experiment import Experiment
from given.run_folder import Checkpoint

WORDS = (("je", "i"), ("tu", "you"), ("elle", "she")), (("mange", "eat"), ("dors", "sleep"), ("parle", "speak"))
LINES = [f"{a} {c} .|||{b} {d} .\n" for a, b in WORDS[0] for c, d in WORDS[1]]


def tiny(name, **changes):
    settings = {"d_model": 8, "d_ff": 8, "n_layers": 1, "n_heads": 2, "epochs": 1, "batch_size": 4, "max_length": 6}
    return Column(name, columns.replace(BASE, **settings | changes), (0.4, 0.5))


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Small tables on a small corpus, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train").write_text("".join(LINES))
    (tmp_path / "dev").write_text("".join(LINES[::2]))
    (tmp_path / "test").write_text("".join(LINES[1::2]))
    monkeypatch.setitem(TABLES, 1, (tiny("1 epoch"), tiny("2 epochs", epochs=2)))
    monkeypatch.setitem(TABLES, 3, (tiny("small, no mask"), tiny("small, diagonal mask", diagonal_width=2)))
    monkeypatch.setitem(columns.REPORTED_TRAIN, "small, no mask", 0.36)
    return tmp_path


def run(*more):
    return main(["tables", "--train", "train", "--dev", "dev", "--output", "out", *more])


def results():
    return {path: path.read_bytes() for path in one_run.Path("out/runs").rglob("*.json")}


def test_the_columns_are_those_of_the_report():
    """Its tables 1, 2 and 3: what each column changes in the course's defaults."""
    changed = {
        number: [
            {
                name: value
                for name, value in column.config.to_dict().items()
                if value != getattr(COURSE, name) and name != "cached"
            }
            for column in table
        ]
        for number, table in TABLES.items()
    }
    assert changed[1] == [
        {}, {"epochs": 20}, {"epochs": 30}, {"epochs": 40}, {"d_model": 256}, {"d_model": 512}, {"d_model": 1024},
        {"d_ff": 128}, {"d_ff": 512}, {"d_ff": 1024}, {},
    ]  # fmt: skip
    assert changed[2] == [
        {"n_layers": 4}, {"n_layers": 8}, {"n_heads": 2}, {"n_heads": 1}, {"n_heads": 8}, {},
        {"learning_rate": 0.01}, {"learning_rate": 0.0001},
        {"d_model": 256, "d_ff": 512, "n_layers": 4, "epochs": 50},
    ]  # fmt: skip
    sizes = [
        {"d_model": 64, "d_ff": 128, "n_heads": 2},
        {"n_heads": 2, "epochs": 20},
        {"d_model": 256, "d_ff": 512, "n_heads": 2, "epochs": 20},
    ]
    assert changed[3] == [size | extra for size in sizes for extra in ({}, {"diagonal_width": 2})]


def test_runs_of_several_lengths_can_share_a_training():
    """Only with a constant learning rate is a short run the beginning of a long one."""
    assert {column.config.schedule for table in TABLES.values() for column in table} == {"constant"}


@pytest.mark.slow
def test_tables_are_made_and_what_is_finished_is_kept(small, capsys, monkeypatch):
    assert run("--tables", "1", "3", "--seeds", "2", "--test", "test") == 0
    shown = capsys.readouterr().out
    assert "± " in shown and "test BLEU" in shown and "| small | dev | 2 |" in shown
    assert one_run.Path("out/tables.md").read_text() == shown
    assert {path.name for path in small.joinpath("out").glob("*.png")} == {"table-1.png", "table-3.png"}
    before = results()
    assert len(before) == 6  # two lengths, and the mask, with two seeds; the model without a mask is shared
    monkeypatch.setattr(Experiment, "run_epoch", lambda *arguments, **more: pytest.fail("trained again"))
    assert run("--tables", "1", "3", "--seeds", "2", "--test", "test", "--json") == 0
    assert results() == before
    tables = json.loads(capsys.readouterr().out)
    assert [len(row["bleu"]["train"]) for table in tables for row in table["rows"]] == [2, 2, 2, 2]


@pytest.mark.slow
def test_a_prolonged_run_equals_a_long_one(small):
    """Runs of several lengths come from one training, and are what separate trainings would be."""
    long = TABLES[1][1].with_seed(3)
    corpus = Corpus.read(small / "train", small / "dev", None)
    assert sum(make_results([TABLES[1][0].with_seed(3), long], corpus, small / "one")) == 2
    assert sum(make_results([long], corpus, small / "two")) == 2
    weights = [Checkpoint.load(place(long, small / folder) / "epochs-2.pt").weights for folder in ("one", "two")]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[1])


@pytest.mark.slow
def test_an_interrupted_run_goes_on_after_its_last_epoch(small, monkeypatch):
    config, output = TABLES[1][1].with_seed(0), small / "out"
    corpus = Corpus.read(small / "train", small / "dev", None)
    training = make_results([config], corpus, output)
    assert next(training) == 1
    training.close()
    assert find_result(config, corpus, output) is None
    assert sum(make_results([config], corpus, output)) == 1
    assert find_result(config, corpus, output).config == config
    assert not list(output.rglob("last.pt"))


@pytest.mark.slow
def test_a_split_can_be_measured_later(small, monkeypatch, capsys):
    assert run("--tables", "1", "--only", "1 epoch", "--seeds", "1") == 0
    assert "test BLEU" not in capsys.readouterr().out
    monkeypatch.setattr(Experiment, "run_epoch", lambda *arguments, **more: pytest.fail("trained again"))
    assert run("--tables", "1", "--only", "1 epoch", "--seeds", "1", "--test", "test") == 0
    assert "test BLEU" in capsys.readouterr().out


def test_show_trains_nothing(small, monkeypatch, capsys):
    monkeypatch.setattr(Experiment, "run_epoch", lambda *arguments, **more: pytest.fail("trained"))
    assert run("--tables", "1", "--show") == 0
    assert capsys.readouterr().out.count("| not run |") == 2


@pytest.mark.slow
def test_a_failed_run_is_told_and_the_others_finish(small, capfd, monkeypatch):
    def break_down(self, progress):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(Experiment, "run_epoch", break_down)
    assert run("--tables", "1", "--seeds", "1") == 1
    captured = capfd.readouterr()
    assert "RuntimeError: out of luck" in captured.err and "| not run |" in captured.out


def test_mistakes_get_one_line(small, capsys):
    assert run("--tables", "1", "--only", "1 epoch", "--seeds", "1") == 0
    capsys.readouterr()
    (small / "dev").write_text("".join(LINES[:2]))
    assert run("--tables", "1", "--only", "1 epoch", "--seeds", "1") == 2
    assert capsys.readouterr().err.endswith(
        "epochs-1.json: is of another dev file; give that one or another --output\n"
    )
    assert run("--only", "huge") == 2
    assert capsys.readouterr().err == "benchmarks: --only huge: no column of these tables is named like that\n"
    assert run("--train", "nowhere") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_difference_of_masks_by_hand():
    references = ["a b c d e", "f g h i j", "k l m n o"]
    worse = [["a b c d x", "f g h i j", "k l m n o"], ["a b c d e", "f g h x j", "k l m n o"]]
    better = [references, references]
    found = mask.compare(worse, better, references)
    expected = [1 - score(lines, references).bleu for lines in worse]
    assert found.by_seed == pytest.approx(expected, abs=1e-9)
    assert found.mean == pytest.approx(sum(expected) / 2, abs=1e-9)
    deviation = abs(expected[0] - expected[1]) / math.sqrt(2)
    margin = 12.706 * deviation / math.sqrt(2)
    assert found.over_seeds == pytest.approx((found.mean - margin, found.mean + margin), abs=1e-9)
    assert found.over_sentences[0] >= 0 and found.over_sentences[0] <= found.mean <= found.over_sentences[1]
    assert mask.compare(worse[:1], better[:1], references).over_seeds is None


@pytest.mark.parametrize(
    ("ends", "words"),
    [((0.01, 0.05), "helps"), ((-0.05, -0.01), "harms"), ((-0.01, 0.05), "no effect"), (None, "one seed")],
)
def test_the_verdict_follows_the_interval(ends, words):
    assert mask.verdict(mask.Difference((0.02,), 0.02, ends, (0.01, 0.03))).startswith(words)
