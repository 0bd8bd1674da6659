"""Checks of encoder and decoder, post-norm and pre-norm; the layers inside are stand-ins."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

from autograder.assignment.parameter_roles.parts import norm_readings, take_census
from autograder.assignment.stand_ins.formulas import decoder_layer, encoder_layer, trace
from autograder.testing.case import Case
from autograder.testing.comparison import (
    copies,
    expect,
    expect_close,
    expect_equal_to_one,
    expect_gradients,
    expect_parts,
    expect_shape,
    expect_unchanged,
    run_backward,
)
from autograder.testing.under_test import SubmissionUnderTest

from .layer_case import Inputs, OfLayers


@dataclass
class StackCase(OfLayers):
    """One stack with random parameters, and random inputs for it."""

    stack: nn.Module
    inputs: Inputs
    n_heads: int
    n_layers: int
    extra: float  # part of each layer's output that shows whether it was given the right settings
    norm_first: bool

    def run(self, *inputs: Tensor) -> list[Any]:
        """The parts that forward returns: x (b, t, d), and a list of tensors for each kind of weights."""
        inputs = inputs or self.inputs
        x, *lists = expect_parts(self.stack(*inputs), self.names, "what forward returns")
        expect_shape(x, inputs[0].shape, "the output of the stack", dtype=inputs[0].dtype)
        labels = [f"weights of layer {number + 1}" for number in range(self.n_layers)]
        keys = inputs[0].size(1), inputs[1].size(1) if self.is_decoder else 0
        for name, got, k in zip(self.names[1:], lists, keys, strict=False):
            for label, part in zip(labels, expect_parts(got, labels, f"{name} of the stack"), strict=True):
                shape = (inputs[0].size(0), self.n_heads, inputs[0].size(1), k)
                expect_shape(part, shape, f"{name}: {label}", dtype=inputs[0].dtype)
        return [x, *lists]


def make_stack(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool = False, n_layers: int = 3
) -> StackCase:
    """Builds "Encoder" or "Decoder" of the submission among stand-ins, in eval mode."""
    n_heads = case.size(2, 4)
    d_model, d_ff, dropout = n_heads * case.size(2, 3), case.size(14, 20), case.number(0.2, 0.7)
    settings: dict[str, Any] = {"n_heads": n_heads, "d_ff": d_ff, "n_layers": n_layers, "dropout": dropout}
    if norm_first:
        settings["norm_first"] = True
    stack = submission.build(f"model.{kind}", d_model, **settings, dtype=torch.float64).eval()
    case.randomise(stack.parameters())
    b, s, t = case.sizes(3, 3, 6)
    inputs: tuple[Tensor, ...]
    if kind == "Encoder":
        inputs = case.normal(b, s, d_model), case.mask(b, 1, s, s)
    else:
        src_mask, tgt_mask = case.padding_mask(b, s), case.mask(b, 1, t, t)
        inputs = case.normal(b, t, d_model), case.normal(b, s, d_model), src_mask, tgt_mask
    return StackCase(stack, inputs, n_heads, n_layers, trace(d_ff, dropout, norm_first), norm_first)


def expected_outputs(made: StackCase) -> list[tuple[Tensor, list[list[Tensor]]]]:
    """Output, and the lists of weights, for each order in which the layers may be applied."""
    census = take_census([p.detach() for p in made.stack.parameters()], made.inputs[0].size(-1))
    layers = census.decoder_layers if made.is_decoder else census.encoder_layers
    if len(layers) != made.n_layers:  # very many layers would have too many orders to try
        return []
    found: list[tuple[Tensor, list[list[Tensor]]]] = []
    for mixes in permutations(layers):
        x = made.inputs[0]
        seen: list[list[Tensor]] = []
        for mix in mixes:
            if made.is_decoder:
                _, memory, src_mask, tgt_mask = made.inputs
                x, *weights = decoder_layer(x, memory, src_mask, tgt_mask, mix, made.n_heads, made.extra)
            else:
                x, *weights = encoder_layer(x, made.inputs[1], mix, made.n_heads, made.extra)
            seen.append(weights)
        lists = [list(by_layer) for by_layer in zip(*seen, strict=True)]
        norms: list[Callable[[Tensor], Tensor]] = [lambda x: x]
        if made.norm_first:
            norms = [norm for [norm], _ in norm_readings(census, 1, x.size(-1))]
        found += [(norm(x), lists) for norm in norms]
    return found


def check_values(made: StackCase, case: Case) -> None:
    """Output in eval mode and the weights of each layer in order, also after a call with other inputs."""
    made.run(*(case.normal(*i.shape) if i.is_floating_point() else i for i in made.inputs))
    x, *lists = made.run()
    found = expected_outputs(made)
    if not found:
        check_layers_have_their_own_parameters(made)
    look_at = (
        "every layer once, each with the output of the one before, the masks, and the settings of the constructor; "
        + ("then one LayerNorm" if made.norm_first else "nothing after the last layer in post-norm")
    )
    index = expect_equal_to_one(x, [outputs[0] for outputs in found], "the output of the stack", look_at)
    for name, got, wanted in zip(made.names[1:], lists, found[index][1], strict=True):
        for number, (one, other) in enumerate(zip(got, wanted, strict=True), start=1):
            expect_close(one, other, f"{name} of layer {number}", "one entry per layer, the first layer first")


def check_layers_have_their_own_parameters(made: StackCase) -> None:
    """There are n_layers different layers, and nothing else is learned but the LayerNorm of a pre-norm stack."""
    census = take_census(list(made.stack.parameters()), made.inputs[0].size(-1))
    layers = census.decoder_layers if made.is_decoder else census.encoder_layers
    look_at = "an nn.ModuleList of n_layers new layers; a plain list hides them from parameters()"
    what = "how many layers with parameters of their own the stack has"
    expect(len(layers) == made.n_layers, what, f"{made.n_layers}", f"{len(layers)}", look_at)
    beside = sum(p.numel() for p in made.stack.parameters()) - sum(layer.numel() for layer in layers)
    wanted = 2 * made.inputs[0].size(-1) if made.norm_first else 0
    look_at = "a LayerNorm ends the stack with norm_first, and only then"
    expect(beside == wanted, "how many numbers the stack learns besides its layers", f"{wanted}", f"{beside}", look_at)


def check_gradients(made: StackCase, case: Case) -> None:
    """The gradient reaches every parameter and the inputs."""
    floats = [tensor.requires_grad_() for tensor in made.inputs if tensor.is_floating_point()]
    output, *_ = made.run()
    run_backward(output, case.normal(*output.shape), "the output of the stack")
    expect_gradients([*made.stack.parameters(), *floats], "gradients of the parameters and inputs")


def check_repeats(made: StackCase) -> None:
    """The same call gives the same result, in train mode too, and changes no argument."""
    before = copies(made.inputs)
    first = made.run()
    expect_unchanged(made.inputs, before, made.argument_names)
    again = made.run()
    expect_close(again[0], first[0], "the same call again", "no state is kept between calls")
    lengths = [[len(part) for part in parts[1:]] for parts in (first, again)]
    expect(
        lengths[0] == lengths[1], "the weights of both calls", f"{lengths[1]} entries", f"{lengths[0]}", "a new list"
    )
    made.stack.train()
    what = "the output in train mode"
    expect_close(
        made.run()[0], first[0], what, "dropout belongs inside the layers, which are stand-ins without it here"
    )


def check_small_sizes(made: StackCase) -> None:
    """One sentence by itself."""
    whole = made.run()
    small = [tensor[:1] for tensor in made.inputs]
    expect_close(made.run(*small)[0], whole[0][:1], "the output of one sentence by itself", "sentences do not mix")
