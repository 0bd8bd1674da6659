"""The assignment's thresholds, in the curves of a run."""

import re

import pytest

from given.config import ConfigError, read_thresholds
from given.pictures import plot_history

HISTORY = [{"epoch": n, "train_loss": 3 / n, "dev_loss": 4 / n, "dev_bleu": n / 10} for n in (1, 2, 3)]


def test_the_curves_show_the_thresholds_of_the_assignment():
    thresholds = read_thresholds()
    assert thresholds == {"beginner": 0.30, "advanced": 0.45}  # of autograder/assignment/assignment.toml
    bleu_axes = plot_history(HISTORY, thresholds).axes[1]
    assert [text.get_text() for text in bleu_axes.texts] == ["beginner 0.30", "advanced 0.45"]
    assert sorted(line.get_ydata()[0] for line in bleu_axes.lines[1:]) == [0.30, 0.45]
    assert len(plot_history(HISTORY).axes[1].lines) == 1


def test_without_the_assignment_there_are_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_thresholds() == {}


@pytest.mark.parametrize(
    "text, message",
    [
        ("[other]", "expected a table [thresholds]"),
        ("thresholds = 1", "expected a table [thresholds]"),
        ("[thresholds]\nlow = 30", "thresholds.low = 30: expected a number between 0 and 1"),
        ('[thresholds]\nlow = "0.3"', "thresholds.low = '0.3': expected a number"),
        ("[", "t.toml: "),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, message):
    (tmp_path / "t.toml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        read_thresholds(tmp_path / "t.toml")
