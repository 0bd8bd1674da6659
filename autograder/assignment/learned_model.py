"""What the model learned that was handed in with the code: where it looks as it translates, and its training curve.

No points depend on it. The checkpoint is opened in the worker that has been graded, by `stand_ins/models.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import torch
from torch import Tensor

from autograder.testing.under_test import SubmissionUnderTest
from foundation.places import ROOT

DEVELOPMENT = ROOT / "data" / "corpus" / "fren.dev.bpe"
LENGTHS = range(6, 11)
"""Tokens of the sentences that are tried."""
MOST_SENTENCES, MOST_TOKENS, MOST_HEADS, MOST_REPORTS = 200, 32, 8, 300
LARGEST = 1e6
TRANSFORMER = "model.Transformer"


@dataclass(frozen=True)
class Map:
    """The weights of one head: a row for each query, a column for each key."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Curve:
    """A figure by epoch."""

    title: str
    points: tuple[tuple[float, float], ...]


def look(submission: SubmissionUnderTest, content: bytes) -> tuple[list[Map], list[Curve]]:
    """Maps and curves of a submission's checkpoint; what the worker sends is checked.

    Raises:
        ValueError: where it is not what such a model gives.
    """
    sentences = development_sentences()
    if not sentences:
        raise ValueError(f"{DEVELOPMENT.name} is missing, from which the sentence is taken")
    encoded = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    answer = submission.apply("attend_as_trained", TRANSFORMER, encoded, sentences, isolated=False)
    if not isinstance(answer, (tuple, list)) or len(answer) != 4:
        raise ValueError("the checkpoint could not be used as it is")
    source, target, weights, history = answer
    return maps_of(tokens_of(source), tokens_of(target), weights), curves_of(history)


def development_sentences() -> list[list[str]]:
    """Short sentences of the development split, whose pairs students know."""
    if not DEVELOPMENT.is_file():
        return []
    lines = DEVELOPMENT.read_text(encoding="utf-8").splitlines()
    found = [line.partition("|||")[0].split() for line in lines]
    return [tokens for tokens in found if len(tokens) in LENGTHS][:MOST_SENTENCES]


def tokens_of(value: object) -> tuple[str, ...]:
    """Tokens, not too many."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_TOKENS or not all(isinstance(t, str) for t in value):
        raise ValueError("a sentence that is none")
    return tuple(value)


def maps_of(source: tuple[str, ...], target: tuple[str, ...], weights: object) -> list[Map]:
    """A map for each of the first heads."""
    if not isinstance(weights, Tensor) or weights.dim() != 3 or tuple(weights.shape[1:]) != (len(target), len(source)):
        raise ValueError("cross-attention weights of another shape than (h, t, s)")
    if not weights.is_floating_point() or not bool(weights.isfinite().all()):
        raise ValueError("cross-attention weights that are not finite")
    rows = weights[:MOST_HEADS].double().clamp(0, 1).mul(1000).round().div(1000).tolist()
    return [Map(f"head {n}", target, source, tuple(map(tuple, head))) for n, head in enumerate(rows, 1)]


def curves_of(history: object) -> list[Curve]:
    """The curves that a history has; those with less than two points are left out."""
    lines = history if isinstance(history, list) else []
    curves = [
        Curve(title, points_of(lines, key))
        for title, key in (("training loss", "train_loss"), ("dev BLEU", "dev_bleu"))
    ]
    return [curve for curve in curves if len(curve.points) > 1]


def points_of(lines: Sequence[object], key: str) -> tuple[tuple[float, float], ...]:
    """Epoch and figure of each report that has both."""
    points = []
    for number, line in enumerate(lines[:MOST_REPORTS], 1):
        if isinstance(line, dict):
            epoch, value = line.get("epoch", number), line.get(key)
            if is_number(epoch) and is_number(value):
                points.append((round(float(epoch), 3), round(float(value), 4)))
    return tuple(points)


def is_number(value: object) -> TypeGuard[float]:
    """Whether this is a number that can be drawn."""
    return isinstance(value, (int, float)) and math.isfinite(value) and abs(value) < LARGEST
