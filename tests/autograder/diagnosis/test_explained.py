"""What stands in the record of a failure; hostile answers cost no marks and no crash."""

from dataclasses import replace

import pytest

from autograder.diagnosis import explaining
from autograder.diagnosis.explaining import Explainer
from autograder.grading import marks
from autograder.grading.recording import diagnosis_of
from autograder.sandbox.proxy.submission import Sandbox
from autograder.sandbox.tape import MAX_BYTES, Tape
from autograder.sandbox.worker import shortcuts
from autograder.testing.in_process import read_sources
from autograder.testing.running.collected_tests import CollectedTests
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE

pytestmark = pytest.mark.slow  # submissions are compared with each misconception
ROOT_FORMULA = "self.gamma * centred / torch.sqrt(variance + self.epsilon) + self.beta"

HOSTILE = {
    "not a number": "x * float('nan')",
    "another type": "{'no': ['tensor', 1]}",
    "a huge tensor": "torch.zeros(2000, 1000)",
    "a moody one": "x if torch.rand(()) < 0.5 else (x, x)",
    "no tensor at all": "10**30",
}


@pytest.fixture(scope="module")
def judge(zygote):
    """Judges a LayerNorm whose last line is another one: the result as it was and as it is explained."""
    [task] = (task for task in read_assignment().tasks if task.number == "1.4")
    tests = CollectedTests(read_assignment(), [task])

    def run(formula: str, notes: list[str] | None = None):
        notes = [] if notes is None else notes
        assignment, sources = read_assignment(), read_sources(REFERENCE, REFERENCE)
        path, text = sources["layers"]
        assert text.count(ROOT_FORMULA) == 1
        sources["layers"] = path, text.replace(ROOT_FORMULA, formula)
        tape = Tape()
        with (
            Explainer(tape, assignment, notes.append) as explainer,
            Sandbox(sources, assignment, zygote=zygote, tape=tape) as submission,
        ):
            [*_, outcomes] = tests.run(submission, 3)
            [plain] = (result for result in marks.tests_of(assignment, outcomes) if result.task == task)
            return [plain, *explainer.explain([plain]), dict(tape.episodes)]

    return run


def test_misconception_is_named_with_its_hint(judge):
    _, explained, left = judge("self.gamma * centred / (torch.sqrt(variance) + self.epsilon) + self.beta")
    content = diagnosis_of(explained.finding)
    assert content.fault.startswith("layer-norm-")
    assert "Hint: " in content.text
    assert "torch." not in content.text, "no code of the reference"
    assert left == {}, "the tape is empty for the next part"


def test_one_misconception_behind_all_failures_is_one_message_with_a_count(judge):
    plain, explained, _ = judge("self.gamma * centred / (torch.sqrt(variance) + self.epsilon) + self.beta")
    missed = sum(outcome.is_missed for outcome in plain.outcomes)
    assert explained.finding.text.startswith("Your code behaves exactly like code that ")
    assert explained.message.startswith(f"{missed} of {len(plain.outcomes)} tests fail for this reason, test_")
    assert explained.message.count("expected:") == 1
    assert explained.score == plain.score


def test_the_graders_own_layers_stay_usable(judge):
    judge("self.gamma * centred")
    assert shortcuts._KEPT == [], "the trip-wire is for workers"


def test_what_fails_with_any_sizes_is_said_once(judge):
    plain, explained, _ = judge("self.gamma * (")
    assert plain.state == "error" and "SyntaxError" in plain.message
    assert explained.finding is None


def test_an_unknown_fault_is_given_no_name(judge):
    plain, explained, _ = judge("self.gamma * centred / (variance + 1.7) ** 0.3 + self.beta")
    assert explained.finding is None and explained.message == plain.message


@pytest.mark.parametrize(
    "name", [*list(HOSTILE)[:2], *(pytest.param(one, marks=pytest.mark.slow) for one in list(HOSTILE)[2:])]
)
def test_hostile_answers(judge, name):
    plain, explained, _ = judge(HOSTILE[name])
    assert plain.state in ("failed", "error")
    assert replace(explained, finding=None) == plain


def test_a_broken_diagnosis_is_noted_and_changes_nothing(judge, monkeypatch):
    def broken(reference, assignment):
        raise RuntimeError("words of a submission")

    monkeypatch.setattr(explaining, "make_diagnostician", broken)
    notes = []
    plain, explained, _ = judge("self.gamma * centred", notes)
    assert explained == plain
    [note] = notes
    assert note.startswith("task 1.4: the diagnosis broke (RuntimeError in test_explained.py, line ")
    assert "words of a submission" not in note


def test_a_diagnosis_that_takes_too_long_is_stopped_and_noted(judge, monkeypatch):
    monkeypatch.setattr(explaining, "MOST_SECONDS", 0.01)
    notes = []
    plain, explained, _ = judge("self.gamma * centred", notes)
    assert explained == plain
    assert notes == ["task 1.4: the diagnosis was stopped after 0.01 s of CPU time; no marks depend on it"]


def test_the_same_submission_always_gets_the_same_words(judge, monkeypatch):
    monkeypatch.setattr(explaining, "COMPARISONS", 40)  # the search is cut short
    first, second = (judge("self.gamma * centred / (torch.sqrt(variance) + self.epsilon) + self.beta") for _ in "12")
    assert first[1].finding == second[1].finding


def test_reference_that_passes_is_not_explained(judge):
    plain, explained, _ = judge(ROOT_FORMULA)
    assert plain.state == "passed"
    assert explained.finding is None


def test_tape_is_bounded():
    tape = Tape()
    tape.begin("long")
    for _ in range(3):
        tape.add({"verb": "call"}, b"", {}, b"x" * (MAX_BYTES // 2))
    assert len(tape.episodes["long"].exchanges) == 2
    assert not tape.episodes["long"].is_whole
