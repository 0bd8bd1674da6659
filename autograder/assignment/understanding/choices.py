"""What becomes of the attention weights where the mask, or the query, changes. The student's own function answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

import torch
from torch import Tensor

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

ATTENTION = "attention.scaled_dot_product_attention"
ROWS = ([0.1, 0.2, 0.3, 0.4], [0.05, 0.15, 0.3, 0.5], [0.1, 0.1, 0.2, 0.6], [0.08, 0.12, 0.3, 0.5])
CLEARLY = 0.02
"""By how much two rows of weights have to differ somewhere to be different answers."""


@dataclass(frozen=True)
class Choice:
    """A question with an answer that the submission gave; see `autograder.assignment_code`."""

    text: tuple[str, ...]
    options: tuple[str, ...]
    right: int
    why: str


def attend(
    submission: SubmissionUnderTest, row: Sequence[float], allowed: Sequence[bool], factor: float = 1.0
) -> Tensor:
    """The weights of one query for keys that get these weights without a mask; d_k is 1.

    Args:
        submission: whose function is called.
        row: the weights.
        allowed: the mask.
        factor: the query.
    """
    key = torch.tensor([[[[log(weight)] for weight in row]]], dtype=torch.float64)
    query = torch.tensor([[[[factor]]]], dtype=torch.float64)
    mask = torch.tensor([[[[*allowed]]]])
    _, weights = submission.call(ATTENTION, query, key, torch.ones_like(key), mask)
    if weights.shape != (1, 1, 1, len(row)):
        raise ValueError(f"weights of shape {tuple(weights.shape)}")
    found: Tensor = weights.detach().flatten()
    return found


def one_more_key_forbidden(submission: SubmissionUnderTest, case: Case) -> Choice | None:
    """What becomes of the weights where the mask forbids one more key?"""
    row = case.shuffle(case.choose(ROWS))
    before = attend(submission, row, [True] * 4)
    gone = case.size(0, 3)
    after = attend(submission, row, [index != gone for index in range(4)])
    zeroed = before.clone()
    zeroed[gone] = 0
    shared = zeroed + before[gone] / 3
    shared[gone] = 0
    wrong = [zeroed, shared, before]
    text = (
        f"For one query and four keys your `scaled_dot_product_attention` returns the weights {told(before)}, with a "
        "mask that allows all four keys.",
        f"Now the mask forbids the {ORDINALS[gone]} key as well, and nothing else changes. Which weights come out?",
    )
    why = (
        "The forbidden score leaves the softmax, so the other weights keep their ratios and are divided by their sum. "
        "Wrong are: only set to 0, without dividing again; shared out equally; unchanged."
    )
    return choice(text, after, wrong, why)


def no_key_allowed(submission: SubmissionUnderTest, case: Case) -> Choice | None:
    """What does a query get that may attend to nothing?"""
    row = case.shuffle(case.choose(ROWS))
    before = attend(submission, row, [True] * 4)
    after = attend(submission, row, [False] * 4)
    wrong = [torch.full_like(before, 0.25), torch.zeros_like(before), before, torch.full_like(before, torch.nan)]
    text = (
        f"For one query and four keys your `scaled_dot_product_attention` returns the weights {told(before)}, with a "
        "mask that allows all four keys.",
        "Now the mask forbids all four. Which weights does your code return? Which line of it decides that?",
    )
    why = (
        "Any finite weights are correct here, so this is about the student's own code: equal ones if a large negative "
        "number takes the place of each score, zeros where they are set to 0 after the softmax."
    )
    return choice(text, after, wrong, why)


def query_twice_as_long(submission: SubmissionUnderTest, case: Case) -> Choice | None:
    """What becomes of the weights where the query is twice as long?"""
    row = case.shuffle(case.choose(ROWS))
    before = attend(submission, row, [True] * 4)
    after = attend(submission, row, [True] * 4, factor=2.0)
    flat = before.sqrt() / before.sqrt().sum()
    text = (
        f"For one query and four keys your `scaled_dot_product_attention` returns the weights {told(before)}.",
        "Now the query is multiplied by 2, and nothing else changes. Which weights come out?",
    )
    why = (
        "Each score doubles, so each weight is squared, and the squares are divided by their sum: the weights get "
        "sharper. That is what the division by sqrt(d_k) holds back. Wrong are: unchanged; flatter; all doubled."
    )
    return choice(text, after, [before, flat, 2 * before], why)


def choice(text: tuple[str, ...], right: Tensor, wrong: Sequence[Tensor], why: str) -> Choice | None:
    """A question with the right answer and wrong ones, as far as these differ clearly; None where too few do."""
    options = [right]
    for other in wrong:
        if all(differ(other, one) for one in options):
            options.append(other)
    if len(options) < 3:
        return None
    return Choice(text, tuple(told(option) for option in options), 0, why)


def differ(one: Tensor, other: Tensor) -> bool:
    """Whether two rows of weights are clearly different."""
    if bool(one.isnan().any()) or bool(other.isnan().any()):
        return not torch.equal(one.isnan(), other.isnan())
    return float((one - other).abs().max()) > CLEARLY


def told(weights: Tensor) -> str:
    """A row of weights: 0.1, 0.25, 0.65, 0."""
    return ", ".join("NaN" if value != value else f"{value:.3f}".rstrip("0").rstrip(".") for value in weights.tolist())


ORDINALS = ("first", "second", "third", "fourth")
CHOICES: Mapping[str, Sequence[Callable[[SubmissionUnderTest, Case], Choice | None]]] = {
    ATTENTION: (one_more_key_forbidden, no_key_allowed, query_twice_as_long)
}
