"""Judges a score by thresholds, and presents both.

A threshold is a name and a BLEU from 0 to 1. It is reached where BLEU itself is at least as large; points depend on
that alone. The verdict tells more: where the 95% interval contains the threshold, there are too few test sentences to
tell on which side of it the model is, and the verdict is `borderline`, whether or not the value reaches it.

Figures have two decimals, as in the course, or more where two would contradict the verdict: 0.446 is never shown as
0.45 beside a threshold of 0.45 that it misses.
"""

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from foundation.texts import as_threshold, counted, printable

from .bleu import DECIMALS, Measured, Score
from .reading import ScoringError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
UNRELATED = 0.02
"""A BLEU below this suggests the wrong file: another split, another order, the source language."""
WIDTH = 95


@dataclass(frozen=True)
class Verdict:
    """The verdict for one threshold.

    Attributes:
        name: of the threshold.
        threshold: the lowest BLEU that reaches it.
        status: `passed` or `failed` where the whole interval agrees, otherwise `borderline`.
        is_reached: whether BLEU itself is at least the threshold; points depend on this.
    """

    name: str
    threshold: float
    status: Literal["passed", "failed", "borderline"]
    is_reached: bool


def judge(score: Measured, thresholds: Mapping[str, float]) -> list[Verdict]:
    """Compares a score with every threshold, in their order."""
    verdicts = []
    for name, threshold in thresholds.items():
        status: Literal["passed", "failed", "borderline"] = "borderline"
        # With very few sentences the value may be outside its own interval; that is doubt as well.
        if min(score.low, score.bleu) >= threshold:
            status = "passed"
        elif max(score.high, score.bleu) < threshold:
            status = "failed"
        verdicts.append(Verdict(name, threshold, status, is_reached=score.bleu >= threshold))
    return verdicts


def parse_thresholds(arguments: Iterable[str]) -> dict[str, float]:
    """Thresholds written as `NAME=VALUE`, in the order given. Raises: ScoringError."""
    thresholds: dict[str, float] = {}
    for argument in arguments:
        name, _, value = (part.strip() for part in argument.partition("="))
        try:
            thresholds[name] = float(value)
        except ValueError:
            thresholds[name] = math.nan
        if not NAME.fullmatch(name) or not 0 <= thresholds[name] <= 1:  # NaN is in no range
            where = f"--threshold {printable(argument, 60)}"
            raise ScoringError(f"{where}: write NAME=VALUE with a BLEU from 0 to 1, such as advanced=0.45")
    return thresholds


def as_text(score: Score, verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """The score and its verdicts as lines for a terminal; plain ASCII, unless a note is not."""
    value, low, high = figures(score, verdicts)
    lines = [
        f"BLEU       {value}   95% interval {low} to {high}   ({score.samples:,} bootstrap samples)",
        *([] if score.chrf is None else [f"chrF       {score.chrf:.2f}"]),
        f"sentences  {score.n:,}",
        f"signature  {score.signature}",
    ]
    if verdicts:
        width = max(len("threshold"), *(len(v.name) for v in verdicts))
        lines += ["", f"{'threshold':<{width}}  at least  verdict"]
        lines += [f"{v.name:<{width}}  {as_threshold(v.threshold):>8}  {_row_end(v)}" for v in verdicts]
    doubtful = [v for v in verdicts if v.status == "borderline"]
    if doubtful:
        sentences = [f"{v.name}: {explain(v, score, verdicts)}." for v in doubtful]
        lines += ["", *(textwrap.fill(sentence, WIDTH) for sentence in sentences)]
    remarks = [*notes, *_own_notes(score)]
    if remarks:
        lines += ["", *(f"note: {printable(remark, 500)}" for remark in remarks)]
    return "\n".join(lines) + "\n"


def explain(verdict: Verdict, score: Measured, verdicts: Sequence[Verdict] = ()) -> str:
    """A verdict as a sentence without its full stop, with enough digits to be true.

    Args:
        verdict: to explain.
        score: that it judges.
        verdicts: those shown beside it, so that all figures get the same number of digits.
    """
    value, low, high = figures(score, [verdict, *verdicts])
    threshold, span = as_threshold(verdict.threshold), f"the 95% interval {low} to {high}"
    if verdict.status == "passed":
        return f"BLEU {value} reaches {threshold}, and so does all of {span}"
    if verdict.status == "failed":
        return f"BLEU {value} is below {threshold}, and so is all of {span}"
    side = "reaches it and counts as passed" if verdict.is_reached else "is below it and counts as failed"
    doubt = f"{counted(score.n, 'sentence')} cannot settle it"
    return f"{threshold} lies within {span}: BLEU {value} {side}, but {doubt}"


def figures(score: Measured, verdicts: Sequence[Verdict]) -> tuple[str, str, str]:
    """BLEU and the ends of its interval, all with the same number of decimals; none is rounded across a threshold."""
    values = (score.bleu, score.low, score.high)
    for decimals in range(2, DECIMALS + 1):
        shown = [f"{value:.{decimals}f}" for value in values]
        if all(
            (float(s) >= v.threshold) == (value >= v.threshold)
            for s, value in zip(shown, values, strict=True)
            for v in verdicts
        ):
            break
    return shown[0], shown[1], shown[2]


def _row_end(verdict: Verdict) -> str:
    if verdict.status != "borderline":
        return verdict.status
    return f"borderline (counts as {'passed' if verdict.is_reached else 'failed'})"


def _own_notes(score: Score) -> list[str]:
    """Notes that follow from the figures themselves."""
    notes = []
    if score.n_words == 0:
        notes.append("every translation is empty")
    elif score.bleu < UNRELATED:
        notes.append("hardly anything matches: do both files have the same split, order and language?")
    return notes
