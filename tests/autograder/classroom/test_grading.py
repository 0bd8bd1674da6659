"""Regrades: what runs again, is shown and is kept; a grader that fails takes no points."""

import json
import os
import signal
from dataclasses import replace

import pytest

from autograder.classroom.grading import TIMES, change_of
from autograder.classroom.marks import WHOLE, Decision, mark_of, weighed
from autograder.grading.record import new_record
from autograder.own_work.own_tests import PATIENCE
from autograder.sandbox.errors import SandboxUnavailableError
from autograder.testing.results import State, TaskResult

from ..conftest import ASSIGNMENT, SEEDS, VERSION, all_passed, changed_assignment, kept, put, record_of, run, two_tests

EVERYONE = ["anna", "bob", "carl"]
OTHER = "f" * 16


@pytest.fixture
def who(folder, output, log):
    """Grades the class; who was run."""
    return lambda **options: run(folder, output, **options) and log()


@pytest.mark.slow
def test_finished_records_are_kept_until_something_that_decides_marks_changes(folder, output, who):
    assert who() == EVERYONE and who() == []
    (folder / "bob" / "layers.py").write_text("# changed\n")
    assert who() == ["bob"]
    records = kept(folder, output)
    carl = records["carl"]
    put(output, "carl", SEEDS.seal(carl.changed(run=carl.run.changed(finished=None))))
    put(output, "anna", records["anna"].changed(seal=""))
    assert who() == ["anna", "carl"]
    assert who(again=True) == EVERYONE
    assert who(level="require-uid") == who(level="unsafe") == []
    for layers, level in ((("uid", "landlock"), "auto"), (("seccomp", "uid"), "require-namespaces")):
        record = kept(folder, output)["anna"]
        put(output, "anna", SEEDS.seal(record.changed(run=record.run.changed(layers=layers))))
        assert "anna" in who(level=level)
    assert who(seed=7) == who(seed=8) == who(version=OTHER) == EVERYONE and who(version=OTHER) == []


def test_what_is_refused_or_breaks_intake_is_looked_at_again(folder, output, who, monkeypatch, capfd):
    (folder / "dan.zip").write_bytes(b"no archive")
    assert who() == EVERYONE and kept(folder, output)["dan.zip"].judgement.score is None
    record = new_record("dan", ASSIGNMENT, VERSION).refused("because")
    put(output, "dan.zip", SEEDS.seal(record))
    assert who() == [] and "because" not in kept(folder, output)["dan.zip"].judgement.parts[0].message

    def broken(*arguments):
        raise KeyError("a bug in intake")

    monkeypatch.setattr("autograder.classroom.grading.content_hash", broken)
    assert who() == EVERYONE and "a bug in intake" in capfd.readouterr().err


@pytest.fixture
def failed():
    """The task of each student whose second test fails."""
    return {"bob": "1.2"}


@pytest.fixture
def grade(typed, use, monkeypatch, failed):
    """Runs the command; its status, and who has run."""
    names = use(lambda intake: [two_tests(failed.get(intake.name, ""))])

    def grade(*arguments: object, version: str = VERSION) -> tuple[int, list[str]]:
        monkeypatch.setattr("autograder.commands.arguments.grader_version", lambda *of: version)
        return typed.grade(*arguments), names()

    return grade


def test_a_regrade_is_shown_before_it_is_kept(grade, typed, output, failed):
    assert grade() == (0, EVERYONE) and typed.scores() == {"anna": 100, "bob": 94, "carl": 100}
    assert grade(version=OTHER) == (0, EVERYONE)
    versions = {json.loads(path.read_text())["judgement"]["grader_version"] for path in output.glob("records/*")}
    assert versions == {OTHER}, "where no mark changes, it is kept at once"
    failed["bob"] = "1.4"
    assert grade(version="1" * 16) == (1, EVERYONE)
    assert "1 mark would change, and stays as it is until you add --keep:\n  bob: 94 → 94.5\n" in typed.out
    assert "    1.2 Scaled dot-product attention: 8 → 14 (attention_1: failed → passed)\n" in typed.out
    assert "    1.4 Layer normalisation: 10 → 4.5 (layer_norm_1: passed → failed)" in typed.out
    assert "anna" not in typed.out and typed.scores()["bob"] == 94
    assert grade(version="1" * 16) == (1, []), "it is shown again, and nothing runs"
    assert grade("--keep", version="1" * 16) == (0, []) and typed.scores()["bob"] == 94.5
    assert "1 mark changed:\n  bob: 94 → 94.5" in typed.out
    assert grade(version="1" * 16) == (0, []) and "changed" not in typed.out


def test_marks_that_another_secret_has_sealed_stop_every_command(grade, typed, output, monkeypatch):
    grade()
    before = (output / "class.json").read_text()
    typed.enrol("id,name\nanna,Anna\n")
    monkeypatch.setattr("autograder.grading.provenance.term_secret", lambda root: b"the secret of another term")
    assert grade() == (2, []) and "graded with another secret than data/private/grading_secret.txt" in typed.err
    assert (output / "class.json").read_text() == before
    assert typed.run("export-marks", output, "--for", "moodle") == 2 and "copy that one here" in typed.err


def test_new_points_run_nothing(grade, typed, tmp_path):
    grade()
    path = changed_assignment(tmp_path / "assignment.toml", ("points = 14", "points = 28"))
    typed.assignment = ["--assignment", path]
    assert grade() == (1, []) and typed.scores()["bob"] == 94
    assert "1.2 Scaled dot-product attention: 8 → 16 (worth 14 points before, 28" in typed.out
    assert "\n  anna; carl: 100 of 100 → 114 of 114\n" in typed.out, "alike changes are listed once"
    assert grade("--keep") == (0, []) and typed.scores()["bob"] == 102


def test_marks_of_two_scales_have_no_mean(grade, typed, output, tmp_path):
    grade()
    (output / "records" / "bob.json").unlink()
    path = changed_assignment(tmp_path / "assignment.toml", ("points = 14", "points = 28"))
    typed.assignment = ["--assignment", path]
    assert grade() == (1, ["bob"]) and [typed.row(name)["max_score"] for name in ("anna", "bob")] == [100, 114]
    assert "3 submissions, no mean, since some marks are weighed otherwise, and wait for --keep" in typed.out


def test_another_maximum_changes_every_mark_but_none_of_no_points():
    heavier = replace(ASSIGNMENT, tasks=(replace(ASSIGNMENT.tasks[0], points=10), *ASSIGNMENT.tasks[1:]))
    oral = Decision(student="anna", kind="points", value=50, text="an oral exam", by="tina")
    for others, decided, points in (
        (State.PASSED, {}, "100 of 100 → 106 of 106"),
        (State.FAILED, {}, None),
        (State.FAILED, {("points", WHOLE): oral}, "50 of 100 → 50 of 106"),
    ):
        old = record_of("anna", others=others).judgement
        change = change_of(*(mark_of(judgement, decided) for judgement in (old, weighed(old, heavier))))
        assert (change and change.points) == points


def test_where_the_grader_fails_the_earlier_mark_stays(grade, typed, use):
    def fail(intake):
        yield two_tests()
        if intake.name == "anna":
            yield [TaskResult(ASSIGNMENT.tasks[0], State.GRADER_ERROR, 0.0, "a bug of ours")]

    grade()
    use(fail)
    for options in ((), ("--keep",)):
        assert grade(*options, version=OTHER)[0] == 1 and typed.scores()["anna"] == 100
        assert "anna: 100 → no mark" in typed.out and "the grader failed over 1 of them this time" in typed.out


def test_a_change_of_which_the_sum_shows_nothing_is_named_with_its_tests():
    change = change_of(*(mark_of(record_of("anna", *two_tests(failed)).judgement) for failed in ("2.1", "2.2")))
    assert change.points == "95.5 → 95.5" and change.parts == (
        "2.1 Encoder layer: 5.5 → 10 (encoder_layer_1: failed → passed)",
        "2.2 Decoder layer: 10 → 5.5 (decoder_layer_1: passed → failed)",
    )


def fatal(intake):
    """Ends its process over anna, raises over bob, and loses its sandbox over carl; all after the first part."""
    yield [TaskResult(ASSIGNMENT.tasks[0], State.PASSED, 4.0, "")]
    if intake.name == "anna":
        os.kill(os.getpid(), signal.SIGKILL)
    if intake.name == "bob":
        raise RuntimeError("a bug of ours")
    if intake.name == "carl":
        raise SandboxUnavailableError("the zygote did not start a worker")
    yield from all_passed(intake)


def test_a_grader_that_is_killed_or_fails_stops_no_other_and_takes_no_points(folder, output, use, capfd):
    (folder / "dora").mkdir()
    (folder / "dora" / "layers.py").write_text("# by dora\n")
    use(fatal)
    records = run(folder, output, n_children=2)
    assert records["dora"].judgement.score == 100
    reasons = {"anna": "ended by signal 9", "bob": "RuntimeError: a bug of ours", "carl": "the zygote did not start"}
    for name, reason in reasons.items():
        first, *others = records[name].judgement.parts
        assert (first.state, first.score) == ("passed", 4), "what was judged before stays"
        assert {part.state for part in others} == {"grader error"}
        assert all(reason in part.message for part in others) and reason in records[name].run.error
        assert not records[name].is_finished and records[name].judgement.score is None
    printed = capfd.readouterr().err
    assert "Traceback" in printed and "a bug of ours" in printed
    names = use()
    names()
    assert run(folder, output)["anna"].judgement.score == 100 and names() == [*reasons], "by the next run"


def test_a_child_has_the_time_of_all_that_its_submission_may_take():
    """Component tests, what they are diagnosed by, hunts; and own tests."""
    assert TIMES >= 3 + PATIENCE
