"""Questions at home: what is asked and what is right follow from the code, here and in the sandbox."""

import pytest

from autograder.intake.sources import read_sources
from autograder.own_work.question import Question
from autograder.own_work.traced_questions import find, tell
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


@pytest.fixture(scope="module")
def plain():
    return find(ATTENTION, InProcessSubmission(sources(attention=PLAIN), ASSIGNMENT), ASSIGNMENT)


def test_what_is_asked_is_what_a_debugger_shows(plain):
    lines = plain.listing.split("\n")
    assert len(lines) == 6 and lines[1].split(maxsplit=1) == ["2", lines[1].split(maxsplit=1)[1]]
    assert "Computes" not in plain.listing and "Forbidden" not in plain.listing
    by_kind = {one.text[1].split()[0]: one for one in plain.questions}
    assert {"What", "Which", "How"} == {*by_kind} and len(plain.questions) == 3
    assert by_kind["How"].numbers == (1.0,), "the line below the if"
    b, h, q = by_kind["What"].numbers[:3]
    assert f"query ({b}, {h}, {q}, " in by_kind["What"].text[0]


def test_nobody_is_asked_how_often_a_line_of_the_constructor_runs():
    _, text = sources()["layers"]
    looping = text.replace("super().__init__()", "super().__init__()\n        for n in (1, 2):\n            half = n")
    asked = find(NORM, InProcessSubmission(sources(layers=looping), ASSIGNMENT), ASSIGNMENT)
    assert asked.questions and "runs" not in {one.kind for one in asked.questions}


def test_a_syntax_error_is_named():
    with pytest.raises(CheckFailed, match=r"attention\.py, line 1: invalid syntax"):
        find(ATTENTION, InProcessSubmission(sources(attention="def f(:"), ASSIGNMENT), ASSIGNMENT)


def test_a_change_asks_anew_and_a_comment_does_not(plain):
    def asked(text):
        return find(ATTENTION, InProcessSubmission(sources(attention=text), ASSIGNMENT), ASSIGNMENT)

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
    "said, is_right", [("(2, 3)", True), ("2 x 3", True), ("2", False), ("(2, 3, 1)", False), ("", False)]
)
def test_numbers_count_in_their_order(said, is_right):
    assert Question("shape", "", (), "", numbers=(2.0, 3.0)).is_answered(said) == is_right


ANSWER = "{'1.2 TAG': ['1', '2', '3']}"
RIGHT_OR_WRONG = {  # what is handed in, how it ends, and what is said of it
    "none": ("return {}", State.NOT_ATTEMPTED, "TODO E.6: your answers about 1.2"),
    "of earlier code": ("return {'1.2 000000': ['1', '2', '3']}", State.FAILED, "your code has changed: `understand`"),
    "wrong": (f"return {ANSWER}", State.FAILED, "what your code does"),
    "too few": ("return {'1.2 TAG': ['1']}", State.FAILED, "a list of 3 texts"),
    "a list": ("return [1]", State.FAILED, "a dictionary"),
}
HOSTILE = {  # what is handed in, and what is said of it; nothing of it is run
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
    body, state, told = RIGHT_OR_WRONG.get(name) or (HOSTILE[name][0], State.FAILED, HOSTILE[name][1])
    text = f"def answers():\n    {body.replace('TAG', plain.tag)}\n"
    with Sandbox(sources(attention=PLAIN, understanding=text), ASSIGNMENT, zygote=grader.zygote) as sandbox:
        *_, found = grader.tests.run(sandbox, 1, only="task_e_6")
    [outcome] = [one for one in found["task_e_6"] if "about attention" in one.test]
    assert outcome.state is state and told in outcome.message and len(outcome.message) < 600


def test_questions_come_after_the_tests():
    faulty = sources(attention=PLAIN.replace(" / query.size(-1) ** 0.5", ""))
    for number, given, told in (
        ("1.2", faulty, "pass the tests of 1.2 first"),
        ("1.4", read_sources(SKELETON, SKELETON), "pass the tests of 1.4 first"),
        ("1.1", sources(), "no questions about '1.1': expected one of 1.2, 1.3, 1.4"),
    ):
        with pytest.raises(UserError, match=told):
            tell(number, given, ASSIGNMENT)
    text = tell("1.4", sources(), ASSIGNMENT)
    assert '    "1.4 ' in text and "(task E.6)" in text
