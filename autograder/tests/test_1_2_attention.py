"""Task 1.2: softmax(Q K^T / sqrt(d_k)) V."""

import math

import pytest
import torch
import torch.nn.functional as F

from autograder.checking.comparison import (
    expect,
    expect_close,
    expect_parts,
    expect_shape,
)

pytestmark = pytest.mark.task_1_2

COMPONENT = "attention.scaled_dot_product_attention"
PARTS = ("context", "weights")


def draw(case, grad=False):
    """Query, key and value of different lengths."""
    b, h, q, k, d = case.sizes(5, 2, 8)
    tensors = case.normal(b, h, q, d), case.normal(b, h, k, d), case.normal(b, h, k, d)
    return [tensor.requires_grad_(grad) for tensor in tensors]


def attend(submission, *inputs):
    return expect_parts(submission.call(COMPONENT, *inputs), PARTS, "what the function returns")


def torch_attention(query, key, value, mask=None):
    """PyTorch's own; the weights are the context of the unit vectors as values."""
    units = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return context, F.scaled_dot_product_attention(query, key, units, attn_mask=mask, scale=query.size(-1) ** -0.5)


@pytest.mark.core
def test_context_without_a_mask(submission, case):
    inputs = draw(case)
    context, _ = attend(submission, *inputs)
    look_at = "the scores are divided by sqrt(d_k), the softmax runs over the keys, the values are averaged"
    expect_close(context, torch_attention(*inputs)[0], "context without a mask", look_at)


@pytest.mark.core
def test_weights_without_a_mask(submission, case):
    inputs = draw(case)
    _, weights = attend(submission, *inputs)
    query, key, _ = inputs
    expect_shape(weights, (*query.shape[:3], key.size(2)), "weights")
    expect_close(
        weights.sum(dim=-1),
        torch.ones(query.shape[:3], dtype=torch.float64),
        "the weights of each query, summed over the keys",
        "the softmax runs over the last axis, the keys",
    )
    expect_close(weights, torch_attention(*inputs)[1], "weights without a mask", "they are returned after the softmax")


@pytest.mark.core
@pytest.mark.parametrize("kind", ["padding (b, 1, 1, k)", "causal (q, k)", "any (b, h, q, k)", "any (1, h, q, k)"])
def test_masks_of_every_shape(submission, case, kind):
    query, key, value = draw(case)
    b, h, q, k = *query.shape[:3], key.size(2)
    mask = {
        "padding (b, 1, 1, k)": lambda: case.padding_mask(b, k),
        "causal (q, k)": lambda: torch.ones(q, k, dtype=torch.bool).tril(),
        "any (b, h, q, k)": lambda: case.mask(b, h, q, k),
        "any (1, h, q, k)": lambda: case.mask(1, h, q, k),
    }[kind]()
    context, weights = attend(submission, query, key, value, mask)
    expected_context, expected_weights = torch_attention(query, key, value, mask)
    look_at = "True means may attend; a forbidden key has weight 0 and the others still sum to 1"
    expect_close(weights, expected_weights, f"weights with the mask {kind}", look_at)
    expect_close(context, expected_context, f"context with the mask {kind}", look_at)


def test_masked_keys_cannot_matter(submission, case):
    query, key, value = draw(case)
    mask = case.padding_mask(query.size(0), key.size(2))
    context, weights = attend(submission, query, key, value, mask)
    hidden = ~mask.expand(*query.shape[:2], 1, key.size(2)).transpose(-1, -2)
    other_key = torch.where(hidden, 50 * torch.ones_like(key), key)
    other_value = torch.where(hidden, -1000 * torch.ones_like(value), value)
    other_context, other_weights = attend(submission, query, other_key, other_value, mask)
    look_at = "the mask acts on the scores, before the softmax, and makes them very negative"
    expect_close(other_weights, weights, "weights after the masked keys were changed", look_at)
    expect_close(other_context, context, "context after the masked keys and values were changed", look_at)


def test_query_without_any_key_stays_finite(submission, case):
    query, key, value = draw(case, grad=True)
    mask = case.mask(query.size(0), query.size(1), query.size(2), key.size(2))
    mask[0, 0, 0] = False
    context, weights = attend(submission, query, key, value, mask)
    look_at = "the softmax of a row of -inf is NaN; a very negative number does the same work"
    expect_shape(context, value.shape[:2] + query.shape[2:], "context where a query may attend to nothing", look_at)
    expect_shape(weights, mask.shape, "weights where a query may attend to nothing", look_at)
    seen = mask.any(dim=-1, keepdim=True)
    expected = torch_attention(query, key, value, mask | ~seen)[0]
    expect_close(context * seen, (expected * seen).detach(), "context of the other queries", look_at)
    (context * seen).sum().backward()
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        expect_shape(tensor.grad, tensor.shape, f"gradient of {name} where a query may attend to nothing", look_at)


def test_gradients(submission, case):
    inputs = draw(case, grad=True)
    others = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    mask = case.mask(inputs[0].size(2), inputs[1].size(2))
    direction = case.normal(*inputs[0].shape[:3], inputs[2].size(3))
    (attend(submission, *inputs, mask)[0] * direction).sum().backward()
    (torch_attention(*others, mask)[0] * direction).sum().backward()
    for name, actual, expected in zip(("query", "key", "value"), inputs, others, strict=True):
        expect_close(actual.grad, expected.grad, f"gradient of {name}", "nothing is detached or rounded on the way")


def test_large_scores(submission, case):
    query, key, value = draw(case)
    context, _ = attend(submission, 60 * query, 60 * key, value)
    expected = torch_attention(60 * query, 60 * key, value)[0]
    expect_close(context, expected, "context of large scores", "use a softmax that does not overflow: torch.softmax")


def test_small_sizes_and_views(submission, case):
    one = case.normal(1, 1, 1, case.size(1, 6))
    context, weights = attend(submission, one, one, 2 * one)
    expect_close(context, 2 * one, "context of a single key")
    expect_close(weights, torch.ones(1, 1, 1, 1, dtype=torch.float64), "weight of a single key")
    query, key, value = (tensor.transpose(1, 2) for tensor in draw(case))  # not contiguous; heads and positions swap
    key, value = (case.normal(query.size(0), 5, query.size(1), query.size(3)).transpose(1, 2) for _ in range(2))
    context, _ = attend(submission, query, key, value)
    expect_close(context, torch_attention(query, key, value)[0], "context of tensors that are not contiguous")


def test_float32(submission, case):
    inputs = [tensor.float() for tensor in draw(case)]
    context, weights = attend(submission, *inputs, case.mask(inputs[0].size(2), inputs[1].size(2)))
    expect(context.dtype == weights.dtype == torch.float32, "dtypes", "float32 as the inputs", f"{context.dtype}")


def test_arguments_stay_as_they_are(submission, case):
    inputs = [*draw(case)]
    inputs.append(case.mask(inputs[0].size(2), inputs[1].size(2)))
    before = [tensor.clone() for tensor in inputs]
    first, _ = attend(submission, *inputs)
    for name, tensor, old in zip(("query", "key", "value", "mask"), inputs, before, strict=True):
        expect(torch.equal(tensor, old), f"{name} after the call", "unchanged values", "changed in place")
    expect_close(attend(submission, *inputs)[0], first, "the same call again", "no state is kept between calls")


def test_order_of_the_keys_does_not_matter(submission, case):
    query, key, value = draw(case)
    order = torch.tensor(sorted(range(key.size(2)), key=lambda i: math.sin(7.3 * i)))
    context, weights = attend(submission, query, key, value)
    shuffled_context, shuffled_weights = attend(submission, query, key[:, :, order], value[:, :, order])
    expect_close(shuffled_context, context, "context after keys and values were put in another order together")
    expect_close(shuffled_weights, weights[..., order], "weights after the keys were put in another order")
