"""What the tests of encoder layer, decoder layer and pre-norm share.

The attention, the feed-forward network and the LayerNorms inside are stand-ins with random parameters. Which
LayerNorm belongs to which sublayer is found by trying: only the true assignment gives the output.
"""

from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor, nn

from autograder.checking.case import ALMOST_ALL, Case
from autograder.checking.comparison import expect, expect_close, expect_equal_to_one, expect_gradients, expect_parts
from autograder.checking.layouts import stand_in_parts
from autograder.worker.stand_ins import mixed_look_up, squash, wave

POST_NORM = "LayerNorm(x + dropout(sublayer(x))) for each sublayer in turn"
PRE_NORM = "x + dropout(sublayer(LayerNorm(x))) for each sublayer in turn"


@dataclass
class LayerCase:
    """One layer with random parameters, and random inputs for it."""

    layer: nn.Module
    inputs: tuple[Tensor, ...]  # x and mask; or x, memory, src_mask, tgt_mask
    n_heads: int
    d_ff: int
    norm_first: bool

    @property
    def is_decoder(self) -> bool:
        return len(self.inputs) == 4

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that forward returns."""
        return ("x", "self_weights", "cross_weights") if self.is_decoder else ("x", "weights")

    @property
    def rule(self) -> str:
        return PRE_NORM if self.norm_first else POST_NORM


def make_layer(submission, case: Case, kind: str, dropout: float = 0.3, norm_first: bool = False) -> LayerCase:
    """Builds "EncoderLayer" or "DecoderLayer" of the submission among stand-ins, in eval mode."""
    n_heads = case.size(2, 3)
    d_model, d_ff = n_heads * case.size(2, 3), case.size(10, 20)
    options = {"norm_first": True} if norm_first else {}
    component = f"layers.{kind}"
    layer = submission.build(component, d_model, n_heads, d_ff, dropout, dtype=torch.float64, **options).eval()
    case.randomise(layer.parameters(), scale=0.7)
    b, s, t = case.sizes(3, 2, 6)
    if kind == "EncoderLayer":
        inputs = case.normal(b, s, d_model), case.mask(b, 1, s, s)
    else:
        inputs = case.normal(b, t, d_model), case.normal(b, s, d_model), case.mask(b, 1, 1, s), case.mask(b, 1, t, t)
    return LayerCase(layer, inputs, n_heads, d_ff, norm_first)


def expected_outputs(made: LayerCase, surviving: float = 1.0) -> list[tuple[Tensor, ...]]:
    """What the layer returns, for each assignment of the stand-ins found inside; `surviving` scales the sublayers."""
    x, *rest = made.inputs
    parts = stand_in_parts([p.detach() for p in made.layer.parameters()], x.size(-1))
    n_attentions = len(rest) // 2 + 1 if made.is_decoder else 1
    found = []
    for attentions in permutations(parts.attentions, n_attentions):
        for feed_forward in parts.feed_forwards:
            for norms in permutations(parts.norms, n_attentions + 1):
                found.append(compose(made, attentions, feed_forward, norms, surviving))
    return found


def compose(made: LayerCase, attentions, feed_forward, norms, surviving: float) -> tuple[Tensor, ...]:
    """The layer from its stand-ins: x, then the attention weights in order."""
    state, weights = made.inputs[0], []

    def look_around(state: Tensor) -> Tensor:
        mask = made.inputs[-1]
        out, seen = mixed_look_up(state, state, state, mask, attentions[0], made.n_heads)
        weights.append(seen)
        return out

    def look_at_source(state: Tensor) -> Tensor:
        _, memory, mask, _ = made.inputs
        out, seen = mixed_look_up(state, memory, memory, mask, attentions[1], made.n_heads)
        weights.append(seen)
        return out

    steps = [look_around, *([look_at_source] if made.is_decoder else []), lambda y: wave(y, feed_forward, made.d_ff)]
    for step, norm in zip(steps, norms, strict=True):
        if made.norm_first:
            state = state + surviving * step(squash(state, *norm))
        else:
            state = squash(state + surviving * step(state), *norm)
    return state, *weights


def check_values(made: LayerCase) -> None:
    """Output and weights in eval mode."""
    actual = expect_parts(made.layer(*made.inputs), made.names, "what forward returns")
    found = expected_outputs(made)
    index = expect_equal_to_one(actual[0], [outputs[0] for outputs in found], "the output of the layer", made.rule)
    for name, came, wanted in zip(made.names[1:], actual[1:], found[index][1:], strict=True):
        expect_close(came, wanted, f"{name} of the layer", "the weights of its own attention, unchanged")


def check_own_parameters(made: LayerCase) -> None:
    """Each sublayer has a LayerNorm and an attention of its own."""
    parts = stand_in_parts(list(made.layer.parameters()), made.inputs[0].size(-1))
    attentions = 2 if made.is_decoder else 1
    came = f"{len(parts.attentions)}, {len(parts.feed_forwards)} and {len(parts.norms)}"
    wanted = f"{attentions}, 1 and {attentions + 1}"
    what = "how many MultiHeadedAttention, FeedForward and LayerNorm the layer has"
    expect(came == wanted, what, wanted, came, "each sublayer has its own; build them in __init__")


def check_dropout_acts_on_sublayers(submission, case: Case, kind: str, norm_first: bool = False) -> None:
    """In training with a rate of almost 1, nothing of the sublayers survives, and the residuals do."""
    made = make_layer(submission, case, kind, ALMOST_ALL, norm_first)
    actual = expect_parts(made.layer.train()(*made.inputs), made.names, "what forward returns in train mode")
    look_at = "dropout acts on the sublayer's output before it is added to x, with the rate of the constructor"
    found = [outputs[0] for outputs in expected_outputs(made, surviving=0.0)]
    expect_equal_to_one(actual[0], found, "the output in train mode with a dropout of almost 1", look_at)


def check_no_dropout_is_deterministic(submission, case: Case, kind: str, norm_first: bool = False) -> None:
    """With a rate of 0 training and eval agree."""
    made = make_layer(submission, case, kind, 0.0, norm_first)
    in_eval = made.layer(*made.inputs)[0]
    look_at = "the dropout rate is the constructor's; nothing else is random"
    expect_close(made.layer.train()(*made.inputs)[0], in_eval, "the output in train mode with dropout 0", look_at)


def check_dropout_is_random_in_training_only(made: LayerCase) -> None:
    """Two passes differ in training and agree in eval."""
    first, second = made.layer(*made.inputs)[0], made.layer(*made.inputs)[0]
    expect_close(second, first, "two passes in eval mode", "dropout does nothing in eval mode")
    made.layer.train()
    first, second = made.layer(*made.inputs)[0], made.layer(*made.inputs)[0]
    agree = torch.equal(first, second)
    expect(not agree, "two passes in train mode", "different ones: dropout is random", "equal ones", made.rule)


def check_gradients(made: LayerCase) -> None:
    """The gradient reaches every parameter and the inputs."""
    floats = [tensor.requires_grad_() for tensor in made.inputs if tensor.is_floating_point()]
    output = made.layer(*made.inputs)[0]
    (output * torch.cos(torch.arange(output.numel())).view_as(output)).sum().backward()
    expect_gradients([*made.layer.parameters(), *floats], "gradients of the parameters and inputs", made.rule)


def check_arguments_stay(made: LayerCase) -> None:
    """Inputs are not changed, and no state is kept."""
    before = [tensor.clone() for tensor in made.inputs]
    first = made.layer(*made.inputs)[0]
    for tensor, old in zip(made.inputs, before, strict=True):
        expect(torch.equal(tensor, old), "the inputs after the call", "unchanged values", "changed in place")
    expect_close(made.layer(*made.inputs)[0], first, "the same call again", "no state is kept between calls")


def check_without_masks(made: LayerCase) -> None:
    """None as a mask is handed on."""
    made.inputs = tuple(tensor if tensor.is_floating_point() else None for tensor in made.inputs)
    check_values(made)
