"""Presents a score and its verdicts: a table for people, a dictionary for programs.

The dictionary, which `grade.py --json` prints (a change of its meaning gets a new `SCHEMA`):

    schema              1
    bleu                number, 0 to 1, at most ten decimals
    n                   integer, sentences
    chrf                number, 0 to 1
    signature           sacreBLEU's signature of bleu and interval
    chrf_signature      sacreBLEU's signature of chrf
    precisions          [p_1, p_2, p_3, p_4], 0 to 1
    brevity_penalty     number, 0 to 1
    hypothesis_length   integer, words
    reference_length    integer, words
    tokenize            string, sacreBLEU's tokenization; "none" is the default
    interval            {level: 0.95, low: number, high: number, samples: integer, seed: integer}
    thresholds          list, in the order given, of {name: string, threshold: number,
                        status: "passed" | "failed" | "borderline", is_reached: whether bleu >= threshold}
    notes               list of strings: everything that is not an error but worth knowing

Figures have two decimals, as in the course, or more where two would contradict the verdict: 0.446 is never shown as
0.45 beside a threshold of 0.45 that it misses.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from foundation.texts import as_threshold, counted, printable

from .bleu import DECIMALS, LEVEL, Measured, Score
from .verdicts import Verdict

SCHEMA = 1
FEW_SENTENCES = 100
UNRELATED = 0.02
"""A BLEU below this suggests the wrong file: another split, another order, the source language."""
WIDTH = 95
ADVICE = (
    "What to do: points depend on BLEU itself. Before you conclude more from it, score a second training run"
    " (another seed) or more test sentences; train somewhat longer to be clear of the threshold."
)


def as_json(score: Score, verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The score and its verdicts as the dictionary that the module's docstring describes."""
    found = {**asdict(score), "precisions": list(score.precisions)}
    interval = {"level": LEVEL, **{name: found.pop(name) for name in ("low", "high", "samples", "seed")}}
    return {
        "schema": SCHEMA,
        **found,
        "interval": interval,
        "thresholds": [asdict(verdict) for verdict in verdicts],
        "notes": [*notes, *_own_notes(score)],
    }


def as_text(score: Score, verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """The score and its verdicts as lines for a terminal; plain ASCII, unless a note is not."""
    value, low, high = figures(score, verdicts)
    samples = f"{score.samples:,} bootstrap samples, seed {score.seed}"
    lines = [
        f"BLEU       {value}   95% interval {low} to {high}   ({samples})",
        f"chrF       {score.chrf:.2f}",
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
        lines += ["", *(textwrap.fill(sentence, WIDTH) for sentence in [*sentences, ADVICE])]
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
    if score.n < FEW_SENTENCES:
        notes.append(f"only {counted(score.n, 'sentence')}: the true uncertainty is larger than the interval shows")
    if score.hypothesis_length == 0:
        notes.append("every translation is empty")
    elif score.bleu < UNRELATED:
        notes.append("hardly anything matches: do both files have the same split, order and language?")
    return notes
