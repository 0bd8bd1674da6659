"""What a student reads: one relation of a wrong result to the right one, and in a task's message each reason once."""

import pytest
import torch
from torch.nn import functional as F

from autograder.grading.explaining import explain_by_one
from autograder.testing.observation import observe, observe_shape, side_by_side
from autograder.testing.results import CHANGED, Outcome, State, explain

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
    "one place": (torch.cat([X[:, :2], Y[:, 2:]], 1), X, {}, "only index 2 of axis 1 differs, of 3"),
    "other places": (X.flip(1), X, {}, "the expected values in other places"),
    "axes swapped": (X[..., :3].mT, X[..., :3], {}, "the expected values with axes in another order"),
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


def failed(test: str, what: str, got: str, look_at: str = "", state: State = State.FAILED) -> Outcome:
    lines = [what, "  expected: 1 at [0]", f"  got:      {got}", *([f"  look at:  {look_at}"] if look_at else [])]
    return Outcome(test, state, "\n".join(lines))


MASKS = [failed(f"test_masks[{kind}]", f"weights, mask {kind}", "2", "True may attend") for kind in "abcd"]


def test_tests_with_one_hint_are_one_message_with_a_count():
    said = explain(MASKS, 9)
    assert said.startswith("5 of 9 tests pass.\n[test_masks[a] and 3 more for the same reason]\nweights, mask a\n")
    assert said.count("expected:") == 1


def test_without_a_hint_numbers_make_no_difference_and_what_is_left_out_is_counted():
    alike = [failed(f"test_{n}", f"the shape of ({n}, 7)", f"({n}, -0.5e-3)") for n in (3, 4, 12)]
    several = [failed(f"test_{name}", name, "4") for name in "abcdef"]
    said = explain([*alike, *several], 9)
    assert "[test_3 and 2 more for the same reason]" in said and said.endswith(
        "\n… and 3 tests more, for other reasons"
    )
    assert explain(several[:5], 9).endswith("\n… and 1 test more, for other reasons")
    crashed = failed("test_crash", "a", "4", state=State.ERROR)
    assert explain([several[0], crashed], 4).count("[test_") == 2, "another state is another reason"


def test_a_component_that_changes_its_arguments_is_told_so_first_and_alone():
    changed = failed("test_no_side_effects", "query after the call", f"{CHANGED} by layers.py, line 3: query /= 2")
    for order in ([*MASKS, changed], [changed, *MASKS]):
        said = explain(order, 9)
        assert said.startswith("4 of 9 tests pass.\n[test_no_side_effects]\nquery after the call\n")
        assert said.endswith("\n… and 4 tests more, perhaps for the same reason") and "True may attend" not in said


def test_one_known_reason_behind_all():
    assert explain_by_one(MASKS, 9).startswith("4 of 9 tests fail for this reason, test_masks[a] among them:\nweights")
    assert explain_by_one(MASKS, 4).startswith("All 4 tests fail for this reason, test_masks[a] among them:\n")
    assert explain_by_one(MASKS[:1], 9) == explain(MASKS[:1], 9)
