"""Task 1.1: x W + b."""

import pytest
import torch
from torch import Tensor, nn

from autograder.testing.case import Case, SubmissionUnderTest
from autograder.testing.comparison import expect, expect_close, expect_gradients, expect_shape, run_backward

pytestmark = pytest.mark.task_1_1


def make(submission: SubmissionUnderTest, case: Case) -> tuple[nn.Module, int, int]:
    d_in, d_out = case.sizes(2, 2, 6)
    module = submission.build("affine.Affine", d_in, d_out, dtype=torch.float64)
    case.randomise(module.parameters())
    return module, d_in, d_out


def roles(module: nn.Module, d_in: int, d_out: int) -> tuple[Tensor, Tensor]:
    """The weight as (d_in, d_out) and the bias: names and layout are the student's choice."""
    by_axes = {len(p.squeeze().shape): p.detach().squeeze() for p in module.parameters()}
    expect(set(by_axes) == {1, 2}, "the parameters", "a matrix and a vector", f"{len(by_axes)} kinds of them")
    weight = by_axes[2] if by_axes[2].size(0) == d_in else by_axes[2].T
    return expect_shape(weight, (d_in, d_out), "the weight"), expect_shape(by_axes[1], (d_out,), "the bias")


def test_values(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_in, d_out = make(submission, case)
    weight, bias = roles(module, d_in, d_out)
    x = case.normal(case.size(2, 5), d_in)
    expect_close(module(x), x @ weight + bias, "the affine map", "x W + b: is the bias added?")


def test_gradients(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_in, d_out = make(submission, case)
    run_backward(module(case.normal(3, d_in)), case.normal(3, d_out), "the affine map")
    expect_gradients(list(module.parameters()), "the affine map")
