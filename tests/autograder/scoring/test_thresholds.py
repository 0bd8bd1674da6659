"""Thresholds and reports: where thresholds come from, the verdict that a score gets, figures that agree."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.scoring import ScoringError, Verdict, as_text, judge, parse_thresholds, score
from autograder.scoring import verdicts as report
from foundation.assignment_file import read_assignment
from foundation.texts import as_threshold


@pytest.fixture(scope="module")
def a_score():
    found = score(["a b c d x", "a b c d e"] * 100, ["a b c d e", "a b c d e"] * 100, samples=100)
    return dataclasses.replace(found, bleu=0.46, low=0.44, high=0.48, chrf=0.615, n=971)


def with_figures(base, bleu, low, high):
    return dataclasses.replace(base, bleu=bleu, low=low, high=high)


@pytest.mark.parametrize(
    ("threshold", "status", "is_reached"),
    [
        (0.44, "passed", True),
        (0.4400001, "borderline", True),
        (0.46, "borderline", True),
        (0.4600001, "borderline", False),
        (0.48, "borderline", False),
        (0.4800001, "failed", False),
    ],
)
def test_verdicts(a_score, threshold, status, is_reached):
    assert judge(a_score, {"x": threshold}) == [Verdict("x", threshold, status, is_reached)]


def test_the_assignments_thresholds():
    assert read_assignment().thresholds == {"beginner": 0.30, "advanced": 0.45}
    assert parse_thresholds(["a = .45 ", "b=1"]) == {"a": 0.45, "b": 1.0}


@pytest.mark.parametrize("argument", ["advanced", "a=0,45", "a=-0.01", "a=45", "=0.4", "\x1b[2Ja=0.4"])
def test_wrong_arguments(argument):
    with pytest.raises(ScoringError, match="write NAME=VALUE with a BLEU from 0 to 1") as refused:
        parse_thresholds([argument])
    assert str(refused.value).isprintable() and len(str(refused.value)) < 300


def test_enough_digits_to_be_on_the_right_side_of_a_threshold(a_score):
    for figures, shown in (((0.4631, 0.4399, 0.4807), "0.46 0.44 0.48"), ((0.446, 0.42, 0.47), "0.446 0.420 0.470")):
        result = with_figures(a_score, *figures)
        verdicts = judge(result, {"b": 0.45})
        assert " ".join(report.figures(result, verdicts)) == shown
        value, low, high = shown.split()
        assert f"BLEU       {value}   95% interval {low} to {high} " in as_text(result, verdicts)


decimal = st.floats(0, 1).map(lambda x: round(x, 10))


@given(st.lists(decimal, min_size=3, max_size=3).map(sorted), decimal | st.sampled_from([0.3, 0.45]))
def test_shown_figures_lead_to_the_same_verdict(a_score, figures, threshold):
    low, bleu, high = figures
    result = with_figures(a_score, bleu, low, high)
    verdicts = judge(result, {"x": threshold})
    value, low, high = map(float, report.figures(result, verdicts))
    assert judge(with_figures(a_score, value, low, high), {"x": float(as_threshold(verdicts[0].threshold))}) == verdicts


TABLE = """\
BLEU       0.46   95% interval 0.44 to 0.48   (100 bootstrap samples)
chrF       {chrf:.2f}
sentences  971
signature  {signature}

threshold  at least  verdict
beginner       0.30  passed
advanced       0.45  borderline (counts as passed)
expert         0.60  failed

advanced: 0.45 lies within the 95% interval 0.44 to 0.48: BLEU 0.46 reaches it and counts as
passed, but 971 sentences cannot settle it.

note: \\x1b[2J\\u202egone\\n
"""


def test_the_table(a_score):
    verdicts = judge(a_score, {"beginner": 0.30, "advanced": 0.45, "expert": 0.6})
    text = as_text(a_score, verdicts, ["\x1b[2J\u202egone\n"])
    assert text == TABLE.format(chrf=a_score.chrf, signature=a_score.signature)


def test_what_the_figures_make_worth_knowing():
    wrong = "hardly anything matches: do both files have the same split, order and language?"
    result = score([""], ["a b"], samples=100)
    assert "note: first\nnote: every translation is empty\n" in as_text(result, [], ["first"])
    assert wrong in as_text(score(["x y z w"] * 200, ["a b c d"] * 200, samples=100), [])
