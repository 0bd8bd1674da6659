"""Task 2.4: embeddings, positions, encoder, decoder, predictions; with norm_first, extension E.2.

Everything inside the model is a stand-in of a known formula. How such tests are written:
`autograder.testing.subject`.
"""

from dataclasses import replace
from functools import partial
from typing import cast

import pytest
import torch
from torch import Tensor

from assignment.expected.layers import Sizes
from assignment.expected.masks import draw_pair, expect_right_or_masks_obeyed
from assignment.expected.models import PARTS_OF_MODELS as PARTS
from assignment.expected.models import ModelSubject
from autograder.testing.arguments import copies_of
from autograder.testing.case import (
    ALMOST_ALL,
    DTYPES,
    Case,
    Inputs,
    SubmissionUnderTest,
    in_dtypes,
    in_float32,
    rows_of,
)
from autograder.testing.comparison import all_equal, expect, expect_gradients, run_backward
from autograder.testing.fitting import first_part, tensors_in
from autograder.testing.side_effects import expect_no_side_effects

MODELS = [
    pytest.param(False, marks=pytest.mark.task_2_4, id="post-norm"),
    pytest.param(True, marks=pytest.mark.task_e_2, id="norm_first"),
]
each_model = pytest.mark.parametrize("norm_first", MODELS)
each_side = pytest.mark.parametrize("method", ["encode", "decode"])
RULES = {
    "encode": "what happens to the tokens before the encoder, which mask does it get, and does it get every setting?",
    "decode": "what happens to the tokens before the decoder, which masks does it get, and does it get every setting?",
}

CASES = {  # n_heads, d_head, d_ff and n_layers; vocabularies; b, t and s
    "two layers": ((2, 2, 11, 2), (9, 12), (3, 4, 5)),
    "three layers": ((3, 2, 13, 3), (14, 10), (2, 5, 3)),
    "one layer": ((2, 3, 15, 1), (11, 13), (2, 3, 4)),
    "many": ((2, 2, 9, 2), (620, 590), (1, 210, 70)),
    "more tokens than words": ((2, 2, 9, 2), (11, 13), (1, 20, 4)),
}

SPECIAL_CASES = ["one layer", "many", "more tokens than words"]
ROWS = in_dtypes(CASES, in_float32=["two layers"])


@pytest.mark.item("encode and decode")
@each_side
@pytest.mark.parametrize(
    "norm_first, name, dtype", rows_of(MODELS, ROWS, [("two layers", torch.float64)], {"special cases": SPECIAL_CASES})
)
def test_sides(
    submission: SubmissionUnderTest, case: Case, name: str, method: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff, n_layers), vocab_sizes, axes = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    # In ordinary rows the rate of dropout is the default: a setting that gets lost costs the special cases alone.
    rate = 0.3 if name in SPECIAL_CASES else 0.1
    model = ModelSubject(submission, case, sizes, vocab_sizes, n_layers, rate, dtype)
    model.side(method).expect_values(model.draw(method, axes, masks="none"), RULES[method], of=PARTS[method][:1])


@pytest.mark.item("masks reach both sides")
@each_side
@pytest.mark.parametrize("norm_first, name, dtype", rows_of(MODELS, ROWS[:2], [("two layers", torch.float64)]))
def test_masks(
    submission: SubmissionUnderTest, case: Case, name: str, method: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff, n_layers), _, axes = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    rate = 0.0 if name == "three layers" else 0.3
    make = partial(ModelSubject, submission, case, sizes, (11, 11), n_layers, rate, dtype)
    model = make()
    side, inputs = model.side(method), model.draw(method, axes)
    if not rate and not model.has_own_parts:  # what train mode does without a mask is another item
        other, plain = make(), model.draw(method, axes, masks="none")
        model.model.train(other.side(method).is_same_in_train_mode(plain, other.model))
    expect_right_or_masks_obeyed(side, inputs, "which mask goes where?", has_own_parts=model.has_own_parts)


@pytest.mark.item("returned weights")
@each_model
@each_side
def test_weights(submission: SubmissionUnderTest, case: Case, method: str, norm_first: bool) -> None:
    model = ModelSubject(submission, case, Sizes(4, 2, 11, norm_first), (11, 11))
    look_at = "the lists of weights that the encoder or the decoder returns"
    model.side(method).expect_values(model.draw(method, masks="none"), look_at, of=PARTS[method][1:])


@pytest.mark.item("dropout reaches the positions")
@each_side
@pytest.mark.parametrize("norm_first, dropout", rows_of(MODELS, [(0.0,), (ALMOST_ALL,)], [(ALMOST_ALL,)]))
def test_dropout_of_positions(
    submission: SubmissionUnderTest, case: Case, method: str, norm_first: bool, dropout: float
) -> None:
    n_layers = 1 if dropout else 2
    model = ModelSubject(submission, case, Sizes(4, 2, 11, norm_first), (11, 11), n_layers, dropout)
    model.model.train()
    side, inputs = model.side(method, kept=0.0 if dropout else 1.0), model.draw(method, masks="none")
    if not dropout and side.is_random(inputs) and model.has_own_parts:
        model.model.eval()  # what these drop by themselves is free
        side = model.side(method)
    look_at = "how often does dropout act on the embedded tokens of either side, and at which rate?"
    side.expect_values(inputs, look_at, of=PARTS[method][:1])


@pytest.mark.item("embeddings and predictions")
@pytest.mark.task_2_4
@pytest.mark.parametrize("dtype", DTYPES)
def test_predictions(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    model = ModelSubject(submission, case, Sizes(4, 2, 11), (9, 12), dtype=dtype)
    output = case.normal(3, 4, 4, scale=30.0, dtype=dtype)  # some tokens lie so far below the best that float32 has 0
    look_at = "log_softmax over the target vocabulary, in one step"
    model.predictions().expect_values({"output": output}, look_at)


@pytest.mark.item("embeddings and predictions")
@pytest.mark.task_2_4
def test_both_sides_have_their_own_embedding(submission: SubmissionUnderTest, case: Case) -> None:
    model = ModelSubject(submission, case, Sizes(4, 2, 11), (11, 11))
    inputs = {method: list(model.draw(method, masks="none").values()) for method in PARTS}

    def results() -> list[list[Tensor]]:
        with torch.no_grad():
            return [tensors_in(getattr(model.model, method)(*given)) for method, given in inputs.items()]

    at_first, is_shared = results(), False
    other = ModelSubject(submission, case, Sizes(4, 2, 11), (11, 11)).model
    of_other = [tensors_in(getattr(other, method)(*given)) for method, given in inputs.items()]
    is_idle = any(all_equal(first[:1], second[:1]) for first, second in zip(at_first, of_other, strict=True))
    expect(not is_idle, "what encode and decode return", "results of learned parts", "the same, whatever is learned")
    for table in (parameter for parameter in model.parameters if tuple(parameter.shape) == (11, 4)):
        table.data.mul_(2.0)
        is_shared |= not any(map(all_equal, results(), at_first))  # it changes what both sides return
        table.data.div_(2.0)
    label = "the embedding tables that encode and decode use"
    expect(
        not is_shared,
        label,
        "one for each side",
        "one for both",
        "each side has a table of its own, also where both vocabularies have the same size",
    )


@pytest.mark.item("gradients")
@each_side
@pytest.mark.parametrize("norm_first, dtype", rows_of(MODELS, [(dtype,) for dtype in DTYPES], [(torch.float64,)]))
def test_gradients(
    submission: SubmissionUnderTest, case: Case, method: str, norm_first: bool, dtype: torch.dtype
) -> None:
    model = ModelSubject(submission, case, Sizes(4, 2, 11, norm_first), (11, 11), dtype=dtype)
    axes = (3, 4, 5) if dtype == torch.float64 else (3, 1, 5)
    side = replace(model.side(method), call=getattr(model.model, method))
    inputs = model.draw(method, axes, masks="none")
    # The vectors of special tokens, one of which is padding, need not be learned.
    inputs = {**inputs, next(iter(inputs)): case.tokens(9, *axes[:2], low=4)}
    if method == "decode" and dtype == torch.float32:
        inputs = {**inputs, "src_mask": torch.ones(1, 5, dtype=torch.bool)}  # which all sentences share
    side.expect_gradients(case, inputs, RULES[method], PARTS[method][:1], nonzero=[])


def predicted(model: ModelSubject, encoding: Inputs, decoding: Inputs) -> Tensor:
    """Predictions of the whole model: the memory is the encoder's."""
    memory = first_part(model.model.encode(*copies_of(encoding.values())), PARTS["encode"])
    handed = copies_of({**decoding, "memory": None}.values())
    handed[[*decoding].index("memory")] = memory
    output = first_part(model.model.decode(*handed), PARTS["decode"])
    return cast("Tensor", model.model.get_predictions(output))


def idle_after_backward(model: ModelSubject) -> list[Tensor]:
    """Run backward from predictions; return the parameters that get no gradient, since nothing depends on them."""
    encoding, decoding = model.draw("encode", (3, 5, 5), masks="none"), model.draw("decode", masks="none")
    before = predicted(model, encoding, decoding)
    run_backward(before, model.case.normal(3, 4, 11), "the predictions")

    def is_idle(parameter: Tensor) -> bool:
        kept = parameter.detach().clone()
        with torch.no_grad():
            parameter.add_(torch.linspace(1, 2, kept.numel(), dtype=kept.dtype).view_as(kept))
            is_same = all_equal([predicted(model, encoding, decoding)], [before.detach()])
            parameter.copy_(kept)
        return is_same

    return [p for p in model.parameters if (p.grad is None or not p.grad.to_dense().any()) and is_idle(p)]


@pytest.mark.item("gradients")
@pytest.mark.task_2_4
def test_gradients_reach_every_parameter(submission: SubmissionUnderTest, case: Case) -> None:
    model = ModelSubject(submission, case, Sizes(4, 2, 11), (11, 11))
    idle = idle_after_backward(model)
    used = [parameter for parameter in model.parameters if all(parameter is not other for other in idle)]
    look_at = "every part is registered in __init__ and used; nothing is detached between encoder and decoder"
    expect_gradients(used, "gradients of the model's parameters", look_at)


@pytest.mark.item("special cases")
@pytest.mark.task_2_4
def test_every_parameter_is_used(submission: SubmissionUnderTest, case: Case) -> None:
    idle = idle_after_backward(ModelSubject(submission, case, Sizes(4, 2, 11), (11, 11)))
    shapes = ", ".join(str(tuple(parameter.shape)) for parameter in idle)
    expect(not idle, "parameters without effect", "none", f"some of shape {shapes}", "which part should use them?")


@pytest.mark.item("no side effects")
@pytest.mark.task_2_4
@each_side
@in_float32
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, method: str, dtype: torch.dtype) -> None:
    model = ModelSubject(submission, case, Sizes(4, 2, 11), (11, 11), dtype=dtype)
    left = partial(submission.apply, "left_behind", model.model, method)
    side = model.side(method)
    expect_no_side_effects(side, *draw_pair(side, partial(model.draw, method, (3, 4, 5))), left)
