"""Extensions E.6, your answers to questions about your own code, and E.7, what you have found out about the hunts.

E.6 has the answers to what `understand` asks. E.7 has the changed line of each of your boxes, its code there, and an
input that shows it. Grading judges E.7 in the sandbox, by the same checks (`autograder/own_work/graded.py`).
"""

import pytest

import assignment.own_work.calls  # noqa: F401  that are asked about, and by which versions are told apart
from autograder.own_work.boxes import check_at_home, hunted_at_home
from autograder.own_work.questions import find, read_answers
from autograder.testing.case import SubmissionUnderTest
from autograder.testing.comparison import expect, fail
from foundation.assignment_file import read_assignment

ASSIGNMENT = read_assignment()

ASKED = {  # by the item of the rubric, the component
    "about attention": "attention.scaled_dot_product_attention",
    "about heads": "attention.MultiHeadedAttention",
    "about LayerNorm": "layers.LayerNorm",
}


@pytest.mark.task_e_6
@pytest.mark.parametrize("item", [pytest.param(item, marks=pytest.mark.item(item)) for item in ASKED])
def test_answers(submission: SubmissionUnderTest, item: str) -> None:
    component = ASKED[item]
    name = component.partition(".")[2]
    number = next(task.number for task in ASSIGNMENT.tasks if component in task.components)
    answers = read_answers("understanding.answers", submission)
    entries = [key for key in answers if isinstance(key, str) and key.split()[:1] == [number]]
    if not entries:
        raise NotImplementedError(f"TODO E.6: your answers about {number}")
    asked = find(component, submission, ASSIGNMENT)
    label, n, key = f"answers about {name}", len(asked.questions), f"{number} {asked.tag}"
    if key not in answers:
        has_version = len(entries[-1].split()) > 1
        why = "your code has changed" if has_version else "the key names the version of your code, too"
        fail(label, f'an entry "{key}"', ascii(entries[-1])[:80], f"{why}: see `understand` ({number})")
    given = answers[key]
    if not isinstance(given, (list, tuple)) or len(given) != n or not all(isinstance(answer, str) for answer in given):
        fail(label, f"a list of {n} texts, each in quotation marks", ascii(given)[:80])
    expect(n > 0, label, "code that can be watched while it runs", "none", f"what does `understand({number!r})` show?")
    for index, (question, answer) in enumerate(zip(asked.questions, given, strict=True), start=1):
        label = f"answer {index} about {name}: {question.text[-1]}"
        is_right, look_at = question.is_answered(answer), "go through the lines by hand"
        expect(is_right, label, "what your code does", repr(answer[:80]), look_at)


[HUNTS] = [task for task in ASSIGNMENT.tasks if task.understanding == "hunts"]
ITEMS = [item.name for item in HUNTS.items if item.name.partition(": ")[0] in hunted_at_home(ASSIGNMENT)]


@pytest.mark.task_e_7
@pytest.mark.parametrize("item", [pytest.param(item, marks=pytest.mark.item(item)) for item in ITEMS])
def test_hunt(submission: SubmissionUnderTest, item: str) -> None:
    check_at_home(submission, HUNTS, item, ASSIGNMENT)
