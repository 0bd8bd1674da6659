"""Task 2.4: embeddings, positions, encoder, decoder, predictions; with norm_first, extension E.2.

Everything inside the model is a stand-in of a known formula.
"""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.assignment.expected.layers import Sizes, sides
from autograder.assignment.expected.readings import expect_plain
from autograder.assignment.stand_ins.formulas import trace
from autograder.testing.arguments import Inputs, copies_of
from autograder.testing.calls import (
    DTYPES,
    Computation,
    expect_computes,
    expect_no_state,
    in_dtypes,
    leaves_of,
    rows_of,
    tensors_in,
)
from autograder.testing.case import ALMOST_ALL, Case
from autograder.testing.comparison import all_equal, expect, expect_gradients, expect_parts, run_backward
from autograder.testing.under_test import SubmissionUnderTest

MODELS = [
    pytest.param(False, marks=pytest.mark.task_2_4, id="post-norm"),
    pytest.param(True, marks=pytest.mark.task_e_2, id="norm_first"),
]
each_model = pytest.mark.parametrize("norm_first", MODELS)
each_side = pytest.mark.parametrize("method", ["encode", "decode"])
PARTS = {"encode": ("memory", "weights"), "decode": ("output", "self_weights", "cross_weights")}
RULES = {
    "encode": "what happens to the tokens before the encoder, which mask does it get, and does it get every setting?",
    "decode": "what happens to the tokens before the decoder, which masks does it get, and does it get every setting?",
}


class Made:
    """A Transformer with random parameters, in eval mode."""

    def __init__(
        self,
        submission: SubmissionUnderTest,
        case: Case,
        sizes: Sizes,
        vocab_sizes: tuple[int, int],
        n_layers: int = 2,
        dropout: float = 0.3,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        """Builds it; n_layers and the following are arguments of the Transformer."""
        self.case, self.sizes, self.vocab_sizes, self.n_layers, self.dtype = case, sizes, vocab_sizes, n_layers, dtype
        options: dict[str, Any] = {"norm_first": True} if sizes.norm_first else {}
        given = *vocab_sizes, sizes.d_model, sizes.n_heads, sizes.d_ff, n_layers, dropout
        self.model: Any = submission.build("model.Transformer", *given, dtype=dtype, **options).eval()
        expect_plain(self.model)
        case.randomise(self.model.parameters())
        self.parameters = list(self.model.parameters())
        self.leaves = leaves_of(self.parameters)
        self.extra = trace(sizes.d_ff, dropout, sizes.norm_first, n_layers)

    def draw(self, method: str, axes: tuple[int, int, int] = (3, 4, 5), masked: bool = True) -> Inputs:
        """Random arguments of encode or decode; the memory is not the encoder's, so that they are judged separately."""
        (b, t, s), d = axes, self.sizes.d_model
        tokens = self.case.tokens(self.vocab_sizes[method == "decode"], b, t)
        tokens[:, -1] = self.vocab_sizes[method == "decode"] - 1 if masked else 0
        own, cross = (self.case.mask(b, 1, t, t), self.case.padding_mask(b, s)) if masked else (None, None)
        if method == "encode":
            return {"src": tokens, "encoder_mask": own}
        return {
            "tgt": tokens,
            "memory": self.case.normal(b, s, d, dtype=self.dtype),
            "src_mask": cross,
            "tgt_mask": own,
        }

    def candidates(self, method: str) -> list[Computation]:
        """What encode or decode may compute with the parameters."""
        is_decoder = method == "decode"
        vocab_size = self.vocab_sizes[is_decoder]
        return list(sides(self.leaves, is_decoder, vocab_size, self.n_layers, self.sizes, self.extra))


CASES = {  # n_heads, d_head, d_ff and n_layers; vocabularies; b, t and s; with masks
    "two layers": ((2, 2, 11, 2), (9, 12), (3, 4, 5), True),
    "three layers, no masks": ((3, 2, 13, 3), (14, 10), (2, 5, 3), False),
    "one layer": ((2, 3, 15, 1), (11, 13), (2, 3, 4), True),
    "many": ((2, 2, 9, 2), (620, 590), (1, 210, 70), True),
    "more tokens than words": ((2, 2, 9, 2), (11, 13), (1, 20, 4), True),
}


ROWS = in_dtypes(CASES, ["two layers"])


@pytest.mark.item("encode and decode")
@each_side
@pytest.mark.parametrize("norm_first, name, dtype", rows_of(MODELS, ROWS, [("two layers", torch.float64)]))
def test_sides(
    submission: SubmissionUnderTest, case: Case, name: str, method: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff, n_layers), vocab_sizes, axes, masked = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    made = Made(submission, case, sizes, vocab_sizes, n_layers, dtype=dtype)
    inputs = made.draw(method, axes, masked)
    call = getattr(made.model, method)
    parts, rule = PARTS[method], RULES[method]
    expect_computes(call, made.candidates(method), inputs, parts, rule, dtype=dtype, about=parts[:1])


@pytest.mark.item("returned weights")
@each_model
@each_side
def test_weights(submission: SubmissionUnderTest, case: Case, method: str, norm_first: bool) -> None:
    made = Made(submission, case, Sizes(4, 2, 11, norm_first), (9, 12))
    inputs, parts, candidates = made.draw(method), PARTS[method], made.candidates(method)
    look_at = "the lists of weights that the encoder or the decoder returns"
    expect_computes(getattr(made.model, method), candidates, inputs, parts, look_at, dtype=made.dtype, about=parts[1:])


@pytest.mark.item("dropout reaches the positions")
@each_side
@pytest.mark.parametrize("norm_first, dropout", rows_of(MODELS, [(0.0,), (ALMOST_ALL,)], [(ALMOST_ALL,)]))
def test_dropout_of_positions(
    submission: SubmissionUnderTest, case: Case, method: str, norm_first: bool, dropout: float
) -> None:
    made = Made(submission, case, Sizes(4, 2, 11, norm_first), (9, 12), n_layers=1 if dropout else 2, dropout=dropout)
    kept = [partial(candidate, kept=0.0 if dropout else 1.0) for candidate in made.candidates(method)]
    made.model.train()
    look_at = "how often does dropout act on the embedded tokens of either side, and at which rate?"
    expect_computes(
        getattr(made.model, method),
        kept,
        made.draw(method),
        PARTS[method],
        look_at,
        dtype=made.dtype,
        about=PARTS[method][:1],
    )


@pytest.mark.item("embeddings and predictions")
@pytest.mark.task_2_4
@pytest.mark.parametrize("dtype", DTYPES)
def test_predictions(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    made = Made(submission, case, Sizes(4, 2, 11), (9, 12), dtype=dtype)
    weights = [leaf for leaf in made.leaves if tuple(leaf.shape) == (12, 4)]
    biases = [*(leaf for leaf in made.leaves if tuple(leaf.shape) == (12,)), torch.zeros(12, dtype=torch.float64)]

    def predict(output: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return torch.log_softmax(output @ weight.T + bias, dim=-1)

    found: list[Computation] = [partial(predict, weight=weight, bias=bias) for weight in weights for bias in biases]
    output = case.normal(3, 4, 4, scale=30.0, dtype=dtype)  # some tokens lie so far below the best that float32 has 0
    look_at = "log_softmax over the target vocabulary, in one step"
    expect_computes(made.model.get_predictions, found, {"output": output}, ["the predictions"], look_at, dtype=dtype)


@pytest.mark.item("embeddings and predictions")
@pytest.mark.task_2_4
def test_both_sides_have_their_own_embedding(submission: SubmissionUnderTest, case: Case) -> None:
    made = Made(submission, case, Sizes(4, 2, 11), (11, 11))
    inputs = {method: list(made.draw(method, masked=False).values()) for method in PARTS}

    def results() -> list[list[Tensor]]:
        with torch.no_grad():
            return [tensors_in(getattr(made.model, method)(*given)) for method, given in inputs.items()]

    at_first, is_shared = results(), False
    for table in (parameter for parameter in made.parameters if tuple(parameter.shape) == (11, 4)):
        table.data.mul_(2.0)
        is_shared |= not any(map(all_equal, results(), at_first))  # it changes what both sides return
        table.data.div_(2.0)
    what = "the embedding tables that encode and decode use"
    expect(not is_shared, what, "one for each side", "one for both", "source and target are not tied")


@pytest.mark.item("gradients")
@each_side
@pytest.mark.parametrize("norm_first, dtype", rows_of(MODELS, [(dtype,) for dtype in DTYPES], [(torch.float64,)]))
def test_gradients(
    submission: SubmissionUnderTest, case: Case, method: str, norm_first: bool, dtype: torch.dtype
) -> None:
    made = Made(submission, case, Sizes(4, 2, 11, norm_first), (12, 9), dtype=dtype)
    axes = (3, 4, 5) if dtype == torch.float64 else (3, 1, 5)
    candidates, inputs = made.candidates(method), made.draw(method, axes)
    pairs = list(zip(made.parameters, made.leaves, strict=True))
    options: dict[str, Any] = {"parameters": pairs, "case": case, "dtype": dtype, "about": PARTS[method][:1]}
    call = getattr(made.model, method)
    expect_computes(call, candidates, inputs, PARTS[method], RULES[method], apart=True, **options)


@pytest.mark.item("gradients")
@pytest.mark.task_2_4
def test_gradients_reach_every_parameter(submission: SubmissionUnderTest, case: Case) -> None:
    made = Made(submission, case, Sizes(4, 2, 11), (9, 12))
    encoding, decoding = made.draw("encode", (3, 5, 5)), made.draw("decode")
    memory, _ = expect_parts(made.model.encode(*copies_of(encoding.values())), PARTS["encode"], "what encode returns")
    decoding = {**decoding, "memory": memory}
    output, *_ = expect_parts(made.model.decode(*decoding.values()), PARTS["decode"], "what decode returns")
    run_backward(made.model.get_predictions(output), case.normal(3, 4, 12), "the predictions")
    look_at = "every part is registered in __init__ and used; nothing is detached between encoder and decoder"
    expect_gradients(made.parameters, "gradients of the model's parameters", look_at)


@pytest.mark.item("no side effects")
@pytest.mark.task_2_4
@each_side
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, method: str) -> None:
    made = Made(submission, case, Sizes(4, 2, 11), (9, 12), dtype=torch.float32)
    inputs, others = made.draw(method), made.draw(method)
    expect_no_state(getattr(made.model, method), made.candidates(method), inputs, others, PARTS[method])
