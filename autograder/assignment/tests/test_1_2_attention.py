"""Task 1.2: softmax(Q K^T / sqrt(d_k)) V."""

from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.assignment.checks.situations import levels
from autograder.assignment.checks.situations.drawing import (
    draw_mask,
    draw_values,
    lay_out,
    lay_out_mask,
    made_the_same,
    mask_before,
)
from autograder.assignment.checks.situations.judging import Judged, in_turn, judge
from autograder.assignment.checks.situations.situation import Situation
from autograder.assignment.checks.situations.sizes_in_code import built_by_numbers, heads_and_features, led_by_numbers
from autograder.assignment.parameter_roles.projections import true_attention
from autograder.testing.case import Case
from autograder.testing.comparison import (
    copies,
    expect_close,
    expect_parts,
    expect_shape,
    expect_unchanged,
    run_backward,
)
from autograder.testing.covering import Covering, Either
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_1_2

COMPONENT = "attention.scaled_dot_product_attention"
PARTS = ("context", "weights")
NAMES = ("query", "key", "value", "mask")


def draw(case: Case, grad: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value of different lengths; d_k is not a perfect square."""
    b, h, q, k = case.sizes(4, 2, 6)
    k = max(k, 3)
    d = case.choose([3, 5, 6, 7, 8])
    query, key, value = case.normal(b, h, q, d), case.normal(b, h, k, d), case.normal(b, h, k, d)
    return query.requires_grad_(grad), key.requires_grad_(grad), value.requires_grad_(grad)


def attend(
    submission: SubmissionUnderTest,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    look_at: str = "the values are averaged",
) -> tuple[Tensor, Tensor]:
    """Context and weights, of the right shapes."""
    inputs = (query, key, value) if mask is None else (query, key, value, mask)
    context, weights = expect_parts(submission.call(COMPONENT, *inputs), PARTS, "what the function returns")
    expect_shape(context, (*query.shape[:3], value.size(3)), "context", look_at, query.dtype)
    expect_shape(weights, (*query.shape[:3], key.size(2)), "weights", "one weight for each query and key", query.dtype)
    return context, weights


@pytest.mark.core
def test_context_without_a_mask(submission: SubmissionUnderTest, case: Case) -> None:
    inputs = draw(case)
    context, _ = attend(submission, *inputs)
    look_at = "the scores are divided by sqrt(d_k), the softmax runs over the keys, the values are averaged"
    expect_close(context, true_attention(*inputs)[0], "context without a mask", look_at)


@pytest.mark.core
def test_weights_without_a_mask(submission: SubmissionUnderTest, case: Case) -> None:
    inputs = draw(case)
    _, weights = attend(submission, *inputs)
    expect_close(
        weights.sum(dim=-1),
        torch.ones(weights.shape[:3], dtype=torch.float64),
        "the weights of each query, summed over the keys",
        "the softmax runs over the last axis, the keys",
    )
    expect_close(weights, true_attention(*inputs)[1], "weights without a mask", "they are returned after the softmax")


@pytest.mark.core
@pytest.mark.parametrize("kind", ["padding (b, 1, 1, k)", "causal (q, k)", "any (b, h, q, k)", "any (1, h, q, k)"])
def test_masks_of_every_shape(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    query, key, value = draw(case)
    b, h, q, k = *query.shape[:3], key.size(2)
    mask = {
        "padding (b, 1, 1, k)": lambda: case.padding_mask(b, k),
        "causal (q, k)": lambda: torch.ones(q, k, dtype=torch.bool).tril(),
        "any (b, h, q, k)": lambda: case.mask(b, h, q, k),
        "any (1, h, q, k)": lambda: case.mask(1, h, q, k),
    }[kind]()
    context, weights = attend(submission, query, key, value, mask)
    expected_context, expected_weights = true_attention(query, key, value, mask)
    look_at = "True means may attend; a forbidden key has weight 0 and the others still sum to 1"
    expect_close(weights, expected_weights, f"weights with the mask {kind}", look_at)
    expect_close(context, expected_context, f"context with the mask {kind}", look_at)


def test_masked_keys_cannot_matter(submission: SubmissionUnderTest, case: Case) -> None:
    query, key, value = draw(case)
    query = query.abs() + 0.7  # so that the other keys score above 800: next to them, exp makes 0 of all others
    mask = case.padding_mask(query.size(0), key.size(2))
    context, weights = attend(submission, query, key, value, mask)
    hidden = ~mask.expand(*query.shape[:2], 1, key.size(2)).transpose(-1, -2)
    other_key = torch.where(hidden, 1200 * torch.ones_like(key), key)
    other_value = torch.where(hidden, -1000 * torch.ones_like(value), value)
    other_context, other_weights = attend(submission, query, other_key, other_value, mask)
    look_at = "the mask acts on the scores, before the softmax, and makes them very negative"
    expect_close(other_weights, weights, "weights after the masked keys were changed", look_at)
    expect_close(other_context, context, "context after the masked keys and values were changed", look_at)


def test_masked_keys_among_very_negative_scores(submission: SubmissionUnderTest, case: Case) -> None:
    _, key, value = draw(case)
    query = 100 * case.number(1, 3) * torch.ones_like(key[:, :, :2])
    key = -key.abs() - 0.5  # each score is below -100
    mask = case.mask(2, key.size(2))
    _, weights = attend(submission, query, key, value, mask)
    look_at = "the number in place of a forbidden score must be far below every real one"
    expected = true_attention(query, key, value, mask)[1]
    expect_close(weights, expected, "weights where every score is very negative", look_at)


def test_query_without_any_key_stays_finite(submission: SubmissionUnderTest, case: Case) -> None:
    query, key, value = draw(case, grad=True)
    mask = case.mask(query.size(0), query.size(1), query.size(2), key.size(2))
    mask[0, 0, 0] = False
    look_at = "the softmax of a row of -inf is NaN, and its gradient stays NaN whatever you do to the result"
    context, weights = attend(submission, query, key, value, mask, look_at)
    seen = mask.any(dim=-1, keepdim=True)
    expected = true_attention(query, key, value, mask | ~seen)[0]
    expect_close(context * seen, (expected * seen).detach(), "context of the other queries", look_at)
    run_backward(context, case.normal(*context.shape), "context where a query may attend to nothing")
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        what = f"gradient of {name} where a query may attend to nothing"
        expect_shape(tensor.grad, tensor.shape, what, look_at)


def test_gradients(submission: SubmissionUnderTest, case: Case) -> None:
    inputs = draw(case, grad=True)
    query, key, value = (tensor.detach().clone().requires_grad_() for tensor in inputs)
    mask = case.mask(query.size(2), key.size(2))
    context, weights = attend(submission, *inputs, mask)
    direction = case.normal(*context.shape)
    run_backward(context, direction, "context")
    expected, _ = true_attention(query, key, value, mask)
    gradients = torch.autograd.grad(expected, (query, key, value), direction)
    for name, actual, wanted in zip(NAMES, inputs, gradients, strict=False):
        expect_close(actual.grad, wanted, f"gradient of {name}", "nothing is detached or rounded on the way")


def test_large_scores(submission: SubmissionUnderTest, case: Case) -> None:
    query, key, value = draw(case)
    context, _ = attend(submission, 60 * query, 60 * key, value)
    expected = true_attention(60 * query, 60 * key, value)[0]
    expect_close(context, expected, "context of large scores", "use a softmax that does not overflow: torch.softmax")


def test_small_sizes(submission: SubmissionUnderTest, case: Case) -> None:
    one = case.normal(1, 1, 1, case.size(1, 6))
    context, weights = attend(submission, one, one, 2 * one)
    expect_close(context, 2 * one, "context of a single key")
    expect_close(weights, torch.ones(1, 1, 1, 1, dtype=torch.float64), "weight of a single key")


def test_tensors_that_are_not_contiguous(submission: SubmissionUnderTest, case: Case) -> None:
    b, h, q, k, d = case.sizes(5, 2, 7)
    shapes = (b, q, h, d), (b, k, h, d), (b, k, h, d)
    query, key, value = (case.normal(*shape).transpose(1, 2) for shape in shapes)
    context, _ = attend(submission, query, key, value)
    look_at = "heads come out of a transpose; reshape copies where view cannot"
    expected = true_attention(query, key, value)[0]
    expect_close(context, expected, "context of tensors that are not contiguous", look_at)


def test_float32(submission: SubmissionUnderTest, case: Case) -> None:
    query, key, value = (tensor.float() for tensor in draw(case))
    attend(submission, query, key, value, case.mask(query.size(2), key.size(2)))


def test_arguments_stay_as_they_are(submission: SubmissionUnderTest, case: Case) -> None:
    query, key, value = draw(case)
    shape = query.size(2), key.size(2)
    others = case.normal(*query.shape), case.normal(*key.shape), case.normal(*value.shape)
    attend(submission, *others, case.mask(*shape))
    inputs = query, key, value, case.mask(*shape)
    before = copies(inputs)
    first, weights = attend(submission, *inputs)
    expect_unchanged(inputs, before, NAMES)
    expect_close(attend(submission, *inputs)[0], first, "the same call again", "no state is kept between calls")
    expected = true_attention(*inputs)[1]
    expect_close(weights, expected, "weights after a call with another mask", "no state is kept between calls")


def test_order_of_the_keys_does_not_matter(submission: SubmissionUnderTest, case: Case) -> None:
    query, key, value = draw(case)
    order = case.order(key.size(2))
    context, weights = attend(submission, query, key, value)
    shuffled_context, shuffled_weights = attend(submission, query, key[:, :, order], value[:, :, order])
    expect_close(shuffled_context, context, "context after keys and values were reordered together")
    expect_close(shuffled_weights, weights[..., order], "weights after the keys were reordered")


COINCIDING = (
    {"b": "few", "h": "b", "mask": "(b, 1, 1, k)"},
    {"b": "few", "h": "b", "mask": "(b, 1, q, k)"},
    {"b": "few", "q": "b", "k": "q", "mask": "(q, k)"},
    {"h": "q", "q": "few", "mask": "(b, h, 1, k)"},
    {"h": "q", "q": "few", "mask": "(1, h, q, k)"},
)
"""Axes of a mask that are as long as others, which it might be taken for."""
SITUATIONS = Covering(
    {
        "b": ("few", Either("one", "many"), "d"),
        "h": ("one", "few", Either("b", "q", "d")),
        "q": ("few", Either("one", "many"), Either("b", "d")),
        "k": ("few", Either("one", "many"), Either("q", *levels.SAME)),
        "d": ("one", "few", "many"),
        "mask": (
            "none",
            "(b, h, q, k)",
            Either("(q, k)", "(1, h, q, k)", "(b, 1, q, k)"),
            Either("(b, 1, 1, k)", "(b, h, 1, k)"),
            Either("all allowed", "a query without keys", "a sentence without keys", "one without keys, for all"),
        ),
        "dtype": tuple(levels.DTYPES),
        "gradients": levels.OF_SEVERAL,
        "history": levels.OF_FUNCTIONS,
        "called": levels.CALLED,
        "layout": levels.LAYOUTS,
        "values": levels.VALUES,
    },
    [
        levels.OTHERS | {"dtype": "float64"},
        levels.MANY_KEYS,
        *(levels.FEW | {"dtype": "float64", "values": values} for values in ("large", "small", "all equal")),
        *(
            levels.FEW | {"gradients": mode, "mask": "(b, h, q, k)", "values": "normal"}
            for mode in ("no_grad", "inference_mode")
        ),
        *(row | {"h": "few"} for row in levels.ALMOST_FREE),
        levels.PLAIN | levels.FEW | {"mask": "(q, k), one without keys"},
        *(levels.PLAIN | levels.FEW | levels.OWN_MASKS | row for row in COINCIDING),
    ],
)


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    led = led_by_numbers(submission, case, COMPONENT, 2, d="few", h="one")
    led += heads_by_numbers(submission, case)
    situations = [situation_of(case, row) for row in SITUATIONS.rows(case, led)]
    results = in_turn(submission, submission.function(COMPONENT), situations)

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> tuple[Tensor, Tensor]:
        return true_attention(*inputs)

    judge(case, Judged("context", PARTS, expected), situations, results)


def heads_by_numbers(submission: SubmissionUnderTest, case: Case) -> list[dict[str, Any]]:
    """Rows with as many features, and with as many heads, as a number in the code says, and one more."""
    built = built_by_numbers(submission, case, COMPONENT, heads_and_features, dtype="float64")
    return [row | {"h": row["made"][0][0], "d": row["made"][0][1]} for row in built]


def situation_of(case: Case, row: dict[str, Any]) -> Situation:
    """A call as a row of the covering array says."""
    is_alone = "d" not in (row["b"], row["h"], row["q"])  # where several sizes are the same, all of them are small
    d = levels.size_of(row["d"], {"one": 1, "few": case.size(2, 7), "many": case.size(33, 35) if is_alone else 9})
    b = levels.size_of(row["b"], {"one": 1, "few": case.size(2, 4), "many": 9, "d": d})
    q = levels.size_of(row["q"], {"one": 1, "few": case.size(2, 6), "many": case.size(13, 15), "b": b, "d": d})
    h = levels.size_of(row["h"], {"one": 1, "few": case.size(2, 3), "b": b, "q": q, "d": d})
    others = dict.fromkeys(("q", *levels.SAME), q)
    k = levels.size_of(row["k"], {"one": 1, "few": case.size(2, 7), "many": case.size(65, 67)} | others)
    dtype = levels.DTYPES[row["dtype"]]
    query, key = (
        draw_values(case, "normal" if row["values"] == "large" else row["values"], dtype, b, h, n, d) for n in (q, k)
    )
    value = draw_values(case, row["values"], dtype, b, h, k, d)
    mask = lay_out_mask(draw_mask(case, row["mask"], b, h, q, k), row["layout"])
    query, key, value = (lay_out(tensor, row["layout"]) for tensor in (query, key, value))
    inputs = *made_the_same(row["k"], query, key, value), mask
    seen = None if mask is None else mask.any(dim=-1, keepdim=True).expand(*([b, h, q, 1][-mask.dim() :]))
    earlier = None, None, None, mask_before(case, row, b, q, k)
    return Situation(inputs, NAMES, row, (seen, seen), earlier=earlier)
