"""Command lines made from functions; thresholds from made-up scores."""

import shlex
from pathlib import Path

import numpy as np
import pytest

from autograder.grading.scoring import Score
from benchmarks.__main__ import COMMANDS as MEASUREMENTS
from foundation.command_line import UserError
from validity import calibration, prove
from validity.__main__ import COMMANDS, main
from validity.calibration import run_seeds, threshold_for
from validity.console import make_parser, run_python, table


def test_parameters_are_options(capsys):
    parser = make_parser("validity", None, COMMANDS)
    options = vars(parser.parse_args(["prove", "--variant-seeds", "4", "--output", "pages", "--inside"]))
    given = {"variant_seeds": 4, "output": Path("pages"), "inside": True, "every": 1, "component": None}
    assert options.items() >= given.items() and options["run"] is prove.prove
    for arguments in (["--help"], ["prove", "--help"], ["outside", "--help"]):
        with pytest.raises(SystemExit):
            parser.parse_args(arguments)
    shown = " ".join(capsys.readouterr().out.split())
    for part in ("Prove the component tests.", "Run them on known faults", "(default: 1)", "(default: reference)"):
        assert part in shown
    assert "example: python -m validity prove --component" in shown and "[folder]" in shown


@pytest.mark.parametrize("program, commands", [("validity", COMMANDS), ("benchmarks", MEASUREMENTS)])
def test_every_example_is_one(program, commands):
    parser = make_parser(program, None, commands)
    assert all(parser.parse_args([name, *shlex.split(example)]) for name, (_, example, _) in commands.items())


def test_a_command_that_fails_is_named_with_its_last_line():
    with pytest.raises(UserError, match=r"python -c .* ended with status 3: so it is"):
        run_python("-c", "print('first\\nso it is'); raise SystemExit(3)")


def test_a_table_shows_its_head_its_rows_and_bars_in_cells():
    assert table(("a", "b"), [(1, "x|y"), (2.5, "")]) == "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n| 2.5 |  |"


def test_a_few_correct_students_miss_a_threshold(monkeypatch, capsys):
    scores = [Score(value, value - 0.02, value + 0.02, 1) for value in (0.50, 0.52, 0.54)]
    monkeypatch.setattr(calibration, "run_seeds", lambda *arguments: scores)
    assert main(["calibrate", "--seeds", "3"]) == 0
    printed = capsys.readouterr().out
    assert "mean 0.520, standard deviation 0.020 over seeds, 0.010 over test sentences" in printed
    drawn = calibration.simulate(np.array([score.value for score in scores]), 0.04 / 3.92)
    assert drawn.min() >= 0 and drawn.max() <= 1 and np.mean(drawn < 0.52) == pytest.approx(0.5, abs=0.01)
    first, second = (threshold_for(share, drawn) for share in (0.01, 0.05))
    assert first <= second < 0.52 and np.mean(drawn < first) <= 0.01 and np.mean(drawn < second) <= 0.05
    assert np.mean(drawn < second + 0.01) > 0.05, "the highest in hundredths"
    assert f"at most 5% of them would miss {second:.2f}" in printed


def test_seeds_that_are_done_are_not_done_again(tmp_path, monkeypatch):
    references = tmp_path / "test.bpe"
    references.write_text("".join(f"a|||the cat number {n} sleeps on the mat .\n" for n in range(5)))
    calls = []

    def run(_, package, command, *words):
        calls.append([command, *map(str, words)])
        if command == "translate":
            words[-1].write_text("".join(f"the cat number {n} sleeps on the mat .\n" for n in range(5)))
        else:
            words[-1].mkdir(parents=True, exist_ok=True)
            (words[-1] / "last.pt").touch()

    monkeypatch.setattr(calibration, "run_python", run)
    first = run_seeds([0, 1], ["--preset", "tiny"], references, tmp_path / "out")
    assert [score.value for score in first] == [1.0, 1.0]
    _, two = sorted((tmp_path / "out").iterdir())
    (two / "translations.txt").unlink()
    calls.clear()
    assert run_seeds([0, 1], ["--preset", "tiny"], references, tmp_path / "out") == first
    assert [call[0] for call in calls] == ["train", "translate"], "seed 0 was done"
    assert calls[0] == ["train", "--resume", "--output", str(two)]
    calls.clear()
    references.write_text(references.read_text().replace("sleeps", "slept"))
    assert run_seeds([0], ["--preset", "tiny"], references, tmp_path / "out")[0].value < 1, "another test split"
    assert calls[0][:5] == ["train", "--preset", "tiny", "--seed", "0"]


@pytest.mark.slow
def test_a_preset_that_there_is_not(capsys, tmp_path):
    assert main(["calibrate", "--preset", "huge", "--output", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1 and "'huge'" in error and "'fast'" in error
