"""Tasks 2.1 and 2.2: encoder and decoder layer; with norm_first, extension E.2.

x becomes norm(x + sublayer(x)); with norm_first, x + sublayer(norm(x)). Attention, feed-forward network and LayerNorm
inside are stand-ins, so that mistakes in them cost nothing here. Expected are PyTorch's own layers around the same
stand-ins. How such tests are written: `autograder.testing.subject`.

`layer.draw((b, t, s), masks)` makes the arguments of the call, for b sentences with t positions of x, in which there
are vectors of zeros, and s of the memory: x (b, t, d) and mask for the encoder's layer; x, memory (b, s, d), src_mask
and tgt_mask for the decoder's. The masks, for x and for the memory: "none"; "padding", any mask (b, 1, t, t) and one
of padding (b, 1, 1, s); "two axes", (t, t) and (t, s); "each head", (b, h, t, t) and (b, h, t, s); "a query without
keys", the same, for the decoder's memory alone; "of x alone", any mask (b, 1, t, t).

Layers are in eval mode, which must switch off their dropout of 0.3; masks, gradients and side effects are judged
without dropout, so that this mistake costs one item. Rows in float32 run without gradients, all others in float64. A
test's item is a line of the rubric in `assignment.toml`, which also says what else is lost with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import pytest
import torch
from torch import Tensor

from assignment.expected.dropout import expect_dropped_entries
from assignment.expected.flows import flow_of
from assignment.expected.layers import Sizes
from assignment.expected.masks import draw_pair, expect_right_or_masks_obeyed
from assignment.expected.subjects import PARTS_OF_LAYERS as RETURNED
from assignment.expected.subjects import layer as layer_of
from autograder.testing.arguments import copies_of
from autograder.testing.case import ALMOST_ALL, Case, SubmissionUnderTest, each_dtype, in_dtypes, in_float32, rows_of
from autograder.testing.comparison import alike
from autograder.testing.fitting import Computation, first_part
from autograder.testing.results import OtherPartsError
from autograder.testing.side_effects import expect_no_side_effects
from autograder.testing.subject import Subject

LAYERS = [
    pytest.param("EncoderLayer", False, marks=pytest.mark.task_2_1, id="EncoderLayer"),
    pytest.param("DecoderLayer", False, marks=pytest.mark.task_2_2, id="DecoderLayer"),
    pytest.param("EncoderLayer", True, marks=pytest.mark.task_e_2, id="EncoderLayer, norm_first"),
    pytest.param("DecoderLayer", True, marks=pytest.mark.task_e_2, id="DecoderLayer, norm_first"),
]
each_layer = pytest.mark.parametrize("kind, norm_first", LAYERS)
OF_POST_NORM = [pytest.param(*row.values[:1], marks=row.marks) for row in LAYERS if not row.values[1]]
# The rubric of E.2, which norm_first belongs to, has no items for what these test.
each_post_norm_layer = pytest.mark.parametrize("kind", OF_POST_NORM)
RULES = {
    False: "for each sublayer in turn: what does it read, with which mask, what is added, and what is normalised?",
    True: "for each sublayer in turn: what is normalised, what does it read, with which mask, and what is added?",
}

CASES = {  # n_heads, d_head and d_ff; b, t and s
    "more heads than sentences": ((3, 2, 13), (2, 5, 4)),
    "fewer queries than keys": ((2, 3, 11), (3, 4, 5)),
    "one position": ((2, 3, 11), (1, 1, 1)),
    "many positions": ((1, 4, 9), (2, 66, 70)),
}
MASKS = {  # likewise, and which masks
    "padding masks": ((2, 3, 11), (3, 4, 5), "padding"),
    "masks of two axes": ((2, 2, 10), (3, 4, 6), "two axes"),
    "masks of each head": ((2, 3, 11), (2, 3, 4), "each head"),
    "a query without keys": ((2, 3, 11), (2, 4, 4), "a query without keys"),
    "equal sizes": ((3, 1, 3), (3, 3, 3), "padding"),
    "many positions": ((1, 4, 9), (2, 66, 70), "padding"),
    "no mask for the memory": ((2, 2, 10), (2, 4, 4), "of x alone"),
}

SPECIAL = {"special cases": ["one position", "many positions"]}
ROWS = in_dtypes(CASES, in_float32=["fewer queries than keys"])  # with norm_first only these two:
OF_EXTENSIONS = [("fewer queries than keys", torch.float32), ("one position", torch.float64)]
*ROWS_OF_MASKS, OF_DECODERS = in_dtypes(MASKS, in_float32=["padding masks"])  # likewise:
MASKS_OF_EXTENSIONS = [("padding masks", torch.float32)]


@pytest.mark.item("sublayers")
@pytest.mark.parametrize("kind, norm_first, name, dtype", rows_of(LAYERS, ROWS, OF_EXTENSIONS, SPECIAL))
def test_layer(
    submission: SubmissionUnderTest, case: Case, name: str, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff), axes = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    layer = layer_of(submission, case, kind, sizes, dtype=dtype)
    layer.expect_values(layer.draw(axes, "none"), RULES[norm_first], of=["x"])


@pytest.mark.item("masks")
@pytest.mark.parametrize(
    "kind, norm_first, name, dtype",
    [*rows_of(LAYERS, ROWS_OF_MASKS, MASKS_OF_EXTENSIONS), *rows_of(LAYERS[1:2], [OF_DECODERS], ())],
)
def test_masks(
    submission: SubmissionUnderTest, case: Case, name: str, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff), axes, masks = MASKS[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    make = partial(layer_of, submission, case, kind, sizes, dropout=0.0, dtype=dtype)
    layer = make()
    inputs = layer.draw(axes, masks)
    # What train mode does without a mask is another item.
    if masks == "two axes" and make().is_same_in_train_mode(layer.draw(axes, "none")):
        layer.call.train()
    expect_right_or_masks_obeyed(layer, inputs, "which attention gets which mask?")


@pytest.mark.item("returned weights")
@each_layer
def test_weights(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool) -> None:
    layer = layer_of(submission, case, kind, Sizes(6, 2, 11, norm_first))
    look_at = "the weights of each attention, (b, h, q, k), in the order that the docstring gives"
    inputs = layer.draw((3, 4, 5), "none")
    try:
        layer.expect_values(inputs, look_at, of=RETURNED[kind][1:])
    except OtherPartsError:
        if (weights := layer.find_weights()) is None:
            raise
        names = RETURNED[kind][1:]

        def returned(*given: Tensor | None) -> object:
            results = layer.call(*given)[1:]
            return results if len(names) > 1 else results[0]

        Subject(returned, names, [weights]).expect_values(inputs, look_at)


@pytest.mark.item("dropout")
@each_layer
@pytest.mark.parametrize("dropout", [0.0, ALMOST_ALL], ids=["none", "almost all"])
def test_dropout_acts_on_the_sublayers(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool, dropout: float
) -> None:
    layer = layer_of(submission, case, kind, Sizes(6, 2, 11, norm_first), dropout)
    inputs = layer.draw((3, 11, 5), "none")
    # Without vectors of zeros, whose norm epsilon decides.
    inputs = {**inputs, "x": case.normal(3, 11, layer.sizes.d_model)}
    look_at = "on which tensors does dropout act, at which point, and with which rate?"
    layer.call.train()
    if isinstance(layer.formulas, Exception):  # the layer lacks parts, or has others; or it cannot even be called
        layer.call(*copies_of(inputs.values()))
        raise layer.formulas

    def output(*arguments: Tensor | None) -> object:  # the weights are free: dropout may act on them, too
        return first_part(layer.call(*arguments), RETURNED[kind])

    judged: Subject = layer
    if dropout:
        # It drops nearly all: the output must be that of the same layer in which every sublayer's output is 0.
        formulas = [partial(first_without_sublayers, formula) for formula in layer.formulas]
        judged = Subject(output, ["x"], formulas, inside=partial(what_is_dropped, output, layer.formulas, kind))
    else:
        if layer.census.others:  # what these drop by themselves is free
            layer.train_unless_random(inputs)
        judged = replace(layer, inside=partial(what_is_dropped, output, layer.formulas, kind, at_rate_0=AT_RATE_0))
    judged.expect_values(inputs, look_at, of=["x"])


AT_RATE_0 = "made with dropout = 0, in train mode: "


def what_is_dropped(
    output: Callable[..., Any],
    formulas: Sequence[Callable[..., Any]],
    kind: str,
    inputs: dict[str, Any],
    at_rate_0: str = "",
) -> str:
    """Count the outputs that dropout acts on, of a layer in train mode, or say that x is lost; "" otherwise."""
    returned = output(*inputs.values())
    if at_rate_0 and not alike(output(*inputs.values()), returned):
        return f"{at_rate_0}it drops at random"
    verb = f"{at_rate_0}nothing is left of" if at_rate_0 else "dropout acts on"
    doubled = [value if value is None else value.double() for value in inputs.values()]
    places = flow_of(kind).dropped
    for count in range(len(places), -1, -1):
        for spared in combinations(places, count):
            if any(alike(returned, formula(*doubled, kept=0.0, spared=spared)[0]) for formula in formulas):
                return f"{verb} {len(places) - count} of {len(places)} sublayers' outputs"
    other = {**inputs, "x": torch.randn_like(inputs["x"])}
    is_lost = alike(output(*other.values()), returned)
    return f"{at_rate_0}nothing is left of x: dropout acts on more than the sublayers' outputs" if is_lost else ""


def first_without_sublayers(formula: Computation, *arguments: Tensor) -> object:
    return formula(*arguments, kept=0.0)[0]


@pytest.mark.item("dropout")
@each_post_norm_layer
def test_dropout_of_single_entries(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    expect_dropped_entries(partial(layer_of, submission, case, kind, Sizes(8, 2, 11)))


@pytest.mark.item("gradients")
@each_layer
@each_dtype
def test_gradients(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    layer = layer_of(submission, case, kind, Sizes(6, 2, 11, norm_first), dropout=0.0, dtype=dtype)
    layer.expect_gradients(case, layer.draw((3, 4, 5), "none"), RULES[norm_first], of=["x"])


@pytest.mark.item("no side effects")
@each_post_norm_layer
@in_float32
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, kind: str, dtype: torch.dtype) -> None:
    layer = layer_of(submission, case, kind, Sizes(6, 2, 11), dropout=0.0, dtype=dtype)
    left = partial(submission.apply, "left_behind", layer.call, "forward")
    expect_no_side_effects(layer, *draw_pair(layer, partial(layer.draw, (2, 4, 5)), "each head"), left)
