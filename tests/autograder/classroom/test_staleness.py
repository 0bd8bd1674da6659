"""A finished record is kept until something that decides marks changes."""

import pytest

from autograder.grading.recording import Recorder
from autograder.grading.submission import refusal
from autograder.intake import IntakeRefusedError
from autograder.sandbox.containment.layers import layers_of, satisfies
from foundation.assignment_file import read_assignment

from .conftest import SEEDS, VERSION, put, run


@pytest.mark.slow
def test_finished_records_are_kept_until_something_that_decides_marks_changes(folder, output, log):
    everyone = ["anna", "bob", "carl"]
    assert list(run(folder, output)) == everyone and log() == everyone
    run(folder, output)
    assert log() == []
    (folder / "bob" / "layers.py").write_text("# changed\n")
    run(folder, output)
    assert log() == ["bob"]
    records = run(folder, output)
    carl = records["carl"]
    put(output, "carl", SEEDS.seal(carl.changed(run=carl.run.changed(finished=None))))
    put(output, "anna", records["anna"].changed(seal=""))
    run(folder, output)
    assert log() == ["anna", "carl"]
    run(folder, output, again=True)
    assert log() == everyone
    run(folder, output, version="f" * 16)
    assert log() == everyone


@pytest.mark.slow
def test_a_record_is_kept_only_where_its_level_and_its_seed_are_as_asked(folder, output, log):
    def who(**options):
        run(folder, output, **options)
        return log()

    everyone = ["anna", "bob", "carl"]
    assert who() == everyone
    assert who(level="require-uid") == who(level="unsafe") == []
    for layers, level in ((("uid", "landlock"), "auto"), (("seccomp", "uid"), "require-namespaces")):
        record = run(folder, output)["anna"]
        put(output, "anna", SEEDS.seal(record.changed(run=record.run.changed(layers=layers))))
        assert "anna" in who(level=level)
    assert who(seed=7) == everyone and who(seed=7) == []
    assert who(seed=8) == everyone
    assert who() == who(seed=7) == [], "what was found out once is not run again"


@pytest.mark.parametrize(
    "level, described, is_enough",
    [
        ("auto", "seccomp", True),
        ("auto", "rlimits only (unsafe)", False),
        ("auto", "namespaces+uid (unsafe)", False),
        ("unsafe", "rlimits only (unsafe)", True),
        ("require-namespaces", "seccomp+namespaces+uid+landlock", True),
        ("require-namespaces", "seccomp+uid+landlock", False),
        ("require-landlock", "uid+landlock (unsafe)", False),
        ("require-uid", "seccomp+uid", True),
        ("require-uid", None, True),
    ],
)
def test_which_containment_is_enough(level, described, is_enough):
    assert satisfies(level, None if described is None else layers_of(described)) == is_enough


def test_a_refused_submission_is_looked_at_again(folder, output, log):
    (folder / "dan.zip").write_bytes(b"no archive")
    assert run(folder, output)["dan.zip"].judgement.score is None
    recorder = Recorder("dan", read_assignment(), VERSION)
    put(output, "dan.zip", SEEDS.seal(recorder.add_all(refusal(IntakeRefusedError("dan", "because")))))
    assert "because" not in run(folder, output)["dan.zip"].judgement.parts[0].message


def test_a_look_at_an_odd_submission_that_breaks_is_shown_and_regrades(folder, output, log, monkeypatch, capfd):
    run(folder, output)
    log()

    def broken(*arguments):
        raise KeyError("a bug in intake")

    monkeypatch.setattr("autograder.classroom.regrading.take_in", broken)
    run(folder, output)
    assert log() == ["anna", "bob", "carl"] and "a bug in intake" in capfd.readouterr().err
