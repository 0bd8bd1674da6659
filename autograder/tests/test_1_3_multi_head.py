"""Task 1.3: projections, heads, attention in each head, output projection.

The attention inside is a stand-in, so that a fault of task 1.2 costs nothing here; attention that is
written out in the class is accepted just as well.
"""

from collections.abc import Iterator
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from autograder.checking.comparison import (
    difference,
    expect,
    expect_close,
    expect_equal_to_one,
    expect_gradients,
    expect_parts,
    expect_shape,
)
from autograder.checking.layouts import matrices, projection_layouts, vectors
from autograder.worker.stand_ins import look_up

pytestmark = pytest.mark.task_1_3

COMPONENT = "attention.MultiHeadedAttention"
PARTS = ("output", "weights")
SPLIT = "each head takes d_head features in a row of the projected ones, then heads and positions swap axes"


def make(submission, case, n_heads=None, d_head=None):
    n_heads = n_heads or case.size(2, 4)
    d_model = n_heads * (d_head or case.size(2, 4))
    module = submission.build(COMPONENT, d_model, n_heads, dtype=torch.float64).eval()
    case.randomise(module.parameters())
    return module, d_model, n_heads


def attend(module, *inputs):
    return expect_parts(module(*inputs), PARTS, "what forward returns")


def torch_look_up(query, key, value, mask):
    """True attention, for classes that do not call the function of task 1.2."""
    units = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
    weights = F.scaled_dot_product_attention(query, key, units, attn_mask=mask, scale=query.size(-1) ** -0.5)
    return weights @ value, weights


def expected(module, d_model, n_heads, query, key, value, mask=None) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Output and weights for each way in which the parameters may be laid out."""

    def heads(x):
        return x.unflatten(-1, (n_heads, d_model // n_heads)).movedim(-2, 1)

    parameters = [parameter.detach() for parameter in module.parameters()]
    for layout in projection_layouts(parameters, d_model, n_heads):
        parts = [heads(layout.apply(part, x)) for part, x in enumerate((query, key, value))]
        for attention in (look_up, torch_look_up):
            context, weights = attention(*parts, mask)
            yield layout.apply(3, context.movedim(1, -2).flatten(-2)), weights


def expect_attention(module, d_model, n_heads, inputs, what, look_at):
    output, weights = attend(module, *inputs)
    expect_shape(output, inputs[0].shape, f"{what}: output", look_at)
    expect_shape(weights, (inputs[0].size(0), n_heads, inputs[0].size(1), inputs[1].size(1)), f"{what}: weights")
    found = list(expected(module, d_model, n_heads, *inputs))
    index = expect_equal_to_one(output, [pair[0] for pair in found], f"{what}: output", look_at)
    expect_close(weights, found[index][1], f"{what}: weights", look_at)


@pytest.mark.core
def test_self_attention(submission, case):
    module, d_model, n_heads = make(submission, case)
    x = case.normal(case.size(2, 4), case.size(5, 7), d_model)
    expect_attention(module, d_model, n_heads, (x, x, x), "self-attention", SPLIT)


@pytest.mark.core
def test_query_key_and_value_differ(submission, case):
    module, d_model, n_heads = make(submission, case)
    b, q, k = case.sizes(3, 2, 7)
    inputs = case.normal(b, q, d_model), case.normal(b, k, d_model), case.normal(b, k, d_model)
    look_at = "each projection gets its own argument; query and key may differ in length"
    expect_attention(module, d_model, n_heads, inputs, "cross-attention", look_at)


@pytest.mark.parametrize("kind", ["(b, 1, 1, k)", "(q, k)", "(b, 1, q, k)", "(b, h, q, k)"])
def test_mask_reaches_every_head(submission, case, kind):
    module, d_model, n_heads = make(submission, case)
    b, q, k = case.sizes(3, 2, 7)
    shapes = {"(q, k)": (q, k), "(b, 1, q, k)": (b, 1, q, k), "(b, h, q, k)": (b, n_heads, q, k)}
    mask = case.mask(*shapes[kind]) if kind in shapes else case.padding_mask(b, k)
    inputs = case.normal(b, q, d_model), case.normal(b, k, d_model), case.normal(b, k, d_model), mask
    expect_attention(module, d_model, n_heads, inputs, f"mask {kind}", "the mask is handed on to the attention")


def test_heads_that_do_not_divide_are_refused(submission, case):
    n_heads = case.size(3, 5)
    with pytest.raises(ValueError):
        submission.build(COMPONENT, n_heads * 4 + 1, n_heads)


@pytest.mark.parametrize("n_heads", [1, 2, 6])
def test_number_of_heads(submission, case, n_heads):
    module, d_model, _ = make(submission, case, n_heads, d_head=case.size(2, 3))
    x = case.normal(2, 4, d_model)
    expect_attention(module, d_model, n_heads, (x, x, x), f"n_heads = {n_heads}", SPLIT)


def test_small_sizes(submission, case):
    module, d_model, n_heads = make(submission, case)
    x = case.normal(1, 1, d_model)
    expect_attention(module, d_model, n_heads, (x, x, x), "one sentence of one position", SPLIT)


def test_four_projections_are_learned(submission, case):
    module, d_model, _ = make(submission, case)
    parameters = list(module.parameters())
    weights, biases = (sum(p.numel() for p in kind(parameters)) for kind in (matrices, vectors))
    expect(
        weights == 4 * d_model**2 and biases <= 4 * d_model,
        "the learned parameters",
        f"four d_model x d_model projections, {4 * d_model**2} weights (and at most {4 * d_model} biases)",
        f"{weights} weights and {biases} biases",
        "query, key, value and output each have a projection of their own",
    )


def test_gradients_reach_every_parameter(submission, case):
    module, d_model, _ = make(submission, case)
    b, q, k = case.sizes(3, 2, 7)
    output, _ = attend(module, case.normal(b, q, d_model), case.normal(b, k, d_model), case.normal(b, k, d_model))
    (output * case.normal(*output.shape)).sum().backward()
    # With a true softmax the gradient of the key's bias is zero by nature: biases are left out.
    expect_gradients(matrices(list(module.parameters())), "gradients of the projections")


def test_gradient_of_the_inputs(submission, case):
    module, d_model, n_heads = make(submission, case)
    inputs = [case.normal(2, 4, d_model).requires_grad_() for _ in range(3)]
    output, _ = attend(module, *inputs)
    direction = case.normal(*output.shape)
    (output * direction).sum().backward()
    others = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    for candidate, _ in expected(module, d_model, n_heads, *others):
        if difference(candidate, output) < 1e-6:
            (candidate * direction).sum().backward()
            for name, actual, other in zip(("query", "key", "value"), inputs, others, strict=True):
                expect_close(actual.grad, other.grad, f"gradient of {name}", "nothing is detached on the way")
            return
    expect(False, "output", "the output of four projections and heads", "something else", SPLIT)


def test_arguments_stay_as_they_are(submission, case):
    module, d_model, _ = make(submission, case)
    inputs = [*(case.normal(2, 4, d_model) for _ in range(3)), case.mask(4, 4)]
    before = [tensor.clone() for tensor in inputs]
    first, _ = attend(module, *inputs)
    for name, tensor, old in zip(("query", "key", "value", "mask"), inputs, before, strict=True):
        expect(torch.equal(tensor, old), f"{name} after the call", "unchanged values", "changed in place")
    expect_close(attend(module, *inputs)[0], first, "the same call again", "no state is kept between calls")


def test_keyword_arguments_and_float32(submission, case):
    module = submission.build(COMPONENT, d_model=12, n_heads=3)
    make_input = partial(case.normal, 2, 5, 12, dtype=torch.float32)
    scattered = make_input().transpose(0, 1).contiguous().transpose(0, 1)
    output, weights = attend(module, make_input(), scattered, make_input())
    expect(output.dtype == weights.dtype == torch.float32, "dtypes", "float32 as the inputs", str(output.dtype))
