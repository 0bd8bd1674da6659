"""Task 1.4: mean 0 and variance 1 over the features, then gain and shift."""

import pytest
import torch
import torch.nn.functional as F

from autograder.checking.comparison import expect, expect_close, expect_equal_to_one, expect_shape

pytestmark = pytest.mark.task_1_4

COMPONENT = "layers.LayerNorm"


def make(submission, case, d_model=None, **options):
    d_model = d_model or case.size(3, 12)
    module = submission.build(COMPONENT, d_model, dtype=torch.float64, **options).eval()
    case.randomise(module.parameters())
    return module, d_model


def expected(module, x, d_model, epsilon=1e-6):
    """PyTorch's own layer norm, for both ways of taking the two parameters for gain and shift."""
    parameters = [p.detach().flatten() for p in module.parameters() if p.numel() == d_model]
    for gain, shift in (parameters[:2], parameters[1::-1]) if len(parameters) == 2 else ():
        yield F.layer_norm(x, (d_model,), gain, shift, epsilon)


def expect_norm(module, x, d_model, what, look_at, epsilon=1e-6, tolerance=1e-6):
    expect_equal_to_one(module(x), list(expected(module, x, d_model, epsilon)), what, look_at, tolerance)


@pytest.mark.core
def test_three_axes(submission, case):
    module, d_model = make(submission, case)
    x = case.normal(3, case.size(2, 6), d_model, scale=3.0) + case.number(-2, 2)
    look_at = "mean and variance over the last axis, for each position by itself; then gain and shift"
    expect_norm(module, x, d_model, "the norm of a batch", look_at)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4), ()])
def test_any_number_of_axes(submission, case, shape):
    module, d_model = make(submission, case)
    x = case.normal(*shape, d_model)
    look_at = "take mean and variance over dim=-1 with keepdim, however many axes stand before"
    expect_norm(module, x, d_model, f"the norm of a tensor with {len(shape) + 1} axes", look_at)


def test_population_variance(submission, case):
    module, d_model = make(submission, case, d_model=2)
    x = case.normal(4, 3, d_model)
    look_at = "the population variance divides by d_model, not by d_model - 1 (torch.var's default)"
    expect_norm(module, x, d_model, "the norm of two features", look_at)


def test_epsilon_stands_under_the_root(submission, case):
    epsilon = case.number(0.3, 0.9)
    module, d_model = make(submission, case, epsilon=epsilon)
    x = case.normal(4, 3, d_model)
    look_at = "sqrt(var + epsilon), with the epsilon that the constructor was given"
    expect_norm(module, x, d_model, f"the norm with epsilon = {epsilon:.3f}", look_at, epsilon)


def test_default_epsilon(submission, case):
    module, d_model = make(submission, case, d_model=case.size(4, 10))
    x = case.normal(4, 3, d_model, scale=1e-3)
    # A variance as small as epsilon magnifies the rounding of correct code a thousandfold.
    expect_norm(module, x, d_model, "the norm of small differences", "epsilon is 1e-6 by default", tolerance=1e-5)


def test_constant_input_stays_finite(submission, case):
    module, d_model = make(submission, case)
    x = torch.full((2, 3, d_model), case.number(-3, 3), dtype=torch.float64, requires_grad=True)
    y = module(x)
    look_at = "epsilon keeps the root away from zero, in the gradient as well"
    expect_shape(y, x.shape, "the norm of a constant", look_at)
    y.sum().backward()
    expect_shape(x.grad, x.shape, "the gradient at a constant", look_at)


def test_gain_and_shift_at_first(submission, case):
    d_model = case.size(3, 12)
    module = submission.build(COMPONENT, d_model=d_model)
    values = sorted(p.detach().flatten().tolist() for p in module.parameters())
    wanted = [[0.0] * d_model, [1.0] * d_model]
    expect(
        values == wanted,
        "the learned parameters of a new LayerNorm",
        f"a gain of {d_model} ones and a shift of {d_model} zeros",
        f"{len(values)} parameters of {[len(v) for v in values]} values",
        "one gain and one shift for each feature, each an nn.Parameter",
    )


def test_gradients(submission, case):
    module, d_model = make(submission, case)
    x = case.normal(3, 4, d_model).requires_grad_()
    direction = case.normal(3, 4, d_model)
    (module(x) * direction).sum().backward()
    parameters = list(module.parameters())
    found = {}
    for order in ((0, 1), (1, 0)):
        if len(parameters) != 2:
            break
        other = x.detach().clone().requires_grad_()
        gain, shift = (parameters[i].detach().flatten().requires_grad_() for i in order)
        y = F.layer_norm(other, (d_model,), gain, shift, 1e-6)
        (y * direction).sum().backward()
        found[order] = (other.grad, [gain.grad, shift.grad])
    index = expect_equal_to_one(x.grad, [pair[0] for pair in found.values()], "the gradient of the input")
    order = list(found)[index]
    for position, expected_gradient in zip(order, found[order][1], strict=True):
        actual = parameters[position].grad
        flat = None if actual is None else actual.flatten()
        expect_close(flat, expected_gradient, "the gradient of gain and shift", "mean and variance are not detached")


def test_same_in_training_and_float32(submission, case):
    module, d_model = make(submission, case)
    x = case.normal(2, 5, d_model)
    in_eval = module(x)
    expect_close(module.train()(x), in_eval, "the norm in train mode", "LayerNorm does the same in training")
    single = submission.build(COMPONENT, d_model)
    expect(single(x.float()).dtype == torch.float32, "dtype", "float32 as the input", str(single(x.float()).dtype))


def test_argument_stays_as_it_is(submission, case):
    module, d_model = make(submission, case)
    x = case.normal(2, 5, d_model)
    before = x.clone()
    first = module(x)
    expect(torch.equal(x, before), "x after the call", "unchanged values", "changed in place")
    expect_close(module(x), first, "the same call again", "no state is kept between calls")
    expect_close(module(x[1:, 2:3]), first[1:, 2:3], "one position by itself", "positions do not mix")
