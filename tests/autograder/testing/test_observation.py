"""What is observed of a wrong result: one relation to the right one, and nothing where there is none."""

import pytest
import torch
from torch.nn import functional as F

from autograder.testing.observation import observe, observe_shape, side_by_side

torch.manual_seed(0)
X = torch.randn(2, 3, 6, dtype=torch.float64)
Y = torch.randn(2, 3, 6, dtype=torch.float64)
SCORES = 2 * torch.randn(2, 4, 5, dtype=torch.float64)
WEIGHTS = SCORES.softmax(-1)
GAIN, SHIFT = torch.randn(2, 6, dtype=torch.float64)
MASK = torch.tensor([1, 1, 0, 1, 0]).bool().expand(2, 4, 5).clone()
MASK[0, 1] = False
SEEN = MASK.any(-1, keepdim=True)
MASKED = torch.where(SEEN, SCORES.masked_fill(~MASK, -torch.inf).softmax(-1), 0.2)
QUERY = torch.randn(2, 4, 7, dtype=torch.float64)


def norm(x: torch.Tensor, correction: int) -> torch.Tensor:
    return GAIN * (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=correction) + SHIFT


CASES = {  # what was returned, what is right, the arguments, a part of what is said
    "a factor of the sizes": (X / 6**0.5, X, {}, "0.4082 times what is expected; 1 / sqrt(6)"),
    "the sample variance": (
        norm(X, 1),
        norm(X, 0),
        {"x": X},
        "positions differ 0.9129 times as much as expected; sqrt(5 / 6)",
    ),
    "no residual": (Y, X + Y, {"x": X}, "adding it"),
    "unchanged": (X, Y, {"x": X}, "the result is x"),
    "other places": (X.flip(1), X, {}, "in other places"),
    "one place": (torch.cat([X[:, :2], Y[:, 2:]], 1), X, {}, "only index 2 of axis 1 differs, of 3"),
    "no scale": ((7**0.5 * SCORES).softmax(-1), WEIGHTS, {"query": QUERY}, "2.646 times as far apart"),
    "softmax over queries": (SCORES.softmax(-2), WEIGHTS, {}, "sum to 1 over axis 1"),
    "not normalised": (WEIGHTS * 0.5 * (1 + torch.rand(2, 4, 1)), WEIGHTS, {}, "here they sum to"),
    "the best key": (F.one_hot(SCORES.argmax(-1), 5).double(), WEIGHTS, {}, "one key of each query"),
    "no mask": (WEIGHTS, MASKED, {"mask": MASK}, "a key that the mask forbids has the weight"),
    "an inverted mask": (SCORES.masked_fill(MASK, -1e9).softmax(-1), MASKED, {"mask": MASK}, "share all the weight"),
    "NaN without keys": (
        MASKED / SEEN / SEEN,
        MASKED,
        {"mask": MASK},
        "exactly for the queries that may attend to no key",
    ),
    "nothing in common": (X, Y, {}, None),
    "nothing in common with inputs": (X, Y, {"x": QUERY, "mask": None}, None),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
def test_one_relation_is_named(name, dtype):
    found, expected, inputs, said = CASES[name]
    text = observe(found.to(dtype), expected.to(dtype), inputs)
    assert said in text and "\n" not in text if said else text == ""


@pytest.mark.parametrize(
    ("got", "wanted", "said"),
    [
        ((2, 5, 3), (2, 3, 5), "another order"),
        ((2, 3), (2, 3, 1), "of size 1 is missing"),
        ((2, 3), (2, 4), ""),
    ],
)
def test_of_a_shape_the_axes_are_compared(got, wanted, said):
    text = observe_shape(got, wanted)
    assert said in text if said else text == ""


def test_the_place_of_the_largest_difference_is_drawn():
    expected = torch.zeros(2, 6, 3)
    found = expected.clone()
    found[1, 4, 2] = 7
    head, *lines = side_by_side(found, expected)
    assert head.split() == ["expected[1,", "2:,", "0:]", "got"]
    assert [line.split()[:3] for line in lines] == [["0"] * 3] * 4
    assert [line.split()[3:] for line in lines] == [["0"] * 3, ["0"] * 3, ["0", "0", "7"], ["0"] * 3]
