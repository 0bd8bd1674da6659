"""Multi-head attention under test: how it is built and read, and what holds for any parameters."""

from collections.abc import Sequence
from functools import partial
from typing import NoReturn

import torch
from torch import Tensor, nn

from autograder.assignment.parameter_roles.by_behaviour import find_projections
from autograder.assignment.parameter_roles.laws import check_weights
from autograder.assignment.parameter_roles.parts import learned
from autograder.assignment.parameter_roles.projections import FoundAttention, Search, find_attention
from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE,
    difference,
    expect,
    expect_close,
    expect_parts,
    expect_shape,
    fail,
)
from autograder.testing.under_test import SubmissionUnderTest

from .unreadable import needs_reader

COMPONENT = "attention.MultiHeadedAttention"
PARTS = ("output", "weights")
NAMES = ("query", "key", "value", "mask")
SPLIT = "each head takes d_head consecutive projected features; then heads and positions swap axes"


def make(
    submission: SubmissionUnderTest, case: Case, n_heads: int | None = None, d_head: int | None = None
) -> tuple[nn.Module, int, int]:
    """Builds it with random parameters, in eval mode; returns d_model and n_heads, too."""
    # More heads than a fused projection has roles, so that the two cannot be confused.
    n_heads = n_heads or case.size(4, 5)
    d_model = n_heads * (d_head or case.size(3, 5))
    module = submission.build(COMPONENT, d_model, n_heads, dtype=torch.float64).eval()
    case.randomise(module.parameters())
    return module, d_model, n_heads


def attend(
    module: nn.Module, n_heads: int, *inputs: Tensor, what: str = "what forward returns"
) -> tuple[Tensor, Tensor]:
    """Output and weights, of the right shapes."""
    output, weights = expect_parts(module(*inputs), PARTS, what)
    query, key, *_ = inputs
    expect_shape(output, query.shape, "output", SPLIT, query.dtype)
    shape = query.size(0), n_heads, query.size(1), key.size(1)
    expect_shape(weights, shape, "weights", "the weights of every head, as the attention returns them", query.dtype)
    return output, weights


def draw(case: Case, d_model: int) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value that all differ; there are more or fewer keys than queries."""
    b, q, k = case.sizes(3, 2, 6)
    k = max(k, 3)
    return case.normal(b, q, d_model), case.normal(b, k, d_model), case.normal(b, k, d_model)


def recognise(
    submission: SubmissionUnderTest,
    module: nn.Module,
    case: Case,
    d_model: int,
    n_heads: int,
    parameters: Sequence[Tensor] | None = None,
) -> FoundAttention:
    """Finds the roles of the parameters; fails where no roles explain what the module returns."""
    inputs = draw(case, d_model)
    output, weights = attend(module, n_heads, *inputs)
    if parameters is None:
        parameters = [p.detach() for p in learned(module)]
    check_numbers(parameters, d_model, n_heads)
    search = find_attention(parameters, n_heads, inputs, output.detach(), weights.detach())
    found = search.found or by_behaviour(submission, module, parameters, d_model, n_heads)
    if found is None:
        leave_to_a_reader(search, module, case, d_model, n_heads)
        tell_what_does_not_fit(search, parameters)
    expected_output, expected_weights = found(*inputs)
    expect_close(weights, expected_weights, "weights for query, key and value that differ", SPLIT)
    expect_close(output, expected_output, "output for query, key and value that differ", SPLIT)
    return found


def by_behaviour(
    submission: SubmissionUnderTest, module: nn.Module, parameters: Sequence[Tensor], d_model: int, n_heads: int
) -> FoundAttention | None:
    """What the module computes, where only its behaviour tells which parameter plays which part."""
    places = find_projections(submission, module, d_model, n_heads)
    return None if places is None else places.of(parameters, n_heads)


def leave_to_a_reader(search: Search, module: nn.Module, case: Case, d_model: int, n_heads: int) -> None:
    """Ends the test without a verdict where no layout is known and the laws hold that do not depend on it."""
    if not search.is_known_layout:
        check_laws(module, case, d_model, n_heads)
        needs_reader("multi-head attention", "shapes, one sentence and query at a time, masks, the order of the keys")


def tell_what_does_not_fit(search: Search, parameters: Sequence[Tensor]) -> NoReturn:
    """Fails with what was found of the four projections, and what was not."""
    shapes = ", ".join(str(tuple(p.shape)) for p in parameters)
    look_at = "an nn.Linear or nn.Parameter for each projection, for each of its heads, or for several projections"
    expect(search.is_known_layout, "the projections", "parameters that make up four matrices", shapes, look_at)
    known = "query, key and value that differ: "
    if not search.weights_fit:
        look_at = "which argument each projection gets, how features are split into heads, the attention's arguments"
        fail(f"{known}weights", "those of a projected query and key in heads", "others", look_at)
    look_at = "the projection of the value, how the heads are concatenated, and the output projection"
    fail(f"{known}output", "the projected heads, projected again", "another", look_at)


def check_numbers(parameters: Sequence[Tensor], d_model: int, n_heads: int) -> None:
    """Four projections and their biases (at most one for each head's part of the output), and nothing more."""
    total = sum(p.numel() for p in parameters)
    expect(
        4 * d_model**2 <= total <= 4 * d_model**2 + (4 + n_heads) * d_model,
        "the learned parameters",
        f"four d_model x d_model projections, {4 * d_model**2} numbers, and biases",
        f"{total} numbers",
        "query, key, value and output each have a projection of their own",
    )


def check_laws(module: nn.Module, case: Case, d_model: int, n_heads: int) -> None:
    """What holds for any parameters."""
    query, key, value = draw(case, d_model)
    run = partial(attend, module, n_heads)
    output, weights = run(query, key, value)
    check_weights(weights, weights.shape, None, "weights")
    order = case.order(key.size(1))
    shuffled_output, shuffled_weights = run(query, key[:, order], value[:, order])
    expect_close(shuffled_output, output, "output for keys and values in another order", "all keys are treated alike")
    expect_close(shuffled_weights, weights[..., order], "weights for keys and values in another order")
    other = case.normal(*value.shape)
    other_output, other_weights = run(query, key, other)
    expect_close(other_weights, weights, "weights for another value", "weights depend only on query and key")
    matters = difference(other_output, output) > TOLERANCE
    expect(matters, "output for another value", "another output", "the same", "the output is made of projected values")
    constant = run(query, key, torch.zeros_like(value))[0]
    look_at = "queries and keys reach the output through the weights alone"
    expect_close(constant, constant[:1, :1].expand_as(constant), "output for a value of 0, at every query", look_at)
    for number, name in enumerate(NAMES[:2]):
        inputs = [query, key, value]
        inputs[number] = case.normal(*inputs[number].shape)
        matters = difference(run(*inputs)[1], weights) > TOLERANCE
        expect(matters, f"weights for another {name}", "other weights", "the same", "weights depend on query and key")
    halfway = run(query, key, (value + other) / 2)[0]
    look_at = "the output is a weighted mean of projected values, projected"
    expect_close(halfway, (output + other_output) / 2, "output for the mean of two values", look_at)
