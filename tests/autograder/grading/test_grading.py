"""Submissions of all kinds, from their folders to their points."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.catalogue import apply, faults_of
from autograder.grading import explaining
from autograder.grading.judging import judge_translations
from autograder.grading.record import Part, Record
from autograder.grading.recording import Recorder
from autograder.intake import Intake
from autograder.reports.gradescope import as_results
from autograder.reports.terminal import as_table
from autograder.sources import read_sources
from autograder.testing.hints import HINTS, read_hints
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, ROOT
from release.contents import hints_of

from ..submissions import write_submission
from .conftest import FAULTS, PERFECT, VERSION, in_a_hurry

FULL = {task.number: task.points for task in read_assignment().tasks if task.components and not task.is_answered}
"""Of the parts; questions about one's own code are others after any change of it."""


def parts(record: Record) -> dict[str, Part]:
    return {part.number: part for part in record.judgement.parts}


def lost(record: Record) -> dict[str, str]:
    """The states of the parts that are judged by tests and not fully passed."""
    found = parts(record)
    return {number: found[number].state for number in FULL if found[number].state != "passed"}


@pytest.mark.slow
def test_the_reference_earns_every_point(graded):
    record = graded("good")
    assert lost(record) == {}
    assert record.judgement.max_score == 100
    assert record.judgement.score == sum(task.points for task in read_assignment().tasks), "the bonus, too"
    assert record.judgement.bleu.value == pytest.approx(1)


def test_the_skeleton_earns_nothing_and_says_what_to_do(graded):
    record = graded("skeleton")
    assert record.judgement.score == 0
    for part in record.judgement.parts:
        if part.components and not part.extension:
            assert part.state == "not attempted"
            assert part.message.startswith(f"TODO {part.number}: ")
            assert "\n" not in part.message


@pytest.mark.slow
def test_each_fault_costs_the_points_of_its_own_task_only(graded):
    assert set(lost(graded("faulty"))) == {*FAULTS, "E.2"}  # which judges the broken Encoder too
    assert set(lost(graded("faulty")).values()) <= {"failed", "error"}
    assert all(parts(graded("faulty"))[number].score < FULL[number] for number in FAULTS)


@pytest.mark.slow
def test_without_the_catalogue_the_hint_is_the_one_that_students_get(grade_folder, tmp_path, monkeypatch):
    assignment = read_assignment()
    [fault] = (fault for fault in faults_of(assignment) if fault.id == "layer-norm-sample-variance")
    folder = write_submission(tmp_path / "anna")
    text = apply(fault, read_sources(REFERENCE, REFERENCE))["layers"][1]
    (folder / "layers.py").write_text(text)
    named = parts(grade_folder(folder))["1.4"]
    assert named.diagnosis.text.endswith(f"\nHint: {fault.hint}")
    (tmp_path / HINTS).write_bytes(hints_of(ROOT)[f"autograder/assignment/{HINTS}"])
    monkeypatch.setattr(explaining, "read_hints", lambda folder: read_hints(tmp_path))
    monkeypatch.setattr(explaining, "faults_of", lambda assignment: [])
    hinted = parts(grade_folder(folder))["1.4"]
    assert (hinted.diagnosis.text, hinted.diagnosis.fault) == (f"Hint: {fault.hint}", "")
    assert (hinted.score, hinted.tests) == (named.score, named.tests)


@pytest.mark.slow
def test_modules_that_fail_cost_their_own_tasks_only(graded):
    assert lost(graded("broken")) == dict.fromkeys(["1.4", "1.5", "2.1", "2.2", "3.1", "E.2"], "error")
    norm = parts(graded("broken"))["1.4"]
    assert "SyntaxError" in norm.message and norm.traceback.startswith("layers.py, line 1")


@pytest.mark.slow
def test_missing_files_are_taken_from_the_release(graded):
    earned = {part.number for part in graded("attention only").judgement.parts if part.score}
    assert earned == {"1.2", "1.3"}


@pytest.mark.slow
def test_what_ends_its_process_costs_its_own_task_only(graded):
    expected = {"1.1": "out of memory", "1.4": "timeout", "1.5": "error", "3.1": "error"}
    assert lost(graded("trouble")) == expected
    assert "ended itself with status 0" in parts(graded("trouble"))["1.5"].message


@pytest.mark.slow
def test_an_endless_loop_everywhere_ends_with_the_total_limit(grade_folder, tmp_path):
    folder = write_submission(tmp_path / "anna", modules=())
    loop = "class {0}:\n    def __init__(self, *a, **k):\n        while True: time.sleep(1)\n"
    (folder / "layers.py").write_text("import time\n" + "".join(map(loop.format, ("LayerNorm", "FeedForward"))))
    (folder / "attention.py").write_text("import time\n" + loop.format("MultiHeadedAttention"))
    (folder / "embedding.py").write_text((write_submission(tmp_path / "bob") / "embedding.py").read_text())
    assignment = in_a_hurry(call_seconds=0.7, total_seconds=3)
    record = grade_folder(folder, assignment=assignment)
    messages = [test.message for part in parts(record).values() for test in part.tests]
    assert any("total of 3 s is used up" in message for message in messages)
    found = {number: part.state for number, part in parts(record).items()}
    assert [found[number] for number in ("1.1", "1.3", "1.4")] == ["passed", "timeout", "timeout"]


@pytest.mark.parametrize(
    "content, state, message",
    [
        (PERFECT, "passed", "BLEU 1.00 reaches"),
        ("nothing like it\n" * 4, "failed", ""),
        (PERFECT * 2, "error", "8 lines"),
        ("", "error", "empty"),
        (None, "not attempted", "no translations.txt"),
    ],
)
def test_translations(references, content, state, message):
    intake = Intake("anna", {}, translations=None if content is None else content.encode())
    assignment = read_assignment()
    record = Recorder("anna", assignment, VERSION).add_all(judge_translations(intake, assignment, references))
    judged = [part for part in record.judgement.parts if part.state != "pending"]
    assert [part.number for part in judged] == ["4.1", "4.2"]
    for part in judged:
        assert part.state == state
        assert part.score == (part.points if state == "passed" else 0)
        assert message in part.message


def test_results_have_gradescopes_shape_and_the_table_every_task(graded):
    record = graded("attention only")
    results = as_results(record)
    assert results["score"] == sum(test["score"] for test in results["tests"])
    tasks = {task.number: task for task in read_assignment().tasks}
    assert [test["number"] for test in results["tests"]] == list(tasks)
    for test in results["tests"]:
        task = tasks[test["number"]]
        assert test["max_score"] == task.points
        assert test["status"] in ("passed", "failed")
        assert test["tags"] == (list(task.components) or ["BLEU"])
        assert test["output"].startswith(f"**{test['extra_data']['state']}**")
        assert task.title in as_table(record)


LAYOUT = Path(__file__).parent / "adapters" / "single_file"
"""Another course's model, with names and files of its own."""


@pytest.mark.slow
def test_a_package_with_adapters_is_graded_and_its_author_runs_the_same_tests(grade_folder):
    record = grade_folder(LAYOUT)
    passed = {number for number, part in parts(record).items() if part.state == "passed"}
    assert passed == {"1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2"}
    assert "transformer.py" in record.judgement.files and not any("ignored" in note for note in record.judgement.notes)
    command = ["-c", "autograder/assignment/tests/pytest.ini", "--rootdir", ".", "--submission", str(LAYOUT)]
    ran = subprocess.run([sys.executable, "-m", "pytest", *command, "-q", "-m", "task_1_3"], cwd=ROOT, check=False)
    assert ran.returncode == 0
