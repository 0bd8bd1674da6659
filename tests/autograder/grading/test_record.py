"""Records: always valid, whole and harmless, whatever the submission does and whenever the grader is killed."""

import json
import os
import re
import signal
from dataclasses import replace

import psutil
import pytest

from autograder.grading.record import MAX_TEXT, Record, new_record, read_record, write_record
from autograder.grading.submission import Conditions, grade_alone, grade_submission, open_grader
from autograder.intake.submission import take_in
from autograder.reports.gradescope import as_results
from autograder.reports.terminal import as_table
from autograder.sandbox.errors import SandboxUnavailableError
from autograder.sandbox.zygote import Zygote
from autograder.testing.results import Outcome, State
from foundation.places import SKELETON

from ..conftest import ASSIGNMENT, SEEDS, VERSION, judged, write_submission
from .conftest import CLASS

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def blank(name: str = "anna") -> Record:
    return new_record(name, ASSIGNMENT, VERSION)


@pytest.mark.parametrize("name", CLASS)
def test_every_kind_of_submission_gets_a_valid_record(graded, name, tmp_path):
    record = graded(name)
    write_record(tmp_path / "record.json", record)
    assert read_record(tmp_path / "record.json") == record
    assert record.is_finished and record.judgement.grader_version == VERSION
    for part in record.judgement.parts:
        assert part.state == "passed" or part.message, part.number
        assert len({test.nodeid for test in part.tests}) == len(part.tests)
    if name != "no archive.zip":
        assert record.run.layers[0] == "seccomp" and re.fullmatch("[0-9a-f]{12}", record.judgement.seed_id)


def test_the_seal_of_a_record_from_before_the_newest_field_holds(tmp_path):
    record = blank()
    parts = [part.changed(in_class=False) for part in record.judgement.parts]
    earlier = SEEDS.seal(record.changed(judgement=record.judgement.with_parts(parts)))
    write_record(tmp_path / "record.json", earlier)
    assert "in_class" not in (tmp_path / "record.json").read_text() and record != earlier
    assert SEEDS.has_sealed(read_record(tmp_path / "record.json"))


@pytest.mark.slow
def test_text_of_a_submission_can_forge_no_line_and_steer_no_terminal(graded):
    record = graded("trouble")
    [training] = [part for part in record.judgement.parts if part.number == "3.1"]
    assert "KeyError" in training.message and len(training.message) <= MAX_TEXT
    lines = training.traceback.splitlines()
    assert all(line.startswith(("train.py, ", "    ")) for line in lines), "the submission's own frames alone"
    for text in (record.model_dump_json(), as_table(record), json.dumps(as_results(record))):
        assert not CONTROL.search(text)
    record = blank("\x1b]0;owned\x07\nscore 100\udcff")
    hostile = record.refused("be\x1bcause\udcff", {"a\nb\udcff": "0" * 64})
    assert not CONTROL.search(hostile.model_dump_json().replace("\\n", ""))
    assert "\nscore 100" not in as_table(hostile)


@pytest.mark.slow
def test_a_killed_zygote_is_replaced_and_no_test_is_blamed(graded, references, class_folder):
    intake = take_in(class_folder / "attention only", SKELETON, ASSIGNMENT)
    with Zygote(ASSIGNMENT) as own, open_grader(ASSIGNMENT, references, zygote=own) as grader:
        assert not own.has_ended
        process = psutil.Process(own._process.pid)
        victim = [process, *process.children(recursive=True)][-1].pid
        for record in grade_submission(intake, blank("attention only"), SEEDS, grader):
            if victim and record.run.layers is not None:
                os.kill(victim, signal.SIGKILL)
                victim = 0
        grader.zygote.close()
    assert record.judgement == graded("attention only").judgement and record.is_finished
    assert any("judged again" in note for note in record.run.notes)


def test_a_machine_that_fails_costs_no_one_points_silently(zygote, references, tmp_path, monkeypatch):
    def fork(*arguments: object, **options: object):
        raise SandboxUnavailableError("no processes left")

    monkeypatch.setattr(zygote, "fork", fork)
    module = "autograder.grading.submission"
    monkeypatch.setattr(f"{module}.open_grader", lambda *arguments: open_grader(*arguments, zygote))
    folder, records = write_submission(tmp_path / "anna"), []
    conditions = Conditions(ASSIGNMENT, SKELETON, references, VERSION, SEEDS)
    with pytest.raises(SandboxUnavailableError):
        grade_alone(folder, conditions, records.append)
    record = records[-1]
    judged = [part for part in record.judgement.parts if part.components]
    assert not record.is_finished and {part.state for part in judged} == {"grader error"}
    assert all("no processes left" in part.message for part in judged) and "no processes left" in record.run.error


@pytest.mark.slow
def test_the_same_submission_and_seed_give_the_same_judgement(graded, class_folder, grade_folder):
    """By itself as in a class, and whatever other tasks there are."""
    tasks = tuple(task for task in ASSIGNMENT.tasks if task.number in ("1.2", "1.4", "3.1"))
    second = grade_folder(class_folder / "faulty", replace(ASSIGNMENT, tasks=tasks)).judgement.parts
    first = [part for part in graded("faulty").judgement.parts if part.number in ("1.2", "1.4", "3.1")]
    assert [part.model_dump_json() for part in first] == [part.model_dump_json() for part in second]


def test_a_result_without_containment_says_so():
    unsafe = blank().judged(notes=["a note"]).contained((), "")
    [first] = unsafe.run.notes
    assert "--level unsafe" in first and unsafe.judgement.notes == ("a note",)
    assert first in as_table(unsafe).replace("\n", " ") and first in as_results(unsafe)["output"]
    assert "rlimits only (unsafe)" in as_table(unsafe)


def test_what_is_pending_or_failed_for_our_own_reasons_is_not_finished():
    assert not blank().finished().is_finished
    whole = blank().judged(judged())
    assert whole.finished().is_finished
    failed = replace(judged()[0], outcomes=(Outcome("test", State.GRADER_ERROR),))
    assert not whole.judged([failed]).finished().is_finished


def test_what_is_not_a_record_is_none(tmp_path):
    text = blank().model_dump_json()
    odd = (
        text.replace('"pending"', '"splendid"', 1),
        text.replace("{", '{"more": 1,', 1),
        text.replace('"run"', '"ran"'),
    )
    for other in (*odd, "", "{", "[]", "\udcff"):
        (tmp_path / "record.json").write_text(other, errors="surrogateescape")
        assert read_record(tmp_path / "record.json") is None
