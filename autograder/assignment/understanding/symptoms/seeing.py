"""What a symptom is, and what all components are asked: whether results agree, how many numbers are learned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

Observed = Mapping[str, Any]
Note = Callable[[str, Callable[[], Any]], None]
"""Keeps what a call returns under a name; an exception is kept as one."""

CLOSE, CLEARLY = 1e-6, 0.03
"""Numbers that count as equal, and a difference that anybody sees."""


@dataclass(frozen=True)
class Seen:
    """A symptom that an observation shows by itself.

    Attributes:
        text: what one sees.
        is_seen: whether it is there; an exception where nobody can tell.
    """

    text: str
    is_seen: Callable[[Observed], bool]

    def shows(self, before: Observed, after: Observed) -> bool:
        """Whether it is there after a change.

        Raises:
            ValueError: where it was there before.
        """
        if self.is_seen(before):
            raise ValueError("it was there before")
        return self.is_seen(after)


@dataclass(frozen=True)
class Compared:
    """A symptom that shows in comparison.

    Attributes:
        text: what one sees.
        shows: whether the second observation shows it, compared with the first.
    """

    text: str
    shows: Callable[[Observed, Observed], bool]


Symptoms = Mapping[str, tuple[Callable[[SubmissionUnderTest, Case, Note], None], Sequence[Seen | Compared]]]
"""Of each component: what calls it, and what may be seen."""


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two results agree."""
    return one.shape == other.shape and bool(torch.allclose(one, other, atol=CLOSE))


def has_shape(value: object, *shape: int) -> bool:
    """Whether this is a tensor of this shape."""
    return isinstance(value, Tensor) and tuple(value.shape) == shape


def build(
    submission: SubmissionUnderTest, case: Case, component: str, *arguments: float, randomised: bool = True
) -> nn.Module:
    """A module in eval mode, among the student's own other components."""
    module = submission.build(component, *arguments, dtype=torch.float64, isolated=False).eval()
    if randomised:
        case.randomise(module.parameters())
    return module


def numbers_of(module: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def with_another_position(case: Case, x: Tensor) -> Tensor:
    """A copy of x (b, t, d) in which the first position of each sentence is another one."""
    other = x.clone()
    other[:, 0] = case.normal(x.size(0), x.size(2))
    return other


FEWER = Compared(
    "It has fewer learned numbers than before.", lambda before, after: after["numbers"] < before["numbers"]
)
MORE = Compared("It has more learned numbers than before.", lambda before, after: after["numbers"] > before["numbers"])
RANDOM = Seen(
    "In eval mode, two calls with the same input give different results.",
    lambda seen: not same(seen["output"], seen["again"]),
)
