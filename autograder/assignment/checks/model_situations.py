"""Encode and decode of the Transformer in many situations; see `situations`. Everything inside is a stand-in."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.assignment.stand_ins.formulas import name_tokens, place, trace
from autograder.testing.case import Case
from autograder.testing.code_numbers import LEAST, MOST
from autograder.testing.comparison import expect
from autograder.testing.covering import Covering, Occurring
from autograder.testing.under_test import SubmissionUnderTest

from .models import DECODE, ENCODE
from .situations import levels
from .situations.drawing import counted_of, draw_length, draw_mask, draw_shape, lay_out, lay_out_mask, masks_before
from .situations.judging import Judged, in_turn, judge, leaves_of, nearest
from .situations.situation import Situation
from .situations.sizes_in_code import built_by_numbers, led_by_numbers
from .stack_situations import FACTORS, FEWEST_LAYERS, SETTINGS, Layer, layers_of, randomise, settings_of

OF_MODEL: dict[str, Sequence[Any]] = {
    **{name: several for name, several in FACTORS.items() if name != "values"},
    "method": ("encode", "decode"),
    "ids": ("any", "the last", "zeros at the end"),
    "s": levels.LENGTHS,
    "src_mask": levels.MASKS,
}
SITUATIONS = {
    False: Covering(
        OF_MODEL,
        [
            *({"made": ("many", "float64"), "method": method, "ids": "the last"} for method in ("encode", "decode")),
            *({"made": ("one feature", "float32"), "method": method} for method in ("encode", "decode")),
            levels.FREE | {"method": "decode"},
            *(levels.ALIKE | {"method": method} for method in ("encode", "decode")),
            *(row | {"method": method} for row in levels.AS_TRAINED for method in ("encode", "decode")),
            *(row | {"method": "decode"} for row in (levels.OTHERS, levels.MANY_KEYS)),
            *(row | {"method": method} for row in levels.AGAIN for method in ("encode", "decode")),
            *(row | {"method": "decode"} for row in levels.learning_with(shape=levels.SHAPES, src_mask=levels.MASKS)),
            *(row | {"method": "encode"} for row in levels.learning_with(mask=levels.MASKS)),
            *(
                row | {"method": method}
                for row in (*levels.NOTHING_LEFT, *levels.ALMOST_FREE)
                for method in ("encode", "decode")
            ),
        ],
    ),
    True: Occurring(OF_MODEL, [{"made": ("many", "float64"), "method": method} for method in ("encode", "decode")]),
}
"""Of post-norm and of pre-norm models."""
COMPONENT = "model.Transformer"
VOCABULARIES = {"few": (9, 12), "one head, d_ff = d_model": (10, 14), "one feature": (12, 8), "many": (290, 300)}
"""Of equal size in all other cases. A sentence alone has more positions than there are words."""
NAMES = {
    "encode": (("src", "encoder_mask"), ("memory", "weights"), ENCODE),
    "decode": (("tgt", "memory", "src_mask", "tgt_mask"), ("output", "self_weights", "cross_weights"), DECODE),
}


def check_model(submission: SubmissionUnderTest, case: Case, norm_first: bool = False) -> None:
    """Encode and decode of the Transformer in situations in which any two levels of two factors meet."""
    options: dict[str, Any] = {"norm_first": True} if norm_first else {}
    led = led_by_numbers(submission, case, COMPONENT, 4, made=("one head, d_ff = d_model", "float32"))
    led += built_by_numbers(submission, case, COMPONENT, settings_of, FEWEST_LAYERS, MOST, ids="the last")
    both = [row | {"method": method} for row in led for method in ("encode", "decode")]
    counts: dict[int, int] = {}
    for (made, dtype), rows in levels.by_object(SITUATIONS[norm_first].rows(case, both)):
        n_heads, d_head, d_ff, n_layers, dropout = levels.size_of(made, SETTINGS)
        d_model, sizes = n_heads * d_head, vocabularies_of(made)
        settings = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff, "n_layers": n_layers, "dropout": dropout}
        model = submission.build(COMPONENT, *sizes, **settings, **options, dtype=dtype)
        parameters = randomise(case, model.eval(), d_model)
        leaves = leaves_of(parameters)
        check_count(counts, n_layers, len(leaves))
        situations = [model_situation(case, row, d_model, n_heads, sizes, dropout, dtype) for row in rows]
        results = in_turn(submission, model, situations, dtype == torch.float32)
        extra = trace(d_ff, dropout, norm_first, n_layers)
        check_predictions(submission, case, model, leaves, (sizes[1], d_model), dtype)
        for method, (_, parts, look_at) in NAMES.items():
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
                expected = nearest(found, own, got)
                judge(case, Judged(what, parts, expected, pairs, look_at, dtype), own, got)


def vocabularies_of(made: levels.Kind) -> tuple[int, int]:
    """The sizes of both; they are not d_model. Of a model with sizes from its code they are as large as d_ff."""
    if isinstance(made, tuple):
        d_ff = made[2]
        return (d_ff, d_ff) if d_ff > LEAST else (11, 11)
    return VOCABULARIES.get(made, (11, 11))


def check_count(counts: dict[int, int], n_layers: int, count: int) -> None:
    """Of the parameters of several models, by their layers: each further layer brings as many as the others do.

    Args:
        counts: of the models before; this one is added.
        n_layers: of this model.
        count: its parameters.
    """
    counts.setdefault(n_layers, count)
    expected = counts[n_layers]
    known = sorted(counts.items())
    if len(known) > 2 and n_layers == known[-1][0]:
        (fewest, base), (more, other) = known[:2]
        expected = base + (n_layers - fewest) * (other - base) // (more - fewest)
    what = f"the number of parameters of a model with layers: {n_layers}"
    expect(count == expected, what, f"{expected}, as models of other sizes have", f"{count}", "does each one serve?")


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
    situations = [Situation((output,), ("output",), row, method="get_predictions") for output, row in pairs]
    results = in_turn(submission, model, situations)
    candidates = [predictions_of(weight, bias) for weight in weights for bias in biases]
    what = f"the predictions for a vocabulary of {sizes[0]} and d_model = {sizes[1]}"
    expect(bool(candidates), what, "a projection to the vocabulary", "no such parameter")
    judged = Judged(what, ("predictions",), nearest(candidates, situations, results))
    judge(case, judged, situations, results)


def predictions_of(weight: Tensor, bias: Tensor) -> Any:
    """What get_predictions should return."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> list[Tensor]:
        return [torch.log_softmax(inputs[0] @ weight.T + bias, -1)]

    return expected


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
    if row["ids"] != "any":
        ids[:, -1] = vocabulary - 1 if row["ids"] == "the last" else 0
    if t > 1:  # or the last one would not be missed
        ids[:, -2] = torch.where(ids[:, -2] == ids[:, -1], (ids[:, -1] + 1) % vocabulary, ids[:, -2])
    ids = lay_out(ids, row["layout"])
    mask = lay_out_mask(draw_mask(case, row["mask"], b, n_heads, t, t), row["layout"])
    inputs: tuple[Tensor | None, ...] = (ids, mask)
    if is_decoder:
        s = draw_length(case, row["s"], t)
        memory = lay_out(case.normal(b, s, d_model).to(dtype), row["layout"])
        src_mask = lay_out_mask(draw_mask(case, row["src_mask"], b, n_heads, t, s), row["layout"])
        inputs = (ids, memory, src_mask, mask)
    training = row["training"] and dropout == 0
    earlier = masks_before(case, row, inputs)
    return Situation(inputs, NAMES[row["method"]][0], row, counted_of(inputs), row["method"], training, earlier)
