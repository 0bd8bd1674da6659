"""The questions: their answers are what the student's code does, and the other options are not."""

import random
import re
from dataclasses import replace

import pytest

from autograder.assignment_code import understanding_of
from autograder.understanding.bench import Bench
from autograder.understanding.breaking import breaking_question, hunt_question
from autograder.understanding.examiner import choice_question
from autograder.understanding.rewriting import neighbours
from autograder.understanding.student_lines import own_statements
from autograder.understanding.values import shape_question
from autograder.understanding.versions import symptom_question
from foundation.places import SKELETON

from ..submissions import write_submission
from .conftest import ASSIGNMENT, taken_in

pytestmark = pytest.mark.slow  # submissions are run many times
ATTENTION = "attention.scaled_dot_product_attention"
UNDERSTANDING = understanding_of(ASSIGNMENT)


@pytest.fixture
def bench(right, grader):
    return Bench(right, grader, 5)


def changed_by(bench, option):
    """The sources with the line of an option."""
    path, text = bench.intake.sources["attention"]
    number = int(option.place.rpartition(" ")[2])
    lines = text.split("\n")
    assert lines[number - 1].strip() == option.before
    lines[number - 1] = lines[number - 1].replace(option.before, option.after)
    return {**bench.intake.sources, "attention": (path, "\n".join(lines))}


@pytest.mark.parametrize("seed", range(2))
def test_a_shape_is_the_value_s_own(right, grader, seed):
    question = shape_question(Bench(right, grader, seed), ATTENTION, UNDERSTANDING, random.Random(seed))
    b, h, q, d = map(int, re.search(r"query \((\d+), (\d+), (\d+), (\d+)\)", question.text[0]).groups())
    k = int(re.search(r"key and value \(\d+, \d+, (\d+)", question.text[0]).group(1))
    of_code = {"key.transpose(-2, -1)": (b, h, d, k), "weights @ value": (b, h, q, d)}
    asked = re.search(r"`([^`]+)`", question.text[1]).group(1)
    assert question.options[question.right].text == str(of_code.get(asked, (b, h, q, k)))
    [meant] = [line for line in question.excerpts[0].lines if line.is_marked]
    assert asked.split("(")[0] in meant.text and f"line {meant.number}" in question.text[1]


def test_only_one_change_breaks_the_test(bench):
    question = breaking_question(bench, ATTENTION, UNDERSTANDING, random.Random(1))
    checks, row = re.search(r"the test that checks (.+?)(?:, in its case `(.+)`)?\. Which", question.text[0]).groups()
    tests = {name for name, words in UNDERSTANDING.TESTS.items() if words == checks}
    rows = [bench.judge(ATTENTION, changed_by(bench, option)).rows for option in question.options]
    broken = [any(test.partition("[")[0] in tests and (row or "") in test for test in found) for found in rows]
    assert len(broken) == 4 and sum(broken) == 1 and question.answer == "ABCD"[broken.index(True)]


def test_lines_that_read_the_same_do_not_change_places(tmp_path):
    intake = taken_in(write_submission(tmp_path / "anna", modules=("layers",)))
    text = intake.sources["layers"][1]
    lines = text.split("\n")
    pairs = list(neighbours(own_statements(intake, "layers.DecoderLayer"), text))
    assert pairs and all(lines[one.node.lineno - 1] != lines[other.node.lineno - 1] for one, other in pairs)


def test_one_symptom_is_seen_and_the_others_are_not(bench):
    question = symptom_question(bench, ATTENTION, UNDERSTANDING, random.Random(2))
    by_text = {symptom.text: symptom for symptom in UNDERSTANDING.SYMPTOMS[ATTENTION]}

    def observe(sandbox):
        from autograder.testing.case import Case

        return UNDERSTANDING.observe(ATTENTION, sandbox, Case(99, "other inputs"))

    before, after = bench.look(observe), bench.look(observe, changed_by(bench, question.change))
    seen = [by_text[option.text].shows(before, after) for option in question.options]
    assert [index for index, one in enumerate(seen) if one] == [question.right]


@pytest.mark.parametrize(
    "old, new, wanted",
    [
        ("torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-2)", "do not add up to 1"),
        ("masked_fill(~mask,", "masked_fill(mask,", "that the mask forbids gets a weight"),
        ("torch.finfo(scores.dtype).min", "float('-inf')", "gets NaN"),
    ],
)
def test_what_is_seen_of_known_faults(bench, tmp_path, old, new, wanted):
    from autograder.testing.case import Case

    faulty = taken_in(write_submission(tmp_path / "bob", ("attention", old, new), modules=("attention",)))

    def observe(sandbox):
        return UNDERSTANDING.observe(ATTENTION, sandbox, Case(4, "some inputs"))

    before, after = bench.look(observe), bench.look(observe, faulty.sources)
    seen = [symptom.text for symptom in UNDERSTANDING.SYMPTOMS[ATTENTION] if symptom.shows(before, after)]
    assert any(wanted in text for text in seen), seen


def test_weights_are_those_that_the_code_returns(bench):
    for seed in range(2):
        question = choice_question(
            Bench(bench.intake, bench._grader, seed), ATTENTION, UNDERSTANDING, random.Random(seed)
        )
        texts = [option.text for option in question.options]
        assert len({*texts}) == len(texts) == 4
        before = [float(one) for one in re.search(r"weights ([\d., ]+\d)", question.text[0]).group(1).split(", ")]
        after = [float(one) for one in texts[question.right].split(", ")]
        if "as well" in question.text[1]:
            gone = ["first", "second", "third", "fourth"].index(
                re.search(r"the (\w+) key as well", question.text[1]).group(1)
            )
            before[gone] = 0
        elif "multiplied by 2" in question.text[1]:
            before = [one**2 for one in before]
        else:
            before = [1.0] * 4  # what this code gives a query without keys
        assert after == pytest.approx([one / sum(before) for one in before], abs=2e-3)


@pytest.mark.parametrize("seed", [3, 5])
def test_a_hunt_shows_one_quiet_fault(bench, seed):
    question = hunt_question(bench, ATTENTION, UNDERSTANDING, random.Random(seed))
    path, text = bench.intake.sources["attention"]
    number, after = re.fullmatch(r"Line (\d+): `(.+)`", question.answer).groups()
    shown = {line.number: line.text.strip() for line in question.excerpts[0].lines}
    lines = text.split("\n")
    before = lines[int(number) - 1]
    assert shown[number] == after != before.strip() and f"It was `{before.strip()}`" in question.why[0]
    lines[int(number) - 1] = before.replace(before.strip(), after)
    trial = bench.judge(ATTENTION, {**bench.intake.sources, "attention": (path, "\n".join(lines))})
    assert trial.missed and any(outcome.state.value == "passed" for outcome in trial.outcomes)
    assert not any(line.startswith(("#", '"""')) for line in shown.values())


def test_a_student_gets_the_same_questions_all_term(examiner, right):
    once, again = (replace(examiner.sheet("anna", "Anna", right), cpu=0) for _ in range(2))
    other = examiner.sheet("ben", "Ben", right)
    assert once == again and len(once.questions) == 5
    assert once.questions != other.questions


def test_nothing_is_asked_about_what_does_not_work(examiner, tmp_path):
    fault = ("attention", " / math.sqrt(query.size(-1))", "")
    sheet = examiner.sheet(
        "bob", "Bob", taken_in(write_submission(tmp_path / "bob", fault, modules=("attention", "layers")))
    )
    assert len(sheet.questions) == 5
    assert ATTENTION not in {question.component for question in sheet.questions}


def test_a_skeleton_gets_no_questions(examiner):
    sheet = examiner.sheet("eve", "Eve", taken_in(SKELETON))
    assert sheet.questions == () and "none of the assignment's components" in sheet.reason


def test_hostile_code_gets_no_answer_of_its_own(examiner, tmp_path):
    """Code that works in tests, and not where a question about its weights wants an answer."""
    text = "    return weights @ value, weights"
    evil = f"    if value.shape == (1, 1, 4, 1) and (value == 1).all():\n        __import__('os')._exit(0)\n{text}"
    path = write_submission(tmp_path / "mallory", ("attention", text, evil), modules=("attention",))
    sheet = examiner.sheet("mallory", "Mallory", taken_in(path))
    kinds = {question.kind for question in sheet.questions if question.component == ATTENTION}
    assert kinds and "choice" not in kinds and len(sheet.questions) >= 4
