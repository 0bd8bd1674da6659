"""What multi-headed attention computes with its parameters, whatever their layout."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from autograder.assignment.stand_ins.formulas import look_up
from autograder.testing.arguments import copies_of
from autograder.testing.calls import Computation
from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    difference,
    expect,
    expect_close,
    expect_parts,
    expect_shape,
)
from autograder.testing.under_test import SubmissionUnderTest

from .by_behaviour import find_projections
from .projections import FoundAttention, Projection, find_attention
from .splitting import readings
from .unreadable import needs_reader

PARTS = ("output", "weights")
SPLIT = "follow the features of one position through each step: which head gets which of them, and on which axis?"


def multi_heads(
    submission: SubmissionUnderTest, module: nn.Module, leaves: Sequence[Tensor], n_heads: int, case: Case
) -> list[Computation]:
    """The projections in the roles that explain what the module returns for random inputs.

    Where no roles explain it, the computation of the most usual layout: what is returned then differs from it.
    """
    parameters = list(module.parameters())
    d_model, dtype = d_model_of(leaves, n_heads), parameters[0].dtype
    shapes = ((2, 3, d_model), (2, 5, d_model), (2, 5, d_model))
    inputs = [case.normal(*shape, dtype=dtype) for shape in shapes]
    with torch.no_grad():
        output, weights = expect_parts(module(*copies_of(inputs)), PARTS, "what is returned")
    expect_shape(output, shapes[0], "output", SPLIT, dtype)
    expect_shape(weights, (2, n_heads, 3, 5), "weights", "those of every head, as the attention returns them", dtype)
    tolerance = TOLERANCE if dtype == torch.float64 else TOLERANCE_OF_FLOAT32
    doubles = [x.double() for x in inputs]
    search = find_attention(leaves, n_heads, doubles, output.double(), weights.double(), tolerance=tolerance)
    if search.found is not None:
        return [search.found]
    twin = submission.build("attention.MultiHeadedAttention", d_model, n_heads, dtype=torch.float64).eval()
    case.randomise(twin.parameters())  # float32 is too coarse to recognise numbers in
    if (places := find_projections(submission, twin, d_model, n_heads)) is not None:
        return [places.of(leaves, n_heads)]
    if not search.is_known_layout:
        check_laws(twin, case, d_model)
        needs_reader("multi-head attention", "one query at a time, the order of the keys, linearity in the value")
    return [most_usual(leaves, d_model, n_heads)]


def d_model_of(leaves: Sequence[Tensor], n_heads: int) -> int:
    """The size for which the parameters make up four d x d matrices, and perhaps biases."""
    total = sum(leaf.numel() for leaf in leaves)
    return max((d for d in range(n_heads, 513, n_heads) if 4 * d * d <= total), default=n_heads)


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


def most_usual(leaves: Sequence[Tensor], d_model: int, n_heads: int) -> FoundAttention:
    """Query, key, value and output in this order, each an `nn.Linear`."""
    blocks, biases = next(readings(leaves, d_model, n_heads))
    roles = []
    for number, block in enumerate(blocks):
        matrix, is_strided = block.into_heads[2 if len(block.into_heads) > 2 else -1]
        bias = biases[number] if len(biases) > 4 else biases[-1]
        roles.append(Projection(matrix, bias, is_strided, number))
    query, key, value, output = roles
    return FoundAttention(query, key, value, output, look_up, n_heads)


def check_laws(module: nn.Module, case: Case, d_model: int) -> None:
    """What holds for any parameters."""
    dtype = next(module.parameters()).dtype
    query, key, value, other = (case.normal(2, n, d_model, dtype=dtype) for n in (3, 5, 5, 5))

    def attend(*inputs: Tensor) -> list[Tensor]:
        return [part.detach() for part in expect_parts(module(*copies_of(inputs)), PARTS, "what is returned")]

    output, weights = attend(query, key, value)
    total = weights.sum(dim=-1)
    expect_close(total, torch.ones_like(total), "weights, summed over the keys", "over which axis do they sum to 1?")
    order = case.order(5)
    what = "output for keys and values in another order"
    expect_close(attend(query, key[:, order], value[:, order])[0], output, what, "all keys are treated alike")
    expect_close(attend(query[:1, 1:2], key[:1], value[:1])[0], output[:1, 1:2], "one query by itself", SPLIT)
    other_output, other_weights = attend(query, key, other)
    expect_close(other_weights, weights, "weights for another value", "weights depend only on query and key")
    matters = difference(other_output, output) > TOLERANCE
    expect(matters, "output for another value", "another output", "the same", "the output is made of projected values")
    halfway = attend(query, key, (value + other) / 2)[0]
    look_at = "what becomes of a value on its way to the output? (the formulas of the docstring)"
    expect_close(halfway, (output + other_output) / 2, "output for the mean of two values", look_at)
    for number, name in enumerate(("query", "key")):
        inputs = [query, key, value]
        inputs[number] = case.normal(*inputs[number].shape, dtype=dtype)
        matters = difference(attend(*inputs)[1], weights) > TOLERANCE
        expect(matters, f"weights for another {name}", "other weights", "the same", "weights depend on query and key")
