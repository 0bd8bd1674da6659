"""A model that was trained with a mistake: which mistake is it? Its figures and translations are data, without code."""

from __future__ import annotations

import json
import math
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

from foundation.assignment_file import Assignment
from foundation.command_line import UserError

from ..testing.case import number_of

MISTAKES, FIGURES = "own_work/trained_mistakes.toml", "own_work/trained_mistakes.jsonl"
LETTERS = "ABCD"
CLEARLY = {"bleu": 0.08, "batch": 0.15}
"""Differences of figures by which one can tell two models apart, where their losses do not."""
CLEARLY_IN_LOSS = 0.3

Row = Mapping[str, Any]
"""Figures of one model: see `benchmarks.mistakes`."""


@dataclass(frozen=True)
class TrainedModel:
    """A model with a mistake, beside one without it, and four mistakes to choose from."""

    rows: tuple[Row, Row]  # with the mistake, and without
    options: Sequence[str]
    right: str  # its letter

    def describe(self) -> str:
        """Describe the model, with the four mistakes."""
        wrong, due = self.rows
        loss, loss_due = (math.nan if row["loss"][-1] is None else row["loss"][-1] for row in self.rows)
        lines = [
            "A model was trained with one of these mistakes (preset quick). In brackets: one without it.",
            f"  loss at the end {loss:.2f} ({loss_due:.2f}), dev BLEU {wrong['bleu']:.2f} ({due['bleu']:.2f}), "
            f"translations that change in a batch of four {wrong['batch']:.0%} ({due['batch']:.0%})",
        ]
        for (source, _, got), (_, _, good) in zip(wrong["samples"], due["samples"], strict=True):
            lines.append(f"  {source} → {_cut(got)} ({good})")
        for source, alone, together in wrong["example"]:
            lines.append(f"  {source} → {_cut(alone)} In a batch: {_cut(together)}")
        return "\n".join([*lines, *(f"{letter}: {text}" for letter, text in zip(LETTERS, self.options, strict=True))])

    def reply(self, answer: str) -> str:
        """Say whether an answer is right. Raises: UserError unless it is one of the letters."""
        letter = answer.strip().upper()
        if len(letter) != 1 or letter not in LETTERS:
            raise UserError(f"the answer {answer!r}: expected one of {', '.join(LETTERS)}")
        is_right = letter == self.right
        return f"{letter} is right." if is_right else f"It is not {letter}: what would you see with that mistake?"


def draw_model(student: str, assignment: Assignment) -> TrainedModel | None:
    """Draw a student's trained model; None where the assignment has none."""
    mistakes, figures = (assignment.folder / name for name in (MISTAKES, FIGURES))
    if not mistakes.is_file():
        return None
    words = {table["id"]: table["mistake"] for table in read_mistakes(mistakes)}
    rows = {row["fault"]: row for row in map(json.loads, figures.read_text(encoding="utf-8").splitlines())}
    intact = rows.pop("")
    draw = random.Random(number_of(assignment.term, "".join(student.lower().split())))  # noqa: S311  repeatable
    fault = draw.choice(sorted(rows))
    others = [other for other in sorted(rows) if _differ(rows[fault], rows[other])]
    options = draw.sample([fault, *draw.sample(others, len(LETTERS) - 1)], len(LETTERS))
    return TrainedModel((rows[fault], intact), [words[name] for name in options], LETTERS[options.index(fault)])


def read_mistakes(path: Path) -> list[dict[str, str]]:
    """Read the mistakes: `id`, `mistake`, and for one in given code `component`, `find` and `replace`."""
    tables: list[dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8"))["mistake"]
    return tables


def _differ(one: Row, other: Row) -> bool:
    losses = [row["loss"][-1] for row in (one, other)]
    differs = None in losses or abs(losses[0] - losses[1]) >= CLEARLY_IN_LOSS
    return differs or any(abs(one[name] - other[name]) >= least for name, least in CLEARLY.items())


def _cut(translation: str) -> str:
    return shorten(translation, 80, placeholder=" …") or "nothing"
