"""Task 1.3: projections, heads, attention in each head, output projection.

The attention inside is a stand-in, so that a fault in task 1.2 costs nothing here; attention that is written out in
the class is accepted too.
"""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import nn

from autograder.assignment.expected.attention import PARTS_OF_MODULE as PARTS
from autograder.assignment.expected.attention import SPLIT, check_numbers, expect_masked, multi_heads
from autograder.assignment.expected.readings import learned_and_leaves
from autograder.testing.arguments import Inputs
from autograder.testing.calls import (
    Candidates,
    Computation,
    attempt,
    each_dtype,
    each_row,
    expect_computes,
    expect_no_state,
    is_right,
)
from autograder.testing.case import Case
from autograder.testing.comparison import expect_gradients, fail
from autograder.testing.results import CheckFailed
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_1_3

COMPONENT = "attention.MultiHeadedAttention"
MASK = "which mask does each head get? True means may attend"


def make(
    submission: SubmissionUnderTest,
    case: Case,
    n_heads: int,
    d_head: int,
    dtype: torch.dtype = torch.float64,
    first: torch.Tensor | None = None,
) -> tuple[nn.Module, list[tuple[nn.Parameter, torch.Tensor]], Candidates]:
    """Multi-headed attention with random parameters in eval mode; these with their leaves; what it computes."""
    d_model = n_heads * d_head
    module = submission.build(COMPONENT, d_model, n_heads, dtype=dtype).eval()
    if first is not None:  # it is called before it gets other parameters, as in training
        with torch.no_grad():
            module(first, first, first)
    case.randomise(module.parameters())
    parameters, leaves = learned_and_leaves(module)

    def read() -> Sequence[Computation]:
        check_numbers(leaves, d_model, n_heads)
        return multi_heads(submission, module, leaves, n_heads, case)

    return module, list(zip(parameters, leaves, strict=True)), attempt(read)


def draw(case: Case, sizes: tuple[int, ...], dtype: torch.dtype = torch.float64) -> Inputs:
    """Random query (b, q, d), key and value (b, k, d), without a mask."""
    b, q, k, d = sizes
    shapes = {"query": (b, q, d), "key": (b, k, d), "value": (b, k, d)}
    return {name: case.normal(*shape, dtype=dtype) for name, shape in shapes.items()} | {"mask": None}


CASES = {  # n_heads, d_head; b, q and k; and where to look
    "more keys than queries": ((4, 3), (2, 3, 5), SPLIT),
    "more queries than keys": ((5, 3), (3, 6, 4), SPLIT),
    "one head": ((1, 5), (2, 4, 3), "how many features does a single head have?"),
    "one query and one key": ((4, 3), (1, 1, 1), "no axis may be squeezed away"),
    "many positions": ((4, 3), (1, 65, 130), SPLIT),
}


@pytest.mark.item("projections and heads")
@each_row(CASES, "more keys than queries", "one head")
def test_multi_head(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    (n_heads, d_head), axes, look_at = CASES[name]
    module, _, candidates = make(submission, case, n_heads, d_head, dtype)
    expect_computes(module, candidates, draw(case, (*axes, n_heads * d_head), dtype), PARTS, look_at, about=["output"])


@pytest.mark.item("returned weights")
@each_dtype
def test_weights(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    module, _, candidates = make(submission, case, 4, 3, dtype)
    inputs = {**draw(case, (2, 3, 5, 12), dtype), "mask": case.mask(2, 1, 3, 5)}
    expect_computes(module, candidates, inputs, PARTS, "the weights of each head, (b, h, q, k)", about=["weights"])


@pytest.mark.item("projections and heads")
@pytest.mark.parametrize("same", ["query, key and value", "key and value", "query and key"])
def test_one_tensor_in_several_roles(submission: SubmissionUnderTest, case: Case, same: str) -> None:
    module, pairs, candidates = make(submission, case, 4, 3)
    if isinstance(candidates, CheckFailed):
        raise candidates
    x, y = case.normal(2, 5, 12), case.normal(2, 5, 12)
    x[0, 0] = 0
    inputs: Inputs = {
        "query": y if same == "key and value" else x,
        "key": x,
        "value": y if same == "query and key" else x,
        "mask": case.mask(5, 5),
    }

    def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None) -> object:
        key = query if same != "key and value" else key
        return module(query, key, value if same == "query and key" else key, mask)

    def expected(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None) -> object:
        key = query if same != "key and value" else key
        return candidates[0](query, key, value if same == "query and key" else key, mask)

    expect_computes(attend, [expected], inputs, PARTS, SPLIT, parameters=pairs, case=case, about=["output"])


@pytest.mark.item("masks reach every head")
@each_row(["b11k", "qk", "b1qk", "bhqk"], "b1qk", "bhqk")
def test_masks(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    sizes = {"b": 4, "h": 4, "q": 4, "k": 5, "1": 1}
    module, _, candidates = make(submission, case, 4, 3, dtype)
    mask = case.mask(*(sizes[axis] for axis in name))
    if name == "bhqk":
        mask[:, 0] = True  # nothing is forbidden in the first head,
        mask[0, 1, 0] = False  # and everything to one query of the second
    seen = mask.any(dim=-1, keepdim=True).to(torch.float64).expand(4, 4, 4, 1)
    inputs = {**draw(case, (4, 4, 5, 12), dtype), "mask": mask}
    counted = seen.amin(dim=1), seen
    expect_masked(module, candidates, inputs, PARTS, MASK, counted=counted)


@pytest.mark.item("masks reach every head")
def test_mask_of_a_wide_model(submission: SubmissionUnderTest, case: Case) -> None:
    module, _, candidates = make(submission, case, 12, 11)
    inputs = {**draw(case, (2, 3, 4, 132)), "mask": case.mask(2, 1, 3, 4)}
    expect_masked(module, candidates, inputs, PARTS, MASK)


@pytest.mark.item("refuses other sizes")
def test_heads_that_do_not_divide_are_refused(submission: SubmissionUnderTest, case: Case) -> None:
    n_heads = case.size(3, 5)
    for d_model in (n_heads * 4 + 1, n_heads - 1):
        try:
            submission.build(COMPONENT, d_model, n_heads)
        except ValueError:
            continue
        except AssertionError:
            fail(
                f"{n_heads} heads for d_model = {d_model}",
                "a ValueError",
                "an AssertionError",
                "the docstring of __init__ names the error",
            )
        what = f"{n_heads} heads for d_model = {d_model}"
        fail(what, "a ValueError from __init__", "no error", "the docstring of __init__ says what must be refused")


@pytest.mark.item("gradients")
@each_dtype
def test_gradients(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    module, pairs, candidates = make(submission, case, 4, 3, dtype)
    inputs = {**draw(case, (2, 3, 5, 12), dtype), "mask": case.mask(2, 1, 3, 5)}
    options: dict[str, Any] = {"parameters": pairs, "case": case, "about": ["output"], "apart": True}
    if expect_computes(module, candidates, inputs, PARTS, SPLIT, **options):
        # With a true softmax the gradient of the key's bias is zero by nature: only matrices must have one.
        expect_gradients([p for p, _ in pairs if p.numel() > 12], "the gradients of the projections")


@pytest.mark.item("no side effects")
@pytest.mark.parametrize("is_masked", [False, True], ids=["without a mask", "with a mask"])
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, is_masked: bool) -> None:
    single = torch.float32
    module, _, candidates = make(submission, case, 4, 3, single, first=case.normal(2, 4, 12, dtype=single))
    masks = (case.mask(4, 5) if is_masked else None for _ in range(2))
    inputs, others = ({**draw(case, (2, 4, 5, 12), single), "mask": mask} for mask in masks)

    def is_fresh_one_right() -> bool:
        fresh, _, found = make(submission, case, 4, 3, single)
        return is_right(fresh, found, inputs, PARTS)

    expect_no_state(module, candidates, inputs, others, PARTS, fresh=is_fresh_one_right)
