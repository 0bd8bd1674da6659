"""Extension E.6: your answers to the questions about your own code that `understand` asks."""

import pytest

import autograder.assignment.scenes  # noqa: F401  the calls that are asked about
from autograder.testing.comparison import expect, fail
from autograder.testing.own_questions import find
from autograder.testing.under_test import SubmissionUnderTest
from foundation.assignment_file import read_assignment

pytestmark = pytest.mark.task_e_6


def expect_answers(submission: SubmissionUnderTest, component: str) -> None:
    __tracebackhide__ = True
    assignment, name = read_assignment(), component.partition(".")[2]
    number = next(task.number for task in assignment.tasks if component in task.components)
    answers = submission.call("understanding.answers")
    expect(isinstance(answers, dict), "your answers", "a dictionary", type(answers).__name__)
    entries = {str(key).split()[0]: key for key in answers if str(key).split()}
    if number not in entries:
        raise NotImplementedError(f"TODO E.6: your answers about {number}")
    asked = find(component, submission, assignment)
    key, said = entries[number], answers[entries[number]]
    again = f"your code has changed: `understand` asks about it anew ({number})"
    expect(
        key == f"{number} {asked.tag}", f"answers about {name}", f'an entry "{number} {asked.tag}"', f'"{key}"', again
    )
    if not isinstance(said, (list, tuple)) or len(said) != len(asked.questions):
        got = f"{len(said)}" if isinstance(said, (list, tuple)) else type(said).__name__
        fail(f"answers about {name}", f"a list of {len(asked.questions)} texts", got)
    for index, (question, one) in enumerate(zip(asked.questions, said, strict=True), start=1):
        what = f"answer {index} about {name}: {question.text.split(chr(10))[-1].strip()}"
        expect(
            question.is_answered(str(one)),
            what,
            "what your code does",
            repr(str(one))[:80],
            "go through the lines by hand",
        )


@pytest.mark.item("about attention")
def test_answers_about_attention(submission: SubmissionUnderTest) -> None:
    expect_answers(submission, "attention.scaled_dot_product_attention")


@pytest.mark.item("about heads")
def test_answers_about_heads(submission: SubmissionUnderTest) -> None:
    expect_answers(submission, "attention.MultiHeadedAttention")


@pytest.mark.item("about LayerNorm")
def test_answers_about_layer_norm(submission: SubmissionUnderTest) -> None:
    expect_answers(submission, "layers.LayerNorm")
