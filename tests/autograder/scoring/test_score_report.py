"""The report: figures that never contradict the verdict, sentences that say what to do, documented JSON."""

import dataclasses
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.scoring import as_json, as_text, explain, judge, report, score
from foundation.counting import as_threshold


@pytest.fixture(scope="module")
def a_score():
    return score(["a b c d x", "a b c d e"] * 100, ["a b c d e", "a b c d e"] * 100, samples=100)


def with_figures(base, bleu, low, high, **others):
    return dataclasses.replace(base, bleu=bleu, low=low, high=high, **others)


@pytest.mark.parametrize(
    ("figures", "thresholds", "shown"),
    [
        ((0.4631, 0.4399, 0.4807), {}, "0.46 0.44 0.48"),
        ((0.4631, 0.4399, 0.4807), {"a": 0.30, "b": 0.45}, "0.46 0.44 0.48"),
        ((0.446, 0.42, 0.47), {"b": 0.45}, "0.446 0.420 0.470"),
        ((0.44996, 0.42, 0.47), {"b": 0.45}, "0.44996 0.42000 0.47000"),
        ((0.4499999999, 0.42, 0.47), {"b": 0.45}, "0.4499999999 0.4200000000 0.4700000000"),
        ((0.45, 0.42, 0.47), {"b": 0.45}, "0.45 0.42 0.47"),
        ((0.4504, 0.42, 0.47), {"b": 0.45}, "0.45 0.42 0.47"),
        ((0.47, 0.4496, 0.49), {"b": 0.45}, "0.4700 0.4496 0.4900"),
        ((0.4516, 0.43, 0.47), {"b": 0.4515}, "0.452 0.430 0.470"),
        ((0.0, 0.0, 0.0), {"b": 0.45}, "0.00 0.00 0.00"),
        ((1.0, 1.0, 1.0), {"b": 1.0}, "1.00 1.00 1.00"),
    ],
)
def test_enough_digits(a_score, figures, thresholds, shown):
    result = with_figures(a_score, *figures)
    verdicts = judge(result, thresholds)
    assert " ".join(report.figures(result, verdicts)) == shown
    value, low, high = shown.split()
    assert f"BLEU       {value}   95% interval {low} to {high} " in as_text(result, verdicts)


decimal = st.floats(0, 1).map(lambda x: round(x, 10))


@settings(deadline=None, database=None, max_examples=300)
@given(st.lists(decimal, min_size=3, max_size=3).map(sorted), decimal | st.sampled_from([0.3, 0.45]))
def test_shown_figures_lead_to_the_same_verdict(a_score, figures, threshold):
    low, bleu, high = figures
    result = with_figures(a_score, bleu, low, high)
    verdicts = judge(result, {"x": threshold})
    value, low, high = map(float, report.figures(result, verdicts))
    assert judge(with_figures(a_score, value, low, high), {"x": float(as_threshold(verdicts[0].threshold))}) == verdicts


def test_the_table(a_score):
    result = with_figures(a_score, 0.4631, 0.4399, 0.4807, chrf=0.615, n=971, samples=1000, seed=12345)
    text = as_text(result, judge(result, {"beginner": 0.30, "advanced": 0.45, "expert": 0.6}), ["something"])
    assert (
        text
        == f"""\
BLEU       0.46   95% interval 0.44 to 0.48   (1,000 bootstrap samples, seed 12345)
chrF       {0.615:.2f}
sentences  971
signature  {result.signature}

threshold  at least  verdict
beginner       0.30  passed
advanced       0.45  borderline (counts as passed)
expert         0.60  failed

advanced: 0.45 lies within the 95% interval 0.44 to 0.48: BLEU 0.46 reaches it and counts as
passed, but 971 sentences cannot settle it.
What to do: points depend on BLEU itself. Before you conclude more from it, score a second
training run (another seed) or more test sentences; train somewhat longer to be clear of the
threshold.

note: something
"""
    )


def test_explanations(a_score):
    result = with_figures(a_score, 0.446, 0.42, 0.47, n=971)
    passed, borderline, failed = judge(result, {"a": 0.3, "b": 0.45, "c": 0.4705})
    assert explain(passed, result) == "BLEU 0.45 reaches 0.30, and so does all of the 95% interval 0.42 to 0.47"
    assert explain(borderline, result) == (
        "0.45 lies within the 95% interval 0.420 to 0.470: BLEU 0.446 is below it and counts as failed,"
        " but 971 sentences cannot settle it"
    )
    assert explain(failed, result) == "BLEU 0.45 is below 0.4705, and so is all of the 95% interval 0.42 to 0.47"


def test_notes_never_steer_the_terminal(a_score):
    text = as_text(a_score, [], ["\x1b[2J\u202egone\n"])
    assert "note: \\x1b[2J\\u202egone\\n\n" in text


def test_what_the_figures_make_worth_knowing():
    result = score([""], ["a b"], samples=100)
    text = as_text(result, [])
    assert "note: only 1 sentence: the true uncertainty is larger than the interval shows\n" in text
    assert "note: every translation is empty\n" in text
    assert as_json(result, [], ["first"])["notes"][0] == "first"
    assert len(as_json(result, [], ["first"])["notes"]) == 3


def test_json_is_as_documented(a_score):
    verdicts = judge(a_score, {"a": 0.3, "b": 0.99})
    data = json.loads(json.dumps(as_json(a_score, verdicts), allow_nan=False))
    documented = re.findall(r"^    (\w+)  ", report.__doc__, re.MULTILINE)
    assert list(data) == documented
    assert data["schema"] == report.SCHEMA == 1
    assert data["bleu"] == a_score.bleu
    assert data["interval"] == {
        "level": 0.95, "low": a_score.low, "high": a_score.high, "samples": 100, "seed": 12345,
    }  # fmt: skip
    assert data["thresholds"] == [dataclasses.asdict(verdict) for verdict in verdicts]
    for name in ("n", "chrf", "signature", "chrf_signature", "brevity_penalty", "hypothesis_length"):
        assert data[name] == getattr(a_score, name)


def test_the_wrong_file_is_suspected():
    references = [f"the {noun} sleeps under a {noun} tree ." for noun in ("cat", "dog", "old", "red", "big")]
    moved = [f"we have not seen {number} cars" for number in range(5)]
    suspicion = "note: hardly anything matches: do both files have the same split, order and language?\n"
    assert suspicion in as_text(score(moved, references, samples=100), [])
    assert suspicion not in as_text(score(references, references, samples=100), [])
