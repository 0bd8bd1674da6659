"""Task 1.3: projections, heads, attention in each head, output projection.

The attention inside is a stand-in; one that is written out is accepted, too. See `autograder.testing.subject`.
"""

from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from assignment.expected.masks import draw, expect_right_or_finite, expect_right_or_masks_obeyed
from assignment.expected.readings import SPLIT
from assignment.expected.readings import multi_head as make
from autograder.testing.arguments import CONVERTED
from autograder.testing.case import Case, Inputs, SubmissionUnderTest, default_dtype, each_dtype, each_row, in_float32
from autograder.testing.comparison import fail
from autograder.testing.fitting import Computation
from autograder.testing.side_effects import expect_no_side_effects

pytestmark = pytest.mark.task_1_3

COMPONENT = "attention.MultiHeadedAttention"
CASES = {  # n_heads, d_head; b, q and k; and where to look
    "more keys than queries": ((4, 3), (2, 5, 7), SPLIT),
    "more queries than keys": ((5, 1), (3, 6, 4), "a head may have a single feature"),
    "equal sizes": ((3, 3), (9, 9, 9), SPLIT),
    "one head": ((1, 5), (2, 4, 3), "how many features does a single head have?"),
    "one query": ((4, 3), (1, 1, 5), "no axis may be squeezed away"),
    "many positions": ((8, 8), (1, 65, 351), SPLIT),
}

SPECIAL = {"special cases": ["equal sizes", "one head", "one query", "many positions"]}


@pytest.mark.item("projections and heads")
@each_row(CASES, in_float32=["more keys than queries", "one head"], items=SPECIAL)
def test_multi_head(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    (n_heads, d_head), axes, look_at = CASES[name]
    subject = make(submission, case, n_heads, d_head, dtype=dtype)
    inputs = draw(case, (*axes, n_heads * d_head), dtype)
    if name == "equal sizes":
        subject.train_unless_random(inputs)
    subject.expect_values(inputs, look_at, of=["output"])


@pytest.mark.item("special cases")
def test_another_default_dtype(submission: SubmissionUnderTest, case: Case) -> None:
    with default_dtype(torch.float32):
        subject = make(submission, case, 4, 3, any_dtype=False)
        subject.expect_values(draw(case, (2, 5, 7, 12)), CONVERTED, of=["output"])


@pytest.mark.item("returned weights")
@each_dtype
def test_weights(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    subject, look_at = make(submission, case, 4, 3, dtype=dtype), "the weights of each head, (b, h, q, k)"
    for b, q, k in ((2, 5, 7),) if dtype == torch.float64 else ((2, 5, 7), (1, 1, 1)):
        plain = draw(case, (b, q, k, 12), dtype)
        inputs = {**plain, "mask": case.mask(b, 1, q, k)}
        is_masked_right = subject.is_right(inputs, ["output"], contiguous=True)  # else they are judged without a mask
        subject.expect_values(inputs if is_masked_right else plain, look_at, of=["weights"])


def with_one_tensor(attend: Computation, same: str) -> Computation:
    """The same call, in which not equal tensors but the same one stands in two or three places."""

    def call(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> object:
        key = query if same != "key and value" else key
        return attend(query, key, value if same == "query and key" else key, mask)

    return call


@pytest.mark.item("projections and heads")
@pytest.mark.parametrize("same", ["query, key and value", "key and value", "query and key"])
def test_one_tensor_in_several_roles(submission: SubmissionUnderTest, case: Case, same: str) -> None:
    subject = make(submission, case, 4, 3)
    if isinstance(subject.formulas, Exception):
        raise subject.formulas
    x, y = case.normal(2, 5, 12), case.normal(2, 5, 12)
    x[0, 0] = 0
    others = {"query": y} if same == "key and value" else {"value": y} if same == "query and key" else {}
    inputs: Inputs = {"query": x, "key": x, "value": x, "mask": None} | others
    calls = [with_one_tensor(attend, same) for attend in (subject.call, subject.formulas[0])]
    subject = replace(subject, call=calls[0], formulas=calls[1:], inside=None)
    subject.expect_values(inputs, SPLIT, ["output"], case=case)


MASKS = {  # the mask's axes; n_heads and d_head; b, q and k
    "each query of one head": ("b1qk", (1, 5), (4, 4, 5)),
    "padding, equal sizes": ("b11k", (4, 3), (4, 4, 4)),
    "for all sentences, equal sizes": ("qk", (4, 3), (4, 4, 4)),
    "each query of each head": ("bhqk", (4, 3), (4, 4, 5)),
    "one query of one sentence": ("bh1k", (4, 3), (1, 1, 5)),
    "a wide model": ("b1qk", (12, 11), (2, 3, 4)),
}


@pytest.mark.item("masks reach every head")
@each_row(MASKS, in_float32=["each query of one head", "each query of each head"])
def test_masks(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    axes, (n_heads, d_head), (b, q, k) = MASKS[name]
    subject = make(submission, case, n_heads, d_head, dtype=dtype)
    mask = case.mask(*({"b": b, "h": n_heads, "q": q, "k": k, "1": 1}[axis] for axis in axes))
    if axes == "bhqk":
        mask[:, 0] = True  # nothing is forbidden in the first head
    inputs = {**draw(case, (b, q, k, n_heads * d_head), dtype), "mask": mask}
    if name == "a wide model":
        subject.train_unless_random(inputs)
    expect_right_or_masks_obeyed(subject, inputs, "which mask does each head get?")


@pytest.mark.item("a query without keys")
def test_query_without_keys(submission: SubmissionUnderTest, case: Case) -> None:
    mask = case.mask(4, 4, 4, 5)
    mask[0, 1, 0] = False  # one query of the second head; what it gets is free
    has_keys = mask.any(dim=-1, keepdim=True).to(torch.float64).amin(dim=1)
    plain = draw(case, (4, 4, 5, 12))
    subject, inputs = make(submission, case, 4, 3), {**plain, "mask": mask}
    look_at = "what does a query get that may attend to nothing, and which gradients?"
    expect_right_or_finite(subject, case, inputs, look_at, plain, gradients_finite_too=True, judged_where=has_keys)


@pytest.mark.item("refuses other sizes")
def test_heads_that_do_not_divide_are_refused(submission: SubmissionUnderTest, case: Case) -> None:
    n_heads = case.size(3, 5)
    for d_model in (n_heads * 4 + 1, n_heads - 1):
        got, look_at = "no error", "the docstring of __init__ says what must be refused"
        try:
            submission.build(COMPONENT, d_model, n_heads)
        except ValueError:
            continue
        except AssertionError:
            got, look_at = "an AssertionError", "the docstring of __init__ names the error"
        fail(f"{n_heads} heads for d_model = {d_model}", "a ValueError from __init__", got, look_at)


@pytest.mark.item("gradients")
@each_dtype
def test_gradients(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    subject, inputs = make(submission, case, 4, 3, dtype=dtype), draw(case, (2, 3, 5, 12), dtype)
    # With a true softmax the gradient of the key's bias is zero by nature: only matrices must have one.
    matrices = [parameter for parameter, _ in subject.parameters if parameter.numel() > 12]
    subject.expect_gradients(case, inputs, SPLIT, ["output"], nonzero=matrices)


@pytest.mark.item("no side effects")
@pytest.mark.parametrize("is_masked", [False, True], ids=["without a mask", "with a mask"])
@in_float32
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, is_masked: bool, dtype: torch.dtype) -> None:
    subject = make(submission, case, 4, 3, dtype=dtype, called_before_with=case.normal(2, 4, 12, dtype=dtype))
    inputs, others = (draw(case, (2, 4, 5, 12), dtype) for _ in range(2))
    masked = {**others, "mask": case.mask(4, 5)}
    if is_masked and subject.works(masked):
        inputs, others = {**inputs, "mask": case.mask(4, 5)}, masked
    elif not is_masked and subject.is_right(masked, ["output"]):  # of this mask nothing may be left below
        others = masked
    left = partial(submission.apply, "left_behind", subject.call, "forward")
    copied: Computation = partial(submission.apply, "call_copy", subject.call)
    if not (is_masked or isinstance(subject.formulas, Exception)):  # key and value are one tensor, as a memory is
        calls = [with_one_tensor(attend, "key and value") for attend in (subject.call, subject.formulas[0], copied)]
        subject, copied = replace(subject, call=calls[0], formulas=calls[1:2]), calls[2]

    def another() -> nn.Module:
        module = submission.build(COMPONENT, 12, 4, dtype=dtype)
        case.randomise(module.parameters())
        return module

    fresh = partial(make, submission, case, 4, 3, dtype=dtype)
    expect_no_side_effects(subject, inputs, others, left, fresh, *() if is_masked else (copied, another))
