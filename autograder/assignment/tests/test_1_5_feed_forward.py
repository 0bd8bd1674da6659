"""Task 1.5: W_2 relu(W_1 x + b_1) + b_2 at every position."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.assignment.expected.parts import Network
from autograder.assignment.expected.readings import expect_numbers, feed_forwards, learned_and_leaves
from autograder.testing.calls import (
    Candidates,
    Computation,
    attempt,
    each_dtype,
    each_row,
    expect_computes,
    expect_no_state,
    is_right,
)
from autograder.testing.case import Case
from autograder.testing.comparison import expect_gradients, expect_shape
from autograder.testing.results import CheckFailed
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_1_5

COMPONENT = "layers.FeedForward"
FORMULA = "compute one position by hand with the formula of the docstring: where do the numbers part?"


def make(
    submission: SubmissionUnderTest,
    case: Case,
    d_model: int,
    d_ff: int,
    dtype: torch.dtype = torch.float64,
    first: Tensor | None = None,
) -> tuple[nn.Module, list[tuple[Tensor, Tensor]], Candidates]:
    """A network with random parameters in eval mode; these with their leaves; what it may compute with them."""
    module = submission.build(COMPONENT, d_model, d_ff, dtype=dtype).eval()
    if first is not None:  # it is called before it gets other parameters, as in training
        with torch.no_grad():
            module(first)
    case.randomise(module.parameters())
    parameters, leaves = learned_and_leaves(module)
    twin = partial(submission.build, COMPONENT, d_model, d_ff, dtype=torch.float64)
    candidates = attempt(lambda: feed_forwards(leaves, d_model, d_ff, case, twin))
    return module, list(zip(parameters, leaves, strict=True)), candidates


OTHERS = (
    F.gelu,
    F.silu,
    F.leaky_relu,
    F.elu,
    F.softplus,
    torch.tanh,
    torch.sigmoid,
    torch.abs,
    torch.square,
    torch.clone,
)


def with_others(candidates: Iterable[Computation]) -> Iterator[Computation]:
    """The same networks with other nonlinearities, and with none."""
    for network in candidates:
        if isinstance(network, Network):
            yield from (replace(network, activation=one) for one in OTHERS)


CASES = {  # the shape of x, d_ff, the size of x, and where to look
    "a batch": ((3, 5, 4), 9, 1.0, FORMULA),
    "one sentence": ((1, 5, 3), 7, 1.0, FORMULA),
    "one position": ((2, 1, 4), 9, 1.0, "the features are the last axis"),
    "d_ff below d_model": ((2, 3, 6), 4, 1.0, FORMULA),
    "many positions and hidden features": (
        (2, 66, 5),
        130,
        1.0,
        "does a position depend on others, or on how many there are?",
    ),
    "large values": ((3, 4, 5), 8, 2000.0, "is there a limit to what a hidden feature can be?"),
    "small values": ((3, 4, 5), 8, 1e-3, "what does the nonlinearity give just below zero, and just above?"),
}


@pytest.mark.item("both maps")
@each_row(["a batch", "d_ff below d_model"], "a batch")
def test_maps(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    # Whatever stands between them: that is for the next test.
    shape, d_ff, scale, look_at = CASES[name]
    module, _, candidates = make(submission, case, shape[-1], d_ff, dtype)
    if not isinstance(candidates, CheckFailed):
        candidates = [*candidates, *with_others(candidates)]
    expect_computes(module, candidates, {"x": case.normal(*shape, scale=scale, dtype=dtype)}, ["the network"], look_at)


@pytest.mark.item("relu between them")
@each_row(CASES, "a batch")
def test_network(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    shape, d_ff, scale, look_at = CASES[name]
    module, _, candidates = make(submission, case, shape[-1], d_ff, dtype)
    x = case.normal(*shape, scale=scale, dtype=dtype)
    x[0, 0] = 0
    expect_computes(module, candidates, {"x": x}, ["the network"], look_at)


@pytest.mark.item("both maps")
def test_number_of_parameters(submission: SubmissionUnderTest, case: Case) -> None:
    module = submission.build(COMPONENT, d_model=4, d_ff=11)
    expect_numbers(learned_and_leaves(module)[0], 2 * 4 * 11 + 4 + 11, FORMULA)
    y = module(case.normal(2, 5, 4, dtype=torch.float32))
    expect_shape(y, (2, 5, 4), "the network", dtype=torch.float32)


@pytest.mark.item("gradients")
@each_dtype
def test_gradients(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    module, pairs, candidates = make(submission, case, 5, 8, dtype)
    x = case.normal(6, 7, 5, scale=20.0, dtype=dtype)
    options: dict[str, Any] = {"parameters": pairs, "case": case, "apart": True}
    if expect_computes(module, candidates, {"x": x}, ["the network"], FORMULA, **options):
        expect_gradients([parameter for parameter, _ in pairs], "the gradients of the parameters")


@pytest.mark.item("no side effects")
def test_no_side_effects(submission: SubmissionUnderTest, case: Case) -> None:
    single = torch.float32
    module, _, candidates = make(submission, case, 8, 9, single, first=case.normal(2, 5, 8, dtype=single))
    inputs, others = ({"x": case.normal(2, 5, 8, dtype=single)} for _ in range(2))

    def is_fresh_one_right() -> bool:
        fresh, _, found = make(submission, case, 8, 9, single)
        return is_right(fresh, found, inputs, ["the network"])

    expect_no_state(module, candidates, inputs, others, ["the network"], fresh=is_fresh_one_right)
