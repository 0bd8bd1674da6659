"""Thresholds: where they may come from, what is wrong with some, and the verdict that a score gets."""

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.scoring import (
    Score,
    ScoringError,
    Verdict,
    choose_thresholds,
    judge,
    parse_thresholds,
    read_thresholds,
)

A_SCORE = Score(
    bleu=0.46,
    low=0.44,
    high=0.48,
    chrf=0.6,
    n=971,
    signature="tok:none",
    chrf_signature="nc:6",
    precisions=(0.7, 0.5, 0.4, 0.3),
    brevity_penalty=1.0,
    hypothesis_length=5000,
    reference_length=5000,
    samples=1000,
    seed=1,
    tokenize="none",
)


def scored(bleu, low, high):
    return dataclasses.replace(A_SCORE, bleu=bleu, low=low, high=high)


@pytest.mark.parametrize(
    ("threshold", "status", "is_reached"),
    [
        (0.0, "passed", True),
        (0.43, "passed", True),
        (0.44, "passed", True),
        (0.4400001, "borderline", True),
        (0.46, "borderline", True),
        (0.4600001, "borderline", False),
        (0.48, "borderline", False),
        (0.4800001, "failed", False),
        (1.0, "failed", False),
    ],
)
def test_verdicts(threshold, status, is_reached):
    assert judge(A_SCORE, {"x": threshold}) == [Verdict("x", threshold, status, is_reached)]


def test_value_outside_its_own_interval_is_doubt():
    assert judge(scored(0.40, 0.42, 0.48), {"x": 0.41}) == [Verdict("x", 0.41, "borderline", False)]
    assert judge(scored(0.50, 0.42, 0.48), {"x": 0.49}) == [Verdict("x", 0.49, "borderline", True)]


@given(*[st.floats(0, 1)] * 4)
@settings(deadline=None, database=None)
def test_passed_and_failed_agree_with_the_value(bleu, low, high, threshold):
    [verdict] = judge(scored(bleu, min(low, high), max(low, high)), {"x": threshold})
    assert verdict.is_reached == (bleu >= threshold)
    assert {"passed": True, "failed": False, "borderline": verdict.is_reached}[verdict.status] == verdict.is_reached


def test_thresholds_are_judged_in_their_order():
    assert [v.name for v in judge(A_SCORE, {"b": 0.9, "a": 0.1, "c": 0.5})] == ["b", "a", "c"]
    assert judge(A_SCORE, {}) == []


def test_the_assignments_thresholds():
    assert read_thresholds() == {"beginner": 0.30, "advanced": 0.45}
    assert choose_thresholds(None, []) == read_thresholds()


WRONG_FILES = {
    "empty": ("", "is empty"),
    "no table": (
        "beginner = 0.3\n",
        "has no [thresholds]; write that line and below it, for example, beginner = 0.30",
    ),
    "empty table": ("[thresholds]\n", "has no [thresholds]"),
    "no table but a value": ("thresholds = 0.3\n", "has no [thresholds]"),
    "not TOML": ("[thresholds]\nbeginner: 0.3\n", "not valid TOML: Expected '=' after a key"),
    "given twice": ("[thresholds]\na = 0.3\na = 0.4\n", "a name is given twice (at line 3, column 8)"),
    "text": ("[thresholds]\na = '0.3'\n", "a is '0.3' (str); write a number from 0 to 1"),
    "truth": ("[thresholds]\na = true\n", "a is True (bool); write a number"),
    "table": ("[thresholds.a]\nb = 0.3\n", "a is {'b': 0.3} (dict)"),
    "not a number": ("[thresholds]\na = nan\n", "a is nan; it must be a number from 0 to 1"),
    "infinite": ("[thresholds]\na = inf\n", "a is inf; it must be"),
    "enormous": (f"[thresholds]\na = 0x{'f' * 9000}\n", "a is inf; it must be"),
    "long": (f"[thresholds]\na = {'9' * 9000}\n", "not valid TOML: Exceeds the limit"),
    "percent": (
        "[thresholds]\na = 45\n",
        "a is 45.0; it must be a number from 0 to 1 (BLEU is a decimal here: write 0.45)",
    ),
    "negative": ("[thresholds]\na = -0.1\n", "a is -0.1; it must be"),
    "odd name": ('[thresholds]\n"\\u001b[31m" = 0.3\n', "is not a name for a threshold; write a letter, then"),
    "nested": ("a = " + "[" * 5000, "not valid TOML"),
    "not text": (b"[thresholds]\na = 0.3 # \xe9\n", "not UTF-8: byte 0xe9 at offset 23 (line 2)"),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_wrong_files(write, case):
    content, reason = WRONG_FILES[case]
    path = write("course.toml", content)
    with pytest.raises(ScoringError, match=re.escape(reason)) as refused:
        read_thresholds(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert str(refused.value).isprintable()


def test_missing_file(tmp_path):
    with pytest.raises(ScoringError, match="gone.toml: no such file"):
        read_thresholds(tmp_path / "gone.toml")


def test_a_file_of_ones_own(write):
    path = write("course.toml", "[other]\nx = 1\n[thresholds]\npass = 0\nmerit = 0.625\nall = 1\n")
    assert read_thresholds(path) == {"pass": 0.0, "merit": 0.625, "all": 1.0}
    assert choose_thresholds(path, ["merit=0.5"]) == {"pass": 0.0, "merit": 0.5, "all": 1.0}
    with pytest.raises(ScoringError, match="--threshold honours: unknown; .*course.toml has pass, merit, all"):
        choose_thresholds(path, ["honours=0.5"])


@pytest.mark.parametrize(
    ("argument", "expected"),
    [("a=0.45", 0.45), ("a = .45 ", 0.45), ("a=1", 1.0), ("a=0", 0.0), ("a=45e-2", 0.45), ("a=+1.", 1.0)],
)
def test_arguments(argument, expected):
    assert parse_thresholds([argument]) == {"a": expected}


WRONG_ARGUMENTS = {
    "advanced": "--threshold advanced: write NAME=VALUE, such as advanced=0.45",
    "advanced=": "write NAME=VALUE",
    "=0.45": "write NAME=VALUE",
    "": "write NAME=VALUE",
    "a=b": "b is not a number; write one from 0 to 1",
    "a=0.3=0.4": "0.3=0.4 is not a number",
    "a=0,45": "0,45 is not a number; write one from 0 to 1 (with a point, not a comma)",
    "a=0_1": "0_1 is not a number",
    "a=٠.٤": "is not a number",
    "a=45%": "45% is not a number",
    "a=nan": "a is nan; it must be a number from 0 to 1",
    "a=-inf": "a is -inf; it must be",
    "a=1e999": "a is inf; it must be",
    "a=1.01": "a is 1.01; it must be a number from 0 to 1",
    "a=-0.01": "a is -0.01; it must be",
    "a=46": "BLEU is a decimal here: write 0.46)",
    "a b=0.4": "'a b' is not a name for a threshold",
    "\x1b[2Ja=0.4": "'\\x1b[2Ja' is not a name for a threshold",
    "a=\x1b[2J": "\\x1b[2J is not a number",
    f"{'a' * 33}=0.4": "is not a name for a threshold",
    f"a={'9' * 9000}x": "is not a number",
    "advnaced=0.4": "unknown threshold advnaced; did you mean advanced?",
    "Beginner=0.4": "unknown threshold Beginner; did you mean beginner?",
}


@pytest.mark.parametrize("argument", WRONG_ARGUMENTS)
def test_wrong_arguments(argument):
    with pytest.raises(ScoringError, match=re.escape(WRONG_ARGUMENTS[argument])) as refused:
        choose_thresholds(None, [argument])
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300


def test_a_name_given_twice():
    with pytest.raises(ScoringError, match="--threshold a=0.4: a is given twice; give each threshold once"):
        parse_thresholds(["a=0.3", "a=0.4"])


def test_arguments_alone_are_all_the_thresholds():
    assert choose_thresholds(None, ["pass=0.35"]) == {"pass": 0.35}
    assert choose_thresholds(None, ["advanced=0.5", "beginner=0.2"]) == {"advanced": 0.5, "beginner": 0.2}


@pytest.mark.parametrize("value", [float("nan"), 1.5, -1, "0.4", None, True])
def test_judging_by_what_is_no_threshold(value):
    with pytest.raises(ScoringError, match="a number from 0 to 1"):
        judge(A_SCORE, {"x": value})
