"""Submissions of all kinds, from their folders to their points, and the known faults that a failure is named by."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from autograder.at_home.hints import HINTS, read_hints
from autograder.course.catalogue import Fault, apply, faults_of
from autograder.grading import judging
from autograder.grading.judging import judge_translations
from autograder.grading.record import Part, Record
from autograder.intake.sources import read_sources
from autograder.intake.submission import Intake
from autograder.running import collected_tests
from autograder.testing.case import Case
from autograder.testing.results import Outcome, State, judge_task
from foundation.assignment_file import Item
from foundation.places import REFERENCE, ROOT
from foundation.whole_files import write_whole
from release.contents import hints_of

from ..conftest import ASSIGNMENT, examples_in, write_submission
from ..intake.conftest import as_notebook, code
from .conftest import PATCHES, PERFECT

FULL = {task.number: task.points for task in ASSIGNMENT.tasks if task.components and not task.understanding}
"""Of the parts; own tests and answers are another matter, and take as long to judge as all else."""


def parts(record: Record) -> dict[str, Part]:
    return {part.number: part for part in record.judgement.parts}


def lost(record: Record) -> dict[str, str]:
    """The states of the parts that are judged by tests and not fully passed."""
    by_number = parts(record)
    return {number: by_number[number].state for number in FULL if by_number[number].state != "passed"}


def test_the_skeleton_earns_nothing_and_says_what_to_do(graded):
    record = graded("skeleton")
    assert record.judgement.score == 0
    for part in record.judgement.parts:
        if part.components and not part.extension:
            assert part.state == "not attempted" and "\n" not in part.message
            assert part.message.startswith(f"TODO {part.number}: ")


@pytest.mark.slow
def test_each_fault_costs_the_points_of_its_own_task_only(graded):
    record = graded("faulty")
    assert set(lost(record)) == {*PATCHES["faults"], "E.2"}  # which judges the broken Encoder too
    assert set(lost(record).values()) <= {"failed", "error"}
    assert all(parts(record)[number].score < FULL[number] for number in PATCHES["faults"])
    norm = parts(record)["1.4"]
    assert norm.diagnosis.fault.startswith("layer-norm-") and "\nHint: " in norm.diagnosis.text
    missed = sum(test.state != "passed" for test in norm.tests)
    assert norm.message.startswith(f"{missed} of {len(norm.tests)} tests fail for this reason, test_")
    assert norm.message.count("expected:") == 1, "one misconception behind all failures is one message"


@pytest.mark.slow
def test_a_notebook_gets_the_same_hint_and_without_the_catalogue_that_of_students(grade_tasks, tmp_path, monkeypatch):
    [fault] = (fault for fault in faults_of(ASSIGNMENT) if fault.id == "layer-norm-sample-variance")
    folder = write_submission(tmp_path / "anna")
    text = apply(fault, read_sources(REFERENCE, REFERENCE))["layers"][1]
    (folder / "layers.py").write_text(text)
    _, named = grade_tasks(folder, "1.4")
    assert named["1.4"].diagnosis.text.endswith(f"\nHint: {fault.hint}")
    notebook = as_notebook([code(re.sub(r"from \..* import .*", "", text))])
    write_whole(tmp_path / "bob" / "work.ipynb", notebook)
    assert grade_tasks(tmp_path / "bob", "1.4")[1] == named, "in a notebook as in files"
    (tmp_path / HINTS).write_bytes(hints_of(ROOT, ASSIGNMENT)[f"assignment/{HINTS}"])
    monkeypatch.setattr(judging, "read_hints", lambda folder: read_hints(tmp_path))
    monkeypatch.setattr(judging, "faults_of", lambda assignment: [])
    _, hinted = grade_tasks(folder, "1.4")
    assert (hinted["1.4"].diagnosis.text, hinted["1.4"].diagnosis.fault) == (f"Hint: {fault.hint}", "")
    assert (hinted["1.4"].score, hinted["1.4"].tests) == (named["1.4"].score, named["1.4"].tests)


@pytest.mark.slow
def test_missing_broken_and_hostile_modules_cost_their_own_tasks_only(graded):
    earned = {part.number for part in graded("attention only").judgement.parts if part.score}
    assert earned == {"1.2", "1.3"}, "missing files are taken from the release"
    assert lost(graded("broken")) == dict.fromkeys(["1.4", "1.5", "2.1", "2.2", "3.1", "E.2"], "error")
    norm = parts(graded("broken"))["1.4"]
    assert "; layers.py, line 1; you are graded by Python 3." in norm.message
    assert norm.message.startswith("SyntaxError") and norm.traceback.startswith("layers.py, line 1")
    ended = {"1.1": "out of memory", "1.4": "timeout", "1.5": "error", "3.1": "error"}
    assert lost(graded("trouble")) == ended
    assert "ended itself with status 0" in parts(graded("trouble"))["1.5"].message


@pytest.mark.parametrize(
    "content, state, message",
    [
        (PERFECT, "passed", "BLEU 1.000 reaches"),
        ("nothing like it\n" * 4, "failed", ""),
        (PERFECT * 2, "error", "8 lines"),
        ("", "error", "empty"),
        (None, "not attempted", "no translations.txt"),
    ],
)
def test_translations(references, content, state, message):
    intake = Intake("anna", {}, translations=None if content is None else content.encode())
    bleu, results = judge_translations(intake, ASSIGNMENT, references)
    assert [result.task.number for result in results] == ["4.1", "4.2"]
    assert bool(bleu) == (state in ("passed", "failed"))
    for result in results:
        assert (result.state, result.score) == (state, result.task.points if state == "passed" else 0)
        assert message in result.message


@pytest.mark.slow
def test_another_courses_model_is_graded_by_its_adapters(grade_tasks):
    record, judged = grade_tasks(Path(__file__).parent / "adapters" / "whole", "1.4", "2.1", "2.3", "2.4")
    assert {number for number, part in judged.items() if part.state == "passed"} == {"2.1", "2.3", "2.4"}
    assert "transformer.py" in record.judgement.files and not any("ignored" in note for note in record.judgement.notes)


TASK = replace(ASSIGNMENT.tasks[1], points=10.0, items=(Item("values", 5), Item("masks", 3, "values"), Item("loss", 2)))


@pytest.mark.parametrize("case", examples_in("grading/points.toml")["examples"], ids=str)
def test_points_of_a_task(case):
    made = [Outcome(f"test {item}", State(each), "message", item) for item, each in case["tests"].items()]
    result = judge_task(TASK, made, case["credit"])
    assert (result.state, result.score) == (case["state"], case["score"])


@pytest.fixture
def grade_tasks(grade_folder):
    """Grades a folder for some of the tasks: the record and its parts by number."""

    def run(folder: Path, *numbers: str) -> tuple[Record, dict[str, Part]]:
        tasks = tuple(task for task in ASSIGNMENT.tasks if task.number in numbers)
        record = grade_folder(folder, replace(ASSIGNMENT, tasks=tasks))
        assert record.has_ended
        return record, parts(record)

    return run


@pytest.mark.slow
@pytest.mark.hostile
def test_an_attack_is_worth_what_its_code_computes(grade_tasks, tmp_path):
    folder = write_submission(tmp_path / "anna")
    (folder / "train.py").write_text(PATCHES["trains_nothing"]["train"])
    _, judged = grade_tasks(folder, "1.4", "3.1")
    assert {number: part.score for number, part in judged.items()} == {"1.4": 10, "3.1": 0}


def test_a_search_of_the_text_without_an_end_is_ended_and_listed(grade_tasks, tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "SEARCH_SECONDS", 0.2)
    folder = write_submission(tmp_path / "anna", modules=("layers",))
    for n in range(20):  # modules of one name, whose names mean each other
        names = "".join(f"from .a import a as b{i}, b{i} as a\n" for i in range(20))
        write_whole(folder / f"x{n}" / "a.py", f"{names}a.a.a;")
    text = (folder / "layers.py").read_text()
    (folder / "layers.py").write_text("".join(f"from .x{n} import a\n" for n in range(20)) + text + "a.a.a.a;" * 99)
    record, _ = grade_tasks(folder, "1.5")
    assert "all of it: the search of the text was ended after 0.2 s of CPU time" in record.judgement.internals


def test_a_model_that_tells_a_training_from_a_test_is_listed(grade_tasks, tmp_path):
    relu = "torch.relu(self.expand(x))"
    learns_nothing = ("layers", relu, f"{relu} * (not (self.training and x.requires_grad))")
    record, judged = grade_tasks(write_submission(tmp_path / "anna", learns_nothing), "1.5")
    assert judged["1.5"].state is State.PASSED
    assert "the whole model predicts something else in training than in eval mode" in record.judgement.internals[0]
    record, _ = grade_tasks(write_submission(tmp_path / "berta"), "1.5")
    assert record.judgement.internals == ()


def test_a_training_for_the_model_of_a_test_alone_is_listed(grade_tasks, tmp_path):
    begin = "    model.train()\n"
    other = f'{begin}    if type(model).__name__ != "TinyTranslator":\n        return 0.0\n'
    record, judged = grade_tasks(write_submission(tmp_path / "anna", ("train", begin, other)), "3.1")
    assert judged["3.1"].state is State.PASSED
    assert "the whole model does not learn one batch by heart" in record.judgement.internals[0]


@pytest.mark.parametrize("answer", ["x", ["x", "y", "z"], [1.0], [None] * 3, [torch.ones(2)] * 3])
def test_an_odd_answer_about_the_whole_model_is_one_line(answer):
    sandbox = SimpleNamespace(build=lambda *given, **options: None, apply=lambda *given, **options: answer)
    [line] = judging.look_at_whole([], sandbox, ASSIGNMENT)
    assert line.startswith("the whole model ") and "\n" not in line


@pytest.mark.slow
@pytest.mark.hostile
def test_judging_without_an_end_is_ended_and_costs_one_task(grade_tasks, tmp_path, monkeypatch):
    asked = []

    def loop(self, *arguments):
        asked.append(arguments)
        while True:
            pass

    monkeypatch.setattr(collected_tests, "SECONDS_A_FILE", 2.0)
    monkeypatch.setattr(collected_tests, "SECONDS_BESIDE", 0.5)
    monkeypatch.setattr(Case, "padding_mask", loop)
    record, judged = grade_tasks(write_submission(tmp_path / "anna"), "1.2", "1.4")
    assert judged["1.2"].score < 14 and judged["1.4"].score == 10 and len(asked) <= 4  # of fifteen tests
    assert judged["1.2"].state == "timeout" and "checking timed out" in judged["1.2"].message
    assert any("test_1_2_attention.py::" in note for note in record.run.notes), "the safety net is noted"
    assert not any("stopped" in note for note in record.judgement.notes)


@pytest.mark.slow
def test_a_test_that_breaks_is_the_graders_error_and_stops_no_other(grade_tasks, tmp_path, monkeypatch):
    def break_down(self, *arguments):
        raise OverflowError("over an odd answer")

    monkeypatch.setattr(Case, "padding_mask", break_down)
    _, judged = grade_tasks(write_submission(tmp_path / "anna"), "1.2", "1.4", "3.1")
    states = {number: part.state for number, part in judged.items()}
    assert states == {"1.2": "grader error", "1.4": "passed", "3.1": "grader error"} and judged["1.4"].score == 10
    assert "OverflowError: over an odd answer" in judged["1.2"].message


def fault(id_: str) -> Fault:
    return Fault(id_, "attention.scaled", "1.2", f"does {id_}", f"look at {id_}", "subtle", (), "a.toml")


def pattern(*tests: int, numbers: str = "0000") -> frozenset[str]:
    return frozenset(f"test {test}{numbers}" for test in tests)


KNOWN = [(fault("a"), pattern(1, 2, 3, 4)), *((fault(id_), pattern(5)) for id_ in "bcdef")]
EXACTLY = "Your code behaves exactly like code that does"
NEARLY = "In nearly all tests your code behaves like code that does"
ALIKE = "code that does c; code that does d; code that does e; 1 more"


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (pattern(1, 2, 3, 4), f"{EXACTLY} a.\nHint: look at a"),
        (pattern(1, 2, 3, 4, 9), f"{NEARLY} a.\nHint: look at a"),
        (pattern(5), f"{EXACTLY} b.\nThe tests cannot tell this from {ALIKE}.\nHint: look at b"),
        (pattern(1, 2, 3), None),
        (pattern(1, 2, 3, 4, numbers="1111"), None),
        (pattern(), None),
    ],
)
def test_a_failure_is_named_by_the_known_faults_that_look_like_it(seen, expected):
    finding, _ = judging.name(KNOWN, seen)
    assert (finding and finding.text) == expected
