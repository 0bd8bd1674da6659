"""Encoder and decoder layer in many situations; see `situations`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.assignment.parameter_roles.parts import Network, Norm
from autograder.testing.case import ALMOST_ALL, Case
from autograder.testing.code_numbers import MOST
from autograder.testing.comparison import expect
from autograder.testing.covering import Covering, Occurring
from autograder.testing.under_test import SubmissionUnderTest

from .layer_case import LayerCase, Sublayers, build_layer, make_layer, stand_in
from .layers import find_sublayers
from .situations import levels
from .situations.drawing import counted_of, draw_layer_inputs, masks_before
from .situations.judging import Expected, Judged, in_turn, judge, leaves_of
from .situations.situation import Situation
from .situations.sizes_in_code import WIDEST, built_by_numbers, heads_and_features, led_by_numbers

FACTORS: dict[str, Sequence[Any]] = {
    "made": (
        ("few", "float64"),
        ("one head, d_ff = d_model", "float32"),
        ("one feature a head, d_ff < d_model", "float64"),
    ),
    **levels.OF_LAYERS,
}
EXTREME = [{"made": made} for made in (("one feature", "float64"), ("many", "float32")) * 2]
SITUATIONS = {
    ("EncoderLayer", False): Covering(
        FACTORS,
        EXTREME
        + levels.learning_with(mask=levels.MASKS)
        + levels.NOTHING_LEFT
        + levels.REMARKABLE
        + levels.SILENT
        + levels.AFTER_MASKS
        + levels.AS_TRAINED
        + levels.ALMOST_FREE
        + [levels.ALIKE],
    ),
    ("DecoderLayer", False): Covering(
        FACTORS | levels.OF_MEMORY,
        [
            *EXTREME,
            levels.LEARNING | levels.FREE,
            levels.ALIKE,
            *levels.learning_with(shape=levels.SHAPES, s=levels.LENGTHS, src_mask=levels.MASKS),
            *levels.AGAIN,
            levels.OTHERS,
            levels.MANY_KEYS,
            *levels.NOTHING_LEFT,
            *levels.REMARKABLE,
            *levels.SILENT,
            *levels.AS_TRAINED,
            *levels.ALMOST_FREE,
        ],
    ),
    ("EncoderLayer", True): Occurring(
        FACTORS,
        EXTREME[:2]
        + levels.learning_with(mask=levels.MASKS[:2])
        + levels.NOTHING_LEFT[:1]
        + levels.REMARKABLE
        + levels.SILENT[:2],
    ),
    ("DecoderLayer", True): Occurring(
        FACTORS | levels.OF_MEMORY,
        [
            *EXTREME[:2],
            *levels.learning_with(made=FACTORS["made"]),
            levels.LEARNING | levels.FREE,
            *levels.NOTHING_LEFT,
            *levels.REMARKABLE,
            *levels.SILENT,
        ],
    ),
}
SETTINGS: dict[str, levels.Sizes] = {
    # n_heads, d_head, d_ff, dropout; a dropout of 0 is judged in train mode too, and one of 1 in eval mode
    "one head, d_ff = d_model": (1, 4, 4, 0.0),
    "one feature a head, d_ff < d_model": (5, 1, 3, 1.0),
    "one feature": (1, 1, 6, 0.0),
    "many": (5, 7, 40, 0.0),
}


def check_situations(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool = False) -> None:
    """Output, weights and gradients in situations in which any two levels of two factors meet.

    The roles of the layer's parameters are found once; in objects of other sizes they are the same, number by number.
    """
    led = led_by_numbers(submission, case, f"layers.{kind}", 4, made=("one head, d_ff = d_model", "float32"))
    led += built_by_numbers(submission, case, f"layers.{kind}", settings_of, most=MOST)
    groups = dict(levels.by_object(SITUATIONS[kind, norm_first].rows(case, led)))
    first = make_layer(submission, case, kind, ALMOST_ALL, norm_first)
    leaves = leaves_of(first.layer)
    known = find_sublayers(first, first.run(), leaves)
    judge_layer(case, submission, known, leaves, groups.pop(("few", torch.float64), []))
    for (made, dtype), rows in groups.items():
        few = first.n_heads, case.size(2, 3), case.size(10, 20), 0.3
        n_heads, d_head, d_ff, dropout = levels.size_of(made, SETTINGS | {"few": few})
        layer = build_layer(submission, case, kind, (n_heads, d_head, d_ff), dropout, norm_first, dtype, by_name=True)
        others = leaves_of(layer.layer)
        try:
            sublayers = same_roles(known, leaves, layer, others)
        except LookupError:  # an attention that the layer writes out: its parts are read at other sizes only
            return
        judge_layer(case, submission, sublayers, others, rows)


def settings_of(one: int, other: int) -> Iterator[levels.Sizes]:
    """Settings of layers with these sizes, without dropout."""
    if max(one, other) > WIDEST:
        yield 1, 4, one, 0.0
        return
    for n_heads, d_head in heads_and_features(one, other):
        yield n_heads, d_head, other, 0.0


def same_roles(known: Sublayers, old: Sequence[Tensor], made: LayerCase, new: Sequence[Tensor]) -> Sublayers:
    """The parts of another layer, whose parameters have the roles of those of a layer that is known.

    Raises:
        LookupError: where a part is made from a parameter in some way that is not followed here.
    """

    def place(tensor: Tensor) -> int:
        found = [number for number, one in enumerate(old) if tensor is one or tensor._base is one]
        if len(found) != 1:
            raise LookupError
        return found[0]

    def matrix(tensor: Tensor, rows: int, columns: int) -> Tensor:
        number = place(tensor)
        is_turned = tensor.shape != old[number].squeeze().shape
        return new[number].reshape(columns, rows).mT if is_turned else new[number].reshape(rows, columns)

    mixes = [attention.keywords["mix"] for attention in known.attentions if isinstance(attention, partial)]
    if len(mixes) != len(known.attentions):
        raise LookupError
    wanted = f"{len(old)}, as with other sizes"
    sizes = f"d_model = {made.d_model}, n_heads = {made.n_heads}, d_ff = {made.d_ff}"
    expect(len(old) == len(new), f"how many parameters the layer has for {sizes}", wanted, f"{len(new)}", made.rule)
    attentions = [stand_in(new[place(mix)], made.n_heads) for mix in mixes]
    norms = []
    for norm in known.norms:
        gain, shift = new[place(norm.gain)], new[place(norm.shift)]
        both = (gain[0], gain[1]) if norm.is_stand_in else (gain.flatten(), shift.flatten())
        norms.append(Norm(*both, norm.is_stand_in))
    if not isinstance(known.network, Network):
        raise LookupError
    parts: tuple[Tensor, ...]
    if len(known.network.parameters) == 1:
        parts = (new[place(known.network.parameters[0])],)
    else:
        first, inner, second, outer = known.network.parameters
        biases = new[place(inner)].flatten(), new[place(outer)].flatten()
        d, f = made.d_model, made.d_ff
        parts = matrix(first, f, d), biases[0], matrix(second, d, f), biases[1]
    return Sublayers(made, tuple(attentions), Network(parts, made.d_ff), tuple(norms))


def judge_layer(
    case: Case,
    submission: SubmissionUnderTest,
    sublayers: Sublayers,
    leaves: Sequence[Tensor],
    rows: Sequence[dict[str, Any]],
) -> None:
    """One layer in all the situations of some rows."""
    made = sublayers.made
    situations = [situation_of(case, made, row) for row in rows]
    is_trained = next(made.layer.parameters()).dtype == torch.float32
    results = in_turn(submission, made.layer, situations, is_trained)
    pairs = list(zip(made.layer.parameters(), leaves, strict=True))
    what = f"the output of the layer for d_model = {made.d_model}, n_heads = {made.n_heads}, d_ff = {made.d_ff}"
    judged = Judged(what, made.names, expected_of(sublayers), pairs, made.rule)
    judge(case, judged, situations, results)


def expected_of(sublayers: Sublayers) -> Expected:
    """What a layer with these parts should return."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> list[Tensor]:
        is_silent = situation.training and sublayers.made.dropout == ALMOST_ALL
        return replace(sublayers, made=replace(sublayers.made, inputs=inputs), is_silent=is_silent).run()

    return expected


def situation_of(case: Case, made: LayerCase, row: dict[str, Any]) -> Situation:
    """A call as a row of the covering array says."""
    inputs = draw_layer_inputs(case, row, made.d_model, made.n_heads, made.is_decoder)
    training = row["training"] and made.dropout in (0, ALMOST_ALL)
    earlier = masks_before(case, row, inputs)
    return Situation(inputs, made.argument_names, row, counted_of(inputs), training=training, earlier=earlier)
