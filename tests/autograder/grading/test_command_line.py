"""`python -m autograder grade` as its user types it, and the assignment file."""

import json
from dataclasses import replace
from unittest.mock import Mock

import pytest

from autograder.__main__ import main
from autograder.grading.record import read_record
from autograder.reports.gradescope import as_results
from autograder.testing.results import Outcome, State, judge_task
from foundation.assignment_file import Item, read_assignment
from validity.__main__ import main as prove


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["grade", "nowhere"], "No such file or directory"),
        (["grade", "anna", "--assignment", "nowhere.toml"], "nowhere.toml: No such file or directory"),
        (["grade", "anna", "--release", "nowhere"], "nowhere: not the assignment's skeleton"),
        (["grade", "anna", "--results", "folder"], "folder: is a folder; expected the name of a file"),
        (["grade", "anna", "--references", "mising.bpe"], "mising.bpe"),
        (["grade-class", ".", "--output", "file"], "file: is not a folder"),
        (["calibrate", "--output", "file"], "file: is not a folder"),
    ],
)
def test_a_mistake_is_told_in_one_line_before_anything_is_done(tmp_path, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "anna").mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert (main if arguments[0].startswith("grade") else prove)(arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err and printed.err.count("\n") == 1 and not printed.out
    assert sorted(tmp_path.rglob("*")) == before


def test_an_interrupt_is_told_in_one_line(tmp_path, capsys, monkeypatch):
    interrupt = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("autograder.commands.grade.grade_alone", interrupt)
    assert main(["grade", str(tmp_path), "--results", str(tmp_path / "r.json")]) == 130
    assert capsys.readouterr().err == "autograder: stopped; finished results are kept\n"


def test_what_is_not_graded_gets_a_result_with_the_reason(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("autograder.commands.arguments.TEST_REFERENCES", tmp_path / "none.bpe")  # goes on without
    submission = tmp_path / "anna.zip"
    submission.write_bytes(b"not an archive")
    record = tmp_path / "records" / "anna.json"
    assert main(["grade", str(submission), "--results", str(tmp_path / "r.json"), "--record", str(record)]) == 1
    results = json.loads((tmp_path / "r.json").read_text())
    assert results == as_results(read_record(record))
    assert "score" not in results and not any("score" in test for test in results["tests"])
    assert {test["extra_data"]["state"] for test in results["tests"]} == {"not graded"}
    assert "expected a folder, a .zip" in results["output"]
    assert "not graded" in capsys.readouterr().out


TASK = replace(
    read_assignment().tasks[1], points=10.0, items=(Item("values", 5), Item("masks", 3, "values"), Item("loss", 2))
)


@pytest.mark.parametrize(
    "outcomes, credit, state, score",
    [
        ({"values": "passed", "masks": "passed", "loss": "passed"}, "items", "passed", 10),
        ({"values": "passed", "masks": "failed", "loss": "passed"}, "items", "failed", 7),
        ({"values": "failed", "masks": "passed", "loss": "passed"}, "items", "failed", 2),
        ({"values": "passed", "masks": "failed", "loss": "passed"}, "all", "failed", 0),
        ({"values": "passed", "masks": "timeout", "loss": "error"}, "items", "timeout", 5),
        ({"values": "not attempted", "masks": "not attempted"}, "items", "not attempted", 2),
        ({"values": "passed", "masks": "grader error"}, "items", "grader error", 7),
        ({"values": "passed", "no such item": "failed"}, "items", "failed", 2),
        ({}, "items", "grader error", 0),
    ],
)
def test_points_of_a_task(outcomes, credit, state, score):
    made = [Outcome(f"test {item}", State(each), "message", item) for item, each in outcomes.items()]
    result = judge_task(TASK, made, credit)
    assert (result.state, result.score) == (state, score)
