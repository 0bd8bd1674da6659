"""Task 1.2: softmax(Q K^T / sqrt(d_k)) V. How such tests are written: `autograder.testing.subject`."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from assignment.expected.masks import draw, expect_right_or_finite, expect_right_or_masks_obeyed
from assignment.stand_ins.own_tests import attend as attention
from autograder.testing.arguments import CONVERTED
from autograder.testing.case import (
    Case,
    SubmissionUnderTest,
    default_dtype,
    each_dtype,
    each_row,
    earlier_keys,
    in_float32,
)
from autograder.testing.side_effects import expect_no_side_effects
from autograder.testing.subject import Subject

pytestmark = pytest.mark.task_1_2

PARTS = ("context", "weights")


def attention_of(submission: SubmissionUnderTest) -> Subject:
    """The submission's function, and PyTorch's."""
    component = "attention.scaled_dot_product_attention"
    without_dropout = partial(submission.apply, "call_without_dropout", component, "")
    call = partial(submission.call, component)
    return Subject(call, PARTS, [attention], any_dtype=True, without_dropout=without_dropout)


SIZES = {  # (b, h, q, k, d), and where to look
    "fewer queries than keys": (
        (2, 3, 4, 5, 7),
        "compute one query by hand, step by step as in equation 1: where do the numbers part?",
    ),
    "more queries than keys": ((3, 2, 6, 4, 5), "over which axis do the weights of one query sum to 1?"),
    "one key": ((2, 2, 3, 1, 6), "which weight must a single key have?"),
    "one query of one head": ((1, 1, 1, 5, 3), "no axis may be squeezed away"),
    "equal sizes": ((4, 4, 4, 4, 4), "which axis of the scores is that of the queries, and which that of the keys?"),
    "many features": ((1, 2, 3, 4, 64), "does every step of equation 1 fit any d_k?"),
    "many keys and queries": (
        (1, 1, 65, 351, 9),
        "does anything in equation 1 depend on the number of keys or queries?",
    ),
}

SPECIAL = {
    "special cases": ["one key", "one query of one head", "equal sizes", "many features", "many keys and queries"]
}


@pytest.mark.item("scores, scale and softmax")
@each_row(SIZES, in_float32=["fewer queries than keys", "many keys and queries"], items=SPECIAL)
def test_attention(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    sizes, look_at = SIZES[name]
    attention_of(submission).expect_values(draw(case, sizes, dtype), look_at, of=["context"])


@pytest.mark.item("returned weights")
@each_dtype
@pytest.mark.parametrize("is_masked", [False, True], ids=["without a mask", "with a mask"])
def test_weights(submission: SubmissionUnderTest, case: Case, is_masked: bool, dtype: torch.dtype) -> None:
    subject = attention_of(submission)
    look_at = "the weights that average the values: (b, h, q, k), after mask and softmax"
    for sizes in ((2, 3, 4, 5, 7), (1, 3, 1, 5, 7) if is_masked else (1, 1, 1, 1, 7)):
        plain = draw(case, sizes, dtype)
        inputs = plain | {"mask": case.mask(sizes[0], 1, *sizes[2:4]) if is_masked else None}
        is_masked_right = not is_masked or subject.is_right(inputs, ["context"], contiguous=True)  # else without
        subject.expect_values(inputs if is_masked_right else plain, look_at, of=["weights"])


MASKS = {  # b, h, q and k; and the mask's axes, or how `test_masks` makes it
    "padding (b, 1, 1, k)": ((3, 3, 4, 5), "b11k"),
    "causal (q, k)": ((3, 3, 4, 5), "causal"),
    "each head (b, h, q, k)": ((3, 3, 4, 5), "bhqk"),
    "each query of one sentence (1, 1, q, k)": ((1, 3, 4, 5), "b1qk"),
    "all sentences (1, h, q, k)": ((3, 3, 4, 5), "1hqk"),
    "each head (b, h, q, k), with few keys forbidden": ((3, 3, 4, 5), "few"),
    "padding (b, 1, 1, k), many queries": ((3, 3, 66, 5), "b11k"),
    "everything allowed": ((3, 3, 4, 5), "all"),
    "one head, and a mask (b, 1, q, k)": ((3, 1, 4, 5), "b1qk"),
    "one query of one sentence": ((1, 2, 1, 5), "b11k"),
    "equal sizes, a mask (q, k)": ((4, 4, 4, 4), "qk"),
    "equal sizes, a padding mask": ((4, 4, 4, 4), "b11k"),
}


@pytest.mark.item("masks")
@each_row(MASKS, in_float32=["each head (b, h, q, k), with few keys forbidden", "padding (b, 1, 1, k)"])
def test_masks(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    (b, h, q, k), axes = MASKS[name]
    d = 4 if b == k else 6
    query = case.normal(b, h, q, d, dtype=dtype)
    query[0, 0, 0] = 0  # a score of 0 forbids nothing
    if axes in ("causal", "all"):
        mask = earlier_keys(q, k) if axes == "causal" else torch.ones(q, k, dtype=torch.bool)
    elif axes == "few":  # keys 1 and 2, but not in the first sentence, in the first head, or for the last query
        mask = torch.ones(b, h, q, k, dtype=torch.bool)
        mask[1:, 1:, :-1, 1:3] = False
    else:
        mask = case.mask(*({"b": b, "h": h, "q": q, "k": k, "1": 1}[axis] for axis in axes))
    inputs = draw(case, (b, h, q, k, d), dtype) | {"query": query, "mask": mask}
    look_at = "True means may attend; a forbidden key counts for nothing, and the other weights still sum to 1"
    expect_right_or_masks_obeyed(attention_of(submission), inputs, look_at)


@pytest.mark.item("masks")
@pytest.mark.parametrize(
    "sign, further", [(1, 1200), (-1, 0), pytest.param(-1, 60, marks=pytest.mark.item("numerically safe"))]
)
def test_masks_among_large_scores(submission: SubmissionUnderTest, case: Case, sign: int, further: int) -> None:
    # The keys that the mask forbids score far above the others (or all score far below zero): whatever takes their
    # place has to be far below every real score. Whether the formula is right shows with ordinary scores. The scores
    # are whole numbers, which float32 does not round.
    inputs = draw(case, (2, 2, 3, 5, 4))
    mask = case.padding_mask(2, 5)
    hidden = ~mask.transpose(-1, -2)
    inputs["query"] = torch.full((2, 2, 3, 4), 30.0 * sign, dtype=torch.float64)
    inputs["key"] = case.normal(2, 2, 5, 4, scale=4).abs().round() + 10 + further * (hidden if sign > 0 else 1)
    inputs["mask"] = mask
    look_at = "which weight does a forbidden key get that fits its query best of all?"
    expect_right_or_masks_obeyed(
        attention_of(submission), inputs, look_at, formula_judged_on=draw(case, (2, 2, 3, 5, 4))
    )


@pytest.mark.item("gradients")
@each_dtype
def test_gradients(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    inputs = draw(case, (2, 3, 4, 5, 6), dtype)
    attention_of(submission).expect_gradients(case, inputs, of=["context"], nonzero=[])


@pytest.mark.item("numerically safe")
@pytest.mark.parametrize("axes", ["bhqk", "b11k", "qk"])
def test_query_without_keys(submission: SubmissionUnderTest, case: Case, axes: str) -> None:
    sizes = {"b": 3, "h": 2, "q": 4, "k": 5, "1": 1}
    inputs = draw(case, (3, 2, 4, 5, 6))
    mask = case.mask(*(sizes[axis] for axis in axes))
    mask[(0,) * (mask.dim() - 1)] = False  # the first row of the mask; its queries may get anything finite
    inputs["mask"] = mask
    has_keys = mask.any(dim=-1, keepdim=True).to(torch.float64).expand(3, 2, 4, 1)
    look_at = "what do the softmax and its gradient give, in their dtype, for a row in which every key is forbidden?"
    ordinary = draw(case, (3, 2, 4, 5, 6)) | {"mask": None}
    expect_right_or_finite(
        attention_of(submission), case, inputs, look_at, ordinary, gradients_finite_too=True, judged_where=has_keys
    )


@pytest.mark.item("numerically safe")
@each_dtype
@pytest.mark.parametrize("scale", [30.0, 1e-4])
def test_large_and_small_scores(submission: SubmissionUnderTest, case: Case, scale: float, dtype: torch.dtype) -> None:
    # Scores large enough to overflow, but in float32 not so large that its rounding, which the exponential magnifies,
    # shows; or so small that all weights are nearly equal, where a large `value` shows their differences. In
    # float64, the large scores of one sentence differ by little: whether they are rounded to float32 shows.
    size = min(scale, 8.0) if dtype == torch.float32 else scale
    inputs = draw(case, (2, 2, 4, 5, 16), dtype)
    query, key = (size * case.normal(2, 2, n, 16, dtype=dtype).sign() for n in (4, 5))
    if scale > 1 and dtype == torch.float64:
        key[1] = key[1, :, :1] + 0.03 * case.normal(2, 5, 16)
    inputs |= {"query": query, "key": key}
    inputs["value"] = (5000 if dtype == torch.float64 else 5) * case.normal(2, 2, 5, 16, dtype=dtype)
    look_at = "exp(1000) is infinite, and exp(-1000) is 0: what is left of the softmax of each single query?"
    expect_right_or_finite(attention_of(submission), case, inputs, look_at, draw(case, (2, 3, 4, 5, 7)))


@pytest.mark.item("numerically safe")
@each_dtype
def test_dtype(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    inputs = draw(case, (2, 3, 4, 5, 7), dtype)
    attention = attention_of(submission)
    if attention.is_right(inputs, ["context"]):
        with default_dtype(torch.float32):
            replace(attention, any_dtype=False).expect_values(inputs, CONVERTED, ["context"])


@pytest.mark.item("no side effects")
@pytest.mark.parametrize("is_masked", [False, True], ids=["without a mask", "with a mask"])
@in_float32
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, is_masked: bool, dtype: torch.dtype) -> None:
    subject = attention_of(submission)
    inputs, others = (draw(case, (2, 3, 4, 5, 6), dtype) for _ in range(2))
    mask, other = masks = [case.mask(2, 1, 4, 5) for _ in range(2)]
    for of_call in masks:
        of_call[..., -1, :] = True  # or what takes the place of forbidden scores may be all that counts
    if is_masked and subject.works(others | {"mask": other}):
        for values, of_call in ((inputs, mask), (others, other)):
            # Scores far below zero, or a penalty that is too small would be enough now and then.
            query, key = (case.normal(2, 3, n, 6, dtype=dtype).abs() for n in (4, 5))
            values |= {"query": -8 * query, "key": key, "mask": of_call}
    expect_no_side_effects(
        subject, inputs, others, partial(submission.apply, "left_behind", "attention.scaled_dot_product_attention", "")
    )
