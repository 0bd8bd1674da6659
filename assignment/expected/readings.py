"""Embedding, LayerNorm, feed-forward network and multi-headed attention as subjects: made, and read.

The contract leaves free how a submission names its parameters and lays them out. Tests write random values into all of
them, so that only the right reading gives what the component returns. Usual layouts are tried one after another, in the
order of the module's learned parameters; `search` finds the others. Layouts are endless, and right code must not lose
points for being unusual: where nothing tells which number plays which part, the component needs a reader.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations, product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.testing.arguments import copies_of, explained
from autograder.testing.case import Case, Inputs, SubmissionUnderTest
from autograder.testing.comparison import TOLERANCE, TOLERANCE_OF_FLOAT32, alike, difference, expect, expect_shape
from autograder.testing.fitting import Computation, first_part
from autograder.testing.results import CheckFailed, NoPartsError, OtherPartsError
from autograder.testing.subject import Subject

from .flows import deviation_of_heads
from .layers import (
    EPSILON,
    KINDS,
    attention_formulas,
    heads,
    look_tokens_up,
    network_formula,
    norm_of,
    usual_factor,
    width_of,
)
from .modules import ARGUMENTS, Search, made, needs_reader
from .search import Formula, normal

MOST_SHAPES = 12
HEADS = ("output", "weights")
"""Parts of what multi-headed attention returns."""
SPLIT = "follow the features of one position through each step: which head gets which of them, and on which axis?"
GAIN_AND_SHIFT = "one gain and one shift for each feature, each an nn.Parameter"


def embedding(submission: SubmissionUnderTest, case: Case, vocab_size: int, d_model: int, **options: Any) -> Subject:
    """An embedding with random vectors: rows of a table, multiplied by sqrt(d_model); options of `made`."""
    factor = usual_factor(d_model)
    formula = Formula([(vocab_size, d_model)], lambda parts: partial(look_tokens_up, table=parts[0], factor=factor))

    def read(module: nn.Module, leaves: list[Tensor], search: Search) -> Iterable[Computation]:
        # One with more rows than tokens fails a test of its own; a flat one may be in any order.
        cut = [x[:vocab_size] if x.size(-1) == d_model else x for x in leaves if x.dim() == 2]
        if readings := [*usual_readings(formula, cut)]:
            return readings
        expect_numbers(leaves, vocab_size * d_model, "one vector of d_model features for each token, as a parameter")
        return [search([formula], draw) or needs_reader("embedding")]

    def draw(chance: torch.Generator) -> list[Tensor]:
        return [torch.arange(vocab_size)[None]]

    sizes = vocab_size, d_model
    subject = made(submission, case, "embedding.InputEmbedding", sizes, ["the embedding"], read, draw, **options)
    return replace(subject, inside=partial(rows_as_they_are, subject))


def rows_as_they_are(subject: Subject, inputs: Inputs) -> str:
    """Says so if an embedding returns nothing but rows of its table."""
    returned = subject.call(*copies_of(inputs.values()))
    [tokens] = (value for value in inputs.values() if value is not None)
    tables = (leaf for _, leaf in subject.parameters if leaf.dim() == 2)
    is_so = any(alike(returned, look_tokens_up(tokens, table, 1.0)) for table in tables)
    return "these are rows of the table as they are; the table is set after `__init__`, as by training" * is_so


def layer_norm(submission: SubmissionUnderTest, case: Case, d_model: int, **options: Any) -> Subject:
    """A LayerNorm with random gain and shift; options of `made`, and the constructor's epsilon."""
    epsilon = options.get("epsilon", EPSILON)
    ways = [Formula([(d_model,)] * 2, partial(norm_of, least=least, kind=(epsilon, 0, False))) for least in (0.0, 1.0)]

    def read(module: nn.Module, leaves: list[Tensor], search: Search) -> Iterable[Computation]:
        pairs = pairs_of(leaves, d_model)
        if pairs and len(leaves) != 2 and (reading := search(ways, draw)):
            return [reading]
        if not pairs:
            expect_numbers(leaves, 2 * d_model, GAIN_AND_SHIFT)
        return [way.make(pair) for way in ways for pair in pairs]

    draw = normal((3, 4, d_model))
    subject = made(submission, case, "layers.LayerNorm", [d_model], ["the norm"], read, draw, **options)
    return replace(subject, inside=partial(other_norm, subject, epsilon))


def other_norm(subject: Subject, epsilon: float, inputs: Inputs) -> str:
    """Name in which way a wrong norm is another one; "" where it is none that is known."""
    [x] = (value.double() for value in inputs.values() if value is not None)
    result, right = subject.call(x), F.layer_norm(x, x.shape[-1:], eps=epsilon)
    for gain, shift in pairs_of([leaf for _, leaf in subject.parameters], x.size(-1)):
        affine = partial(torch.addcmul, shift, gain)
        stretch = width_of(x) / width_of(right)
        others = {
            "without the gain": right + shift,
            "without the shift": right * gain,
            "if the gain multiplied the shift, too": (right + shift) * gain,
            "if the mean were not subtracted": affine(x / stretch),
            "if it were divided by the variance, not by its root": affine(right / stretch),
            "if it were not divided by the deviation": affine(right * stretch),
            "if it were multiplied by the deviation, not divided": affine(right * stretch**2),
        }
        for kind in (*KINDS, (epsilon, 1, False), (epsilon, 0, True), (epsilon, 1, True)):
            words = [f"with epsilon = {kind[0]:g}"] * (kind[0] != epsilon)
            words += ["if the variance were divided by d - 1"] * kind[1]
            words += ["if epsilon were added to the root"] * kind[2]
            others[" and ".join(words)] = norm_of((gain, shift), kind=kind)(x)
        for text, other in others.items():
            if alike(result, other) and not alike(other, affine(right)):
                return f"this is the right result {text}"
    return ""


def feed_forward(submission: SubmissionUnderTest, case: Case, d_model: int, d_ff: int, **options: Any) -> Subject:
    """A feed-forward network with random parameters; options of `made`."""
    formula = network_formula(d_model, d_ff)

    def read(module: nn.Module, leaves: list[Tensor], search: Search) -> Iterable[Computation]:
        if len(leaves) == len(formula.shapes) and (readings := [*usual_readings(formula, leaves)]):
            return readings
        expect_numbers(leaves, sum(formula.counts), "two maps, each with a bias", fewest=d_model * min(d_model, d_ff))
        return [search([formula], draw) or needs_reader("feed-forward network")]

    draw = normal((2, 6, d_model))
    return made(submission, case, "layers.FeedForward", (d_model, d_ff), ["the network"], read, draw, **options)


def multi_head(submission: SubmissionUnderTest, case: Case, n_heads: int, d_head: int, **options: Any) -> Subject:
    """Multi-headed attention with random parameters; options of `made`."""
    d_model = n_heads * d_head

    def read(module: nn.Module, leaves: list[Tensor], search: Search) -> Iterable[Computation]:
        """Where no roles explain the module, a usual reading: something returned then differs from it."""
        check_numbers(leaves, d_model, n_heads)
        inside = partial(deviation_of_heads, submission, module, n_heads, None)
        dtype = next(module.parameters()).dtype
        shapes, of_weights = ((2, 6, d_model), (2, 8, d_model), (2, 8, d_model)), (2, n_heads, 6, 8)
        inputs = [case.normal(*shape, dtype=dtype) for shape in shapes]
        with torch.no_grad(), explained(dict(zip(ARGUMENTS, inputs, strict=False)), inside):
            result = module(*copies_of(inputs))
        output, weights = first_part(result, HEADS), next(iter(result[1:2]), None)
        seen = [expect_shape(output, shapes[0], "output", SPLIT, dtype).double()]
        if isinstance(weights, Tensor) and weights.shape == of_weights:  # else they are lost, but not the output
            seen.append(weights.double())
        tolerance = TOLERANCE if dtype == torch.float64 else TOLERANCE_OF_FLOAT32

        def fits(formula: Computation, count: int) -> bool:
            pairs = zip(seen[:count], formula(*(x.double() for x in inputs)), strict=False)
            return all(difference(wanted, got) <= tolerance for wanted, got in pairs)

        usual = [*usual_attentions(leaves, d_model, n_heads)]
        if right := [formula for formula in usual if fits(formula, len(seen))]:
            return right[:1]
        kinds = [kind for is_stand_in in (True, False) for kind in attention_formulas(d_model, n_heads, is_stand_in)]
        if placed := search(kinds, draw):
            return [placed]
        if not usual:
            expect_shape(weights, of_weights, "weights", "those of every head, as the attention returns them", dtype)
            needs_reader("multi-head attention")
        return [next((formula for formula in usual if fits(formula, 1)), usual[0])]

    component, sizes = "attention.MultiHeadedAttention", (d_model, n_heads)
    draw = normal((2, 3, d_model), (2, 4, d_model), (2, 4, d_model), None)
    subject = made(submission, case, component, sizes, HEADS, read, draw, **options)
    formula = None if isinstance(subject.formulas, Exception) else subject.formulas[0]
    inside = partial(deviation_of_heads, submission, subject.call, n_heads, formula)
    return replace(subject, inside=inside)


def check_numbers(parameters: Sequence[Tensor], d_model: int, n_heads: int) -> None:
    """Fail unless there are four projections and biases (at most one for each head's part of the output), not more."""
    total = sum(p.numel() for p in parameters)
    rule = "query, key, value and output each have a projection of their own, registered (in no plain list)"
    rule += f"; the shapes here {shapes_of(parameters)}"
    expect(
        4 * d_model**2 <= total <= 4 * d_model**2 + (4 + n_heads) * d_model,
        "the learned parameters",
        f"four d_model x d_model projections, {4 * d_model**2} numbers, and biases",
        f"{total} numbers",
        rule,
        OtherPartsError if total >= d_model**2 else NoPartsError,
    )


def expect_numbers(parameters: Sequence[Tensor], wanted: int, rule: str, fewest: int = 1) -> None:
    """Fail unless a component learns so many numbers; if it learns a few, gradients are judged by what it computes."""
    count = sum(parameter.numel() for parameter in parameters)
    kind = OtherPartsError if count >= fewest else CheckFailed
    look_at = f"{rule}; the shapes here {shapes_of(parameters)}"
    expect(count == wanted, "the learned parameters", f"{wanted} numbers", f"{count}", look_at, kind)


def shapes_of(parameters: Sequence[Tensor]) -> str:
    """Names the shapes of parameters, continuing "the shapes here"."""
    shapes = " ".join(str(tuple(parameter.shape)) for parameter in parameters[:MOST_SHAPES])
    shapes += " …" * (len(parameters) > MOST_SHAPES)
    return f"are {shapes}" if shapes else "are none: `nn.Parameter(…)`, or a layer, on `self` makes some"


def usual_readings(formula: Formula, leaves: Sequence[Tensor]) -> Iterator[Computation]:
    """Yield a formula with whole parameters for its parts; sizes that coincide leave several ways."""
    for chosen in permutations(leaves, len(formula.shapes)):
        if all(leaf.numel() == count for leaf, count in zip(chosen, formula.counts, strict=True)):
            views = [_views(leaf, shape) for leaf, shape in zip(chosen, formula.shapes, strict=True)]
            yield from map(formula.make, product(*views))


def _views(leaf: Tensor, shape: tuple[int, ...]) -> list[Tensor]:
    """A parameter in that shape, as it is or transposed; both where it is square."""
    sizes, wanted = ([n for n in kind if n != 1] for kind in (leaf.shape, shape))
    views = [leaf.reshape(shape)] if sizes == wanted else []
    return [*views, leaf.reshape(shape[::-1]).mT] if len(wanted) == 2 and sizes == wanted[::-1] else views


def pairs_of(leaves: Sequence[Tensor], d_model: int) -> list[tuple[Tensor, ...]]:
    """Gain and shift, whichever comes first; those of a feature may lie side by side. [] for other numbers."""
    if sum(leaf.numel() for leaf in leaves) != 2 * d_model:
        return []
    numbers = torch.cat([leaf.ravel() for leaf in leaves])
    side_by_side = [] if len(leaves) == 2 else [numbers.view(d_model, 2).unbind(dim=1)]
    return [order for pair in (numbers.view(2, d_model).unbind(), *side_by_side) for order in permutations(pair)]


def usual_attentions(leaves: Sequence[Tensor], d_model: int, n_heads: int) -> Iterator[Computation]:
    """Yield multi-headed attention with query, key, value and output in this order, on either side of x.

    Several may be one parameter, and each may have an axis for its heads. Small further parameters do not count.
    """
    matrices: list[Tensor] = []
    for leaf in leaves:
        if leaf.numel() >= d_model**2:
            matrices += _squares(leaf, d_model, n_heads, is_output=len(matrices) == 3)
    rows = [x for p in leaves if p.numel() <= 4 * d_model and p.numel() % d_model == 0 for x in p.reshape(-1, d_model)]
    if len(matrices) == 4:
        biases = rows[:4] if len(rows) >= 4 else [matrices[0].new_zeros(d_model)] * 4
        for is_stand_in, is_turned in product((True, False), (True, False)):
            maps = [matrix.mT if is_turned else matrix for matrix in matrices]
            yield partial(heads, matrices=maps, biases=biases, is_stand_in=is_stand_in, n_heads=n_heads)


def _squares(leaf: Tensor, d: int, n_heads: int, is_output: bool) -> Sequence[Tensor]:
    """The matrices (d, d) in a parameter, as `nn.Linear` has them: itself, or several along an axis."""
    leaf, count = leaf.squeeze(), leaf.numel() // d**2
    by_head, orders = (d, n_heads, d // n_heads), [*permutations(range(leaf.dim()))] if leaf.dim() == 3 else []
    orders = [order for order in orders if leaf.permute(order).shape == by_head]
    if orders:
        matrix = leaf.permute(orders[-1]).reshape(d, d)
        return [matrix if is_output else matrix.mT]
    for axis, size in enumerate(leaf.shape):
        if leaf.dim() == 3 and size == count and leaf.numel() == count * d**2:
            return leaf.unbind(axis)
        if leaf.dim() == 2 and size == count * d and leaf.numel() == count * d**2:
            return leaf.chunk(count, dim=axis)
    return []
