"""Task 1.4: gain * (x - mean) / sqrt(variance + epsilon) + shift, over the features; the variance divides by d.

How such tests are written: `autograder.testing.subject`.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from assignment.expected.layers import EPSILON, norm_of
from assignment.expected.modules import learned_by
from assignment.expected.readings import GAIN_AND_SHIFT, expect_numbers
from assignment.expected.readings import layer_norm as make
from autograder.testing.arguments import CONVERTED
from autograder.testing.case import Case, SubmissionUnderTest, default_dtype, each_dtype, each_row, in_float32
from autograder.testing.comparison import expect, expect_shape, run_backward
from autograder.testing.side_effects import expect_no_side_effects, expect_vectors_apart
from autograder.testing.subject import Subject

pytestmark = pytest.mark.task_1_4

COMPONENT = "layers.LayerNorm"
SHAPES = {  # of x, and where to look
    "a batch": (
        (3, 5, 7),
        "compute one position by hand with the formula of the docstring: where do the numbers part?",
    ),
    "a single vector": ((6,), "take mean and variance over dim=-1, however many axes come before it"),
    "two axes": ((5, 16), "take mean and variance over dim=-1, however many axes come before it"),
    "four axes": ((5, 1, 5, 5), "take mean and variance over dim=-1, however many axes come before it"),
    "two features": (
        (1, 3, 2),
        "by which number is the sum of squares divided? (the docstring says which variance is meant)",
    ),
    "one large feature": ((2, 3, 512), "do all features count, however large?"),
    "far from zero": ((2, 3, 6), "is everything computed in the dtype of x?"),
    "train mode": ((3, 1, 64), "LayerNorm computes the same in training"),
}
SPECIAL = {
    "special cases": ["a single vector", "two axes", "four axes", "two features", "one large feature", "far from zero"]
}


def alone(submission: SubmissionUnderTest, case: Case, d_model: int, **options: Any) -> Subject:
    """A LayerNorm, but a new one if gain and shift, which have items of their own, are not both there."""
    subject = make(submission, case, d_model, **options)
    if not isinstance(subject.formulas, Exception):
        return subject
    first = [*torch.tensor([1.0, 0.0], dtype=torch.float64)]
    formula = norm_of(first, kind=(options.get("epsilon", EPSILON), 0, False))
    return replace(make(submission, case, d_model, **options | {"randomised": slice(0)}), formulas=[formula])


@pytest.mark.item("mean and variance")
@each_dtype
def test_new_layer_norm(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    subject = alone(submission, case, 6, dtype=dtype, randomised=slice(0))
    subject.expect_values({"x": case.normal(3, 4, 6, scale=100.0, dtype=dtype)}, SHAPES["a batch"][1])


@pytest.mark.item("gain and shift")
@each_row(SHAPES, in_float32=["a batch"], items=SPECIAL)
def test_layer_norm(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    shape, look_at = SHAPES[name]
    subject = make(submission, case, shape[-1], dtype=dtype)
    subject.call.train(name == "train mode")
    # The variance is so large that epsilon does not matter: it has tests of its own.
    x = case.normal(*shape, scale=100.0, dtype=dtype) + 10
    # Every feature moves away from the mean, near which x - mean would be little but float32's rounding.
    x += 50 * F.layer_norm(x, x.shape[-1:]).sign()
    if name == "one large feature":
        x[..., 0] = 5000
    elif name == "far from zero":
        x += 1e5
    subject.expect_values({"x": x}, look_at)


EPSILONS = {  # the constructor's arguments, the size of x, and where to look
    "the constructor's": ({"epsilon": 0.7}, 1.0, "which epsilon is used, and where does it stand in the formula?"),
    "the constructor's, small x": (
        {"epsilon": 0.4},
        0.1,
        "what does the formula give for a variance far below epsilon?",
    ),
    "the default": ({}, 1e-3, "how large is epsilon where the constructor is given none?"),
    "zero": ({"epsilon": 0.0}, 1e-2, "epsilon may be 0"),
}


@pytest.mark.item("special cases")
def test_another_default_dtype(submission: SubmissionUnderTest, case: Case) -> None:
    with default_dtype(torch.float32):
        subject = make(submission, case, 6, any_dtype=False)
        subject.expect_values({"x": case.normal(2, 5, 6, scale=100.0)}, CONVERTED)


@pytest.mark.item("epsilon")
@each_row(EPSILONS, in_float32=["the default"])
def test_epsilon(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    options, scale, look_at = EPSILONS[name]
    subject = alone(submission, case, 6, dtype=dtype, **options)
    subject.expect_values({"x": case.normal(4, 3, 6, scale=scale, dtype=dtype)}, look_at)


@pytest.mark.item("epsilon")
@pytest.mark.parametrize("constant, d_model", [(0.0, 5), (3.0, 2), (4.0, 1)])
def test_constant_input_stays_finite(
    submission: SubmissionUnderTest, case: Case, constant: float, d_model: int
) -> None:
    subject = alone(submission, case, d_model)
    x = torch.full((2, 3, d_model), constant, dtype=torch.float64)
    look_at = "what are the root of the variance and its gradient where all features are equal?"
    subject.expect_values({"x": x}, look_at)
    x.requires_grad_()
    run_backward(subject.call(x.clone()), case.normal(2, 3, d_model), "the norm of a constant")
    expect_shape(x.grad, x.shape, "the gradient at a constant", look_at)  # and finite


@pytest.mark.item("parameters")
@pytest.mark.parametrize("d_model", [5, 12])
def test_gain_is_one_and_shift_zero_at_first(submission: SubmissionUnderTest, case: Case, d_model: int) -> None:
    module = submission.build(COMPONENT, d_model=d_model)
    expect_numbers(learned_by(module), 2 * d_model, GAIN_AND_SHIFT)
    # Along every axis there are the same features in another order: whichever axis is normalised, and whatever the
    # variance is divided by, a new LayerNorm only stretches them.
    places = torch.arange(d_model)
    x = 100 * torch.sin(2 * torch.pi / d_model * (places + places[:, None] + places[:, None, None]))
    norm = expect_shape(module(x.clone()), x.shape, "the norm by a new LayerNorm").detach()
    label, due = "what a new LayerNorm returns", "x - mean, times the same number for all features"
    look_at = "gain and shift change nothing at first: the gain is 1 for each feature, the shift 0"
    expect(bool(norm.any()), label, due, "0 everywhere", look_at)
    factor = float((norm * x).sum() / x.square().sum())
    rest = float((norm - factor * x).abs().max() / norm.abs().max())
    expect(rest < 1e-3, label, due, f"a part of {rest:.2g} is not", look_at)
    # What is divided by something else than the deviation may have another size: that is for other tests.
    size = float(norm.norm()) / norm.numel() ** 0.5
    is_divided = bool((module(2 * x) - 2 * norm).abs().max() > 1e-3 * norm.abs().max())
    is_another = is_divided and not make(submission, case, d_model).is_right({"x": x.double()})
    expect(
        0.5 < size < 2.0 or is_another,
        f"the standard deviation of {label}",
        "1",
        f"{size:.3g}",
        "the gain is 1 at first",
    )


@pytest.mark.item("gain and shift")
@pytest.mark.parametrize("which", [slice(0, 1), slice(1, None)], ids=["only the first is random", "all but the first"])
def test_one_parameter_as_at_first(submission: SubmissionUnderTest, case: Case, which: slice) -> None:
    subject = make(submission, case, 6, randomised=which)
    subject.expect_values({"x": case.normal(6, 6, 6, scale=100.0)}, "both gain and shift always count")


@pytest.mark.item("gradients")
@each_dtype
def test_gradients(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    subject = make(submission, case, 6, dtype=dtype)
    if not subject.parameters:  # another item's; then x has the only gradient, which it has in float64 alone
        subject, dtype = alone(submission, case, 6), torch.float64
    look_at = "mean and variance depend on x; gain and shift are learned"
    subject.expect_gradients(case, {"x": case.normal(3, 4, 6, scale=30.0, dtype=dtype)}, look_at, nonzero=[])


@pytest.mark.item("no side effects")
@in_float32
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    # What is kept from a first call, before the parameters become random, makes it wrong where a fresh one is right.
    subject = make(submission, case, 6, dtype=dtype, called_before_with=case.normal(2, 5, 6, dtype=dtype))
    inputs, others = ({"x": case.normal(2, 5, 6, scale=100.0, dtype=dtype)} for _ in range(2))
    copied = partial(submission.apply, "call_copy", subject.call)
    fresh = partial(make, submission, case, 6, dtype=dtype)
    left = partial(submission.apply, "left_behind", subject.call, "forward")
    expect_no_side_effects(subject, inputs, others, left, fresh, copied, another=lambda: fresh().call)


@pytest.mark.item("no side effects")
def test_vectors_do_not_count_for_each_other(submission: SubmissionUnderTest, case: Case) -> None:
    look_at = "mean and variance are those of one vector: over dim=-1 alone"
    expect_vectors_apart(make(submission, case, 6), case.normal(3, 4, 6, scale=100.0), look_at)
