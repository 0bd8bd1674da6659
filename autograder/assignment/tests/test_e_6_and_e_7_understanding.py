"""Extensions E.6, your answers to questions about your own code, and E.7, what you have found out about the hunts.

E.6 has the answers to what `understand` asks. E.7 has an input that shows the mistake in each of your boxes, the right
output, and the kind of the mistake; at home, where the kinds are not known, any of the list will do.
"""

from collections.abc import Mapping
from typing import Any

import pytest

import autograder.assignment.hunt_calls  # noqa: F401  how boxes are called
import autograder.assignment.scenes  # noqa: F401  the calls that are asked about
from autograder.testing.comparison import NEAR, are_near, describe, expect, fail
from autograder.testing.hunts import Hunt, flat, opened, read_hunts, results
from autograder.testing.own_questions import find, read_answers
from autograder.testing.under_test import SubmissionUnderTest
from foundation.assignment_file import read_assignment
from foundation.command_line import UserError

ASSIGNMENT = read_assignment()


def expect_answers(submission: SubmissionUnderTest, component: str) -> None:
    __tracebackhide__ = True
    name = component.partition(".")[2]
    number = next(task.number for task in ASSIGNMENT.tasks if component in task.components)
    answers = read_answers("understanding.answers", submission)
    entries = [key for key in answers if isinstance(key, str) and key.split()[:1] == [number]]
    if not entries:
        raise NotImplementedError(f"TODO E.6: your answers about {number}")
    asked = find(component, submission, ASSIGNMENT)
    what, n, key = f"answers about {name}", len(asked.questions), f"{number} {asked.tag}"
    if key not in answers:
        again = f"your code has changed: `understand` asks about it anew ({number})"
        fail(what, f'an entry "{key}"', ascii(entries[-1])[:80], again)
    said = answers[key]
    if not isinstance(said, (list, tuple)) or len(said) != n or not all(isinstance(one, str) for one in said):
        fail(what, f"a list of {n} texts", describe(said))
    expect(n > 0, what, "code that can be watched while it runs", "none", f"what does `understand({number!r})` show?")
    for index, (question, one) in enumerate(zip(asked.questions, said, strict=True), start=1):
        what = f"answer {index} about {name}: {question.text.split(chr(10))[-1].strip()}"
        expect(
            question.is_answered(one),
            what,
            "what your code does",
            repr(one[:80]),
            "go through the lines by hand",
        )


@pytest.mark.task_e_6
@pytest.mark.item("about attention")
def test_answers_about_attention(submission: SubmissionUnderTest) -> None:
    expect_answers(submission, "attention.scaled_dot_product_attention")


@pytest.mark.task_e_6
@pytest.mark.item("about heads")
def test_answers_about_heads(submission: SubmissionUnderTest) -> None:
    expect_answers(submission, "attention.MultiHeadedAttention")


@pytest.mark.task_e_6
@pytest.mark.item("about LayerNorm")
def test_answers_about_layer_norm(submission: SubmissionUnderTest) -> None:
    expect_answers(submission, "layers.LayerNorm")


ITEMS = (
    *("easy hunt: an input that shows it", "easy hunt: the right output", "easy hunt: the kind"),
    *("medium hunt: an input that shows it", "medium hunt: the right output", "medium hunt: the kind"),
    *("hard hunt: an input that shows it", "hard hunt: the right output", "hard hunt: the kind"),
)


def run(hunt: Hunt, code: str, found: Mapping[Any, Any]) -> list[float] | str:
    """The numbers that code returns, or the exception that it raises."""
    __tracebackhide__ = True
    try:
        return flat(results(hunt, code, found.get("input"), ASSIGNMENT))
    except ValueError as error:
        what, _, expected = str(error).rpartition("expected ")
        fail(f"hunt {hunt.number}: the input: {what}".rstrip(": "), expected, str(found.get("input"))[:60])
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]


def check_input(hunt: Hunt, found: Mapping[Any, Any]) -> None:
    __tracebackhide__ = True
    due, got = run(hunt, hunt.right, found), run(hunt, hunt.code, found)
    if isinstance(due, str):
        fail(f"hunt {hunt.number}: the input", "one that right code takes", due)
    is_seen = isinstance(got, str) or not are_near(got, due, 2 * NEAR)
    expect(is_seen, f"hunt {hunt.number}: the box and right code", "different results", "the same", "see the symptom")


def check_output(hunt: Hunt, found: Mapping[Any, Any]) -> None:
    __tracebackhide__ = True
    due, said = run(hunt, hunt.right, found), str(found.get("right"))[:60]
    try:
        is_right = not isinstance(due, str) and are_near(flat(found.get("right")), due)
    except (TypeError, ValueError, OverflowError, RecursionError):
        fail(f"hunt {hunt.number}: the right output", "lists of numbers, as the box returns them", said)
    look_at = "go through it by hand; two decimals are enough"
    expect(is_right, f"hunt {hunt.number}: the right output", "what right code returns", said, look_at)


def check_kind(hunt: Hunt, found: Mapping[Any, Any]) -> None:
    __tracebackhide__ = True
    kinds, said = read_hunts(ASSIGNMENT.folder).kinds, str(found.get("kind"))[:60]
    expect(said in kinds, f"hunt {hunt.number}: the kind", f"one of {', '.join(kinds)}", said)
    expect(said in (hunt.kinds or kinds), f"hunt {hunt.number}: the kind", "that of the box's mistake", said)


CHECKS = {"an input that shows it": check_input, "the right output": check_output, "the kind": check_kind}


@pytest.mark.task_e_7
@pytest.mark.parametrize("item", [pytest.param(item, marks=pytest.mark.item(item)) for item in ITEMS])
def test_hunt(submission: SubmissionUnderTest, item: str) -> None:
    level, _, part = item.partition(" hunt: ")
    findings = submission.call("hunts.findings")
    name = findings.get("name") if isinstance(findings, dict) else None
    expect(isinstance(name, str), "your findings", 'a dictionary with your "name"', str(findings)[:60])
    hunt = next(one for one in read_hunts(ASSIGNMENT.folder).of(str(name)) if one.level == level)
    if hunt.number not in findings:
        raise NotImplementedError(f"TODO E.7: hunt {hunt.number} of {str(name).strip()}")
    found = findings[hunt.number]
    is_whole = isinstance(found, dict) and {"input", "right", "kind"} <= found.keys()
    expect(is_whole, f"hunt {hunt.number}", 'a dictionary with "input", "right" and "kind"', str(found)[:60])
    try:
        hunt = opened(hunt, submission, ASSIGNMENT)
    except UserError as error:
        fail(f"hunt {hunt.number}", "an open box", str(error))
    CHECKS[part](hunt, found)
