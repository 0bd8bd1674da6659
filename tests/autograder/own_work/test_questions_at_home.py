"""Questions at home: what is asked and what is right follow from the code, here and in the sandbox."""

from types import SimpleNamespace

import pytest

from autograder.intake.sources import read_sources
from autograder.own_work.questions import Question, find, read_answers, tell
from autograder.running.collection import InProcessSubmission
from autograder.sandbox.submission import Sandbox
from autograder.testing.results import CheckFailed, State
from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE, SKELETON

ASSIGNMENT = read_assignment()
ATTENTION, NORM = "attention.scaled_dot_product_attention", "layers.LayerNorm"
PLAIN = '''import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    """Computes it."""
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5

    # Forbidden keys.
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights
'''


def sources(**changed):
    made = read_sources(REFERENCE, REFERENCE)
    return {**made, **{name: (f"{name}.py", text) for name, text in changed.items()}}


def asked(text):
    return find(ATTENTION, InProcessSubmission(sources(attention=text), ASSIGNMENT), ASSIGNMENT)


@pytest.fixture(scope="module")
def plain():
    return asked(PLAIN)


def test_shapes_and_numbers_are_asked_about_numbered_lines(plain):
    lines = plain.listing.split("\n")
    assert len(lines) == 6 and lines[1].split(maxsplit=1)[0] == "2"
    assert "Computes" not in plain.listing and "Forbidden" not in plain.listing
    assert [question.kind for question in plain.questions] == ["shape", "value", "shape"]
    for question in plain.questions:
        assert lines[question.marked - 1].split()[0] == str(question.marked)
        assert f"of line {question.marked}" in question.text[-1]


def test_a_syntax_error_is_named():
    with pytest.raises(CheckFailed, match=r"attention\.py, line 1: invalid syntax"):
        asked("def f(:")


def test_a_change_asks_anew_and_a_comment_does_not(plain):
    assert asked(PLAIN.replace("# Forbidden keys.", "# Keys that are forbidden.\n    # At all.")) == plain
    assert asked(PLAIN.replace("-1e9", "-1e8")).tag != plain.tag


@pytest.mark.slow
def test_the_sandbox_asks_the_same(grader):
    for changed in ({}, {"attention": PLAIN}):
        with Sandbox(sources(**changed), ASSIGNMENT, zygote=grader.zygote) as sandbox:
            for component in (ATTENTION, NORM):
                here = find(component, InProcessSubmission(sources(**changed), ASSIGNMENT), ASSIGNMENT)
                assert find(component, sandbox, ASSIGNMENT) == here


@pytest.mark.parametrize(
    "typed, is_right", [("(2, 0.33)", True), ("2 x .334", True), ("2", False), ("(2, 0.33, 1)", False), ("", False)]
)
def test_numbers_count_in_their_order_but_for_rounding(typed, is_right):
    assert Question("value", "", (), "2, 0.33").is_answered(typed) == is_right


ANSWER = "{'1.2 TAG': ['1', '2', '3']}"
RIGHT_OR_WRONG = {  # what is handed in, how it ends, and the message
    "none": ("return {}", State.NOT_ATTEMPTED, "TODO E.6: your answers about 1.2"),
    "of earlier code": ("return {'1.2 000000': ['1', '2', '3']}", State.FAILED, "your code has changed: `understand`"),
    "wrong": (f"return {ANSWER}", State.FAILED, "what your code does"),
    "too few": ("return {'1.2 TAG': ['1']}", State.FAILED, "a list of 3 texts"),
    "a list": ("return [1]", State.FAILED, "a dictionary"),
}
HOSTILE = {  # what is handed in, and the message; nothing of it is run
    "equal to everything": (
        "return {'1.2 TAG': [type('Yes', (), {'__eq__': lambda *given: True})()] * 3}",
        "a dictionary of texts that you have typed",
    ),
    "never ends": (f"while True: pass\n    return {ANSWER}", "what your code does"),
    "megabytes": (f"return {{'1.2 TAG': ['{'7' * 3_000_000}', '1', '1']}}", "what your code does"),
    "no numbers": ("return {'1.2 TAG': ['nan', 'inf', '-1e999']}", "what your code does"),
    "lists of lists": ("return {'1.2 TAG': [[['2', 3]], {}, ()]}", "a list of 3 texts"),
    "too deep": (f"return {{'1.2 TAG': {'[' * 5000}{']' * 5000}}}", "understanding.py, line 2: "),
}


@pytest.mark.parametrize(
    "name", [*RIGHT_OR_WRONG, *(pytest.param(name, marks=pytest.mark.hostile) for name in HOSTILE)]
)
def test_answers_are_judged_in_one_line(plain, grader, name):
    body, state, message = RIGHT_OR_WRONG.get(name) or (HOSTILE[name][0], State.FAILED, HOSTILE[name][1])
    text = f"def answers():\n    {body.replace('TAG', plain.tag)}\n"
    with Sandbox(sources(attention=PLAIN, understanding=text), ASSIGNMENT, zygote=grader.zygote) as sandbox:
        *_, ended = grader.tests.run(sandbox, 1, only="task_e_6")
    [outcome] = [outcome for outcome in ended["task_e_6"] if "about attention" in outcome.test]
    assert outcome.state is state and message in outcome.message and len(outcome.message) < 600


@pytest.mark.parametrize(
    "number, given, message",
    [
        ("1.2", {"attention": PLAIN.replace(" / query.size(-1) ** 0.5", "")}, "pass the tests of 1.2 first"),
        ("1.4", {"layers": (SKELETON / "layers.py").read_text(encoding="utf-8")}, "pass the tests of 1.4 first"),
        ("1.1", {}, "no questions about '1.1': expected one of 1.2, 1.3, 1.4"),
    ],
)
def test_questions_come_after_the_tests(number, given, message):
    with pytest.raises(UserError, match=message):
        tell(number, sources(**given), ASSIGNMENT)


def test_a_missing_file_is_named():
    with pytest.raises(NotImplementedError, match=r"understanding\.py is missing"):
        read_answers("understanding.answers", SimpleNamespace(sources={}))


def test_the_entry_for_the_answers_is_shown():
    text = tell("1.4", sources(), ASSIGNMENT)
    assert '    "1.4 ' in text and "(task E.6)" in text
