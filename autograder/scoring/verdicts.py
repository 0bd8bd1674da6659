"""Reads thresholds, judges a score by them, and presents both: a table for people, a dictionary for programs.

A threshold is a name and a BLEU from 0 to 1. It is reached where BLEU itself is at least as large; points depend on
that alone. The verdict tells more: where the 95% interval contains the threshold, there are too few test sentences to
tell on which side of it the model is, and the verdict is `borderline`, whether or not the value reaches it.

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

import math
import os
import re
import textwrap
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from foundation.places import ASSIGNMENT_FILE
from foundation.texts import as_threshold, counted, printable

from .bleu import DECIMALS, LEVEL, Measured, Score
from .reading import ScoringError, read_bounded_text

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
SCHEMA = 1
FEW_SENTENCES = 100
UNRELATED = 0.02
"""A BLEU below this suggests the wrong file: another split, another order, the source language."""
WIDTH = 95
ADVICE = (
    "What to do: points depend on BLEU itself. Before you conclude more from it, score a second training run"
    " (another seed) or more test sentences; train somewhat longer to be clear of the threshold."
)


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


def choose_thresholds(file: str | os.PathLike[str] | None, arguments: Sequence[str]) -> dict[str, float]:
    """The thresholds that a command line asks for, by a file, `NAME=VALUE` strings, or both; or else the assignment's.

    Alone, the strings are the thresholds; with a file, they change some of its own. Raises: ScoringError.
    """
    changes = parse_thresholds(arguments)
    if file is None:
        return changes or read_thresholds()
    thresholds = read_thresholds(file)
    for name in changes:
        if name not in thresholds:
            names = ", ".join(thresholds)
            raise ScoringError(f"--threshold {name}: unknown; {printable(os.fspath(file))} has {names}")
    return thresholds | changes


def read_thresholds(path: str | os.PathLike[str] = ASSIGNMENT_FILE) -> dict[str, float]:
    """The `[thresholds]` table of a TOML file, by default the assignment's. Raises: ScoringError."""
    where = printable(os.fspath(path))
    try:
        table = tomllib.loads(read_bounded_text(path, where)).get("thresholds")
    except ScoringError:
        raise
    except (ValueError, RecursionError) as error:
        raise ScoringError(f"{where}: not valid TOML: {printable(str(error))}") from None
    if not isinstance(table, dict) or not table:
        raise ScoringError(f"{where}: has no [thresholds]; write that line and below it, for example, beginner = 0.30")
    return {name: _checked(name, value, where) for name, value in table.items()}


def parse_thresholds(arguments: Iterable[str]) -> dict[str, float]:
    """Thresholds written as `NAME=VALUE`, in the order given. Raises: ScoringError."""
    thresholds: dict[str, float] = {}
    for argument in arguments:
        where = f"--threshold {printable(argument, 60)}"
        name, _, value = (part.strip() for part in argument.partition("="))
        if not (name and value):
            raise ScoringError(f"{where}: write NAME=VALUE, such as advanced=0.45")
        try:
            number = float(value)
        except ValueError:
            number = math.nan  # which is refused like any other wrong number
        if name in thresholds:
            raise ScoringError(f"{where}: {name} is given twice; give each threshold once")
        thresholds[name] = _checked(name, number, where)
    return thresholds


def _checked(name: str, value: object, where: str) -> float:
    """A threshold as a float, or an error that tells where it is wrong and what would be right."""
    if not NAME.fullmatch(name):
        rule = "a letter, then letters, digits, - and _ (at most 32 in all)"
        raise ScoringError(f"{where}: {printable(repr(name))} is not a name for a threshold; write {rule}")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # NaN is in no range
        raise ScoringError(f"{where}: {name} is no number from 0 to 1; BLEU is a decimal, such as 0.45")
    return float(value)


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
