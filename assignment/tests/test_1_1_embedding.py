"""Task 1.1: token embedding times sqrt(d_model). How such tests are written: `autograder.testing.subject`."""

from functools import partial

import pytest
import torch

from assignment.expected.modules import learned_by
from assignment.expected.readings import embedding as make
from assignment.expected.readings import shapes_of
from autograder.testing.case import Case, SubmissionUnderTest, default_dtype, each_dtype, each_row, in_float32
from autograder.testing.comparison import TOLERANCE_OF_FLOAT32, expect, expect_close, expect_shape
from autograder.testing.side_effects import expect_no_side_effects

pytestmark = pytest.mark.task_1_1

COMPONENT = "embedding.InputEmbedding"
SCALE = "what else happens to the vectors of the table? (the docstring, and section 3.4 of the paper)"

CASES = {  # vocab_size, d_model, the shape of the tokens, and where to look
    "a batch": (17, 4, (3, 5), SCALE),
    "one sentence": (11, 9, (1, 7), SCALE),
    "one token": (12, 16, (1, 1), "no axis may be squeezed away"),
    "fewer tokens than features": (4, 9, (9, 9), "which axis of the result is that of the features?"),
    "one feature": (9, 1, (2, 4), SCALE),
    "many": (1100, 121, (2, 351), "one row of the table for each of vocab_size tokens"),
}
NO_SQUARE = {  # likewise, where sqrt(d_model) is no whole number
    "d_model that is no square": (17, 6, (3, 5), SCALE),
    "many features": (30, 130, (2, 7), SCALE),
}


@pytest.mark.item("looked up")
@each_row(["a batch", "fewer tokens than features"], in_float32=["a batch"])
def test_rows_of_the_table(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    # Whatever each vector is multiplied by: that is for the next test.
    vocab_size, d_model, shape, _ = CASES[name]
    subject = make(submission, case, vocab_size, d_model, dtype=dtype)
    if isinstance(subject.formulas, Exception):
        raise subject.formulas
    tokens = case.tokens(vocab_size, *shape)
    returned = expect_shape(subject.call(tokens), (*shape, d_model), "the embedding").detach().double()
    wanted = [formula(tokens).detach() for formula in subject.formulas]
    factors = [
        (returned * vectors).sum(-1, keepdim=True) / (vectors * vectors).sum(-1, keepdim=True) for vectors in wanted
    ]
    pairs = zip(wanted, factors, strict=True)
    fits = [vectors * factor for vectors, factor in pairs if bool((factor.abs() > 1e-3).all())]
    look_at = "one row of the table for each token, in the order of the tokens"
    expect(bool(fits), "the embedding", "vectors of the table", "others", look_at)
    nearest = min(fits, key=lambda vectors: float((returned - vectors).abs().max()))
    expect_close(returned, nearest, "the embedding, but for a factor of each vector", look_at, TOLERANCE_OF_FLOAT32)


@pytest.mark.item("times sqrt(d_model)")
@each_row(CASES, in_float32=["a batch", "many"])
def test_embedding(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    vocab_size, d_model, shape, look_at = CASES[name]
    tokens = case.tokens(vocab_size, *shape)
    tokens[0, 0] = vocab_size - 1
    tokens[-1] = tokens[-1].sort().values
    subject = make(submission, case, vocab_size, d_model, dtype=dtype)
    if name == "one sentence":
        subject.train_unless_random({"tokens": tokens})
    subject.expect_values({"tokens": tokens}, look_at)


@pytest.mark.item("any size and dtype")
@each_row(NO_SQUARE, in_float32=["d_model that is no square"])
def test_any_size_and_dtype(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    vocab_size, d_model, shape, look_at = NO_SQUARE[name]
    with default_dtype(torch.float32):
        subject = make(submission, case, vocab_size, d_model, dtype=dtype, any_dtype=False)
        subject.expect_values({"tokens": case.tokens(vocab_size, *shape)}, look_at)


@pytest.mark.item("any size and dtype")
def test_no_more_is_learned(submission: SubmissionUnderTest, case: Case) -> None:
    module = submission.build(COMPONENT, vocab_size=13, d_model=6)
    parameters = learned_by(module)
    count = sum(parameter.numel() for parameter in parameters)
    look_at = "one vector of d_model features for each token, registered as a parameter or a submodule"
    look_at += f"; the shapes here {shapes_of(parameters)}"
    # Whether there is a table at all is for the next test.
    expect(count in (0, 78), "the learned parameters", "vocab_size * d_model = 78 numbers", f"{count}", look_at)


@pytest.mark.item("one table is learned")
@each_dtype
def test_gradients(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    # The last tokens do not occur, nor the special ones, one of which is padding, whose vector need not be learned.
    inputs = {"tokens": case.tokens(11, 3, 6, low=4)}
    subject = make(submission, case, 15, 4, dtype=dtype)
    subject.expect_gradients(case, inputs, SCALE)
    count = sum(int(p.grad.to_dense().count_nonzero()) for p, _ in subject.parameters if p.grad is not None)
    most = 4 * len(inputs["tokens"].unique())
    look_at = "which vectors count for a token?"
    expect(count <= most, "how many numbers get a gradient", f"at most {most}", f"{count}", look_at)


@pytest.mark.item("no side effects")
@in_float32
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    subject = make(submission, case, 12, 4, dtype=dtype, called_before_with=case.tokens(12, 2, 5))
    inputs, others = ({"tokens": case.tokens(12, 2, 5)} for _ in range(2))
    fresh = partial(make, submission, case, 12, 4, dtype=dtype)
    left = partial(submission.apply, "left_behind", subject.call, "forward")
    expect_no_side_effects(subject, inputs, others, left, fresh, another=lambda: fresh().call)
