"""Messages: one relation of a wrong result to the right one, and of a task the most telling failure."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from autograder.grading.judging import explain_by_one
from autograder.testing.arguments import traits_of
from autograder.testing.case import earlier_keys
from autograder.testing.contrast import Call, only
from autograder.testing.observation import about_mask, observe
from autograder.testing.results import CHANGED, Outcome, State, explain, most_telling, with_contrast

torch.manual_seed(0)
X = torch.randn(2, 3, 6, dtype=torch.float64)
Y = torch.randn(2, 3, 6, dtype=torch.float64)
SCORES = 2 * torch.randn(2, 4, 5, dtype=torch.float64)
WEIGHTS = SCORES.softmax(-1)
MASK = torch.tensor([1, 1, 0, 1, 0]).bool().expand(2, 4, 5).clone()
MASK[0, 1] = False
SEEN = MASK.any(-1, keepdim=True)
MASKED = torch.where(SEEN, SCORES.masked_fill(~MASK, -torch.inf).softmax(-1), 0.2)
WIDE = torch.randn(5, 11, dtype=torch.float64)
QUERY = torch.randn(2, 4, 7, dtype=torch.float64)

CASES = {  # what was returned, what is right, the arguments, a part of the message
    "a factor of the sizes": (X / 6**0.5, X, {}, "0.4082 times what is expected; 1 / sqrt(6)"),
    "a factor that is a size": (7 * X, X, {"query": QUERY}, "7 times what is expected; 7 is the size of an axis of"),
    "a root rounded down": (3 * WIDE, 11**0.5 * WIDE, {}, "3 / sqrt(11) = 0.9045, and 11 is the size of"),
    "other differences": (2 * X + 1, X, {}, "positions differ 2 times as much as expected; 2 is the size of"),
    "a residual": (X + Y, Y, {"x": X}, "the difference is x: without it"),
    "vectors of length 1": (F.normalize(X, dim=-1), X, {}, "all have the length 1"),
    "vectors that are cut": (X * (2 / X.norm(dim=-1, keepdim=True)).clamp(max=1), X, {}, "no vector is longer than 2;"),
    "a shift": (X + Y[0, 0], X, {}, "each feature differs by the same number"),
    "relu": (X.relu(), X, {}, "the smallest value is 0;"),
    "the last two": (torch.cat([X[:, :1], Y[:, 1:]], 1), X, {}, "only the last 2 of 3 along axis 1 differ"),
    "other places": (X.flip(1), X, {}, "the expected values in other places"),
    "rounded weights": (WEIGHTS.half().double(), WEIGHTS, {}, None),
    "no scale": ((7**0.5 * SCORES).softmax(-1), WEIGHTS, {"query": QUERY}, "2.646 times as far apart"),
    "scores": (SCORES, WEIGHTS, {}, "weights are never negative"),
    "softmax over queries": (SCORES.softmax(-2), WEIGHTS, {}, "sum to 1 over axis 1"),
    "not normalised": (WEIGHTS * 0.5 * (1 + torch.rand(2, 4, 1)), WEIGHTS, {}, "here they sum to"),
    "the best key": (F.one_hot(SCORES.argmax(-1), 5).double(), WEIGHTS, {}, "one key of each query"),
    "no mask": (WEIGHTS, MASKED, {"mask": MASK}, "a key that the mask forbids has the weight"),
    "an inverted mask": (SCORES.masked_fill(MASK, -1e9).softmax(-1), MASKED, {"mask": MASK}, "share all the weight"),
    "rounding": (Y + 1e-8 * X, Y, {"x": 1e-8 * X}, None),
    "nothing in common": (X, Y, {"x": QUERY, "mask": None}, None),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
def test_one_relation_is_named(name, dtype):
    actual, expected, inputs, message = CASES[name]
    text = observe(actual.to(dtype), expected.to(dtype), inputs)
    assert message in text and "\n" not in text if message else text == ""


def failed(test: str, name: str, got: str, look_at: str = "", state: State = State.FAILED) -> Outcome:
    lines = [name, "  expected: 1 at [0]", f"  got:      {got}", *([f"  look at:  {look_at}"] if look_at else [])]
    return Outcome(test, state, "\n".join(lines))


MASKS = [failed(f"test_masks[{kind}]", f"weights, mask {kind}", "2", "True may attend") for kind in "abcd"]


def test_the_plain_row_is_shown_unless_a_shape_or_something_observed_explains_more():
    table = [failed(f"test_table[{row}]", f"row {row}", "3", "which?") for row in "abcd"]
    assert most_telling([*MASKS[1:], table[0]], [*MASKS, *table]) is table[0]
    shape = replace(failed("test_shape", "x", "4"), message="x\n  expected: shape (2,)\n  got:      shape (3,)")
    assert most_telling([table[0], shape], [*table, shape]) is shape
    seen = replace(table[1], message=table[1].message.replace("look at: ", "observed:"))
    assert most_telling([seen, table[2]], [*table]) is seen and most_telling([table[0], seen], table) is table[0]
    crashed = failed("test_table[a]", "a", "4", state=State.ERROR)
    assert most_telling([shape, crashed], [crashed, *table[1:], shape]) is crashed
    unwritten = failed("test_table[a]", "TODO", "", state=State.NOT_ATTEMPTED)
    assert most_telling([unwritten, table[3]], [unwritten, *table[1:]]) is table[3]


@pytest.mark.parametrize(
    ("mask", "traits"),
    [
        (None, {"without a mask"}),
        (MASK, {"with a mask", "with a mask of 3 axes", "with a query that may attend to no key"}),
        (MASK[1, :1], {"with a mask", "with a mask of 2 axes"}),
        (torch.ones(1, 2, 3, 3).bool(), {"with a mask", "with a mask of 4 axes", "with a mask for each head"}),
    ],
)
def test_traits_of_a_mask(mask, traits):
    assert {*traits_of({"mask": mask}, None)} == traits


def call(is_right: bool, *traits: str, kind: str = "values", **sizes: int) -> Call:
    return Call(frozenset(traits), tuple(sizes.items()), is_right, kind)


CONTRASTS = {
    "with src_mask and with tgt_mask: all 2 such calls are wrong, and all 2 others are right": [
        *[call(False, "with src_mask", "with tgt_mask", "with a mask of 4 axes")] * 2,
        *[call(True, "without src_mask", "without tgt_mask")] * 2,
    ],
    "in train mode: all 2 such calls are wrong, and all 3 others are right": [
        *[call(False, "in train mode", "in float64")] * 2,
        *[call(True, "in eval mode", "in float64")] * 3,
    ],
    "without a mask: the one such call is wrong, and all 3 others are right": [
        call(False, "without a mask"),
        *[call(True, "with a mask")] * 3,
        call(False, "with a mask", kind="gradients"),  # follows from wrong values
    ],
    "where length is longer than 6: the one such call is wrong, and all 3 others are right": [
        call(False, length=66),
        *(call(True, length=n) for n in (4, 5, 6)),
    ],
    "": [call(False, "in train mode"), call(True), call(True, "in train mode"), call(True)],
}

WRONG_MASKS = {
    "True and False are swapped": lambda right: ~right,
    "rows and columns are swapped": lambda right: right.mT,
    "the diagonal alone is wrong": lambda right: right.tril(-1),
    "each query has the row of the query 1 later": lambda right: torch.ones_like(right).tril(1),
    "each query has the row of the query 2 earlier": lambda right: right.tril(-2),
    "each row has as many True as expected, in other places": lambda right: right.flip(1),
    "": lambda right: torch.zeros_like(right),
}


@pytest.mark.parametrize("text", WRONG_MASKS)
def test_a_wrong_mask_beside_the_right_one(text):
    right = earlier_keys(5)
    assert about_mask(WRONG_MASKS[text](right), right) == text


@pytest.mark.parametrize("message", CONTRASTS)
def test_the_trait_of_wrong_calls_stands_before_the_question(message):
    assert only(CONTRASTS[message], CONTRASTS[message][:1]) == message
    outcome = replace(MASKS[0], calls=tuple(CONTRASTS[message]))
    lines = with_contrast(outcome, [outcome]).split("\n")
    assert lines[-1].startswith("  look at:") and (f"  only:     {message}" == lines[-2]) is bool(message)


def test_only_calls_of_the_failure_that_is_shown_are_contrasted():
    encoded = [call(n < 20, kind="values of memory", src=n) for n in (3, 4, 5, 210)]
    decoded = [call(n < 20, kind="values of output", tgt=n) for n in (3, 4, 5, 210)]
    assert "where tgt is longer than 5" in only([*encoded, *decoded], decoded)
    assert "where src is longer than 5" in only([*decoded, *encoded], encoded)


def test_a_change_of_arguments_comes_first_and_alone():
    changed = failed("test_no_side_effects", "query after the call", CHANGED)
    for order in ([*MASKS, changed], [changed, *MASKS]):
        message = explain(order, 9)
        assert message.startswith("4 of 9 tests pass.\n[test_no_side_effects]\nquery after the call\n")
        assert message.endswith("\n… and 4 tests more, perhaps for the same reason")
        assert message.count("expected:") == 1 and "True may attend" not in message


def test_one_known_reason_behind_all():
    others = [Outcome(f"test_{n}", State.PASSED) for n in range(5)]
    assert explain_by_one(MASKS, [*MASKS, *others]).startswith(
        "4 of 9 tests fail for this reason, test_masks[a] among them:\nweights"
    )
    assert explain_by_one(MASKS, MASKS).startswith("All 4 tests fail for this reason, test_masks[a] among them:\n")
    assert explain_by_one(MASKS[:1], [*MASKS[:1], *others]) == explain(MASKS[:1], 6)
