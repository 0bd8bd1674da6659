"""Encoder, decoder and Transformer in many situations; see `situations`. Everything inside is a stand-in."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from autograder.assignment.parameter_roles.parts import Norm, norm_readings, take_census
from autograder.assignment.stand_ins.formulas import decoder_layer, encoder_layer, name_tokens, place, trace
from autograder.testing.case import Case
from autograder.testing.comparison import difference, expect
from autograder.testing.covering import Covering, Occurring
from autograder.testing.under_test import SubmissionUnderTest

from .models import DECODE, ENCODE
from .situations import (
    FREE,
    GRADIENTS,
    LAYOUTS,
    LEARNING,
    LENGTHS,
    MASKS,
    OF_MODULES,
    OF_SEVERAL,
    SHAPES,
    VALUES,
    Judged,
    Situation,
    by_object,
    draw_layer_inputs,
    draw_length,
    draw_mask,
    draw_shape,
    in_turn,
    judge,
    lay_out,
    masks_before,
    nearest,
)

FACTORS: dict[str, Sequence[Any]] = {
    "made": (
        ("few", "float64"),
        ("one head, d_ff = d_model", "float32"),
        ("one layer, one feature a head, d_ff < d_model", "float64"),
    ),
    "shape": SHAPES,
    "mask": MASKS,
    "gradients": GRADIENTS,
    "history": OF_MODULES,
    "layout": LAYOUTS,
    "values": VALUES,
    "training": (False, True),
}
OF_MEMORY: dict[str, Sequence[Any]] = {"gradients": OF_SEVERAL, "s": LENGTHS, "src_mask": MASKS}
EXTREME: list[dict[str, Any]] = [
    {"made": ("one feature", "float32")},
    {"made": ("many", "float64"), "history": "nothing"},
]
SITUATIONS = {
    ("Encoder", False): Covering(FACTORS, EXTREME),
    ("Decoder", False): Covering(FACTORS | OF_MEMORY, [*EXTREME, FREE]),
    ("Encoder", True): Occurring(FACTORS, EXTREME[:1]),
    ("Decoder", True): Occurring(FACTORS | OF_MEMORY, EXTREME[:1]),
}
SETTINGS = {
    # n_heads, d_head, d_ff, n_layers, dropout
    "few": (3, 2, 15, 2, 0.3),
    "one head, d_ff = d_model": (1, 4, 4, 2, 0.0),
    "one layer, one feature a head, d_ff < d_model": (5, 1, 3, 1, 1.0),
    "one feature": (1, 1, 6, 2, 0.1),
    "many": (3, 12, 40, 11, 0.5),
}
ARGUMENTS = {"Encoder": ("x", "mask"), "Decoder": ("x", "memory", "src_mask", "tgt_mask")}
PARTS = {"Encoder": ("x", "weights"), "Decoder": ("x", "self_weights", "cross_weights")}
LOOK_AT = "every layer once, each with the output of the one before, the masks, and the settings of the constructor"

CLEARLY = 1e-4
"""Weights that agree so well are those of the same layer."""

Layer = Callable[..., tuple[Tensor, ...]]


def check_stack(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool = False) -> None:
    """A stack in situations in which any two levels of two factors meet."""
    options: dict[str, Any] = {"norm_first": True} if norm_first else {}
    for (made, dtype), rows in by_object(SITUATIONS[kind, norm_first].rows(case)):
        n_heads, d_head, d_ff, n_layers, dropout = SETTINGS[made]
        d_model = n_heads * d_head
        sizes = d_model, n_heads, d_ff, n_layers, dropout
        stack = submission.build(f"model.{kind}", *sizes, dtype=dtype, **options).eval()
        parameters = randomise(case, stack, d_model)
        leaves = [parameter.detach().double().requires_grad_() for parameter in parameters]
        extra = trace(d_ff, dropout, norm_first)
        situations = [situation_of(case, kind, row, d_model, n_heads) for row in rows]
        plain = plain_situation(case, kind, d_model, dtype)
        _, *results = [first, *_] = in_turn(submission, stack, [plain, *situations])
        layers = layers_of(leaves, d_model, n_heads, extra, kind)
        wanted = f"{n_layers} layers with parameters of their own"
        expect(len(layers) == n_layers, f"the stack with n_layers = {n_layers}", wanted, f"{len(layers)}", LOOK_AT)
        ordered = in_order(layers, plain, first, kind)
        norm = last_norm(leaves, d_model) if norm_first else None
        pairs = list(zip(parameters, leaves, strict=True))
        what = f"the output of the stack with n_layers = {n_layers}, d_model = {d_model}, d_ff = {d_ff}"
        judged = Judged(what, ARGUMENTS[kind], PARTS[kind], expected_of(ordered, norm), pairs, LOOK_AT)
        judge(case, judged, situations, results)


def randomise(case: Case, module: nn.Module, d_model: int) -> list[nn.Parameter]:
    """The parameters, with random values that are smaller where sums are longer."""
    parameters = list(module.parameters())
    case.randomise(parameters, scale=min(0.5, 1.2 * d_model**-0.5))
    return parameters


def plain_situation(case: Case, kind: str, d_model: int, dtype: torch.dtype) -> Situation:
    """A call that tells the layers apart."""
    x = case.normal(2, 4, d_model).to(dtype)
    inputs = (x, None) if kind == "Encoder" else (x, case.normal(2, 5, d_model).to(dtype), None, None)
    return Situation(inputs, {"gradients": "no_grad"})


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


def distance(one: Any, other: Tensor) -> float:
    """How far something is from a tensor."""
    fits = isinstance(one, Tensor) and one.shape == other.shape
    return difference(one, other) if fits else float("inf")


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
    return Situation(inputs, row, training=row["training"], earlier=masks_before(case, inputs))


OF_MODEL = Covering(
    {
        **{name: levels for name, levels in FACTORS.items() if name != "values"},
        "method": ("encode", "decode"),
        "ids": ("any", "the last"),
        "s": LENGTHS,
        "src_mask": MASKS,
    },
    [
        *({"made": ("many", "float64"), "method": method, "ids": "the last"} for method in ("encode", "decode")),
        *({"made": ("one feature", "float32"), "method": method} for method in ("encode", "decode")),
        FREE | {"method": "decode"},
        *(LEARNING | {"method": "decode", "shape": shape} for shape in SHAPES),
    ],
)
VOCABULARIES = {"few": (9, 13), "one feature": (12, 8), "many": (290, 300)}
"""Of equal size in all other cases."""
NAMES = {
    "encode": (("src", "encoder_mask"), ("memory", "weights"), ENCODE),
    "decode": (("tgt", "memory", "src_mask", "tgt_mask"), ("output", "self_weights", "cross_weights"), DECODE),
}


def check_model(submission: SubmissionUnderTest, case: Case) -> None:
    """Encode and decode of the Transformer in situations in which any two levels of two factors meet."""
    for (made, dtype), rows in by_object(OF_MODEL.rows(case)):
        n_heads, d_head, d_ff, n_layers, dropout = SETTINGS[made]
        d_model, sizes = n_heads * d_head, VOCABULARIES.get(made, (11, 11))
        model = submission.build("model.Transformer", *sizes, d_model, n_heads, d_ff, n_layers, dropout, dtype=dtype)
        parameters = randomise(case, model.eval(), d_model)
        leaves = [parameter.detach().double().requires_grad_() for parameter in parameters]
        situations = [model_situation(case, row, d_model, n_heads, sizes, dropout, dtype) for row in rows]
        results = in_turn(submission, model, situations)
        extra = trace(d_ff, dropout, False, n_layers)
        check_predictions(submission, case, model, leaves, (sizes[1], d_model), dtype)
        for method, (arguments, parts, look_at) in NAMES.items():
            chosen = [number for number, situation in enumerate(situations) if situation.method == method]
            own, got = [situations[number] for number in chosen], [results[number] for number in chosen]
            side = 0 if method == "encode" else 1
            layers = layers_of(leaves, d_model, n_heads, extra, "Decoder" if side else "Encoder")
            tables = [leaf for leaf in leaves if tuple(leaf.shape) == (sizes[side], d_model)]
            found = [model_of(table, layer, n_layers) for table in tables for layer in layers]
            what = f"{parts[0]} for vocabularies of {sizes[0]} and {sizes[1]}, d_model = {d_model}, d_ff = {d_ff}"
            expect(bool(found), what, "parameters of an embedding and a stack", "none", look_at)
            if own:
                pairs = list(zip(parameters, leaves, strict=True))
                expected = closest(found, own, got)
                judge(case, Judged(what, arguments, parts, expected, pairs, look_at, dtype), own, got)


def check_predictions(
    submission: SubmissionUnderTest,
    case: Case,
    model: Any,
    leaves: Sequence[Tensor],
    sizes: tuple[int, int],
    dtype: torch.dtype,
) -> None:
    """Log-probabilities of the target vocabulary, in each mode."""
    weights = [leaf.detach() for leaf in leaves if tuple(leaf.shape) == sizes]
    biases = [leaf.detach() for leaf in leaves if tuple(leaf.shape) == sizes[:1]]
    biases.append(torch.zeros(sizes[0], dtype=torch.float64))
    rows = [{"gradients": gradients} for gradients in ("of inputs", "no_grad", "inference_mode")]
    outputs = [case.normal(*shape, sizes[1]).to(dtype) for shape in ((2, 3), (1, 13), (9, 1))]
    pairs = zip(outputs, rows, strict=True)
    situations = [Situation((output,), row, method="get_predictions") for output, row in pairs]
    results = in_turn(submission, model, situations)
    candidates = [predictions_of(weight, bias) for weight in weights for bias in biases]
    what = f"the predictions for a vocabulary of {sizes[0]} and d_model = {sizes[1]}"
    expect(bool(candidates), what, "a projection to the vocabulary", "no such parameter")
    judged = Judged(what, ("output",), ("predictions",), nearest(candidates, situations, results))
    judge(case, judged, situations, results)


def predictions_of(weight: Tensor, bias: Tensor) -> Any:
    """What get_predictions should return."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> list[Tensor]:
        return [torch.log_softmax(inputs[0] @ weight.T + bias, -1)]

    return expected


def closest(found: Sequence[Any], situations: Sequence[Situation], results: Sequence[Any]) -> Any:
    """What explains the first parts of most results."""

    def explained(expected: Any) -> int:
        count = 0
        for situation, result in zip(situations, results, strict=True):
            inputs = tuple(t.double() if t is not None and t.is_floating_point() else t for t in situation.inputs)
            with torch.no_grad():
                wanted = expected(situation, inputs)[0]
            first = result[0] if isinstance(result, (tuple, list)) and result else None
            count += distance(first, wanted) < 1e-3
        return count

    return found[0] if len(found) == 1 else max(found, key=explained)


def model_of(table: Tensor, layer: Layer, n_layers: int) -> Any:
    """What encode or decode should return."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> list[Any]:
        ids, *others = inputs
        x, *weights = layer(place(name_tokens(ids, table)), *others)
        return [x, *([one] * n_layers for one in weights)]

    return expected


def model_situation(
    case: Case,
    row: dict[str, Any],
    d_model: int,
    n_heads: int,
    sizes: tuple[int, int],
    dropout: float,
    dtype: torch.dtype,
) -> Situation:
    """A call as a row of the covering array says."""
    is_decoder = row["method"] == "decode"
    b, t = draw_shape(case, row["shape"], d_model)
    vocabulary = sizes[is_decoder]
    ids = case.tokens(vocabulary, b, t)
    if row["ids"] == "the last":
        ids[:, -1] = vocabulary - 1
    ids = lay_out(ids, row["layout"])
    mask = draw_mask(case, row["mask"], b, n_heads, t, t)
    inputs: tuple[Tensor | None, ...] = (ids, mask)
    if is_decoder:
        s = draw_length(case, row["s"], t)
        memory = lay_out(case.normal(b, s, d_model).to(dtype), row["layout"])
        inputs = (ids, memory, draw_mask(case, row["src_mask"], b, n_heads, t, s), mask)
    training = row["training"] and dropout == 0
    return Situation(inputs, row, method=row["method"], training=training, earlier=masks_before(case, inputs))
