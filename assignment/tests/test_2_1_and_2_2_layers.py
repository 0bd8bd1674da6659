"""Tasks 2.1 and 2.2: encoder and decoder layer; with norm_first, extension E.2.

`layer.draw((b, t, s), masks)` makes the arguments of the call: x (b, t, d) and mask for the encoder's layer; x,
memory (b, s, d), src_mask and tgt_mask for the decoder's. Masks of x and of the memory are: "padding", (b, 1, t, t) and
(b, 1, 1, s); "two axes", (t, t) and (t, s); "each head", (b, h, t, t) and (b, h, t, s). Layers are in eval mode.

x becomes norm(x + sublayer(x)); with norm_first, x + sublayer(norm(x)). The parts inside are stand-ins.
"""

from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor

from assignment.expected.layers import Census, Layer, Sizes, drops_single_entries
from assignment.expected.masks_obeyed import expect_right_or_masks_obeyed
from assignment.expected.subjects import PARTS_OF_LAYERS as PARTS
from assignment.expected.subjects import LayerSubject
from autograder.testing.case import ALMOST_ALL, Case, each_dtype, in_dtypes, rows_of
from autograder.testing.comparison import expect, expect_parts
from autograder.testing.subject import Subject
from autograder.testing.submission import SubmissionUnderTest

LAYERS = [
    pytest.param("EncoderLayer", False, marks=pytest.mark.task_2_1, id="EncoderLayer"),
    pytest.param("DecoderLayer", False, marks=pytest.mark.task_2_2, id="DecoderLayer"),
    pytest.param("EncoderLayer", True, marks=pytest.mark.task_e_2, id="EncoderLayer, norm_first"),
    pytest.param("DecoderLayer", True, marks=pytest.mark.task_e_2, id="DecoderLayer, norm_first"),
]
each_layer = pytest.mark.parametrize("kind, norm_first", LAYERS)
OF_POST_NORM = [pytest.param(*one.values[:1], marks=one.marks) for one in LAYERS if not one.values[1]]
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
    "a query without keys": ((2, 3, 11), (2, 3, 4), "a query without keys"),
    "equal sizes": ((3, 1, 3), (3, 3, 3), "padding"),
    "many positions": ((1, 4, 9), (2, 66, 70), "padding"),
}

ROWS = in_dtypes(CASES, in_float32=["fewer queries than keys"])  # with norm_first only these two:
OF_EXTENSIONS = [("fewer queries than keys", torch.float32), ("one position", torch.float64)]
ROWS_OF_MASKS = in_dtypes(MASKS, in_float32=["padding masks"])  # likewise:
MASKS_OF_EXTENSIONS = [("padding masks", torch.float32)]


@pytest.mark.item("sublayers")
@pytest.mark.parametrize("kind, norm_first, name, dtype", rows_of(LAYERS, ROWS, OF_EXTENSIONS))
def test_layer(
    submission: SubmissionUnderTest, case: Case, name: str, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff), axes = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    layer = LayerSubject.make(submission, case, kind, sizes, dropout=0.3, dtype=dtype)
    layer.expect_values(layer.draw(axes, "none"), RULES[norm_first], of=["x"])


@pytest.mark.item("masks")
@pytest.mark.parametrize("kind, norm_first, name, dtype", rows_of(LAYERS, ROWS_OF_MASKS, MASKS_OF_EXTENSIONS))
def test_masks(
    submission: SubmissionUnderTest, case: Case, name: str, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff), axes, masks = MASKS[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    layer = LayerSubject.make(submission, case, kind, sizes, dropout=0.3, dtype=dtype)
    attentions = Census.of([parameter for parameter, _ in layer.parameters], sizes.d_model).attentions
    if masks == "a query without keys" and len(attentions) < len(PARTS[kind]) - 1:
        masks = "each head"  # what an attention of its own gives such a query is for task 1.2
    expect_right_or_masks_obeyed(layer, layer.draw(axes, masks), "which attention gets which mask?")


@pytest.mark.item("returned weights")
@each_layer
def test_weights(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool) -> None:
    layer = LayerSubject.make(submission, case, kind, Sizes(6, 2, 11, norm_first), dropout=0.3)
    look_at = "the weights of each attention, (b, h, q, k), in the order that the docstring gives"
    layer.expect_values(layer.draw((3, 4, 5), "none"), look_at, of=PARTS[kind][1:])


@pytest.mark.item("dropout")
@each_layer
@pytest.mark.parametrize("dropout", [0.0, ALMOST_ALL], ids=["none", "almost all"])
def test_dropout_acts_on_the_sublayers(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool, dropout: float
) -> None:
    layer = LayerSubject.make(submission, case, kind, Sizes(6, 2, 11, norm_first), dropout)
    inputs = layer.draw((3, 4, 5), "none")
    look_at = "on which tensors does dropout act, at which point, and with which rate?"
    layer.call.train()
    judged: Subject = layer
    if dropout:
        if isinstance(layer.formulas, Exception):  # the layer lacks parts, or has others
            raise layer.formulas

        def output(*arguments: Tensor | None) -> object:  # the weights are free: dropout may act on them, too
            return expect_parts(layer.call(*arguments), PARTS[kind], "what forward returns in train mode")[0]

        # It drops nearly all: the output must be that of the same layer in which every sublayer's output is 0.
        found = [formula for formula in layer.formulas if isinstance(formula, Layer)]
        without_sublayers = [partial(first_of, replace(one, kept=0.0)) for one in found]
        judged = Subject(output, ["x"], without_sublayers)
    judged.expect_values(inputs, look_at, of=["x"])


def first_of(formula: Layer, *arguments: Tensor) -> Tensor:
    return formula(*arguments)[0]


@pytest.mark.item("dropout")
@each_post_norm_layer
def test_dropout_of_single_entries(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    layer = LayerSubject.make(submission, case, kind, Sizes(8, 2, 11), dropout=RATE)
    census = Census.of([parameter for parameter, _ in layer.parameters], layer.sizes.d_model)
    if census.others:
        expect_varied_entries(LayerSubject.make(submission, case, kind, Sizes(8, 2, 11), dropout=HIGH_RATE))
    else:
        expect_dropped_entries(layer, census)


RATE, HIGH_RATE = 0.4, 0.96
LOOK_AT = "dropout acts on each sublayer's output: every entry is dropped, or divided by 1 - rate"


def expect_dropped_entries(layer: LayerSubject, census: Census) -> None:
    # One sublayer at a time computes something, the others return 0. The stand-in LayerNorms can be undone: where 0, 1,
    # … of them are, train mode must have left of each entry of eval mode 0 or 1 / (1 - rate).
    sublayers, d_ff = [*census.attentions, *census.feed_forwards], layer.sizes.d_ff
    inputs = layer.draw((3, 5, 4), "none")
    census.silence_only(sublayers, d_ff)
    layer.call.eval()
    of_none = layer.output(inputs)
    for sublayer in sublayers:
        census.silence_only([one for one in sublayers if one is not sublayer], d_ff)
        layer.call.train()
        first, second = layer.output(inputs), layer.output(inputs)
        layer.call.eval()
        whole = layer.output(inputs)
        is_random = not torch.equal(first, second)
        expect(is_random, "two passes in train mode", "different results", "equal results", LOOK_AT)
        fits = [drops_single_entries(first, whole, of_none, RATE, n) for n in range(len(census.norms) + 1)]
        what = "what train mode leaves of a sublayer's output"
        expect(any(fits), what, "of each entry 0 or 1 / (1 - rate), independently", "other values", LOOK_AT)


def expect_varied_entries(layer: LayerSubject) -> None:
    # Parts of its own cannot be silenced, the others are but for one. In some passes dropout leaves nothing at a
    # position, and the output there is the same in each of these: which passes agree must differ between positions. If
    # it drops whole vectors, n sublayers that compute something leave at most 2 ** n different ones.
    census = Census.of([parameter for parameter, _ in layer.parameters], layer.sizes.d_model)
    inputs, known = layer.draw((3, 5, 4), "none"), [*census.attentions, *census.feed_forwards]
    n_own = len(PARTS[layer.kind]) - len(known)
    layer.call.train()
    for active in (*known, *[None] * bool(n_own)):
        census.silence_only([one for one in known if one is not active], layer.sizes.d_ff)
        n_vectors = 2 ** (n_own + (active is not None))
        passes = torch.stack([layer.output(inputs) for _ in range(6 * n_vectors)], dim=2)  # (b, t, passes, d)
        agree = (passes[:, :, None] == passes[:, :, :, None]).all(-1)
        found = ["the same entries in all sentences"] * torch.equal(agree, agree[:1].expand_as(agree))
        found += ["the same entries at all positions"] * torch.equal(agree, agree[:, :1].expand_as(agree))
        n_most = max(len(one.unique(dim=0)) for one in passes.flatten(0, 1))
        found += ["whole vectors"] * (n_most <= n_vectors)
        expect(not found, "what dropout drops in train mode", "single entries", " and ".join(found), LOOK_AT)


@pytest.mark.item("gradients")
@each_layer
@each_dtype
def test_gradients(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    layer = LayerSubject.make(submission, case, kind, Sizes(6, 2, 11, norm_first), dropout=0.3, dtype=dtype)
    layer.expect_gradients(case, layer.draw((3, 4, 5), "none"), RULES[norm_first], of=["x"])


@pytest.mark.item("no side effects")
@each_post_norm_layer
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    layer = LayerSubject.make(submission, case, kind, Sizes(6, 2, 11), dropout=0.3, dtype=torch.float32)
    others = layer.draw((2, 4, 5), "each head")
    masks = "each head" if layer.works(others) else "none"
    others = others if masks == "each head" else layer.draw((2, 4, 5), masks)
    layer.expect_no_side_effects(layer.draw((2, 4, 5), masks), others)
