"""Thresholds and reports: where thresholds come from, the verdict that a score gets, figures that agree."""

import dataclasses
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.scoring import (
    ScoringError,
    Verdict,
    as_json,
    as_text,
    choose_thresholds,
    judge,
    read_thresholds,
    score,
)
from autograder.scoring import (
    verdicts as report,
)
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
    assert read_thresholds() == choose_thresholds(None, []) == {"beginner": 0.30, "advanced": 0.45}


WRONG_FILES = {
    "": "is empty",
    "beginner = 0.3\n": "has no [thresholds]; write that line and below it, for example, beginner = 0.30",
    "[thresholds]\nbeginner: 0.3\n": "not valid TOML: Expected '=' after a key",
    "[thresholds]\na = '0.3'\n": "a is no number from 0 to 1; BLEU is a decimal, such as 0.45",
    "[thresholds]\na = 45\n": "a is no number from 0 to 1; BLEU is a decimal, such as 0.45",
    '[thresholds]\n"\\u001b[31m" = 0.3\n': "is not a name for a threshold; write a letter, then",
}


@pytest.mark.parametrize("content", WRONG_FILES)
def test_wrong_files(write, content):
    path = write("course.toml", content)
    with pytest.raises(ScoringError, match=re.escape(WRONG_FILES[content])) as refused:
        read_thresholds(path)
    assert str(refused.value).startswith(f"{path}: ") and str(refused.value).isprintable()


def test_a_file_of_ones_own(write):
    path = write("course.toml", "[other]\nx = 1\n[thresholds]\npass = 0\nmerit = 0.625\nall = 1\n")
    assert read_thresholds(path) == {"pass": 0.0, "merit": 0.625, "all": 1.0}
    assert choose_thresholds(None, ["a = .45 ", "b=1"]) == {"a": 0.45, "b": 1.0}
    assert choose_thresholds(path, ["merit=0.5"]) == {"pass": 0.0, "merit": 0.5, "all": 1.0}
    with pytest.raises(ScoringError, match="--threshold honours: unknown; .*course.toml has pass, merit, all"):
        choose_thresholds(path, ["honours=0.5"])


WRONG_ARGUMENTS = {
    "advanced": "--threshold advanced: write NAME=VALUE, such as advanced=0.45",
    "a=0,45": "a is no number from 0 to 1; BLEU is a decimal, such as 0.45",
    "a=-0.01": "a is no number from 0 to 1",
    "\x1b[2Ja=0.4": "'\\x1b[2Ja' is not a name for a threshold",
}


@pytest.mark.parametrize("argument", WRONG_ARGUMENTS)
def test_wrong_arguments(argument):
    with pytest.raises(ScoringError, match=re.escape(WRONG_ARGUMENTS[argument])) as refused:
        choose_thresholds(None, [argument])
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
BLEU       0.46   95% interval 0.44 to 0.48   (100 bootstrap samples, seed 12345)
chrF       {chrf:.2f}
sentences  971
signature  {signature}

threshold  at least  verdict
beginner       0.30  passed
advanced       0.45  borderline (counts as passed)
expert         0.60  failed

advanced: 0.45 lies within the 95% interval 0.44 to 0.48: BLEU 0.46 reaches it and counts as
passed, but 971 sentences cannot settle it.
What to do: points depend on BLEU itself. Before you conclude more from it, score a second
training run (another seed) or more test sentences; train somewhat longer to be clear of the
threshold.

note: \\x1b[2J\\u202egone\\n
"""


def test_the_table(a_score):
    verdicts = judge(a_score, {"beginner": 0.30, "advanced": 0.45, "expert": 0.6})
    text = as_text(a_score, verdicts, ["\x1b[2J\u202egone\n"])
    assert text == TABLE.format(chrf=a_score.chrf, signature=a_score.signature)


def test_what_the_figures_make_worth_knowing():
    few, empty, wrong = (
        "only 1 sentence: the true uncertainty is larger than the interval shows",
        "every translation is empty",
        "hardly anything matches: do both files have the same split, order and language?",
    )
    result = score([""], ["a b"], samples=100)
    assert as_json(result, [], ["first"])["notes"] == ["first", few, empty]
    assert f"note: {few}\nnote: {empty}\n" in as_text(result, [])
    assert wrong in as_text(score(["x y z w"] * 200, ["a b c d"] * 200, samples=100), [])


def test_json_is_as_documented(a_score):
    verdicts = judge(a_score, {"a": 0.3, "b": 0.99})
    data = json.loads(json.dumps(as_json(a_score, verdicts), allow_nan=False))
    assert list(data) == re.findall(r"^    (\w+)  ", report.__doc__, re.MULTILINE)
    assert data["schema"] == report.SCHEMA == 1
    assert data["interval"] == {"level": 0.95, "low": 0.44, "high": 0.48, "samples": 100, "seed": 12345}
    assert data["thresholds"] == [dataclasses.asdict(verdict) for verdict in verdicts]
    for name in ("bleu", "n", "chrf", "signature", "chrf_signature", "brevity_penalty", "hypothesis_length"):
        assert data[name] == getattr(a_score, name)
