"""Task 1.1: token embedding times sqrt(d_model)."""

import math

import pytest
import torch
import torch.nn.functional as F

from autograder.checking.comparison import expect, expect_close, expect_equal_to_one, expect_shape

pytestmark = pytest.mark.task_1_1

COMPONENT = "embedding.InputEmbedding"
SCALE = "the vectors are multiplied by sqrt(d_model) (section 3.4 of the paper)"


def tables(parameters, vocab_size, d_model):
    """The parameter that holds one vector a token, however it is laid out."""
    for parameter in parameters:
        if parameter.shape == (vocab_size, d_model):
            yield parameter
        elif parameter.shape == (d_model, vocab_size):
            yield parameter.T


def make(submission, case):
    vocab_size, d_model = case.sizes(2, 5, 24)
    module = submission.build(COMPONENT, vocab_size, d_model, dtype=torch.float64).eval()
    case.randomise(module.parameters())
    return module, vocab_size, d_model


@pytest.mark.core
def test_vectors_are_looked_up_and_scaled(submission, case):
    module, vocab_size, d_model = make(submission, case)
    tokens = case.tokens(vocab_size, 3, case.size(2, 9))
    candidates = [
        F.embedding(tokens, table) * math.sqrt(d_model) for table in tables(module.parameters(), vocab_size, d_model)
    ]
    expect_equal_to_one(module(tokens), candidates, "the embedding of random tokens", SCALE)


def test_keyword_arguments_and_float32(submission, case):
    vocab_size, d_model = case.sizes(2, 5, 24)
    module = submission.build(COMPONENT, vocab_size=vocab_size, d_model=d_model)
    vectors = module(case.tokens(vocab_size, 2, 7))
    expect_shape(vectors, (2, 7, d_model), "the embedding of tokens (2, 7)")
    expect(vectors.dtype == torch.float32, "the embedding", "float32 by default", str(vectors.dtype))


def test_one_table_is_learned(submission, case):
    module, vocab_size, d_model = make(submission, case)
    total = sum(parameter.numel() for parameter in module.parameters())
    wanted = vocab_size * d_model
    expect(
        total == wanted,
        "the learned parameters of the embedding",
        f"vocab_size * d_model = {wanted} numbers",
        f"{total}",
        "one vector of d_model features for each token, registered as a parameter or a submodule",
    )


def test_gradient_reaches_the_tokens_that_occur(submission, case):
    module, vocab_size, d_model = make(submission, case)
    tokens = case.tokens(vocab_size - 1, 2, 6)  # the last token does not occur
    module(tokens).sum().backward()
    counts = torch.bincount(tokens.flatten(), minlength=vocab_size).double()
    wanted = counts[:, None].expand(vocab_size, d_model) * math.sqrt(d_model)
    gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    found = tables(gradients, vocab_size, d_model)
    expect_equal_to_one(next(found, None), [wanted], "the gradient of the table", SCALE)


def test_single_token_and_batch_of_one(submission, case):
    module, vocab_size, d_model = make(submission, case)
    tokens = case.tokens(vocab_size, 4, 5)
    whole = module(tokens)
    expect_close(module(tokens[1:2, 3:4]), whole[1:2, 3:4], "a token by itself and the same token in a batch")


def test_tokens_stay_as_they_are(submission, case):
    module, vocab_size, _ = make(submission, case)
    tokens = case.tokens(vocab_size, 2, 5)
    before = tokens.clone()
    first = module(tokens)
    expect(torch.equal(tokens, before), "the tokens after the call", "the same ids", "changed ids")
    expect_close(module(tokens), first, "the same tokens a second time", "no state is kept between calls")
