"""What the tests of encoder, decoder and pre-norm stacks share; the layers inside are stand-ins."""

from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor, nn

from autograder.checking.case import Case
from autograder.checking.comparison import expect, expect_close, expect_equal_to_one, expect_gradients, expect_parts
from autograder.checking.layouts import stand_in_parts
from autograder.worker.stand_ins import decoder_layer, encoder_layer, squash, trace

N_LAYERS = 3


@dataclass
class StackCase:
    """One stack with random parameters, and random inputs for it."""

    stack: nn.Module
    inputs: tuple[Tensor, ...]  # x and mask; or x, memory, src_mask, tgt_mask
    n_heads: int
    extra: float  # what shows in a layer's output that it was given the right settings
    norm_first: bool

    @property
    def is_decoder(self) -> bool:
        return len(self.inputs) == 4

    @property
    def names(self) -> tuple[str, ...]:
        return ("x", "self_weights", "cross_weights") if self.is_decoder else ("x", "weights")


def make_stack(submission, case: Case, kind: str, norm_first: bool = False) -> StackCase:
    """Builds "Encoder" or "Decoder" of the submission among stand-ins, in eval mode."""
    n_heads = case.size(2, 4)
    d_model, d_ff, dropout = n_heads * case.size(2, 3), case.size(14, 20), case.number(0.2, 0.7)
    settings = {"n_heads": n_heads, "d_ff": d_ff, "n_layers": N_LAYERS, "dropout": dropout}
    if norm_first:
        settings["norm_first"] = True
    stack = submission.build(f"model.{kind}", d_model, **settings, dtype=torch.float64).eval()
    case.randomise(stack.parameters())
    b, s, t = case.sizes(3, 2, 6)
    if kind == "Encoder":
        inputs = case.normal(b, s, d_model), case.mask(b, 1, s, s)
    else:
        inputs = case.normal(b, t, d_model), case.normal(b, s, d_model), case.mask(b, 1, 1, s), case.mask(b, 1, t, t)
    return StackCase(stack, inputs, n_heads, trace(d_ff, dropout, norm_first), norm_first)


def expected_outputs(made: StackCase) -> list[tuple[Tensor, list[list[Tensor]]]]:
    """Output, and the lists of weights, for each order in which the layers may be applied."""
    parts = stand_in_parts([p.detach() for p in made.stack.parameters()], made.inputs[0].size(-1))
    found = []
    for mixes in permutations(parts.decoder_layers if made.is_decoder else parts.encoder_layers, N_LAYERS):
        x, seen = made.inputs[0], []
        for mix in mixes:
            if made.is_decoder:
                x, *weights = decoder_layer(x, *made.inputs[1:], mix, made.n_heads, made.extra)
            else:
                x, *weights = encoder_layer(x, made.inputs[1], mix, made.n_heads, made.extra)
            seen.append(weights)
        lists = [list(by_layer) for by_layer in zip(*seen, strict=True)]
        for norm in parts.norms if made.norm_first else [None]:
            found.append((x if norm is None else squash(x, *norm), lists))
    return found


def check_values(made: StackCase) -> None:
    """Output in eval mode, and the weights of each layer in order."""
    actual = expect_parts(made.stack(*made.inputs), made.names, "what forward returns")
    found = expected_outputs(made)
    look_at = (
        "every layer once, each with the output of the one before, the masks, and the settings of the constructor; "
        + ("then one LayerNorm" if made.norm_first else "nothing after the last layer in post-norm")
    )
    index = expect_equal_to_one(actual[0], [outputs[0] for outputs in found], "the output of the stack", look_at)
    for name, came, wanted in zip(made.names[1:], actual[1:], found[index][1], strict=True):
        layers = [f"layer {number + 1}" for number in range(N_LAYERS)]
        for label, one, other in zip(layers, expect_parts(came, layers, f"{name} of the stack"), wanted, strict=True):
            expect_close(one, other, f"{name} of {label}", "one entry a layer, first layer first")


def check_layers_have_their_own_parameters(made: StackCase) -> None:
    """As many different layers as n_layers says, and the right number of LayerNorms beside them."""
    parts = stand_in_parts(list(made.stack.parameters()), made.inputs[0].size(-1))
    layers = parts.decoder_layers if made.is_decoder else parts.encoder_layers
    look_at = "an nn.ModuleList of n_layers new layers; a plain list hides them from parameters()"
    what = "how many layers with parameters of their own the stack has"
    expect(len(layers) == N_LAYERS, what, f"{N_LAYERS}", f"{len(layers)}", look_at)


def check_gradients(made: StackCase) -> None:
    """The gradient reaches every parameter and the inputs."""
    floats = [tensor.requires_grad_() for tensor in made.inputs if tensor.is_floating_point()]
    output = made.stack(*made.inputs)[0]
    (output * torch.cos(torch.arange(output.numel())).view_as(output)).sum().backward()
    expect_gradients([*made.stack.parameters(), *floats], "gradients of the parameters and inputs")


def check_repeats(made: StackCase) -> None:
    """The same call gives the same result and changes no argument."""
    before = [tensor.clone() for tensor in made.inputs]
    first = made.stack(*made.inputs)[0]
    for tensor, old in zip(made.inputs, before, strict=True):
        expect(torch.equal(tensor, old), "the inputs after the call", "unchanged values", "changed in place")
    expect_close(made.stack(*made.inputs)[0], first, "the same call again", "no state is kept between calls")
