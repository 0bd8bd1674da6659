"""The parts that a layer, a stack or a model learns, and what a layer may compute with them.

The stand-ins inside have parameters of shapes that nothing else has. Which LayerNorm belongs to which sublayer is found
by trying: only the right roles give what comes out. A layer may hold parts itself, and write them out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import Any

from torch import Tensor

from assignment.stand_ins.formulas import VECTORS, decoder_layer, encoder_layer, mixed_look_up, squash, wave
from autograder.testing.comparison import expect
from autograder.testing.fitting import Computation
from autograder.testing.results import CheckFailed, OtherPartsError

from .flows import Flow
from .parts import KINDS, attention_formulas, network_formula, norm_of
from .search import Formula

USUAL_BIASES = (1, 1, 1, 1), (0, 0, 0, 0), (1, 0, 1, 1), (0, 0, 0, 1)
"""In which two attentions of one layer may differ."""


@dataclass(frozen=True)
class Sizes:
    """The settings of a layer; a stack and a model have some more."""

    d_model: int
    n_heads: int
    d_ff: int
    norm_first: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of constructors after d_model."""
        return {"n_heads": self.n_heads, "d_ff": self.d_ff} | ({"norm_first": True} if self.norm_first else {})


@dataclass(frozen=True)
class Census:
    """The parameters of a component by the stand-in that they belong to; `others` are the submission's own."""

    norms: list[Tensor]  # (2, 1, d)
    feed_forwards: list[Tensor]  # (3, 1, d)
    attentions: list[Tensor]  # (4, 1, d)
    encoder_layers: list[Tensor]  # (5, 1, d)
    decoder_layers: list[Tensor]  # (9, 1, d)
    others: list[Tensor]

    @classmethod
    def of(cls, parameters: Sequence[Tensor], d_model: int) -> "Census":
        """Sorts the parameters by their shapes."""
        shapes = [(count, 1, d_model) for count in VECTORS.values()]
        norms, networks, attentions, encoder_layers, decoder_layers = (
            [p for p in parameters if tuple(p.shape) == shape] for shape in shapes
        )
        return cls(
            norms,
            networks,
            attentions,
            encoder_layers,
            decoder_layers,
            [p for p in parameters if tuple(p.shape) not in shapes],
        )

    @property
    def sublayers(self) -> list[Tensor]:
        """Those of attentions and of the feed-forward network."""
        return [*self.attentions, *self.feed_forwards]

    @property
    def count(self) -> int:
        """How many numbers are the submission's own."""
        return sum(p.numel() for p in self.others)

    def has_own_parts(self, d_model: int) -> bool:
        """True if a stack or a model consists of parts of its own, not of stand-ins."""
        return not (self.encoder_layers or self.decoder_layers) and self.count > d_model**2

    def computations(self, sizes: Sizes, extra: float = 0.0) -> dict[str, list[Any]]:
        """What the stand-ins compute, by their letters in a `Flow`; `extra` is the trace of the layers' settings."""
        n_heads = sizes.n_heads
        return {
            "N": [partial(squash, gain=gain, shift=shift) for gain, shift in self.norms],
            "F": [partial(wave, mix=mix, d_ff=sizes.d_ff) for mix in self.feed_forwards],
            "A": [partial(mixed_look_up, mix=mix, n_heads=n_heads) for mix in self.attentions],
            "E": [partial(encoder_layer, mix=mix, n_heads=n_heads, extra=extra) for mix in self.encoder_layers],
            "D": [partial(decoder_layer, mix=mix, n_heads=n_heads, extra=extra) for mix in self.decoder_layers],
        }


def expect_own_layers(found: Sequence[object], n_layers: int) -> None:
    """Fail unless there are n_layers different layers."""
    look_at = "build each of the n_layers layers anew, in an nn.ModuleList"
    look_at += "; one layer in several places is still one layer" if found else "; a plain list hides its layers"
    failure = OtherPartsError if 2 * len(found) > n_layers else CheckFailed
    what = "how many layers with parameters of their own the stack has"
    expect(len(found) == n_layers, what, f"{n_layers}", f"{len(found)}", look_at, failure)


def check_parts(census: Census, n_attentions: int, sizes: Sizes) -> None:
    """Fail unless each sublayer has a LayerNorm and an attention of its own, and nothing else is learned.

    In place of the stand-ins that it does not use, a layer may learn as many numbers, and biases of each attention:
    one for each projection, of the output perhaps one for each head. A norm's gain and shift may be single numbers.
    """
    d_model, d_ff = sizes.d_model, sizes.d_ff
    wanted = n_attentions, 1, n_attentions + 1
    got = len(census.attentions), len(census.feed_forwards), len(census.norms)
    missing = [due - there for due, there in zip(wanted, got, strict=True)]
    fewest = missing[0] * 4 * d_model**2 + missing[1] * (2 * d_model * d_ff + d_model + d_ff) + missing[2] * 2 * d_model
    numbers = census.count + (d_model - 1) * n_single_numbers(census, n_attentions)
    fits = min(missing) >= 0 and fewest <= numbers <= fewest + missing[0] * (4 + sizes.n_heads) * d_model
    has_most = sum(map(min, got, wanted)) > sum(wanted) / 2
    expect(
        fits,
        "how many of MultiHeadedAttention, FeedForward and LayerNorm the layer has",
        "{}, {} and {}".format(*wanted),
        "{}, {} and {}".format(*got) + (f", and {numbers} other learned numbers" if numbers else ""),
        "each sublayer has its own; build them in __init__",
        OtherPartsError if has_most else CheckFailed,
    )


def n_single_numbers(census: Census, n_attentions: int) -> int:
    """How many gains and shifts are single numbers; many single numbers are those of vectors."""
    count = sum(p.numel() == 1 for p in census.others)
    return count if count <= 2 * (n_attentions + 1) else 0


def has_usual_shapes(parameters: Sequence[Tensor], sizes: Sizes) -> bool:
    """True if parameters have the shapes that linear maps and LayerNorms have, fused ones too."""
    shapes = [p.squeeze().shape for p in parameters]
    return all(len(shape) < 3 and all(n % sizes.d_model == 0 or n == sizes.d_ff for n in shape) for shape in shapes)


def layer_formulas(flow: Flow, census: Census, sizes: Sizes) -> Iterator[Formula]:
    """Yield what a layer may compute with its stand-ins in each role, and with parts of its own for those it lacks."""
    d_model, n_heads, known = sizes.d_model, sizes.n_heads, census.computations(sizes)
    n_own = {letter: count - len(known[letter]) for letter, count in flow.counts.items()}
    width = 1 if n_single_numbers(census, n_own["A"] + len(census.attentions)) else d_model
    for kind, own_attentions in product(
        KINDS if n_own["N"] else KINDS[:1], list(attention_choices(n_own["A"], d_model, n_heads))
    ):
        gains = [Formula([(width,)] * 2, partial(norm_of, least=least, kind=kind)) for least in (0.0, 1.0)]
        for own_norms in combinations_with_replacement(gains, n_own["N"]):
            own = {"N": own_norms, "A": own_attentions, "F": [network_formula(d_model, sizes.d_ff)] * n_own["F"]}
            if sum(sum(formula.counts) for formulas in own.values() for formula in formulas) == census.count:
                pools = {letter: [*known[letter], *own[letter]] for letter in own}
                arranged = {tuple(map(id, parts.values())): parts for parts in flow.arrangements(pools)}
                yield from (join(flow, parts) for parts in arranged.values())


def attention_choices(count: int, d_model: int, n_heads: int) -> Iterator[Sequence[Formula]]:
    """Yield ways in which so many attentions of a layer's own may have biases."""
    for is_stand_in in (True, False):
        kinds = attention_formulas(d_model, n_heads, is_stand_in)
        yield from ([kind] * count for kind in (kinds if count else kinds[: int(is_stand_in)]))
        if count > 1:
            yield from combinations(attention_formulas(d_model, n_heads, is_stand_in, USUAL_BIASES), count)


def join(flow: Flow, parts: Mapping[str, Formula | Computation]) -> Formula:
    """A flow each of whose parts is either a computation or a formula."""
    shapes: list[tuple[int, ...]] = []
    exchangeable: list[int] = []
    ends = [0]
    for slot in parts.values():
        if isinstance(slot, Formula):
            exchangeable += [len(shapes) + part for part in slot.exchangeable]
            shapes += slot.shapes
        ends.append(len(shapes))

    def make(numbers: Sequence[Tensor]) -> Computation:
        pieces = zip(parts.items(), pairwise(ends), strict=True)
        ready = {n: slot.make(numbers[a:b]) if isinstance(slot, Formula) else slot for (n, slot), (a, b) in pieces}
        return partial(flow.run, ready)

    return Formula(shapes, make, exchangeable)
