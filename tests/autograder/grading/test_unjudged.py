"""Code that passes although no test has reached it: it costs nothing, and is listed wherever someone may look."""

import subprocess
import sys

import pytest

from autograder.classroom.marks import mark_of
from autograder.classroom.results import results_of
from autograder.classroom.roll import Member, Roll
from autograder.grading.events import UnjudgedFound
from autograder.grading.judging import search_text
from autograder.grading.launcher import open_grader
from autograder.grading.marks import TaskResult, passing_components
from autograder.grading.record import MAX_NOTES, Unjudged
from autograder.grading.recording import Recorder
from autograder.grading.states import State
from autograder.grading.submission import events_of
from autograder.grading.unjudged import unjudged_in
from autograder.intake import Intake, take_in
from autograder.reports.class_summary import sections_of
from autograder.reports.pages.class_page import cases
from autograder.reports.pages.student_page import student_view
from autograder.reports.pages.writing import make_environment
from autograder.reports.terminal import as_table
from autograder.rules import find_judged_code, find_short_cuts
from autograder.rules.evaluation import Evaluator
from autograder.rules.forbidden import ForbiddenNames
from autograder.sandbox.replies import BreachError, read_reached
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

from ..submissions import write_submission
from .conftest import SEEDS, SKELETON, VERSION

ASSIGNMENT = read_assignment()
START = "        centred = x - x.mean"
RARE = ("layers", START, f"        if x.size(-1) > 999:\n            x = x + 1\n{START}")
FAKED = (
    "layers",
    START,
    "        for name, report in vars(__import__('builtins')).items():\n"
    "            if name[:1] == '@' and name != '@kept':\n"
    "                [report(number) for number in range(4999)]\n" + RARE[2],
)
BROKEN = (
    "layers",
    START,
    "        report = vars(__import__('builtins'))['@submission.layers']\n"
    "        report.__self__.update({'a': 1, None: 2}, [-1, 10**9])\n" + RARE[2],
)


@pytest.fixture(scope="module")
def unreached(grade_module, tmp_path_factory):
    """The record of a submission with a branch that no test takes."""
    return grade_module(write_submission(tmp_path_factory.mktemp("rare") / "anna", RARE))


@pytest.fixture(scope="module")
def grade_module(zygote, references):
    """Grades one folder after the other, without the training run."""
    with open_grader(ASSIGNMENT, references, zygote=zygote) as grader:

        def run(folder):
            intake = take_in(folder, SKELETON, ASSIGNMENT)
            return Recorder(intake.name, ASSIGNMENT, VERSION).add_all(events_of(intake, SEEDS, grader))

        yield run


@pytest.mark.slow
def test_it_is_listed_and_costs_nothing(unreached):
    assert unreached.judgement.score == 90.0
    line = 1 + write_line("x.size(-1) > 999")
    assert unreached.judgement.unjudged == (
        Unjudged(
            component="layers.LayerNorm",
            place=f"layers.py, line {line}",
            what="x.size(-1) > 999 was never true",
            only_raises=False,
        ),
    )


def write_line(text: str) -> int:
    """The number, from 0, of the line that `RARE` puts this text on."""
    lines = (ROOT / "reference" / "layers.py").read_text().replace(*RARE[1:]).split("\n")
    return next(number for number, line in enumerate(lines) if text in line)


@pytest.mark.slow
def test_where_people_look(unreached):
    words = f"layers.py, line {1 + write_line('> 999')}: x.size(-1) > 999 was never true"
    assert words in as_table(unreached)
    first = cases({"anna": unreached}, {"anna": [mark_of(unreached.judgement)]}, ASSIGNMENT.thresholds)[0]
    assert (first.key, first.urgency) == ("anna", 1) and f"no test reached: {words}" in first.reasons
    template = make_environment().get_template("student.html")
    member = Member(id="anna", name="Anna", key="anna", entry="anna.zip")
    roll = Roll(layout="plain", folder="class", has_roster=False, members=(member,), left_out=())
    results = results_of(roll, {"anna": unreached})
    page = template.render(student_view(unreached, ASSIGNMENT, results), name="Anna", is_late=False)
    assert "Code that no test reached" in page and "x.size(-1) &gt; 999 was never true" in page


@pytest.mark.slow
def test_the_reference_has_none(grade_module, tmp_path):
    record = grade_module(write_submission(tmp_path / "good"))
    assert record.judgement.unjudged == ()
    assert "no test" not in as_table(record)


@pytest.mark.slow
@pytest.mark.parametrize("change", [FAKED, BROKEN], ids=["claims all", "claims nonsense"])
def test_a_forged_report_gains_nothing(grade_module, tmp_path, change):
    record = grade_module(write_submission(tmp_path / "eve", change))
    assert record.judgement.score <= 90.0, "no more than without it"
    assert not any(part.state == State.GRADER_ERROR for part in record.judgement.parts)
    assert record.is_finished


def test_nonsense_is_dropped_and_bounded():
    assert read_reached({"layers": [1, 1, True, -1, 2.0, "3", None, 10**9, 4], "os": [1], "x": 3}, {"layers", "x"}) == {
        "layers": {1, 4}
    }
    with pytest.raises(BreachError):
        read_reached([1], {"layers"})
    recorder = Recorder("anna", ASSIGNMENT, "0" * 16)
    many = [Unjudged(component="a", place="b\x1b[2J", what="c" * 9999, only_raises=False)] * 99
    judgement = recorder.add(UnjudgedFound(tuple(many))).judgement
    assert len(judgement.unjudged) == MAX_NOTES and "\x1b" not in judgement.unjudged[0].place


LAYERS = """
def helper(x):
    if x > 3:
        return 0
    return x

def unused(x):
    return 1 if x else 2

class LayerNorm:
    def forward(self, x):
        assert x < 9
        return helper(x)

class FeedForward:
    def forward(self, x):
        return x if x else 0
"""
RELEASE = {
    "layers": ("layers.py", "class LayerNorm:\n  def forward(self, x):\n    assert x < 9\n    return helper(x)\n")
}


def judged_in(text: str, release=None, origins=None):
    intake = Intake(
        "anna", {"layers": ("layers.py", text)}, frozenset(["layers"]), origins=origins or {}, release=release or {}
    )
    return intake, search_text(intake, ASSIGNMENT).judged


def listed(text: str, *states: tuple[str, State], reached=(0, 3, 4, 7), **options) -> list[str]:
    """Places and words of what is listed where tasks ended in these states."""
    intake, judged = judged_in(text, **options)
    numbered = {task.number: task for task in ASSIGNMENT.tasks}
    results = [TaskResult(numbered[number], state, 1.0, "") for number, state in states]
    found = unjudged_in(judged, {"layers": set(reached)}, results, intake.locate)
    return [f"{one.place}: {one.what}{' (raises)' * one.only_raises}" for one in found]


def test_what_is_called_counts_and_what_is_not_does_not():
    assert listed(LAYERS, ("1.4", State.PASSED), reached=()) == ["layers.py, line 2: helper was never called"] + [
        "layers.py, line 11: forward was never called"
    ]
    assert listed(LAYERS, ("1.4", State.PASSED), reached=(0, 2, 6, 7)) == [
        "layers.py, line 3: x > 3 was never true",
        "layers.py, line 12: x < 9 was never false (raises)",
    ]


def test_only_of_components_that_pass():
    passed, failed = State.PASSED, State.FAILED
    assert listed(LAYERS, ("1.4", failed), ("1.5", passed), reached=()) == [
        "layers.py, line 16: forward was never called"
    ]
    tasks = ASSIGNMENT.tasks
    both = {task.number: True for task in tasks}
    assert "layers.EncoderLayer" in passing_components(tasks, {**both, "E.2": False}), "an extension may be left out"
    assert "layers.EncoderLayer" not in passing_components(tasks, {**both, "2.1": False})
    assert "layers.EncoderLayer" not in passing_components(tasks, {**both, "E.2": None}), "its tests have not run"


def test_text_that_was_handed_out_does_not_count():
    assert listed(LAYERS, ("1.4", State.PASSED), reached=(), release=RELEASE) == [
        "layers.py, line 2: helper was never called"
    ]


def test_text_that_was_handed_out_may_be_laid_out_anew():
    given = {"layers": ("layers.py", LAYERS.replace("return 0\n    return x", "return 0\n    return (\n        x)"))}
    assert listed(LAYERS, ("1.4", State.PASSED), reached=(), release=given) == []


def test_statements_that_were_handed_out_inside_of_a_function_do_not_count():
    """Its TODO was beside them; another statement with the same test is the student's."""
    own = LAYERS.replace("return x\n", "x = x + 1\n    return x\n", 1)
    given = {"layers": ("layers.py", LAYERS)}
    assert listed(own, ("1.4", State.PASSED), reached=(), release=given) == [
        "layers.py, line 2: helper was never called"
    ]
    other = own.replace("return 0\n", "return 1\n", 1)
    found = listed(other, ("1.4", State.PASSED), reached=(0,), release=given)
    assert found == ["layers.py, line 3: x > 3 was never true", "layers.py, line 3: x > 3 was never false"]


def test_where_nobody_knows_what_was_handed_out():
    """Then what may have been given is left out: helpers, and what is never called."""
    sources = {"layers": ("layers.py", LAYERS.replace("return helper(x)", "return helper(x) if x > 5 else 0"))}
    evaluator, code = Evaluator(sources, ForbiddenNames(ASSIGNMENT.contract.forbidden)), {}
    find_short_cuts(sources, ["layers.LayerNorm"], ASSIGNMENT.contract.forbidden, None, evaluator, code)
    for release, lines in (({}, [2, 11]), (None, [])):
        judged = find_judged_code(code, release, evaluator)
        assert [b.outcome.line for b in judged.branches({"layers": ()}, code) if b.is_open] == lines
    judged = find_judged_code(code, None, evaluator)
    assert [b.what for b in judged.branches({"layers": [6, 8, 10]}, code) if b.is_open] == [
        "x < 9 was never true",
        "x > 5 was never true",
    ]


def test_lines_of_notebooks_are_named_by_their_cells():
    origins = {"layers": [""] * 2 + ["anna.ipynb, cell 7, line 2"]}
    assert listed(LAYERS, ("1.4", State.PASSED), reached=(0, 2, 6, 7), origins=origins)[0].startswith(
        "anna.ipynb, cell 7"
    )


def test_modules_that_reported_nothing_are_not_listed():
    _, judged = judged_in(LAYERS)
    assert list(judged.branches({}, ["layers.LayerNorm"])) == []
    assert list(judged.branches({"layers": ()}, ["layers.LayerNorm"])) != []


@pytest.mark.slow
def test_large_modules_are_read_in_time():
    text = "class LayerNorm:\n  def forward(self):\n" + "    x = a or b\n" * 6000
    _, judged = judged_in(text)
    assert judged.modules == [], "more than is watched"
    forbidden, code = ASSIGNMENT.contract.forbidden, {}
    sources = {"layers": ("layers.py", LAYERS)}
    evaluator = Evaluator(sources, ForbiddenNames(forbidden))
    find_short_cuts(sources, ["layers.LayerNorm"], forbidden, None, evaluator, code)
    assert find_judged_code(code, {}, evaluator, submitted=[]).modules == [], "not what the submission does not bring"


@pytest.mark.slow
def test_a_class_names_those_who_have_any(unreached):
    class Names:
        members, missing = (), ()

        def names(self):
            return {"anna": "Anna"}

    found = {heading: names for heading, names in sections_of(Names(), {"anna": unreached}) if names}
    assert found["code that passes although no test reached it, to be read by a person"] == ["Anna"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags, is_told",
    [
        (["-m", "task_1_4"], True),
        (["-m", "task_1_5"], False),  # none of the tests that may reach it has run
        (["-m", "task_1_4", "-k", "gradients"], False),  # some of them
    ],
)
def test_a_students_own_run_tells_it_too(tmp_path, flags, is_told):
    folder = write_submission(tmp_path / "own", RARE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--submission", str(folder), *flags]
    tests = ["-c", "autograder/assignment/tests/pytest.ini", "autograder/assignment/tests"]
    done = subprocess.run([*command, *tests], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert ("x.size(-1) > 999 was never true" in done.stdout) == is_told, done.stdout
