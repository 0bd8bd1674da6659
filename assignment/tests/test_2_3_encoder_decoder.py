"""Task 2.3: encoder and decoder; with norm_first, extension E.2. The layers inside are stand-ins of known formulas.

How such tests are written: `autograder.testing.subject`.
"""

from functools import partial

import pytest
import torch

from assignment.expected.layers import Sizes
from assignment.expected.masks import draw_pair, expect_right_or_masks_obeyed
from assignment.expected.own_parts import PARTS_OF_STACKS as PARTS
from assignment.expected.subjects import stack as stack_of
from autograder.testing.case import DTYPES, Case, SubmissionUnderTest, in_dtypes, in_float32, rows_of
from autograder.testing.side_effects import expect_no_side_effects

STACKS = [
    pytest.param("Encoder", False, marks=pytest.mark.task_2_3, id="Encoder"),
    pytest.param("Decoder", False, marks=pytest.mark.task_2_3, id="Decoder"),
    pytest.param("Encoder", True, marks=pytest.mark.task_e_2, id="Encoder, norm_first"),
    pytest.param("Decoder", True, marks=pytest.mark.task_e_2, id="Decoder, norm_first"),
]
each_stack = pytest.mark.parametrize("kind, norm_first", STACKS)
RULE = "what does each layer get, from which layer, with which masks and settings? what follows the last one?"

CASES = {  # n_heads, d_head, d_ff and n_layers; b, t and s
    "three layers": ((2, 3, 11, 3), (3, 4, 5)),
    "one layer": ((3, 2, 13, 1), (2, 5, 4)),
    "four layers": ((2, 2, 10, 4), (2, 3, 4)),
    "many positions": ((2, 2, 9, 2), (1, 66, 70)),
}

SPECIAL_CASES = ["one layer", "many positions"]
ROWS = in_dtypes(CASES, in_float32=["three layers"])
ROWS_OF_MASKS = [row for row in ROWS if row[0] != "one layer"]
OF_EXTENSIONS = [("three layers", torch.float32), ("one layer", torch.float64)]


@pytest.mark.item("layers in order")
@pytest.mark.parametrize(
    "kind, norm_first, name, dtype", rows_of(STACKS, ROWS, OF_EXTENSIONS, {"special cases": SPECIAL_CASES})
)
def test_stack(
    submission: SubmissionUnderTest, case: Case, name: str, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff, n_layers), axes = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    # In ordinary rows the rate of dropout is the default: a setting that gets lost costs the special cases alone.
    rate = None if name in SPECIAL_CASES else 0.1
    stack = stack_of(submission, case, kind, sizes, n_layers, dtype, rate)
    stack.expect_values(stack.draw(axes, "none"), RULE, of=["x"])


@pytest.mark.item("masks reach every layer")
@pytest.mark.parametrize("kind, norm_first, name, dtype", rows_of(STACKS, ROWS_OF_MASKS, OF_EXTENSIONS[:1]))
def test_masks(
    submission: SubmissionUnderTest, case: Case, name: str, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff, n_layers), axes = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    stack = stack_of(submission, case, kind, sizes, n_layers, dtype)
    stack.call.train(name == "four layers" and not stack.has_own_layers)  # whose dropout would act
    look_at = "which mask does each layer get?"
    expect_right_or_masks_obeyed(stack, stack.draw(axes), look_at, has_own_parts=stack.has_own_layers)


@pytest.mark.item("returned weights")
@each_stack
def test_weights(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool) -> None:
    stack = stack_of(submission, case, kind, Sizes(6, 2, 11, norm_first), n_layers=3)
    look_at = "a list of the weights of each layer, the first layer first, for each attention"
    stack.expect_values(stack.draw((3, 4, 5), "none"), look_at, of=PARTS[kind][1:])


@pytest.mark.item("layers in order")
@pytest.mark.task_2_3
@pytest.mark.parametrize("kind", PARTS)
def test_same_in_train_mode(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stack = stack_of(submission, case, kind, Sizes(6, 2, 11), n_layers=5, rate=0.1)
    if stack.has_own_layers:  # dropout acts inside
        stack = stack_of(submission, case, kind, Sizes(6, 2, 11), n_layers=5, rate=0.0)
    inputs = stack.draw((3, 4, 5), "none")
    stack.call.train()
    if stack.has_own_layers:  # what these drop by themselves is free
        stack.train_unless_random(inputs)
    look_at = "where does dropout belong? the layers are stand-ins without it here"
    stack.expect_values(inputs, look_at, of=["x"])


@pytest.mark.item("gradients")
@pytest.mark.parametrize("kind, norm_first, dtype", rows_of(STACKS, [(dtype,) for dtype in DTYPES], [(torch.float64,)]))
def test_gradients(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    stack = stack_of(submission, case, kind, Sizes(6, 2, 11, norm_first), n_layers=3, dtype=dtype)
    stack.expect_gradients(case, stack.draw((3, 4, 5), "none"), RULE, ["x"])


@pytest.mark.item("no side effects")
@pytest.mark.task_2_3
@pytest.mark.parametrize("kind", PARTS)
@in_float32
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, kind: str, dtype: torch.dtype) -> None:
    stack = stack_of(submission, case, kind, Sizes(6, 2, 11), n_layers=2, dtype=dtype)
    left = partial(submission.apply, "left_behind", stack.call, "forward")
    expect_no_side_effects(stack, *draw_pair(stack, partial(stack.draw, (2, 4, 5))), left)
