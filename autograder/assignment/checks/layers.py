"""Checks of encoder and decoder layer, post-norm and pre-norm.

The attention, the feed-forward network and the LayerNorms inside are stand-ins with random parameters. Which
LayerNorm belongs to which sublayer is found by trying: only the right assignment gives the output.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import product

import torch
from torch import Tensor

from autograder.assignment.parameter_roles.parts import missing_numbers
from autograder.testing.case import ALMOST_ALL, Case
from autograder.testing.comparison import (
    copies,
    expect,
    expect_close,
    expect_equal_to_one,
    expect_gradients,
    expect_unchanged,
    fail,
    run_backward,
)
from autograder.testing.errors import CheckFailed
from autograder.testing.under_test import SubmissionUnderTest

from .layer_case import LayerCase, Sublayers, assignments, make_layer, norm_orders, without_masks
from .written_out import recognise

DROPOUT = "dropout acts on the sublayer's output before it is added to x, with the rate of the constructor"


def find_sublayers(made: LayerCase, got: list[Tensor], parameters: Sequence[Tensor] | None = None) -> Sublayers:
    """The roles of the layer's parts; fails where no roles explain what it returns."""
    if made.is_written_out or made.is_crowded:
        check_numbers(made)
    found = [recognise(made, parameters)] if made.is_written_out else list(assignments(made, parameters))
    results = [sublayers.run() for sublayers in found]
    index = expect_equal_to_one(got[0], [result[0] for result in results], "the output of the layer", made.rule)
    for name, actual, wanted in zip(made.names[1:], got[1:], results[index][1:], strict=True):
        expect_close(actual, wanted, f"{name} of the layer", "the weights of its own attention, unchanged")
    return found[index]


def check_values(made: LayerCase, case: Case) -> None:
    """Output and weights in eval mode, also after a call with other inputs."""
    made.run(*(case.normal(*i.shape) if i is not None and i.is_floating_point() else i for i in made.inputs))
    find_sublayers(made, made.run())


def check_numbers(made: LayerCase) -> None:
    """Each sublayer has a LayerNorm and an attention of its own, and nothing else is learned."""
    census = made.census()
    wanted = made.n_attentions, 1, made.n_attentions + 1
    got = len(census.attentions), len(census.feed_forwards), len(census.norms)
    fewest, most = missing_numbers(census, wanted[0], wanted[2], made.d_model, made.d_ff)
    numbers = sum(p.numel() for p in census.others)
    fits = all(one <= other for one, other in zip(got, wanted, strict=True)) and fewest <= numbers <= most
    expect(
        fits,
        "how many of MultiHeadedAttention, FeedForward and LayerNorm the layer has",
        "{}, {} and {}".format(*wanted),
        "{}, {} and {}".format(*got) + (f", and {numbers} other learned numbers" if numbers else ""),
        "each sublayer has its own; build them in __init__",
    )


def check_without_masks(made: LayerCase) -> None:
    """None as a mask is passed on."""
    made.inputs = without_masks(made.inputs)
    find_sublayers(made, made.run())


def check_small_sizes(made: LayerCase) -> None:
    """One sentence; one position (and one of the memory)."""
    parts = made.run()
    made.inputs = tuple(tensor[:1] for tensor in made.inputs)
    for name, part, whole in zip(made.names, made.run(), parts, strict=True):
        expect_close(part, whole[:1], f"{name} of one sentence by itself", "sentences do not mix")
    made.inputs = tuple(t[:, :1] if t.is_floating_point() else torch.ones_like(t[..., :1, :1]) for t in made.inputs)
    find_sublayers(made, made.run())


def check_dropout_acts_on_sublayers(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool = False
) -> None:
    """In training with a rate of almost 1, nothing of the sublayers survives, but the residual connections do."""
    made = make_layer(submission, case, kind, ALMOST_ALL, norm_first)
    in_eval = made.run()
    made.layer.train()
    got = made.run(what="what forward returns in train mode")
    expect_close(got[1], in_eval[1], f"{made.names[1]} in train mode", "the weights that the attention returned")
    what = "the output in train mode with a dropout of almost 1"
    x = made.inputs[0]
    if norm_first:
        expect_close(got[0], x, what, DROPOUT)
        return
    if made.is_crowded:
        check_numbers(made)
    found = [reduce(lambda state, norm: norm(state), order, x) for order in norm_orders(made)]
    expect_equal_to_one(got[0], found, what, DROPOUT)


def check_dropout_entries(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool = False) -> None:
    """In training each entry of a sublayer's output is dropped or scaled up, independently of the others.

    For every position all patterns of the attentions' dropped entries are tried; the last sublayer's show in the
    output.
    """
    rate = case.number(0.3, 0.6)
    made = make_layer(submission, case, kind, rate, norm_first, d_head=2)
    sublayers = find_sublayers(made, made.run())
    if made.is_written_out or not all(norm.is_stand_in for norm in sublayers.norms):
        return  # too many entries to try all patterns, or LayerNorms that mix them
    made.layer.train()
    output = made.run(what="what forward returns in train mode")[0]
    keep = 1 / (1 - rate)
    patterns = torch.tensor(list(product([0.0, keep], repeat=made.d_model)), dtype=torch.float64)  # (2^d, d)
    look_at = f"{DROPOUT}; each entry independently is dropped or divided by 1 - rate"
    chosen = torch.empty(len(sublayers.norms), *output.shape, dtype=torch.bool)  # which entries each sublayer keeps
    for b, t in product(range(output.size(0)), range(output.size(1))):
        pattern = _explain(sublayers, patterns, output, b, t, keep)
        if pattern is None:
            what = f"the output in train mode with a dropout of {rate:.2f}"
            fail(what, "each entry of a sublayer's output dropped or scaled", "something else", look_at)
        chosen[:, b, t] = pattern
    for axis, what in enumerate(("sublayers", "sentences", "positions", "features")):
        differ = (chosen != chosen.select(axis, 0).unsqueeze(axis)).any(dim=axis, keepdim=True)
        is_random = bool(differ.any() if axis == 0 else differ.flatten(1).any(dim=1).all())
        got = f"the same entries at all {what}"
        expect(is_random, f"dropout at different {what}", "different entries at each", got, look_at)


def _explain(sublayers: Sublayers, patterns: Tensor, output: Tensor, b: int, t: int, keep: float) -> Tensor | None:
    """Which entries of the sublayers' outputs (sublayers, d) position t keeps; None = nothing explains its output."""
    made = sublayers.made
    first, *later = sublayers.norms
    x = made.inputs[0]
    out, _ = sublayers.sublayer(0, first(x) if made.norm_first else x)
    states = x[b, t] + patterns * out[b, t]  # (n, d), n patterns
    kept = (patterns > 0)[:, None]  # (n, sublayers, d)
    states = states if made.norm_first else first(states)
    if made.is_decoder:
        _, memory, src_mask, _ = made.inputs
        norm = later.pop(0)
        query, source = (norm(states) if made.norm_first else states)[None], memory[b : b + 1]
        out, _ = sublayers.attentions[1](query, source, source, None if src_mask is None else src_mask[b : b + 1])
        states = (states[:, None] + patterns[None] * out[0][:, None]).flatten(0, 1)  # (n n, d)
        states = states if made.norm_first else norm(states)
        kept = torch.cat([kept.repeat_interleave(len(patterns), dim=0), kept.repeat(len(patterns), 1, 1)], dim=1)
    [norm] = later
    out = sublayers.network(norm(states) if made.norm_first else states)
    ends = states, states + keep * out
    errors = [(output[b, t] - (end if made.norm_first else norm(end))).abs().detach() for end in ends]
    best, index = torch.minimum(*errors).amax(dim=-1).min(dim=0)
    last = errors[1][index] < errors[0][index]
    return torch.cat([kept[index], last[None]]) if best < 1e-6 else None


def check_no_dropout_is_deterministic(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool = False
) -> None:
    """With a rate of 0 training and eval agree."""
    made = make_layer(submission, case, kind, 0.0, norm_first)
    in_eval = made.run()
    look_at = "the dropout rate is the constructor's; nothing else is random"
    made.layer.train()
    in_training = made.run()
    for name, one, other in zip(made.names, in_training, in_eval, strict=True):
        expect_close(one, other, f"{name} in train mode with dropout 0", look_at)


def check_dropout_is_random_in_training_only(made: LayerCase) -> None:
    """Two passes differ in training and agree in eval; the weights are those of the attention in both."""
    first, second = made.run(), made.run()
    expect_close(second[0], first[0], "two passes in eval mode", "dropout does nothing in eval mode")
    made.layer.train()
    passes = [made.run()[0] for _ in range(2)]
    agree = torch.equal(*passes)
    expect(not agree, "two passes in train mode", "different results: dropout is random", "equal results", made.rule)


def check_gradients(made: LayerCase, case: Case) -> None:
    """The gradient reaches every parameter and the inputs, and has the right value."""
    floats = [tensor.requires_grad_() for tensor in made.inputs if tensor.is_floating_point()]
    output, *_ = made.run()
    direction = case.normal(*output.shape)
    run_backward(output, direction, "the output of the layer")
    parameters = list(made.layer.parameters())
    expect_gradients([*parameters, *floats], "gradients of the parameters and inputs", made.rule)
    actual = [tensor.grad for tensor in (*parameters, *floats)]
    others = [tensor.detach().clone().requires_grad_() for tensor in parameters]
    made.inputs = tuple(i.detach().clone().requires_grad_() if i.is_floating_point() else i for i in made.inputs)
    try:
        sublayers = find_sublayers(made, [output, *_], others)
    except CheckFailed:
        return  # wrong values are for another test
    run_backward(sublayers.run()[0], direction, "the expected output")
    inputs = [tensor for tensor in made.inputs if tensor.is_floating_point()]
    for got, wanted in zip(actual, [*others, *inputs], strict=True):
        if wanted.grad is not None:  # the layer's own vectors count as constants where it writes its attention out
            expect_close(got, wanted.grad, "a gradient", "nothing is detached on the way, residuals included")


def check_arguments_stay(made: LayerCase) -> None:
    """The inputs are not changed, and no state is kept."""
    before = copies(made.inputs)
    first = made.run()
    expect_unchanged(made.inputs, before, made.argument_names)
    for name, part, old in zip(made.names, made.run(), first, strict=True):
        expect_close(part, old, f"{name}: the same call again", "no state is kept between calls")
