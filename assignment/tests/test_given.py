"""Code that the assignment provides: a change there would make other parts fail. No points."""

import math

import pytest
import torch

from autograder.testing.case import Case, SubmissionUnderTest
from autograder.testing.comparison import expect, expect_close, expect_same

pytestmark = pytest.mark.given


def test_positional_encoding(submission: SubmissionUnderTest, case: Case) -> None:
    d_model, length = 2 * case.size(2, 5), case.size(3, 9)
    module = submission.build("embedding.PositionalEncoding", d_model, 0.5, 20, dtype=torch.float64).eval()
    x = case.normal(2, length, d_model)
    code = torch.empty(length, d_model, dtype=torch.float64)
    for position in range(length):
        for i in range(0, d_model, 2):
            angle = position / 10000 ** (i / d_model)
            code[position, i], code[position, i + 1] = math.sin(angle), math.cos(angle)
    expect_close(module(x), x + code, "x with its positions")


def test_batches(submission: SubmissionUnderTest) -> None:
    pad, bos, eos = 0, 1, 2
    wanted = {
        "src": [[5, 6, 7], [8, pad, pad]],
        "tgt_input": [[bos, 9, pad], [bos, 4, 3]],
        "labels": [[9, eos, pad], [4, 3, eos]],
    }
    tensors = submission.apply("make_batch", "data.Batch", [[5, 6, 7], [8]], [[9], [4, 3]])
    for name, ids in wanted.items():
        expect_same(tensors[name], torch.tensor(ids), f"{name} of a batch", "data.py as it was handed out")


def test_greedy_search(submission: SubmissionUnderTest, case: Case) -> None:
    vocab, pad, bos, eos = 9, 0, 1, 2
    table = torch.full((2, 6, vocab, vocab), -30.0, dtype=torch.float64)
    chain = [bos, 5, 7, 4, eos]
    for position, (before, after) in enumerate(zip(chain, chain[1:], strict=False)):
        table[0, position, before, after] = 0.0
    table[1, 0, bos, eos] = 0.0
    src, mask = torch.tensor([[1, 3], [0, 3]]), torch.ones(2, 1, 1, 2, dtype=torch.bool)
    options = {"bos_id": bos, "eos_id": eos, "pad_id": pad, "max_length": 6}
    how = {"oracle": (table, 3), "is_training": True, "given": (src, mask), "options": options}
    returned, *_ = submission.apply("search", "decode.greedy_decode", how)
    wanted = [[], [5, 7, 4]]
    is_plain = isinstance(returned, list) and all(isinstance(line, list) for line in returned)
    is_plain = is_plain and all(type(token) is int for line in returned for token in line)
    expect(is_plain and returned == wanted, "greedy_decode", f"{wanted}", f"{returned}"[:200])
