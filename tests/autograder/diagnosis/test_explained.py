"""What stands in the record of a failure; hostile answers cost no marks and no crash."""

from dataclasses import replace

import pytest

from autograder.diagnosis import explaining
from autograder.diagnosis.explaining import COMPARISONS, MOST_SECONDS, Explainer
from autograder.grading.recording import part_of
from autograder.sandbox.session import MAX_BYTES, Tape
from autograder.sandbox.submission import Sandbox
from autograder.sources import read_sources
from autograder.testing import results
from autograder.testing.collected_tests import CollectedTests
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, ROOT

pytestmark = pytest.mark.slow  # submissions are compared with each misconception
ROOT_FORMULA = "self.gamma * centred / torch.sqrt(variance + self.epsilon) + self.beta"


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
            [plain] = (result for result in results.tests_of(assignment, outcomes) if result.task == task)
            return [plain, *explainer.explain([plain]), dict(tape.episodes)]

    return run


def test_one_misconception_behind_all_failures_is_one_message_with_its_hint(judge):
    plain, explained, left = judge("self.gamma * centred / (torch.sqrt(variance) + self.epsilon) + self.beta")
    content = part_of(explained).diagnosis
    assert content.fault.startswith("layer-norm-") and "Hint: " in content.text
    assert content.text.startswith("Your code behaves exactly like code that ") and "torch." not in content.text
    missed = sum(outcome.is_missed for outcome in plain.outcomes)
    assert explained.message.startswith(f"{missed} of {len(plain.outcomes)} tests fail for this reason, test_")
    assert explained.message.count("expected:") == 1 and explained.score == plain.score
    assert left == {}, "the tape is empty for the next part"


@pytest.mark.parametrize("formula", ["{'no': ['tensor', 1]}", "x if torch.rand(()) < 0.5 else (x, x)"])
def test_hostile_answers(judge, formula):
    plain, explained, _ = judge(formula)
    assert plain.state in ("failed", "error")
    assert replace(explained, finding=None) == plain


def test_an_unknown_fault_is_given_no_name(judge):
    plain, explained, _ = judge("self.gamma * centred / (variance + 1.7) ** 0.3 + self.beta")
    assert explained.finding is None and explained.message == plain.message


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


def test_tape_is_bounded():
    tape = Tape()
    tape.begin("long")
    for _ in range(3):
        tape.add({"verb": "call"}, b"", {}, b"x" * (MAX_BYTES // 2))
    assert len(tape.episodes["long"].exchanges) == 2
    assert not tape.episodes["long"].is_whole


def test_the_page_tells_the_budget():
    page = (ROOT / "docs/explanation/diagnosis.md").read_text(encoding="utf-8")
    assert f"budget is {COMPARISONS:,} comparisons" in page and f"stopped after {MOST_SECONDS:g} s" in page
