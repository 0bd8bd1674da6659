"""Task 1.1: token embedding times sqrt(d_model)."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.assignment.expected.readings import embeddings, learned_and_leaves
from autograder.testing.calls import (
    Candidates,
    attempt,
    each_dtype,
    each_row,
    expect_computes,
    expect_no_state,
    is_right,
)
from autograder.testing.case import Case
from autograder.testing.comparison import TOLERANCE_OF_FLOAT32, expect, expect_close, expect_shape
from autograder.testing.results import CheckFailed
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_1_1

COMPONENT = "embedding.InputEmbedding"
SCALE = "what else happens to the vectors of the table? (the docstring, and section 3.4 of the paper)"


def make(
    submission: SubmissionUnderTest,
    case: Case,
    vocab_size: int,
    d_model: int,
    dtype: torch.dtype = torch.float64,
    first: Tensor | None = None,
) -> tuple[nn.Module, list[tuple[Tensor, Tensor]], Candidates]:
    """An embedding with random vectors in eval mode; these with their leaves; what it may compute with them."""
    module = submission.build(COMPONENT, vocab_size, d_model, dtype=dtype).eval()
    if first is not None:  # it is called before it gets other parameters, as in training
        with torch.no_grad():
            module(first)
    case.randomise(module.parameters())
    parameters, leaves = learned_and_leaves(module)
    twin = partial(submission.build, COMPONENT, vocab_size, d_model, dtype=torch.float64)
    candidates = attempt(lambda: embeddings(leaves, vocab_size, d_model, case, twin))
    return module, list(zip(parameters, leaves, strict=True)), candidates


CASES = {  # vocab_size, d_model, the shape of the tokens, and where to look
    "a batch": (17, 6, (3, 5), SCALE),
    "one sentence": (11, 5, (1, 7), SCALE),
    "one token": (12, 7, (1, 1), "no axis may be squeezed away"),
    "fewer tokens than features": (4, 8, (2, 3), SCALE),
    "one feature": (9, 1, (2, 4), SCALE),
    "many": (1100, 130, (2, 70), "one row of the table for each of vocab_size tokens"),
}


@pytest.mark.item("looked up")
@each_row(["a batch", "fewer tokens than features"], "a batch")
def test_rows_of_the_table(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    # Whatever each vector is multiplied by: that is for the next test.
    vocab_size, d_model, shape, _ = CASES[name]
    module, _, candidates = make(submission, case, vocab_size, d_model, dtype)
    if isinstance(candidates, CheckFailed):
        raise candidates
    tokens = case.tokens(vocab_size, *shape)
    found = expect_shape(module(tokens), (*shape, d_model), "the embedding").detach().double()
    wanted = [candidate(tokens).detach() for candidate in candidates]
    factors = [(found * one).sum(-1, keepdim=True) / (one * one).sum(-1, keepdim=True) for one in wanted]
    fits = [one * factor for one, factor in zip(wanted, factors, strict=True) if bool((factor.abs() > 1e-3).all())]
    look_at = "one row of the table for each token, in the order of the tokens"
    expect(bool(fits), "the embedding", "vectors of the table", "others", look_at)
    nearest = min(fits, key=lambda one: float((found - one).abs().max()))
    expect_close(found, nearest, "the embedding, but for a factor of each vector", look_at, TOLERANCE_OF_FLOAT32)


@pytest.mark.item("times sqrt(d_model)")
@each_row(CASES, "a batch", "many")
def test_embedding(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    vocab_size, d_model, shape, look_at = CASES[name]
    module, _, candidates = make(submission, case, vocab_size, d_model, dtype)
    tokens = case.tokens(vocab_size, *shape)
    tokens[0, 0] = vocab_size - 1
    tokens[-1] = tokens[-1].sort().values
    expect_computes(module, candidates, {"tokens": tokens}, ["the embedding"], look_at, dtype=dtype)


@pytest.mark.item("one table is learned")
def test_one_table_is_learned(submission: SubmissionUnderTest, case: Case) -> None:
    module = submission.build(COMPONENT, vocab_size=13, d_model=6)
    count = sum(parameter.numel() for parameter in learned_and_leaves(module)[0])
    look_at = "one vector of d_model features for each token, registered as a parameter or a submodule"
    expect(count == 78, "the learned parameters", "vocab_size * d_model = 78 numbers", f"{count}", look_at)


@pytest.mark.item("one table is learned")
@each_dtype
def test_gradients(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    module, pairs, candidates = make(submission, case, 15, 6, dtype)
    # The last tokens do not occur. Token 0 is padding, whose vector need not be learned.
    inputs = {"tokens": case.tokens(11, 3, 6, low=1)}
    options: dict[str, Any] = {"parameters": pairs, "case": case, "dtype": dtype, "apart": True}
    expect_computes(module, candidates, inputs, ["the embedding"], SCALE, **options)


@pytest.mark.item("no side effects")
def test_no_side_effects(submission: SubmissionUnderTest, case: Case) -> None:
    module, _, candidates = make(submission, case, 12, 6, torch.float32, first=case.tokens(12, 2, 5))
    inputs, others = ({"tokens": case.tokens(12, 2, 5)} for _ in range(2))

    def is_fresh_one_right() -> bool:
        fresh, _, found = make(submission, case, 12, 6, torch.float32)
        return is_right(fresh, found, inputs, ["the embedding"], dtype=torch.float32)

    expect_no_state(module, candidates, inputs, others, ["the embedding"], fresh=is_fresh_one_right)
