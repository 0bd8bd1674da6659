"""After a change of tests, points or references: what is run, what is shown, and what counts."""

import json
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.commands import grade_class as command
from autograder.grading.recording import TasksJudged
from autograder.testing.results import Outcome, State, TaskResult, judge_task
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT_FILE

from .conftest import ASSIGNMENT, StubGrader, run


class WithTests(StubGrader):
    """Each part has two tests; bob fails the second one of attention, and in the second version of LayerNorm."""

    assignment = ASSIGNMENT

    def parts(self, intake):
        results = []
        for task in self.assignment.tasks:
            is_second = (self.log.parent / "second").exists()
            fails = intake.name == "bob" and task.name == ("layer_norm" if is_second else "attention")
            states = (State.PASSED, State.FAILED if fails else State.PASSED)
            items = [item.name for item in task.items[:2]] or ["", ""]
            outcomes = [
                Outcome(f"{task.name}_{n}", state, item=items[n], nodeid=f"{task.name}:{n}")
                for n, state in enumerate(states)
            ]
            results.append(judge_task(task, outcomes, self.assignment.credit))
        yield TasksJudged(tuple(results))


@pytest.fixture
def grade(folder, output, use, monkeypatch):
    """Runs the command; its status, and who has run."""
    stub = use(WithTests)
    stub.log.touch()

    def grade(*arguments: object, version: str = "0" * 16) -> tuple[int, list[str]]:
        monkeypatch.setattr(command, "version_of", lambda options, assignment: version)
        status = main(["grade-class", str(folder), "--output", str(output), *map(str, arguments)])
        return status, stub.names()

    return grade


@pytest.fixture
def second(tmp_path):
    """From now on, the tests find something else."""
    return (tmp_path / "second").touch


def scores(output: Path) -> dict[str, float | None]:
    rows = json.loads((output / "summary.json").read_text())["students"]
    return {row["id"]: row["score"] for row in rows}


def changed(tmp_path, old: str, new: str) -> Path:
    text = ASSIGNMENT_FILE.read_text()
    assert old in text
    (tmp_path / "assignment.toml").write_text(text.replace(old, new, 1))
    return tmp_path / "assignment.toml"


EVERYONE = ["anna", "bob", "carl"]


@pytest.mark.slow
def test_a_regrade_is_shown_before_it_is_kept(grade, second, output, capsys):
    assert grade() == (0, EVERYONE) and scores(output) == {"anna": 100, "bob": 99, "carl": 100}
    second()
    capsys.readouterr()
    assert grade(version="1" * 16) == (1, EVERYONE)
    shown = capsys.readouterr().out
    assert "1 mark would change, and stay as they are until you add --keep:\n  bob: 99 → 98\n" in shown
    assert "    1.2 Scaled dot-product attention: 13 → 14 (attention_1: failed → passed)\n" in shown
    assert "    1.4 Layer normalisation: 10 → 8 (layer_norm_1: passed → failed)" in shown and "anna" not in shown
    assert scores(output)["bob"] == 99
    [change] = json.loads((output / "regrade.json").read_text())
    assert (change["students"], change["before"], change["after"], change["kept"]) == ("bob", 99, 98, False)
    assert grade(version="1" * 16) == (1, []), "it is shown again, and nothing runs"
    assert grade("--keep", version="1" * 16) == (0, []) and scores(output)["bob"] == 98
    assert "1 mark changed:\n  bob: 99 → 98" in capsys.readouterr().out
    record = json.loads((output / "records" / "bob.json").read_text())
    assert record["judgement"]["grader_version"] == "1" * 16
    assert grade(version="1" * 16) == (0, []) and not (output / "regrade.json").exists()


def test_a_regrade_that_changes_no_mark_is_kept_at_once(grade, output):
    grade()
    assert grade(version="1" * 16) == (0, EVERYONE)
    versions = {json.loads(path.read_text())["judgement"]["grader_version"] for path in output.glob("records/*")}
    assert versions == {"1" * 16} and not (output / "regrade.json").exists()


def test_other_files_of_a_student_count_at_once(grade, folder, second, output):
    grade()
    second()
    (folder / "bob" / "layers.py").write_text("# handed in again\n")
    assert grade() == (0, ["bob"]) and scores(output)["bob"] == 98


@pytest.mark.slow
@pytest.mark.parametrize(
    "old, new, bob, lines",
    [
        ("points = 14", "points = 28", 112, ["1.2 Scaled dot-product attention: 13 → 26 (worth 14 points before, 28"]),
        ('credit = "items"', 'credit = "all"', 86, ["1.2 Scaled dot-product attention: 13 → 0"]),
    ],
)
def test_new_points_and_credit_run_nothing(grade, folder, tmp_path, output, capsys, monkeypatch, old, new, bob, lines):
    grade()
    path = changed(tmp_path, old, new)
    capsys.readouterr()
    assert grade("--assignment", path) == (1, []) and scores(output)["bob"] == 99
    shown = capsys.readouterr().out
    for line in lines:
        assert line in shown
    assert grade("--assignment", path, "--keep") == (0, []) and scores(output)["bob"] == bob
    monkeypatch.setattr(WithTests, "assignment", read_assignment(path))
    fresh = run(folder, tmp_path / "fresh", assignment=read_assignment(path), version="0" * 16)
    weighed = json.loads((output / "records" / "bob.json").read_text())["judgement"]
    assert json.loads(fresh["bob"].judgement.model_dump_json()) == weighed, "as if it had been graded so"


def test_a_new_title_counts_at_once(grade, tmp_path, output):
    grade()
    path = changed(tmp_path, 'title = "Layer normalisation"', 'title = "LayerNorm"')
    assert grade("--assignment", path) == (0, [])
    assert "LayerNorm" in (output / "records" / "bob.json").read_text()


def test_where_the_grader_fails_the_earlier_mark_stays(grade, use, output, capsys):
    grade()

    class Failing(WithTests):
        def parts(self, intake):
            yield from super().parts(intake)
            if intake.name == "anna":
                yield TasksJudged((TaskResult(ASSIGNMENT.tasks[0], State.GRADER_ERROR, 0.0, "a bug of ours"),))

    use(Failing)
    capsys.readouterr()
    for options in ((), ("--keep",)):
        assert grade(*options, version="1" * 16)[0] == 1 and scores(output)["anna"] == 100
        shown = capsys.readouterr().out
        assert "anna: 100 → no mark" in shown and "the grader failed over 1 of them this time" in shown


@pytest.mark.slow
def test_another_run_of_the_same_shows_what_it_would_change(grade, output, second, capsys):
    """With the same tests and the same files, as code that is not deterministic can."""
    assert grade() == (0, ["anna", "bob", "carl"])
    before = scores(output)
    second()
    capsys.readouterr()
    assert grade("--again") == (1, ["anna", "bob", "carl"])
    printed = capsys.readouterr().out
    assert "1 mark would change, and stay as they are until you add --keep" in printed
    assert "layer_norm_1: passed → failed" in printed and scores(output) == before
    assert json.loads((output / "regrade.json").read_text())[0]["kept"] is False
    assert grade() == (0, []) and scores(output) == before, "nothing of it is left"
    assert grade("--again", "--keep") == (0, ["anna", "bob", "carl"])
    assert "1 mark changed" in capsys.readouterr().out
    after = scores(output)
    assert after != before and after["anna"] == before["anna"]
    assert grade("--again") == (0, ["anna", "bob", "carl"]) and scores(output) == after
