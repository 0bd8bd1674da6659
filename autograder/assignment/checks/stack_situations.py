"""Encoder, decoder and Transformer in many situations; see `situations`. Everything inside is a stand-in."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from autograder.assignment.parameter_roles.parts import Norm, norm_readings, take_census
from autograder.assignment.stand_ins.formulas import decoder_layer, encoder_layer, trace
from autograder.testing.case import Case
from autograder.testing.code_numbers import MOST
from autograder.testing.comparison import expect
from autograder.testing.covering import Covering, Occurring
from autograder.testing.under_test import SubmissionUnderTest

from .layer_case import ARGUMENTS, PARTS
from .layer_situations import settings_of as settings_of_layers
from .situations import levels
from .situations.drawing import counted_of, draw_layer_inputs, masks_before
from .situations.judging import Judged, distance, in_turn, judge, leaves_of
from .situations.situation import Situation
from .situations.sizes_in_code import built_by_numbers, led_by_numbers

FACTORS: dict[str, Sequence[Any]] = {
    "made": (
        ("few", "float64"),
        ("one head, d_ff = d_model", "float32"),
        ("one layer, one feature a head, d_ff < d_model", "float64"),
    ),
    **levels.OF_LAYERS,
}
EXTREME: list[dict[str, Any]] = [
    {"made": ("one feature", "float32")},
    *(levels.LEARNING | {"made": ("many", "float64"), "training": training} for training in (False, True)),
    levels.LEARNING | {"made": ("idle", "float64")},
]
SITUATIONS = {
    ("Encoder", False): Covering(
        FACTORS,
        EXTREME
        + levels.learning_with(mask=levels.MASKS)
        + levels.NOTHING_LEFT
        + levels.REMARKABLE
        + levels.AFTER_MASKS
        + levels.AS_TRAINED
        + levels.ALMOST_FREE
        + [levels.ALIKE, levels.SILENT[0]],
    ),
    ("Decoder", False): Covering(
        FACTORS | levels.OF_MEMORY,
        [
            *EXTREME,
            levels.LEARNING | levels.FREE,
            levels.ALIKE,
            *levels.learning_with(s=levels.LENGTHS, src_mask=levels.MASKS),
            *levels.AGAIN,
            levels.OTHERS,
            levels.MANY_KEYS,
            *levels.NOTHING_LEFT,
            *levels.REMARKABLE,
            *levels.AS_TRAINED,
            *levels.ALMOST_FREE,
            levels.SILENT[0],
        ],
    ),
    ("Encoder", True): Occurring(FACTORS, EXTREME + levels.NOTHING_LEFT[:1] + levels.REMARKABLE + levels.SILENT[:1]),
    ("Decoder", True): Occurring(
        FACTORS | levels.OF_MEMORY, EXTREME + levels.NOTHING_LEFT + levels.REMARKABLE + levels.SILENT[:1]
    ),
}
SETTINGS: dict[str, levels.Sizes] = {
    # n_heads, d_head, d_ff, n_layers, dropout
    "few": (3, 2, 15, 2, 0.3),
    "one head, d_ff = d_model": (1, 4, 4, 2, 0.0),
    "one layer, one feature a head, d_ff < d_model": (5, 1, 3, 1, 1.0),
    "one feature": (1, 1, 6, 2, 0.1),
    "many": (3, 12, 40, 11, 0.5),
    "idle": (2, 2, 7, 5, 0.2),
}
"""Settings by name; of `idle` layers all but one return what they get."""
LOOK_AT = "every layer once, each with the output of the one before, the masks, and the settings of the constructor"

FEWEST_LAYERS, MANY_LAYERS = 3, 24
"""Numbers in the code of a stack that may be about its layers."""

CLEARLY = 1e-4
"""Weights that agree so well are those of the same layer."""

Layer = Callable[..., tuple[Tensor, ...]]


def check_stack(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool = False) -> None:
    """A stack in situations in which any two levels of two factors meet."""
    options: dict[str, Any] = {"norm_first": True} if norm_first else {}
    led = led_by_numbers(submission, case, f"model.{kind}", 4, made=("one head, d_ff = d_model", "float32"))
    led += built_by_numbers(submission, case, f"model.{kind}", settings_of, FEWEST_LAYERS, MOST)
    for (made, dtype), rows in levels.by_object(SITUATIONS[kind, norm_first].rows(case, led)):
        n_heads, d_head, d_ff, n_layers, dropout = levels.size_of(made, SETTINGS)
        d_model = n_heads * d_head
        sizes = d_model, n_heads, d_ff, n_layers, dropout
        stack = submission.build(f"model.{kind}", *sizes, dtype=dtype, **options).eval()
        parameters = randomise(case, stack, d_model)
        if made == "idle":
            make_idle(case, kind, parameters, d_model)
        leaves = leaves_of(parameters)
        extra = trace(d_ff, dropout, norm_first)
        situations = [situation_of(case, kind, row, d_model, n_heads) for row in rows]
        plain = plain_situation(case, kind, d_model, dtype)
        _, *results = [first, *_] = in_turn(submission, stack, [plain, *situations], dtype == torch.float32)
        layers = layers_of(leaves, d_model, n_heads, extra, kind)
        wanted = f"{n_layers} layers with parameters of their own"
        expect(len(layers) == n_layers, f"the stack with n_layers = {n_layers}", wanted, f"{len(layers)}", LOOK_AT)
        ordered = in_order(layers, plain, first, kind)
        norm = last_norm(leaves, d_model) if norm_first else None
        pairs = list(zip(parameters, leaves, strict=True))
        what = f"the output of the stack with n_layers = {n_layers}, d_model = {d_model}, d_ff = {d_ff}"
        judged = Judged(what, PARTS[kind], expected_of(ordered, norm), pairs, LOOK_AT)
        judge(case, judged, situations, results)


def settings_of(one: int, other: int) -> Iterator[levels.Sizes]:
    """Settings of stacks with these sizes, and with so many layers, without dropout."""
    for n_heads, d_head, d_ff, dropout in settings_of_layers(one, other):
        yield n_heads, d_head, d_ff, 2, dropout
    if max(one, other) <= MANY_LAYERS:
        yield 1, 2, 5, one, 0.0


def randomise(case: Case, module: nn.Module, d_model: int) -> list[nn.Parameter]:
    """The parameters, with random values that are smaller where sums are longer."""
    parameters = list(module.parameters())
    case.randomise(parameters, scale=min(0.5, 1.2 * d_model**-0.5))
    return parameters


def make_idle(case: Case, kind: str, parameters: Sequence[Tensor], d_model: int) -> None:
    """Writes zeros into all layers but one."""
    census = take_census([parameter.detach() for parameter in parameters], d_model)
    layers = census.encoder_layers if kind == "Encoder" else census.decoder_layers
    for layer in case.shuffle(layers)[1:]:
        layer.zero_()


def plain_situation(case: Case, kind: str, d_model: int, dtype: torch.dtype) -> Situation:
    """A call that tells the layers apart."""
    x = case.normal(2, 4, d_model).to(dtype)
    inputs = (x, None) if kind == "Encoder" else (x, case.normal(2, 5, d_model).to(dtype), None, None)
    return Situation(inputs, ARGUMENTS[kind], {"gradients": "no_grad"})


def layers_of(leaves: Sequence[Tensor], d_model: int, n_heads: int, extra: float, kind: str) -> list[Layer]:
    """What each layer computes."""
    census = take_census(leaves, d_model)
    if kind == "Encoder":
        return [encoder_of(mix, n_heads, extra) for mix in census.encoder_layers]
    return [decoder_of(mix, n_heads, extra) for mix in census.decoder_layers]


def encoder_of(mix: Tensor, n_heads: int, extra: float) -> Layer:
    """The stand-in's encoder layer with these numbers."""
    return lambda x, mask: encoder_layer(x, mask, mix, n_heads, extra)


def decoder_of(mix: Tensor, n_heads: int, extra: float) -> Layer:
    """The stand-in's decoder layer with these numbers."""
    return lambda x, memory, src_mask, tgt_mask: decoder_layer(x, memory, src_mask, tgt_mask, mix, n_heads, extra)


def in_order(layers: list[Layer], plain: Situation, result: Any, kind: str) -> list[Layer]:
    """The layers in the order in which their weights come; as they are where the weights do not tell."""
    lists = result[1] if isinstance(result, (tuple, list)) and len(result) == len(PARTS[kind]) else None
    if not isinstance(lists, (tuple, list)) or len(lists) != len(layers):
        return layers
    left, ordered = list(layers), []
    x, *others = (tensor.double() if isinstance(tensor, Tensor) else None for tensor in plain.inputs)
    with torch.no_grad():
        for weights in lists:
            best, nearest_x, least = 0, x, float("inf")
            for number, layer in enumerate(left):
                outputs = layer(x, *others)
                if (error := distance(weights, outputs[1])) < least:
                    best, nearest_x, least = number, outputs[0], error
                if error < CLEARLY:
                    break
            ordered.append(left.pop(best))
            x = nearest_x
    return ordered


def last_norm(leaves: Sequence[Tensor], d_model: int) -> Norm | None:
    """The LayerNorm that ends a pre-norm stack."""
    [[norms, _], *_] = [*norm_readings(take_census(leaves, d_model), 1, d_model), ([None], None)]
    return norms[0]


def expected_of(layers: Sequence[Layer], norm: Norm | None) -> Any:
    """What the stack should return."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> list[Any]:
        x, *others = inputs
        seen = []
        for layer in layers:
            x, *weights = layer(x, *others)
            seen.append(weights)
        return [x if norm is None else norm(x), *(list(column) for column in zip(*seen, strict=True))]

    return expected


def situation_of(case: Case, kind: str, row: dict[str, Any], d_model: int, n_heads: int) -> Situation:
    """A call as a row of the covering array says."""
    inputs = draw_layer_inputs(case, row, d_model, n_heads, kind == "Decoder")
    earlier = masks_before(case, row, inputs)
    return Situation(inputs, ARGUMENTS[kind], row, counted_of(inputs), training=row["training"], earlier=earlier)
