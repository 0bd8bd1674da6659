"""Task 2.1: two affine maps with a tanh between them, judged with stand-ins for the maps."""

import pytest
import torch
from torch import Tensor

from autograder.testing.case import Case, SubmissionUnderTest
from autograder.testing.comparison import expect, expect_close

pytestmark = pytest.mark.task_2_1


def bend(x: Tensor, mix: Tensor) -> Tensor:
    """The stand-in of an affine map, with mix (d_in, 1, d_out)."""
    return torch.sin(x @ mix[:, 0])


def test_values(submission: SubmissionUnderTest, case: Case) -> None:
    d_in, d_hidden = case.sizes(2, 3, 6)
    module = submission.build("regressor.Regressor", d_in, d_hidden, dtype=torch.float64)
    mixes = [p for p in module.parameters() if p.dim() == 3]
    expect(len(mixes) == 2, "the maps of the regressor", "two", str(len(mixes)), "Affine is used for both")
    case.randomise(mixes)
    first, second = sorted((p.detach() for p in mixes), key=lambda p: p.size(0) != d_in)
    shapes = [tuple(p.shape) for p in (first, second)]
    expect(shapes == [(d_in, 1, d_hidden), (d_hidden, 1, 1)], "the maps' stand-ins", "d_in, d_hidden, 1", str(shapes))
    x = case.normal(case.size(2, 4), d_in)
    expected = bend(torch.tanh(bend(x, first)), second)[:, 0]
    expect_close(module(x), expected, "the prediction, (b,)", "map, tanh, map; then the last axis is dropped")
