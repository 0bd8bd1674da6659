"""Tasks 2.1 and 2.2: encoder and decoder layer; with norm_first, extension E.2.

Attention, feed-forward network and LayerNorms inside are stand-ins of known formulas, so that a fault in another task
costs nothing here. A layer that writes such a part out is accepted too.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.assignment.expected.layers import Layer, Sizes, check_parts, layers
from autograder.assignment.expected.parts import keeps_single_entries, take_census
from autograder.assignment.expected.readings import expect_plain
from autograder.assignment.expected.written_out import SIZES as UNLIKE
from autograder.assignment.expected.written_out import WrittenOut
from autograder.testing.arguments import Inputs, copies_of
from autograder.testing.calls import (
    Candidates,
    each_dtype,
    expect_computes,
    expect_no_state,
    in_dtypes,
    leaves_of,
    rows_of,
)
from autograder.testing.case import ALMOST_ALL, Case
from autograder.testing.comparison import expect, expect_gradients, expect_parts, expect_shape
from autograder.testing.results import CheckFailed, UnreadableError
from autograder.testing.under_test import SubmissionUnderTest

LAYERS = [
    pytest.param("EncoderLayer", False, marks=pytest.mark.task_2_1, id="EncoderLayer"),
    pytest.param("DecoderLayer", False, marks=pytest.mark.task_2_2, id="DecoderLayer"),
    pytest.param("EncoderLayer", True, marks=pytest.mark.task_e_2, id="EncoderLayer, norm_first"),
    pytest.param("DecoderLayer", True, marks=pytest.mark.task_e_2, id="DecoderLayer, norm_first"),
]
each_layer = pytest.mark.parametrize("kind, norm_first", LAYERS)
each_post_norm_layer = pytest.mark.parametrize(
    "kind",
    [
        pytest.param("EncoderLayer", marks=pytest.mark.task_2_1),
        pytest.param("DecoderLayer", marks=pytest.mark.task_2_2),
    ],
)
PARTS = {"EncoderLayer": ("x", "weights"), "DecoderLayer": ("x", "self_weights", "cross_weights")}
RULES = {
    False: "for each sublayer in turn: what does it read, with which mask, what is added, and what is normalised?",
    True: "for each sublayer in turn: what is normalised, what does it read, with which mask, and what is added?",
}


def draw(case: Case, kind: str, sizes: Sizes, axes: tuple[int, int, int], masks: str, dtype: torch.dtype) -> Inputs:
    """Random x (b, t, d), memory (b, s, d) and masks."""
    b, t, s = axes
    x, memory = case.normal(b, t, sizes.d_model, dtype=dtype), case.normal(b, s, sizes.d_model, dtype=dtype)
    mask = case.mask(b, 1, t, t)
    mask[-1] = mask[..., -1, :] = True  # nothing is forbidden in the last sentence, or to the last query
    own: Tensor | None = mask
    cross: Tensor | None = case.padding_mask(b, s)
    x[1:, -1] = 0
    if masks == "none":
        own = cross = None
    elif masks == "two axes":
        own, cross = torch.ones(t, t, dtype=torch.bool).tril(), case.mask(t, s)
    elif masks != "padding":
        mask = case.mask(b, sizes.n_heads, t, s)
        if masks == "a query without keys":
            mask[0, 0, 0] = False  # in one head
        own, cross = case.mask(b, sizes.n_heads, t, t), mask
    if kind == "EncoderLayer":
        return {"x": x, "mask": own}
    return {"x": x, "memory": memory, "src_mask": cross, "tgt_mask": own}


def make(
    submission: SubmissionUnderTest, case: Case, kind: str, sizes: Sizes, dropout: float, dtype: torch.dtype
) -> tuple[nn.Module, list[Tensor], Candidates, Sizes]:
    """A layer with random parameters in eval mode, leaves of these, and what it may compute with them."""
    settings: dict[str, Any] = {"n_heads": sizes.n_heads, "d_ff": sizes.d_ff, "dropout": dropout}
    settings |= {"norm_first": True} if sizes.norm_first else {}
    module = submission.build(f"layers.{kind}", sizes.d_model, **settings, dtype=dtype).eval()
    expect_plain(module)
    case.randomise(module.parameters(), scale=min(0.7, 1.8 * sizes.d_model**-0.5))
    n_attentions = len(PARTS[kind]) - 1
    leaves = leaves_of(list(module.parameters()))
    try:
        check_parts(list(module.parameters()), n_attentions, sizes)
    except UnreadableError:
        raise
    except CheckFailed as error:
        return module, leaves, error, sizes
    if found := list(layers(leaves, n_attentions, sizes)):
        return module, leaves, found, sizes
    unlike = replace(UNLIKE, norm_first=sizes.norm_first)
    if (sizes, dtype) != (unlike, torch.float64):
        return make(submission, case, kind, unlike, dropout, torch.float64)
    probe = draw(case, kind, sizes, (2, 4, 5), "none", dtype)
    own = WrittenOut(module, list(probe.values()), sizes, case.number(0.6, 1.4))
    leaves = leaves_of(list(module.parameters()))
    return module, leaves, [own.read(leaves)], sizes


def dtype_of(module: nn.Module, default: torch.dtype) -> torch.dtype:
    """That of the parameters; a layer of an unusual layout is made in float64."""
    return next((parameter.dtype for parameter in module.parameters()), default)


CASES = {  # n_heads, d_head and d_ff; b, t and s; masks
    "padding masks": ((2, 3, 11), (3, 4, 5), "padding"),
    "no masks": ((3, 2, 13), (2, 5, 4), "none"),
    "masks of two axes": ((2, 2, 10), (3, 4, 6), "two axes"),
    "a query without keys": ((2, 3, 11), (2, 3, 4), "a query without keys"),
    "equal sizes": ((3, 1, 3), (3, 3, 3), "padding"),
    "one position": ((2, 3, 11), (1, 1, 1), "none"),
    "many positions": ((1, 4, 9), (2, 66, 70), "padding"),
}


ROWS = in_dtypes(CASES, ["padding masks"])
OF_EXTENSIONS = [("padding masks", torch.float32), ("one position", torch.float64)]


@pytest.mark.item("sublayers")
@pytest.mark.parametrize("kind, norm_first, name, dtype", rows_of(LAYERS, ROWS, OF_EXTENSIONS))
def test_layer(
    submission: SubmissionUnderTest, case: Case, name: str, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff), axes, masks = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    module, _, candidates, sizes = make(submission, case, kind, sizes, 0.3, dtype)
    inputs = draw(case, kind, sizes, axes, masks, dtype_of(module, dtype))
    counted: tuple[Tensor | None, ...] = ()
    if masks == "a query without keys":  # what it gets is free
        outputs, weights = torch.ones(2, 3, 1), torch.ones(2, sizes.n_heads, 3, 1)
        outputs[0, 0] = weights[0, 0, 0] = 0
        counted = outputs, None, weights
    expect_computes(module, candidates, inputs, PARTS[kind], RULES[norm_first], counted=counted, about=["x"])


@pytest.mark.item("returned weights")
@each_layer
def test_weights(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool) -> None:
    module, _, candidates, sizes = make(submission, case, kind, Sizes(6, 2, 11, norm_first), 0.3, torch.float64)
    inputs = draw(case, kind, sizes, (3, 4, 5), "padding", torch.float64)
    look_at = "the weights of each attention, (b, h, q, k), in the order that the docstring gives"
    expect_computes(module, candidates, inputs, PARTS[kind], look_at, about=PARTS[kind][1:])


@pytest.mark.item("dropout")
@each_layer
@pytest.mark.parametrize("dropout", [0.0, ALMOST_ALL], ids=["none", "almost all"])
def test_dropout_acts_on_the_sublayers(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool, dropout: float
) -> None:
    sizes = Sizes(6, 2, 11, norm_first)
    module, _, candidates, sizes = make(submission, case, kind, sizes, dropout, torch.float64)
    inputs = draw(case, kind, sizes, (3, 4, 5), "padding", torch.float64)
    look_at = "on which tensors does dropout act, at which point, and with which rate?"
    module.train()
    if not dropout:
        expect_computes(module, candidates, inputs, PARTS[kind], look_at, about=["x"])
        return

    def output(*arguments: Tensor | None) -> object:  # the weights are free: dropout may act on them, too
        return expect_parts(module(*arguments), PARTS[kind], "what forward returns in train mode")[0]

    if isinstance(candidates, CheckFailed):
        raise candidates
    found = [layer for layer in candidates if isinstance(layer, Layer)]
    silenced = [partial(output_without_sublayers, replace(layer, kept=0.0)) for layer in found]
    expect_computes(output, silenced, inputs, ["x in train mode"], look_at)


def output_without_sublayers(silenced: Layer, *arguments: Tensor) -> Tensor:
    return silenced(*arguments)[0]


@pytest.mark.item("dropout")
@each_post_norm_layer
def test_dropout_of_single_entries(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    # With stand-ins of which only one sublayer computes anything, and LayerNorms that can be inverted, what dropout
    # has kept of that sublayer's output can be read from the result.
    sizes, rate = Sizes(8, 2, 11), 0.4
    module, _, _, sizes = make(submission, case, kind, sizes, rate, torch.float64)
    parameters = list(module.parameters())
    census = take_census(parameters, sizes.d_model)
    if census.others:
        return  # parts of its own cannot be silenced
    sublayers = [*census.attentions, *census.feed_forwards]
    inputs = draw(case, kind, sizes, (3, 5, 4), "padding", torch.float64)
    census.silence(sublayers, sizes.d_ff)
    silent = output_of(module, kind, inputs)
    for loud in sublayers:
        census.silence([mix for mix in sublayers if mix is not loud], sizes.d_ff)
        first, second = (output_of(module.train(), kind, inputs) for _ in range(2))
        whole = output_of(module.eval(), kind, inputs)
        look_at = "dropout acts on each sublayer's output: every entry is dropped, or divided by 1 - rate"
        what = "what train mode leaves of a sublayer's output"
        expect(
            not torch.equal(first, second), "two passes in train mode", "different results", "equal results", look_at
        )
        fits = [keeps_single_entries(first, whole, silent, rate, n) for n in range(len(census.norms) + 1)]
        expect(any(fits), what, "of each entry 0 or 1 / (1 - rate), independently", "other values", look_at)


def output_of(module: nn.Module, kind: str, inputs: Inputs) -> Tensor:
    """What the layer returns first."""
    output: Tensor = expect_parts(module(*copies_of(inputs.values())), PARTS[kind], "what forward returns")[0]
    return expect_shape(output, next(iter(inputs.values())).shape, "x").detach()  # type: ignore[union-attr]


@pytest.mark.item("gradients")
@each_layer
@each_dtype
def test_gradients(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    sizes = Sizes(6, 2, 11, norm_first)
    module, leaves, candidates, sizes = make(submission, case, kind, sizes, 0.3, dtype)
    parameters = list(module.parameters())
    masks = "padding" if dtype == torch.float64 else "none"
    inputs = draw(case, kind, sizes, (3, 4, 5), masks, dtype_of(module, dtype))
    pairs = list(zip(parameters, leaves, strict=True))
    options: dict[str, Any] = {"parameters": pairs, "case": case, "about": ["x"], "apart": True}
    if expect_computes(module, candidates, inputs, PARTS[kind], RULES[norm_first], **options):
        expect_gradients(parameters, "the gradients of the parameters", RULES[norm_first])


@pytest.mark.item("no side effects")
@each_post_norm_layer
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    module, _, candidates, sizes = make(submission, case, kind, Sizes(6, 2, 11), 0.3, torch.float32)
    dtype = dtype_of(module, torch.float32)
    inputs, others = (draw(case, kind, sizes, (2, 4, 5), "each head", dtype) for _ in range(2))
    expect_no_state(module, candidates, inputs, others, PARTS[kind])
