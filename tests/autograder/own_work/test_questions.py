"""Questions: the answer is what the student's code does, on paper and at home, here and in the sandbox."""

from __future__ import annotations

import random
import re

import pytest
import torch

from autograder.grading.provenance import Seeds
from autograder.intake.sources import read_sources
from autograder.intake.submission import take_in
from autograder.own_work.boxes import AtHome
from autograder.own_work.graded import InSandbox
from autograder.own_work.hunts import hunt_question
from autograder.own_work.questions import (
    Place,
    Question,
    Scene,
    find,
    input_question,
    numbers_in,
    shape_question,
    tell,
    value_question,
)
from autograder.own_work.sheets import Examiner
from autograder.own_work.student_lines import without_comment
from autograder.running.in_process import InProcessSubmission
from autograder.sandbox.submission import Sandbox
from foundation.command_line import UserError
from foundation.places import REFERENCE, SKELETON

from ..conftest import ASSIGNMENT, examples_in, write_submission

EXAMPLES = examples_in("own_work/questions.toml")
PLAIN, ANSWERS = EXAMPLES["plain"], EXAMPLES["answers"]

ATTENTION, NORM = "attention.scaled_dot_product_attention", "layers.LayerNorm"


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


@pytest.mark.slow
def test_a_shape_is_the_value_s_own(asked, sampled):
    for seed in sampled(range(2), 2):
        question, _ = asked(shape_question, seed)
        b, h, q, d = map(int, re.search(r"query \((\d+), (\d+), (\d+), (\d+)\)", question.text[0]).groups())
        k = int(re.search(r"key \(\d+, \d+, (\d+)", question.text[0]).group(1))
        of_code = {"key.transpose(-2, -1)": (b, h, d, k), "weights @ value": (b, h, q, d)}
        code, number = re.search(r"`([^`]+)` .* of line (\d+)\?", question.text[1]).groups()
        assert question.answer == str(of_code.get(code, (b, h, q, k)))
        assert code.split("(")[0] in question.lines[int(number) - 1] and question.marked == int(number)


@pytest.mark.slow
def test_numbers_are_those_of_the_line(asked, sampled):
    for seed in sampled(range(2), 2):
        question, _ = asked(value_question, seed, NORM)
        low, high = map(float, re.search(r"features (-?\d+), (-?\d+)", question.text[0]).groups())
        [code] = re.findall(r"`(\w+)` after", question.text[1])
        away = (high - low) / 2
        held = {"centred": (-away, away, -away, away), "variance": (away**2,)}[code]
        assert question.answer == ", ".join(f"{number:g}" for number in held)


def test_zero_has_no_sign():
    place = Place(1, 1, 1, "x", True)
    scene = Scene(NORM, "", None, (torch.ones(2),))
    assert [*numbers_in(scene, [(place, torch.tensor([-0.0, -0.001]))], random.Random(0))] == [(place, "0, 0")]


@pytest.mark.slow
def test_no_wrong_number_is_nearly_right(asked, sampled):
    """Scores of 1 and 5 have the weights 0.02 and 0.98; without the scale they would be 0.00 and 1.00."""
    for seed in sampled(range(4), 2):
        question, _ = asked(value_question, seed)
        numbers = {option: [*map(float, option.split(","))] for option in question.options}
        right = numbers.pop(question.answer)
        assert all(max(abs(a - b) for a, b in zip(right, wrong, strict=True)) >= 0.05 for wrong in numbers.values())


@pytest.mark.slow
def test_the_call_that_differs_is_the_only_one_with_other_inputs_too(asked, intake, grader, sampled):
    for name in sampled([ATTENTION, NORM], 2):
        question, _ = asked(input_question, 1, name)
        differing = InSandbox(name, intake, grader, 99).differing(question.change.text)
        wanted = "no longer" in question.text[0]
        assert [option for option in question.options if (option in differing) is wanted] == [question.answer]


def test_a_version_that_learns_other_numbers_is_not_compared():
    """More heads than are used: nothing differs, but the numbers that the others have learned."""
    own = PLAIN + EXAMPLES["by_head"]
    heads = AtHome("attention.MultiHeadedAttention", sources(attention=own), 0, ASSIGNMENT)
    assert heads.differing(own.replace("range(n_heads)", "range(d_model)")) is None
    assert heads.differing(own.replace("return context", "return -context"))
    assert not heads.agree(own.replace("return context", "return float('inf') + context"), own)


def test_helpers_are_printed_below_the_component_without_comments():
    heads = AtHome("attention.MultiHeadedAttention", sources(attention=PLAIN + EXAMPLES["by_head"]), 0, ASSIGNMENT)
    assert heads.shown[: len(heads.lines)] == tuple(map(without_comment, heads.lines.values()))
    assert (
        heads.shown[3] == "        self.n_heads = n_heads" and heads.shown[len(heads.lines)] == "class Head(nn.Module):"
    )
    assert not any("scaled_dot_product_attention(query" in line for line in heads.shown), "it is of the contract"


@pytest.mark.slow
def test_a_hunt_shows_one_quiet_change(asked, sampled):
    for seed in sampled(range(2), 2):
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


@pytest.mark.slow
@pytest.mark.nightly
def test_a_student_gets_the_same_questions_all_term_and_others_get_others(examiner, intake, monkeypatch):
    monkeypatch.setattr(examiner, "_n_questions", 3)
    once, again = (examiner.sheet("anna", "Anna", intake) for _ in range(2))
    assert once == again and len(once.questions) == 3
    assert {question.kind for question in once.questions} == {"input", "shape", "value"}
    assert once.questions != examiner.sheet("ben", "Ben", intake).questions


def test_without_a_component_there_are_no_questions(examiner, tmp_path):
    (tmp_path / "attention.py").write_text("x = 1\n")
    sheet = examiner.sheet("eve", "Eve", take_in(tmp_path, SKELETON, ASSIGNMENT))
    assert (sheet.questions, sheet.reason) == ((), "none of the components that are asked about is in the submission")


@pytest.mark.slow
def test_hostile_code_gets_no_answer_of_its_own(grader, tmp_path):
    """Code that works in tests, and not in the calls that questions are about."""
    text = "    return weights @ value, weights"
    evil = f"    if value.size(-1) == 8:\n        __import__('os')._exit(0)\n{text}"
    path = write_submission(tmp_path / "mallory", ("attention", text, evil), modules=("attention",))
    component = InSandbox(ATTENTION, take_in(path, SKELETON, ASSIGNMENT), grader, 0)
    assert component.works and input_question(component, random.Random(0)) is None
    assert shape_question(component, random.Random(0)) is not None


def sources(**changed):
    made = read_sources(REFERENCE, REFERENCE)
    return {**made, **{name: (f"{name}.py", text) for name, text in changed.items()}}


def asked_at_home(text):
    return find(ATTENTION, InProcessSubmission(sources(attention=text), ASSIGNMENT), ASSIGNMENT)


@pytest.fixture(scope="module")
def plain():
    return asked_at_home(PLAIN)


def test_shapes_and_numbers_are_asked_about_numbered_lines(plain):
    lines = plain.listing.split("\n")
    assert len(lines) == 6 and lines[1].split(maxsplit=1)[0] == "2"
    assert "Computes" not in plain.listing and "Forbidden" not in plain.listing
    assert [question.kind for question in plain.questions] == ["shape", "value", "shape"]
    for question in plain.questions:
        assert lines[question.marked - 1].split()[0] == str(question.marked)
        assert f"of line {question.marked}" in question.text[-1]


def test_an_argument_is_no_answer_and_any_block_can_be_read(plain):
    submission = InProcessSubmission({"attention": ("attention.py", EXAMPLES["idle"])}, ASSIGNMENT)
    asked = find(ATTENTION, submission, ASSIGNMENT)
    assert asked.questions == () and "import math" in asked.listing
    submission.close()


def test_a_change_asks_anew_and_a_comment_does_not(plain):
    assert asked_at_home(PLAIN.replace("# Forbidden keys.", "# Keys that are forbidden.\n    # At all.")) == plain
    assert asked_at_home(PLAIN.replace("-1e9", "-1e8")).tag != plain.tag


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


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.hostile] * ("is_hostile" in case)) for name, case in ANSWERS.items()]
)
def test_answers_are_judged_in_one_line(plain, grader, name):
    body = ANSWERS[name]["body"].replace("TAG", plain.tag)
    body = body.replace("MEGABYTES", "7" * 3_000_000).replace("DEEP", "[" * 5000 + "]" * 5000)
    text = f"def answers():\n    {body}\n"
    with Sandbox(sources(attention=PLAIN, understanding=text), ASSIGNMENT, zygote=grader.zygote) as sandbox:
        *_, ended = grader.tests.run(sandbox, 1, only="task_e_6")
    [outcome] = [outcome for outcome in ended["task_e_6"] if "about attention" in outcome.test]
    assert outcome.state == ANSWERS[name]["state"] and ANSWERS[name]["message"] in outcome.message
    assert len(outcome.message) < 600


def test_questions_stand_below_the_code_and_above_the_entry_to_fill_in(plain):
    listing, *asked, where, entry = tell("1.2", sources(attention=PLAIN), ASSIGNMENT).split("\n\n")
    assert listing == plain.listing and entry == f'    "1.2 {plain.tag}": ["…", "…", "…"],'
    texts = (question.text for question in plain.questions)
    assert asked == [f"{n}. {call}\n   {question}" for n, (call, question) in enumerate(texts, start=1)]
    assert where == "Your answers are an entry of what `answers` returns (task E.6):"


def test_a_component_that_expects_more_of_others_than_the_contract_is_asked_about():
    text = (REFERENCE / "attention.py").read_text(encoding="utf-8")
    for old, new in (
        ("return weights @ value, weights", "return Attended(weights @ value, weights)"),
        ("context, weights = scaled_dot_product_attention(", "attended = scaled_dot_product_attention("),
        ("concatenated = context.", "weights, concatenated = attended.weights, attended.context."),
    ):
        assert old in text
        text = text.replace(old, new)
    text += "\nimport typing\nAttended = typing.NamedTuple('Attended', [('context', Tensor), ('weights', Tensor)])\n"
    assert '"1.3 ' in tell("1.3", sources(attention=text), ASSIGNMENT)


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
