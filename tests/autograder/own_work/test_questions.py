"""The questions: their answers are what the student's code does, and the other options are not."""

from __future__ import annotations

import re

import pytest

from autograder.grading.provenance import Seeds
from autograder.intake.submission import take_in
from autograder.own_work.behaviour import (
    branch_question,
    hunt_question,
    input_question,
    purpose_question,
    shape_question,
    symptom_question,
)
from autograder.own_work.bench import Component
from autograder.own_work.examiner import Examiner
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON
from validity.questions import right_options

from ..conftest import write_submission

pytestmark = pytest.mark.slow  # submissions are run many times
ASSIGNMENT = read_assignment()
ATTENTION = "attention.scaled_dot_product_attention"


@pytest.fixture(scope="module")
def examiner(grader):
    return Examiner(grader, Seeds(b"a secret"))


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    """The attention and nothing else, as the reference has it."""
    return take_in(
        write_submission(tmp_path_factory.mktemp("right") / "anna", modules=("attention",)), SKELETON, ASSIGNMENT
    )


@pytest.fixture
def attention(right, grader):
    """The attention on the bench, with a seed."""
    return lambda seed: Component(ATTENTION, right, grader, seed)


@pytest.mark.parametrize("seed", range(2))
def test_a_shape_is_the_value_s_own(attention, seed):
    question = shape_question(attention(seed))
    b, h, q, d = map(int, re.search(r"query \((\d+), (\d+), (\d+), (\d+)\)", question.text[0]).groups())
    k = int(re.search(r"key \(\d+, \d+, (\d+)", question.text[0]).group(1))
    of_code = {"key.transpose(-2, -1)": (b, h, d, k), "weights @ value": (b, h, q, d)}
    asked = re.search(r"`([^`]+)`", question.text[1]).group(1)
    assert question.options[question.right] == str(of_code.get(asked, (b, h, q, k)))
    [meant] = [line for line in question.excerpts[0].lines if line.is_marked]
    assert asked.split("(")[0] in meant.text and f"line {meant.number}" in question.text[1]


@pytest.mark.parametrize("ask", [branch_question, input_question, purpose_question, symptom_question])
def test_one_option_is_right_and_the_others_are_not(attention, ask):
    question = next(filter(None, (ask(attention(seed)) for seed in range(5, 9))))
    assert right_options(question, attention(99)) == tuple(index == question.right for index in range(4))


@pytest.mark.parametrize(
    "old, new, wanted",
    [
        ("torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-2)", "do not add up to 1"),
        ("masked_fill(~mask,", "masked_fill(mask,", "that the mask forbids gets a weight"),
        ("torch.finfo(scores.dtype).min", "float('-inf')", "gets NaN"),
    ],
)
def test_what_is_seen_of_known_faults(attention, old, new, wanted):
    one = attention(4)
    assert old in one.text
    shown, absent = one.seen(one.text.replace(old, new))
    assert any(wanted in text for text in shown) and len(absent) >= 3


@pytest.mark.parametrize("new", ["torch.softmax(scores, dim=-1) * 3", "torch.softmax(scores, dim=-1).roll(1, -2)"])
def test_what_nobody_can_tell_is_no_choice(attention, new):
    component = attention(4)
    shown, absent = component.seen(component.text.replace("torch.softmax(scores, dim=-1)", new))
    assert not any("weights get sharper" in text for text in (*shown, *absent))


@pytest.mark.parametrize("seed", [3, 5])
def test_a_hunt_shows_one_quiet_fault(attention, seed):
    one = attention(seed)
    question = hunt_question(one)
    number, after = re.fullmatch(r"Line (\d+): `(.+)`", question.answer).groups()
    shown = {line.number: line.text.strip() for line in question.excerpts[0].lines}
    lines = one.text.split("\n")
    before = lines[int(number) - 1]
    assert shown[number] == after != before.strip() and f"It was `{before.strip()}`" in question.why[0]
    lines[int(number) - 1] = before.replace(before.strip(), after)
    trial = one.judge("\n".join(lines))
    assert trial.missed and trial.share < 1
    assert not any(line.startswith(("#", '"""')) for line in shown.values())


def test_a_student_gets_the_same_questions_all_term(examiner, right, monkeypatch):
    once, again = (examiner.sheet("anna", "Anna", right) for _ in range(2))
    assert once == again and len(once.questions) == 5
    monkeypatch.setattr(examiner, "_n_questions", 1)
    [other] = examiner.sheet("ben", "Ben", right).questions
    assert other not in once.questions


def test_nothing_is_asked_about_what_does_not_work(examiner, tmp_path):
    fault = ("attention", " / math.sqrt(query.size(-1))", "")
    path = write_submission(tmp_path / "bob", fault, modules=("attention", "layers"))
    sheet = examiner.sheet("bob", "Bob", take_in(path, SKELETON, ASSIGNMENT))
    assert len(sheet.questions) == 5
    assert ATTENTION not in {question.component for question in sheet.questions}


def test_a_skeleton_gets_no_questions(examiner):
    sheet = examiner.sheet("eve", "Eve", take_in(SKELETON, SKELETON, ASSIGNMENT))
    assert sheet.questions == () and "none of the assignment's components" in sheet.reason


def test_hostile_code_gets_no_answer_of_its_own(examiner, tmp_path):
    """Code that works in tests, and not in the calls that questions are about."""
    text = "    return weights @ value, weights"
    evil = f"    if value.size(-1) == 8:\n        __import__('os')._exit(0)\n{text}"
    path = write_submission(tmp_path / "mallory", ("attention", text, evil), modules=("attention",))
    sheet = examiner.sheet("mallory", "Mallory", take_in(path, SKELETON, ASSIGNMENT))
    kinds = {question.kind for question in sheet.questions}
    assert kinds and kinds.isdisjoint({"input", "branch"})
