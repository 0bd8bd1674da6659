"""Task 1.5: W_2 relu(W_1 x + b_1) + b_2 at every position."""

import pytest
import torch
import torch.nn.functional as F

from autograder.checking.comparison import expect, expect_close, expect_equal_to_one, expect_gradients, expect_shape

pytestmark = pytest.mark.task_1_5

COMPONENT = "layers.FeedForward"
FORMULA = "first map, relu, second map; both maps have a bias"


def make(submission, case):
    d_model, d_ff = case.sizes(2, 3, 12)
    module = submission.build(COMPONENT, d_model, d_ff, dtype=torch.float64).eval()
    case.randomise(module.parameters())
    return module, d_model, d_ff


def expected(module, x, d_model, d_ff):
    """The formula for each way in which the parameters may be laid out."""
    parameters = [p.detach().squeeze() for p in module.parameters()]
    weights = [p for p in parameters if p.dim() == 2]
    inner = [p for p in parameters if p.shape == (d_ff,)]
    outer = [p for p in parameters if p.shape == (d_model,)]
    if len(weights) != 2 or len(inner) != 1 or len(outer) != 1:
        return
    for first, second in (weights, weights[::-1]):
        first = first if first.shape == (d_ff, d_model) else first.T
        second = second if second.shape == (d_model, d_ff) else second.T
        if first.shape == (d_ff, d_model) and second.shape == (d_model, d_ff):
            yield F.linear(F.relu(F.linear(x, first, inner[0])), second, outer[0])


@pytest.mark.core
def test_formula(submission, case):
    module, d_model, d_ff = make(submission, case)
    x = case.normal(3, case.size(2, 6), d_model, scale=2.0)
    expect_equal_to_one(module(x), list(expected(module, x, d_model, d_ff)), "the feed-forward network", FORMULA)


def test_keyword_arguments_and_float32(submission, case):
    d_model, d_ff = case.sizes(2, 3, 12)
    module = submission.build(COMPONENT, d_model=d_model, d_ff=d_ff)
    y = module(case.normal(2, 5, d_model, dtype=torch.float32))
    expect_shape(y, (2, 5, d_model), "the output")
    expect(y.dtype == torch.float32, "dtype", "float32 as the input", str(y.dtype))


def test_number_of_parameters(submission, case):
    module, d_model, d_ff = make(submission, case)
    wanted = 2 * d_model * d_ff + d_model + d_ff
    total = sum(p.numel() for p in module.parameters())
    expect(
        total == wanted,
        "the learned parameters",
        f"two maps d_model -> d_ff -> d_model with biases, {wanted} numbers",
        f"{total}",
        FORMULA,
    )


def test_positions_do_not_mix(submission, case):
    module, d_model, _ = make(submission, case)
    x = case.normal(3, 5, d_model)
    whole = module(x)
    expect_close(module(x[1:2, 3:4]), whole[1:2, 3:4], "one position by itself", "every position by itself")


def test_gradients(submission, case):
    module, d_model, _ = make(submission, case)
    x = case.normal(6, 7, d_model, scale=2.0).requires_grad_()
    (module(x) * case.normal(6, 7, d_model)).sum().backward()
    expect_gradients([*module.parameters(), x], "gradients of the parameters and of x")


def test_argument_stays_as_it_is(submission, case):
    module, d_model, _ = make(submission, case)
    x = case.normal(2, 5, d_model)
    before = x.clone()
    first = module(x)
    expect(torch.equal(x, before), "x after the call", "unchanged values", "changed in place")
    expect_close(module(x), first, "the same call again", "no state is kept between calls")
