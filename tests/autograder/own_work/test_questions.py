"""Questions on paper: the answer is what the student's code does, and the other options are not."""

from __future__ import annotations

import random
import re

import pytest

from autograder.grading.provenance import Seeds
from autograder.intake.submission import take_in
from autograder.own_work.graded import InSandbox
from autograder.own_work.hunts import hunt_question
from autograder.own_work.questions import input_question, shape_question, value_question
from autograder.own_work.sheets import Examiner
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON

from ..conftest import write_submission

pytestmark = pytest.mark.slow  # submissions are run many times
ASSIGNMENT = read_assignment()
ATTENTION, NORM = "attention.scaled_dot_product_attention", "layers.LayerNorm"
SEEDS = range(2)


@pytest.fixture(scope="module")
def examiner(grader):
    return Examiner(grader, Seeds(b"a secret"))


@pytest.fixture(scope="module")
def intake(tmp_path_factory):
    """The attention and the layers, as the reference has them."""
    folder = write_submission(tmp_path_factory.mktemp("right") / "anna", modules=("attention", "layers"))
    return take_in(folder, SKELETON, ASSIGNMENT)


@pytest.fixture
def asked(intake, grader):
    """A question of a kind, and the component in the sandbox."""

    def asked(ask, seed, name=ATTENTION):
        component = InSandbox(name, intake, grader, seed)
        question = ask(component, random.Random(seed))
        assert not question.options or len({*question.options}) == 4 and question.answer in question.options
        return question, component

    return asked


@pytest.mark.parametrize("seed", SEEDS)
def test_a_shape_is_the_value_s_own(asked, seed):
    question, _ = asked(shape_question, seed)
    b, h, q, d = map(int, re.search(r"query \((\d+), (\d+), (\d+), (\d+)\)", question.text[0]).groups())
    k = int(re.search(r"key \(\d+, \d+, (\d+)", question.text[0]).group(1))
    of_code = {"key.transpose(-2, -1)": (b, h, d, k), "weights @ value": (b, h, q, d)}
    code, number = re.search(r"`([^`]+)` .* of line (\d+)\?", question.text[1]).groups()
    assert question.answer == str(of_code.get(code, (b, h, q, k)))
    assert code.split("(")[0] in question.lines[int(number) - 1] and question.marked == int(number)


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_are_those_of_the_line(asked, seed):
    question, _ = asked(value_question, seed, NORM)
    low, high = map(float, re.search(r"features (-?\d+), (-?\d+)", question.text[0]).groups())
    [code] = re.findall(r"`(\w+)` after", question.text[1])
    away = (high - low) / 2
    held = {"centred": (-away, away, -away, away), "variance": (away**2,)}[code]
    assert question.answer == ", ".join(f"{number:g}" for number in held)


@pytest.mark.parametrize("name", [ATTENTION, NORM])
def test_the_call_that_differs_is_the_only_one_with_other_inputs_too(asked, intake, grader, name):
    question, _ = asked(input_question, 1, name)
    differing = InSandbox(name, intake, grader, 99).differing(question.change.text)
    wanted = "no longer" in question.text[0]
    assert [option for option in question.options if (option in differing) is wanted] == [question.answer]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hunt_shows_one_quiet_change(asked, seed):
    question, component = asked(hunt_question, seed)
    number, after = re.fullmatch(r"Line (\d+): `(.+)`", question.answer).groups()
    line = [*component.lines][int(number) - 1]
    before = component.lines[line]
    assert question.lines[int(number) - 1].strip() == after != before.strip()
    assert f"It was `{before.strip()}`" in question.why[0]
    lines = component.text.split("\n")
    lines[line - 1] = before.replace(before.strip(), after)
    states = {outcome.state for outcome in component.judge("\n".join(lines))}
    assert states == {"passed", "failed"}
    assert not any(shown.lstrip().startswith(("#", '"""')) for shown in question.lines)


def test_a_student_gets_the_same_questions_all_term_and_others_get_others(examiner, intake):
    once, again = (examiner.sheet("anna", "Anna", intake) for _ in range(2))
    assert once == again and len(once.questions) == 5
    assert {question.kind for question in once.questions} == {"input", "shape", "value"}
    assert once.questions != examiner.sheet("ben", "Ben", intake).questions


def test_nothing_is_asked_about_what_does_not_work_or_is_not_there(examiner, tmp_path):
    fault = ("attention", " / math.sqrt(query.size(-1))", "")
    path = write_submission(tmp_path / "bob", fault, modules=("attention",))
    sheet = examiner.sheet("bob", "Bob", take_in(path, SKELETON, ASSIGNMENT))
    assert {question.component for question in sheet.questions} == {"attention.MultiHeadedAttention"}
    assert sheet.reason.startswith(
        "not all tests pass for scaled_dot_product_attention; not in the submission: InputEmbedding, LayerNorm, "
    )


def test_a_skeleton_gets_no_questions(examiner, tmp_path):
    skeleton = examiner.sheet("eve", "Eve", take_in(SKELETON, SKELETON, ASSIGNMENT))
    assert skeleton.questions == () and skeleton.reason.startswith("not all tests pass for InputEmbedding, ")
    (tmp_path / "own_tests.py").write_text("class TestAttention:\n    pass\n")
    nothing = examiner.sheet("eve", "Eve", take_in(tmp_path, SKELETON, ASSIGNMENT))
    assert nothing.questions == () and nothing.reason == "none of the assignment's components is in the submission"


def test_hostile_code_gets_no_answer_of_its_own(examiner, tmp_path):
    """Code that works in tests, and not in the calls that questions are about."""
    text = "    return weights @ value, weights"
    evil = f"    if value.size(-1) == 8:\n        __import__('os')._exit(0)\n{text}"
    path = write_submission(tmp_path / "mallory", ("attention", text, evil), modules=("attention",))
    sheet = examiner.sheet("mallory", "Mallory", take_in(path, SKELETON, ASSIGNMENT))
    assert sheet.questions and "input" not in {question.kind for question in sheet.questions}
