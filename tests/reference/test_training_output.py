"""What a training run says while it goes on, and what it reaches."""

import shlex
from dataclasses import replace

import pytest

from given.config import PRESETS
from given.experiment import Experiment
from given.run_folder import Checkpoint
from reference.__main__ import main
from reference.data import read_pairs

LINES = [
    f"{s} {v} .|||{t} {w} ."
    for s, t in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for v, w in (("man@@ ge", "eat"), ("dors", "sleep"), ("par@@ le", "sp@@ eak"))
]
SIZES = ["--preset", "tiny", "--d-model", "8", "--d-ff", "8", "--max-length", "5"]


@pytest.fixture
def train(tmp_path, capsys):
    """Trains on a small corpus; returns what is printed."""
    (tmp_path / "train").write_text("\n".join(LINES) + "\n")
    (tmp_path / "dev").write_text("\n".join(LINES[:4]) + "\n")

    def run(*more):
        files = ["--train", str(tmp_path / "train"), "--dev", str(tmp_path / "dev"), "--output", str(tmp_path / "run")]
        assert main(["train", *files, *SIZES, *more]) == 0
        return capsys.readouterr()

    return run


def test_vocabularies_and_parameters_are_shown_first(train, tmp_path):
    first = train().out.splitlines()[0]
    # je tu il nous man@@ ge dors par@@ le . and i you he we eat sleep sp@@ eak . with four special tokens each
    assert "12 training and 4 dev pairs of up to 4 and 4 tokens, vocabularies 14 and 13" in first
    n_parameters = sum(weight.numel() for weight in Checkpoint.load(tmp_path / "run/last.pt").weights.values())
    assert first.endswith(f", {n_parameters:,} parameters")


def test_the_bar_has_the_loss_and_its_average(train):
    assert "avg_loss=" in train("--epochs", "1", "--batch-size", "4").err


def test_two_translations_are_shown_after_each_epoch(train):
    printed = train("--epochs", "3", "--batch-size", "4", "--samples", "2").out
    pairs = {"je mange .": "i eat .", "je parle .": "i speak .", "je dors .": "i sleep .", "tu mange .": "you eat ."}
    for epoch in printed.split("\nepoch ")[1:]:
        shown = [line for line in epoch.splitlines()[1:7] if line.startswith("    ")]
        assert len(set(shown[0::3])) == 2
        assert shown[2::3] == [f"    == {pairs[source.strip()]}" for source in shown[0::3]]
        assert all(line.startswith("    -> ") for line in shown[1::3])
    assert printed.count("    == ") == 6


def test_the_command_that_comes_next_is_shown_and_works(train, tmp_path, monkeypatch):
    last = train("--output", str(tmp_path / "my run")).out.splitlines()[-1]
    assert last.startswith("next: python -m reference translate --checkpoint ")
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(last)[4:], "--input", "dev"]) == 0
    assert (tmp_path / "reference/translations.txt").read_text().count("\n") == 4


def test_accumulation_and_smoothing_are_flags(train, tmp_path):
    train("--epochs", "1", "--batch-size", "2", "--accumulate", "4", "--label-smoothing", "0.3")
    saved = Checkpoint.load(tmp_path / "run/last.pt")
    assert saved.step == 2  # six batches of two, four of them a step
    assert Experiment(saved.config, PAIRS, PAIRS).criterion.label_smoothing == 0.3


PAIRS = [tuple(side.split() for side in line.split("|||")) for line in LINES]


@pytest.mark.slow
def test_the_default_size_passes_the_advanced_threshold(assignment):
    """A model of the default size with the preset `fast`, after three epochs."""
    config = PRESETS["fast"]
    course = PRESETS["course"]
    assert (config.d_model, config.d_ff, config.n_layers) == (course.d_model, course.d_ff, course.n_layers)
    pairs = [read_pairs(f"data/corpus/fren.{split}.bpe") for split in ("train", "dev")]
    run = Experiment(replace(config, epochs=3), *pairs)
    for _ in range(3):
        run.run_epoch(progress=False)
    assert run.history[-1]["dev_bleu"] >= assignment.thresholds["advanced"]
