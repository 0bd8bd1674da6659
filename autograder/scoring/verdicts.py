"""Reads thresholds, and judges a score by them.

A threshold is a name and a BLEU from 0 to 1. It is reached where BLEU itself is at least as large; points depend on
that alone. The verdict tells more: where the 95% interval contains the threshold, there are too few test sentences to
tell on which side of it the model is, and the verdict is `borderline`, whether or not the value reaches it.
"""

import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from foundation.places import ASSIGNMENT_FILE
from foundation.texts import printable

from .bleu import Measured
from .reading import ScoringError, read_bounded_text

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")


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
