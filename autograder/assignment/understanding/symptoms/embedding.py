"""Faulty embeddings, seen from outside."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

from .seeing import (
    FEWER,
    MORE,
    RANDOM,
    Compared,
    Note,
    Observed,
    Seen,
    build,
    has_shape,
    numbers_of,
    same,
)


def look_at_embedding(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """Some tokens, one of them twice."""
    module = build(submission, case, "embedding.InputEmbedding", 11, 6)
    tokens = torch.tensor([[1, 4, 1], [7, 2, 9]])
    note("numbers", lambda: numbers_of(module))
    note("output", lambda: module(tokens).detach())
    note("again", lambda: module(tokens).detach())
    note("gradient", lambda: reaches(module, module(tokens)))


def reaches(module: nn.Module, output: Tensor) -> bool:
    """Whether a gradient of the output reaches any parameter."""
    if not output.requires_grad:
        return False
    output.sum().backward()
    return any(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in module.parameters())


def size(seen: Observed) -> float:
    """The root mean square of the output."""
    return float(seen["output"].square().mean().sqrt())


EMBEDDING = (
    FEWER,
    MORE,
    RANDOM,
    Compared("The vectors get shorter.", lambda before, after: size(after) < 0.97 * size(before)),
    Compared("The vectors get longer.", lambda before, after: size(after) > 1.03 * size(before)),
    Seen("The result has another shape.", lambda seen: not has_shape(seen["output"], 2, 3, 6)),
    Seen(
        "The same token gets different vectors at different positions.",
        lambda s: not same(s["output"][0, 0], s["output"][0, 2]),
    ),
    Seen("Different tokens get the same vector.", lambda seen: same(seen["output"][0, 0], seen["output"][0, 1])),
    Seen("No gradient reaches the table.", lambda seen: not seen["gradient"]),
)
