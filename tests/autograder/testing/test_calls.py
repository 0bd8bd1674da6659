"""What `expect_computes` and `expect_no_state` find, and what they leave free."""

import pytest
import torch
from torch import nn

from autograder.testing.calls import attempt, expect_computes, expect_no_state
from autograder.testing.case import Case
from autograder.testing.comparison import fail
from autograder.testing.results import CheckFailed

X = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=torch.float64)


def double(x):
    return 2 * x


def in_place(x):
    x *= 2
    return x


def expect(function, x=X, **options):
    expect_computes(function, [double], {"x": x}, ["y"], "twice x", **options)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("function", [double, in_place, lambda x: x + x])
def test_right_code_passes_even_if_it_changes_its_argument(function, dtype):
    expect(function, X.to(dtype))


def test_a_test_must_be_about_a_part_that_there_is():
    with pytest.raises(ValueError, match="expected some of"):
        expect(double, of=["context"])


@pytest.mark.parametrize(
    "function, says",
    [
        (lambda x: 2.001 * x, "6 of 6 values differ"),
        (lambda x: (2 * x).float(), "float64, like the inputs"),
        (lambda x: (2 * x)[:1], "shape (1, 3)"),
        (lambda x: None, "is a return missing?"),
        (lambda x: 2 * x / 0, "NaN or infinite"),
    ],
)
def test_what_is_wrong_is_said_with_the_inputs(function, says):
    with pytest.raises(CheckFailed) as caught:
        expect(function)
    assert says in str(caught.value) and "inputs:   x (2, 3)" in str(caught.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 if torch.is_grad_enabled() else x * 3,
        lambda x: x * 2 if x.is_contiguous() else x * 3,
        lambda x: x * 2 if not torch.is_inference_mode_enabled() else x * 3,
    ],
)
def test_float32_comes_as_it_does_in_translation(function):
    expect(function)
    with pytest.raises(CheckFailed):
        expect(function, X.float())


def test_gradients_of_inputs_and_parameters():
    weight = nn.Parameter(torch.tensor(3.0, dtype=torch.float64))
    leaf = weight.detach().clone().requires_grad_()
    options = {"parameters": [(weight, leaf)], "case": Case(1, "gradients")}
    expect_computes(lambda x: weight * x, [lambda x: leaf * x], {"x": X}, ["y"], **options)
    for wrong in (lambda x: weight.detach() * x, lambda x: weight * x.detach(), lambda x: (weight * x).detach()):
        with pytest.raises(CheckFailed, match="gradient|leads back"):
            expect_computes(wrong, [lambda x: leaf * x], {"x": X}, ["y"], **options)


def test_what_does_not_count_must_be_finite_and_no_more():
    factor = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    expect(lambda x: torch.cat([2 * x[:1], 0 * x[1:]]), judged_where={"y": factor})
    with pytest.raises(CheckFailed, match="finite"):
        expect(lambda x: torch.cat([2 * x[:1], x[1:] / 0]), judged_where={"y": factor})


def test_one_of_several_candidates_fits():
    expect_computes(double, [lambda x: 3 * x, double], {"x": X}, ["y"])
    with pytest.raises(CheckFailed, match="none that fit"):
        expect_computes(double, [], {"x": X}, ["y"])


def keeps_first(kept=[]):  # noqa: B006  state is what this is about
    def call(x):
        kept.append(x.clone())
        return 2 * kept[0]

    return call


def keeps_by_object(known):
    return lambda x: known.setdefault(id(x), (x, 2 * x))[1]


def writes_into_one_result():
    out = torch.empty_like(X)
    return lambda x: torch.mul(x, 2, out=out)


@pytest.mark.parametrize(
    "function, says",
    [
        (in_place, "x after the call"),
        (keeps_first(), "must not depend on earlier ones"),
        (keeps_by_object({}), "must not depend on earlier ones"),
        (writes_into_one_result(), "the result of an earlier call"),
    ],
)
def test_state_and_changed_arguments_are_found(function, says):
    expect_no_state(double, [double], {"x": X}, {"x": X.flip(0)}, ["y"])
    with pytest.raises(CheckFailed) as caught:
        expect_no_state(function, [double], {"x": X}, {"x": X.flip(0)}, ["y"])
    assert says in str(caught.value)


def test_what_is_seen_in_another_part_is_said_of_the_part_that_is_judged():
    def right(x):
        return x + 1, 2 * x

    with pytest.raises(CheckFailed) as caught:
        expect_computes(lambda x: (x.sin(), 6 * x), [right], {"x": X}, ["y", "z"], "the sum", of=["y"])
    assert str(caught.value).startswith("y\n") and "observed: in z: every value is 3 times" in str(caught.value)
    assert "look at" not in str(caught.value)
    expect_computes(lambda x: (x + 1, 6 * x), [right], {"x": X}, ["y", "z"], of=["y"])


def test_the_failure_of_another_call_is_said_without_the_inputs_of_this_one():
    other = attempt(lambda: fail("the shape of another call", "(2, 3)", "(3, 2)"))
    with pytest.raises(CheckFailed) as caught:
        expect_computes(double, other, {"x": X}, ["y"])
    assert "inputs" not in str(caught.value)


class Counting:
    """Twice x but for a summand, which each call may raise."""

    def __init__(self, step):
        self.summand, self.step = 1.0, step

    def __call__(self, x):
        self.summand += self.step
        return 2 * x + self.summand


@pytest.mark.parametrize("function", [Counting(0.0), lambda x: torch.where(x > 0, 3 * x, torch.nan)])
def test_wrong_values_are_no_state(function):
    expect_no_state(function, [double], {"x": X}, {"x": X.flip(0)}, ["y"])


@pytest.mark.parametrize("function", [Counting(0.5), lambda x: torch.ones_like(x), lambda x: 2 * x + torch.rand(2, 3)])
def test_state_is_found_where_values_are_wrong(function):
    with pytest.raises(CheckFailed, match="result"):
        expect_no_state(function, [double], {"x": X}, {"x": X.flip(0)}, ["y"])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_wrong_values_may_have_right_gradients(dtype):
    scale = torch.tensor(3.0, dtype=dtype, requires_grad=True)
    pairs = [(scale, scale.detach().double().requires_grad_())]
    inputs = {"x": X.to(dtype), "y": X.flip(1).to(dtype)}

    def compute(x, y):
        return scale * x * y.exp()

    options = {"parameters": pairs, "case": Case(0, "test")}
    expect_computes(compute, [torch.add], inputs, ["z"], gradients_only=True, **options)
    with pytest.raises(CheckFailed):
        expect_computes(compute, [torch.add], inputs, ["z"], **options)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x.detach() * y.exp(),
        lambda x, y: x * y.detach().exp() + y,
        lambda x, y: x * y + x.detach() * y.sin(),
        lambda x, y: (x * y).detach(),
        lambda x, y: torch.ones_like(x) + 0 * x + 0 * y,
        lambda x, y: x * y / 0,
    ],
)
def test_gradients_of_wrong_values_are_those_of_what_is_computed(function):
    with pytest.raises(CheckFailed):
        expect_computes(
            function, [torch.add], {"x": X, "y": X + 1}, ["z"], parameters=[], case=Case(0, "test"), gradients_only=True
        )


def test_a_test_may_be_about_some_parts():
    options = {"x": X, "y": X.flip(0)}, ["sum", "difference"]

    def compute(x, y):
        return x + y, y - x

    def both(x, y):
        return x + y, x - y

    expect_computes(compute, [both], *options, of=["sum"])
    with pytest.raises(CheckFailed, match="difference"):
        expect_computes(compute, [both], *options, of=["difference"])
