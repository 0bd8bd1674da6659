"""The proof of questions: it finds what it is to find, and holds for a sample of variants and faults."""

from dataclasses import replace

import pytest

from autograder.own_work.question import Question
from foundation.assignment_file import read_assignment
from validity.questions import LEAST_KINDS, Asked, ask_all, by_features, report

TEXTS = [("a", "bb", "ccc", "dddd"), ("bb", "a", "dddd", "ccc"), ("ccc", "dddd", "a", "bb"), ("dddd", "ccc", "bb", "a")]


def questions(right) -> list[Question]:
    """The same options in four orders; `right` chooses one of them."""
    made = []
    for number, texts in enumerate(TEXTS):
        asked = Question("shape", "layers.LayerNorm", ("?",), "", options=texts, right=right(number, texts))
        made.append(asked)
    return made


@pytest.mark.parametrize(
    "right, feature",
    [
        (lambda number, texts: texts.index("dddd"), "length: most"),
        (lambda number, texts: texts.index("a"), "length: least"),
        (lambda number, texts: 2, "position C"),
    ],
)
def test_what_gives_an_answer_away_is_found(right, feature):
    found = by_features(questions(right))
    assert found[feature] == 1 == max(found.values())


def test_no_feature_answers_questions_whose_right_option_is_any():
    mixed = questions(lambda number, texts: texts.index(["a", "bb", "ccc", "dddd"][number]))
    assert by_features(mixed)["length: most"] == by_features(mixed)["length: least"] == 0.25


@pytest.mark.parametrize("is_right, told", [((True, True, False, False), "right are"), ((False,) * 4, "right are")])
def test_two_right_choices_or_none_are_told(is_right, told):
    [first, *_] = questions(lambda number, texts: 0)
    assert Asked("anna", first, (True, False, False, False)).problem == ""
    assert told in Asked("anna", first, is_right).problem
    text, holds = report([Asked("anna", first, is_right)])
    assert "anna, shape, layers.LayerNorm: right are" in text and not holds
    assert "different options" in Asked("anna", replace(first, options=("a",) * 4), None).problem


@pytest.mark.slow
def test_the_questions_of_a_sitting(request):
    """A sample of what `python -m validity questions` proves, without its shares: few questions say little of them."""
    asked = ask_all(10 if request.config.getoption("whole") else 40, 1, read_assignment())
    assert not [one.problem for one in asked if one.problem]
    assert len(asked) > 10 and len({one.question.kind for one in asked}) >= LEAST_KINDS - 2
