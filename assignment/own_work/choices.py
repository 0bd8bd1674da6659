"""What becomes of the attention weights where the mask, or the query, changes. The student's own function answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log

import torch
from torch import Tensor

from autograder.course.assignment_code import Choice
from autograder.testing.case import Case
from autograder.testing.submission import SubmissionUnderTest

ATTENTION = "attention.scaled_dot_product_attention"
ROWS = ([0.1, 0.2, 0.3, 0.4], [0.05, 0.15, 0.3, 0.5], [0.1, 0.1, 0.2, 0.6], [0.08, 0.12, 0.3, 0.5])
ORDINALS = ("first", "second", "third", "fourth")
CLEARLY = 0.02
"""By how much two rows of weights have to differ somewhere to be different answers."""
BEFORE = (
    "For one query and four keys your `scaled_dot_product_attention` returns the weights {}, with a mask that allows "
)
BEFORE += "all four keys."


def attend(
    submission: SubmissionUnderTest, row: Sequence[float], allowed: Sequence[bool] = (True,) * 4, factor: float = 1.0
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
    _, weights = submission.call(ATTENTION, query, key, torch.ones_like(key), torch.tensor([[[[*allowed]]]]))
    found: Tensor = weights.detach().view(len(row))
    return found


def one_more_key_forbidden(submission: SubmissionUnderTest, case: Case) -> Choice:
    """What becomes of the weights where the mask forbids one more key?"""
    row = case.shuffle(case.choose(ROWS))
    before, gone = attend(submission, row), case.size(0, 3)
    after = attend(submission, row, [index != gone for index in range(4)])
    zeroed, shared = before.clone(), before + before[gone] / 3
    zeroed[gone] = shared[gone] = 0
    text = (
        BEFORE.format(told(before)),
        f"Now the mask forbids the {ORDINALS[gone]} key, and nothing else changes. Which weights come out?",
    )
    why = (
        "The forbidden score leaves the softmax, so the other weights keep their ratios and are divided by their sum. "
        "Wrong are: only set to 0, without dividing again; shared out equally; unchanged."
    )
    return Choice(text, different(after, zeroed, shared, before), why)


def no_key_allowed(submission: SubmissionUnderTest, case: Case) -> Choice:
    """What does a query get that may attend to nothing?"""
    row = case.shuffle(case.choose(ROWS))
    before, after = attend(submission, row), attend(submission, row, [False] * 4)
    wrong = (torch.full_like(before, number) for number in (0.25, 0.0, torch.nan))
    text = (
        BEFORE.format(told(before)),
        "Now the mask forbids all four. Which weights does your code return? Which line of it decides that?",
    )
    why = (
        "Any finite weights are correct here, so this is about the student's own code: equal ones if a large negative "
        "number takes the place of each score, zeros where they are set to 0 after the softmax."
    )
    return Choice(text, different(after, before, *wrong), why)


def query_twice_as_long(submission: SubmissionUnderTest, case: Case) -> Choice:
    """What becomes of the weights where the query is twice as long?"""
    row = case.shuffle(case.choose(ROWS))
    before, after = attend(submission, row), attend(submission, row, factor=2.0)
    flat = before.sqrt() / before.sqrt().sum()
    text = (
        BEFORE.format(told(before)),
        "Now the query is multiplied by 2, and nothing else changes. Which weights come out?",
    )
    why = (
        "Each score doubles, so each weight is squared, and the squares are divided by their sum: the weights get "
        "sharper. That is what the division by sqrt(d_k) holds back. Wrong are: unchanged; flatter; all doubled."
    )
    return Choice(text, different(after, before, flat, 2 * before), why)


def different(*rows: Tensor) -> list[str]:
    """The first row, and of the others those that clearly differ from all before."""
    kept: list[Tensor] = []
    for row in rows:
        if not any(torch.allclose(row, one, 0, CLEARLY, equal_nan=True) for one in kept):
            kept.append(row)
    return [*map(told, kept)]


def told(weights: Tensor) -> str:
    """A row of weights: 0.1, 0.25, 0.65, 0."""
    return ", ".join("NaN" if value != value else f"{value:.3f}".rstrip("0").rstrip(".") for value in weights.tolist())


CHOICES: Mapping[str, Sequence[Callable[[SubmissionUnderTest, Case], Choice]]] = {
    ATTENTION: (one_more_key_forbidden, no_key_allowed, query_twice_as_long)
}
