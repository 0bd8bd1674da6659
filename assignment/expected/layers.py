"""Formulas of parts, wherever their numbers come from, and of layers that have stand-ins and parts of their own.

The stand-ins inside have parameters of shapes that nothing else has. Which LayerNorm belongs to which sublayer is found
by trying: only the right roles give what comes out. A layer may hold parts itself, and write them out.

Shapes: b batch · h heads · q/k query and key positions · d = d_model.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from assignment.stand_ins.formulas import VECTORS, decoder_layer, encoder_layer, look_up, mixed_look_up, squash, wave
from assignment.stand_ins.own_tests import attend as attention
from autograder.testing.comparison import expect
from autograder.testing.fitting import Computation
from autograder.testing.results import CheckFailed, NoPartsError, OtherPartsError

from .flows import PARTS, Flow
from .search import Formula

EPSILON = 1e-6  # LayerNorm's default
TINY = 1e-300
NormKind = tuple[float, int, bool]
"""Epsilon; how much less than d the variance is divided by; and whether epsilon is added outside the root."""


def norm_of(gain_and_shift: Sequence[Tensor], least: float = 0.0, kind: NormKind = (EPSILON, 0, False)) -> Computation:
    """PyTorch's own layer norm, whose gain may be kept as its difference from 1; gain or shift may have no numbers.

    Task 1.4 judges its kind, and a layer with any such norm of its own may be right.
    """
    gain, shift = (x if x.numel() else x.sum() for x in gain_and_shift)
    epsilon, less, is_outside = kind

    def norm(x: Tensor) -> Tensor:
        d = x.size(-1)
        stretch = math.sqrt(d / (d - less))
        inside = TINY if is_outside else epsilon / stretch**2
        centred = F.layer_norm(x, (d,), eps=inside) / stretch
        if is_outside:  # x is as many times wider than its norm as the deviation says
            deviation = width_of(x) / width_of(centred).clamp(min=TINY)
            centred = centred * (deviation / (deviation + epsilon))
        return torch.addcmul(shift, centred, least + gain)

    return norm


def width_of(x: Tensor) -> Tensor:
    """How far the features of each position lie apart, (..., 1)."""
    return x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True)


KINDS: list[NormKind] = [
    (epsilon, less, is_outside)
    for less, is_outside, epsilon in product((0, 1), (False, True), (EPSILON, 1e-5, 1e-12, 1e-3))
]
"""Norms that a layer of its own may have."""


@cache
def network_module(d_model: int, d_ff: int) -> Any:
    """PyTorch's layer, without any numbers, of which the feed-forward network alone is called."""
    module: Any = nn.TransformerEncoderLayer(d_model, 1, d_ff, dropout=0.0, device="meta")
    module.forward = module._ff_block
    return module


def network(x: Tensor, parts: Sequence[Tensor], activation: Callable[[Tensor], Tensor] = F.relu) -> Tensor:
    """PyTorch's own, (..., d) -> (..., d), with W_1 and b_1, W_2 and b_2, of which W_1 takes x on its left."""
    first, inner, second, outer = parts
    module = network_module(*first.shape)
    module.activation = activation
    numbers = {"linear1.weight": first.mT, "linear1.bias": inner, "linear2.weight": second, "linear2.bias": outer}
    result: Tensor = functional_call(module, numbers, (x,), tie_weights=False)
    return result


def look_tokens_up(tokens: Tensor, table: Tensor, factor: float) -> Tensor:
    """The rows (b, s, d) of a table (vocab_size, d) that tokens name, times a factor: the model's is `usual_factor`.

    PyTorch's feed-forward network without a nonlinearity, of vectors that are 1 in one place.
    """
    nothing, same = table.new_zeros(table.size(1)), torch.eye(table.size(1), dtype=table.dtype)
    vectors = F.one_hot(tokens, len(table)).to(table.dtype)
    return network(vectors, [table, nothing, factor * same, nothing], torch.clone)


def usual_factor(d_model: int) -> float:
    """How long a vector of d_model ones is."""
    return math.hypot(*[1.0] * d_model)


def network_formula(d_model: int, d_ff: int, **settings: Any) -> Formula:
    """A feed-forward network, as a partial of `network`."""
    shapes = [(d_model, d_ff), (d_ff,), (d_model, d_ff), (d_model,)]
    return Formula(shapes, lambda parts: partial(network, parts=parts, **settings), exchangeable=[0])


@cache
def attention_module(d_model: int, n_heads: int) -> nn.Module:
    """PyTorch's multi-headed attention, without any numbers."""
    return nn.MultiheadAttention(d_model, n_heads, batch_first=True, device="meta")


def heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    matrices: Sequence[Tensor],
    biases: Sequence[Tensor],
    is_stand_in: bool,
    n_heads: int,
) -> tuple[Tensor, Tensor]:
    """Output (b, q, d) and weights (b, h, q, k) of PyTorch's multi-headed attention around this, or the true one."""
    seen: list[Tensor] = []

    attend = partial(look_up if is_stand_in else attention, mask=mask)

    def inner(q: Tensor, k: Tensor, v: Tensor, *settings: object) -> Tensor:
        seen.extend(attend(q, k, v))
        return seen[0]

    numbers = {
        "in_proj_weight": torch.cat([matrix.mT for matrix in matrices[:3]]),
        "in_proj_bias": torch.cat([*biases[:3]]),
        "out_proj.weight": matrices[3].mT,
        "out_proj.bias": biases[3],
    }
    module = attention_module(query.size(-1), n_heads)
    with mock.patch.object(F, "scaled_dot_product_attention", inner):
        output, _ = functional_call(module, numbers, (query, key, value), {"need_weights": False}, tie_weights=False)
    return output, seen[1]


BIASES = [*product((1, 0), (1, 0), (1, 0), (1, 2, 0))]
"""Of query, key and value: whether they have one; of the output: 1, or 2 for one of each head, which are added up."""


def attention_formulas(
    d_model: int, n_heads: int, is_stand_in: bool, choices: Iterable[Sequence[int]] = BIASES
) -> list[Formula]:
    """Multi-headed attention with each choice of biases, around the stand-in for attention or a true one."""
    formulas = []
    for *counts, of_output in choices:
        counts += [n_heads if of_output == 2 else of_output]
        shapes = [(d_model, d_model)] * 4 + [(count, d_model) for count in counts if count]
        make = partial(_heads_of, counts=counts, is_stand_in=is_stand_in, n_heads=n_heads)
        # Free are the order of the features of a head, of query and value, and that of biases that are added up.
        exchangeable = [0, 2, *[len(shapes) - 1] * (counts[-1] > 1)]
        formulas.append(Formula(shapes, make, exchangeable))
    return formulas


def _heads_of(parts: Sequence[Tensor], counts: Sequence[int], **settings: Any) -> Computation:
    rest = iter(parts[4:])
    biases = [next(rest).sum(dim=0) if count else parts[0].new_zeros(len(parts[0])) for count in counts]
    return partial(heads, matrices=parts[:4], biases=biases, **settings)


USUAL_BIASES = (1, 1, 1, 1), (0, 0, 0, 0), (1, 0, 1, 1), (0, 0, 0, 1)
"""In which two attentions of one layer may differ that has norms of its own, too."""


def weights_formulas(d_model: int, n_heads: int) -> list[Formula]:
    """The weights of self-attention alone, of which a layer returns the right ones even if another part is wrong."""

    def weights(parts: Sequence[Tensor], of: Formula) -> Computation:
        attend = of.make(parts)
        return lambda x, mask: attend(x, x, x, mask)[1]

    kinds = [kind for is_stand_in in (True, False) for kind in attention_formulas(d_model, n_heads, is_stand_in)]
    return [replace(kind, make=partial(weights, of=kind)) for kind in kinds]


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

    known: dict[str, list[Tensor]]  # (n, 1, d), by the letters of stand-ins in a `Flow`
    others: list[Tensor]

    @classmethod
    def of(cls, parameters: Sequence[Tensor], d_model: int) -> "Census":
        """Sorts the parameters by their shapes."""
        shapes = {PARTS[name][0]: (count, 1, d_model) for name, count in VECTORS.items()}
        known = {letter: [p for p in parameters if tuple(p.shape) == shape] for letter, shape in shapes.items()}
        return cls(known, [p for p in parameters if tuple(p.shape) not in shapes.values()])

    @property
    def sublayers(self) -> list[Tensor]:
        """Those of attentions and of the feed-forward network."""
        return [*self.known["A"], *self.known["F"]]

    @property
    def count(self) -> int:
        """How many numbers are the submission's own."""
        return sum(p.numel() for p in self.others)

    def has_own_parts(self, d_model: int) -> bool:
        """True if a stack or a model consists of parts of its own, not of stand-ins."""
        return not (self.known["E"] or self.known["D"]) and self.count > d_model**2

    def computations(self, sizes: Sizes, extra: float = 0.0) -> dict[str, list[Any]]:
        """Computations of the stand-ins, by their letters in a `Flow`; `extra` is the trace of the layers' settings."""
        n_heads = sizes.n_heads
        return {
            "N": [partial(squash, gain=gain, shift=shift) for gain, shift in self.known["N"]],
            "F": [partial(wave, mix=mix, d_ff=sizes.d_ff) for mix in self.known["F"]],
            "A": [partial(mixed_look_up, mix=mix, n_heads=n_heads) for mix in self.known["A"]],
            "E": [partial(encoder_layer, mix=mix, n_heads=n_heads, extra=extra) for mix in self.known["E"]],
            "D": [partial(decoder_layer, mix=mix, n_heads=n_heads, extra=extra) for mix in self.known["D"]],
        }


def expect_own_layers(layers: Sequence[object], n_layers: int, are_called: Callable[[], bool]) -> None:
    """Fail unless there are n_layers different layers; numbers like theirs may belong to none that are called."""
    look_at = "build each of the n_layers layers anew, in an nn.ModuleList"
    look_at += "; one layer in several places is still one layer" if layers else "; a plain list hides its layers"
    failure = OtherPartsError if 2 * len(layers) > n_layers else CheckFailed if are_called() else NoPartsError
    label = "how many layers with parameters of their own the stack has"
    expect(len(layers) == n_layers, label, f"{n_layers}", f"{len(layers)}", look_at, failure)


def check_parts(census: Census, n_attentions: int, sizes: Sizes) -> None:
    """Fail unless each sublayer has a LayerNorm and an attention of its own, and nothing else is learned.

    In place of the stand-ins that it does not use, a layer may learn as many numbers, and biases of each attention:
    one for each projection, of the output perhaps one for each head. A norm's gain and shift may be single numbers, or
    missing.
    """
    d_model = sizes.d_model
    wanted = n_attentions, 1, n_attentions + 1
    got = [len(census.known[letter]) for letter in "AFN"]
    missing = [due - there for due, there in zip(wanted, got, strict=True)]
    others = missing[0] * 4 * d_model**2 + missing[1] * sum(network_formula(d_model, sizes.d_ff).counts)
    fewest = [others + missing[2] * sum(widths) for widths in norm_widths(census, missing[2], d_model)]
    most_biases = missing[0] * (4 + sizes.n_heads) * d_model
    fits = min(missing) >= 0 and any(least <= census.count <= least + most_biases for least in fewest)
    has_most = sum(map(min, got, wanted)) > sum(wanted) / 2 or 2 * census.count > min(fewest)
    has_any = any(got) or census.count >= d_model**2
    names = "MultiHeadedAttention", "FeedForward", "LayerNorm"
    lacking = [f"{n} {name} for {due} sublayers" for name, due, n in zip(names, wanted, got, strict=True) if n < due]
    one_each = f"{' and '.join(lacking)}: each sublayer has its own; build them in __init__"
    expect(
        fits,
        "how many of MultiHeadedAttention, FeedForward and LayerNorm the layer has",
        "{}, {} and {}".format(*wanted),
        "{}, {} and {}".format(*got) + (f", and {census.count} other learned numbers" if census.count else ""),
        one_each if lacking else "each sublayer has one; which is too many?",
        OtherPartsError if has_most else CheckFailed if has_any else NoPartsError,
    )


def norm_widths(census: Census, n_own: int, d_model: int) -> list[tuple[int, int]]:
    """How many numbers gain and shift may have, of so many LayerNorms of a layer's own: single ones may do.

    Where a layer has no stand-ins, the shift or both may be missing.
    """
    n_singles = sum(p.numel() == 1 for p in census.others)
    singles = [*[(1, 1)] * (n_singles >= 2 * n_own > 0), *[(1, d_model)] * (n_singles >= n_own > 0)]
    return [(d_model, d_model), *singles, *[(d_model, 0), (0, 0)] * (not any(census.known.values()))]


def has_usual_shapes(parameters: Sequence[Tensor], sizes: Sizes) -> bool:
    """True if parameters have the shapes that linear maps and LayerNorms have, fused ones and those of a head too."""
    shapes, d_head = [p.squeeze().shape for p in parameters], sizes.d_model // sizes.n_heads
    return all(len(shape) < 3 and all(n % d_head == 0 or n == sizes.d_ff for n in shape) for shape in shapes)


def layer_formulas(flow: Flow, census: Census, sizes: Sizes, **of_network: Any) -> Iterator[Formula]:
    """Yield what a layer may compute with its stand-ins in each role, and with parts of its own for those it lacks."""
    d_model, n_heads, known = sizes.d_model, sizes.n_heads, census.computations(sizes)
    n_own = {letter: count - len(known[letter]) for letter, count in Counter(flow.places.values()).items()}
    kinds, are_all_tried = KINDS if n_own["N"] else KINDS[:1], not n_own["N"]  # else there would be too many
    choices = [*attention_choices(n_own["A"], d_model, n_heads, are_all_tried)]
    all_widths = norm_widths(census, n_own["N"], d_model)
    for kind, widths, own_attentions in product(kinds, all_widths, choices):
        shapes = [(width,) for width in widths]
        gains = [Formula(shapes, partial(norm_of, least=least, kind=kind)) for least in (0.0, 1.0)]
        for own_norms in combinations_with_replacement(gains, n_own["N"]):
            own_networks = [network_formula(d_model, sizes.d_ff, **of_network)] * n_own["F"]
            own = {"N": own_norms, "A": own_attentions, "F": own_networks}
            if sum(sum(formula.counts) for formulas in own.values() for formula in formulas) == census.count:
                pools = {letter: [*known[letter], *own[letter]] for letter in own}
                arranged = {tuple(map(id, parts.values())): parts for parts in flow.arrangements(pools)}
                yield from (join(flow, parts) for parts in arranged.values())


def attention_choices(count: int, d_model: int, n_heads: int, are_all_tried: bool) -> Iterator[Sequence[Formula]]:
    """Yield ways in which so many attentions of a layer's own may have biases: the same, or others."""
    for is_stand_in in (True, False):
        kinds = attention_formulas(d_model, n_heads, is_stand_in)
        yield from ([kind] * count for kind in (kinds if count else kinds[: int(is_stand_in)]))
        if count > 1:
            usual = attention_formulas(d_model, n_heads, is_stand_in, USUAL_BIASES)
            yield from combinations(kinds if are_all_tried else usual, count)


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
