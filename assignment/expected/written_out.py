"""Reads a layer that writes its attention out, and perhaps other parts, in place of the components.

There is then no stand-in to recognise. But the tests choose the parameters: all vectors that the layer itself holds
get the same value, and its matrices are switched on part by part while the others are zero. So each part shows
separately in what the layer returns: first the residual connections and LayerNorms, then the feed-forward network,
then each attention.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, permutations, product
from typing import Any

import torch
from torch import Tensor, nn

from assignment.stand_ins.formulas import mixed_look_up, wave
from autograder.testing.arguments import copies_of
from autograder.testing.comparison import (
    TOLERANCE,
    difference,
    expect,
    expect_close,
    expect_parts,
    expect_shape,
    fail,
)

from .by_behaviour import Formula
from .layers import KINDS, Attention, Census, Layer, Norm, NormKind, Sizes, check_parts
from .readings import needs_reader
from .usual_layouts import (
    FoundAttention,
    Network,
    UsualLayout,
    attention_formulas,
    find_attention,
    formula_readings,
    network_formula,
)

ATTENTION = "written out, it must do what MultiHeadedAttention (task 1.3) does; the layer can use that instead"
NETWORK = "written out, it must do what FeedForward (task 1.5) does; the layer can use that instead"
ALONE = "all matrices that the layer itself holds are zero but those of {}"
SIZES = Sizes(d_model=20, n_heads=4, d_ff=17)
"""For such a layer: its own parameters are told apart by their sizes, so no two of them may coincide."""


class WrittenOut:
    """A layer some of whose parts are its own."""

    def __init__(self, module: nn.Module, inputs: Sequence[Tensor | None], sizes: Sizes, constant: float) -> None:
        """Gives all vectors that the layer itself holds one value.

        Attributes:
            kinds: what its own LayerNorms may compute.

        Args:
            module: the layer, with random parameters.
            inputs: x, or x and memory, and None for each mask: they are judged with the layer as a whole.
            sizes: `SIZES`, in the order that is wanted.
            constant: the value of the vectors.
        """
        self.module, self.inputs, self.sizes, self.constant = module, inputs, sizes, constant
        self.n_attentions, self.kinds = 2 if len(inputs) == 4 else 1, KINDS
        self.census = check_parts(list(module.parameters()), self.n_attentions, sizes)
        self._vectors = [p for p in self.census.others if p.numel() <= 4 * sizes.d_model]
        with torch.no_grad():
            for vector in self._vectors:
                vector.fill_(constant)
        self._saved = {
            number: (parameter, parameter.detach().clone())
            for number, parameter in enumerate(module.parameters())
            if any(parameter is other for other in self.census.others) and parameter.numel() > 4 * sizes.d_model
        }

    @property
    def is_usual(self) -> bool:
        """Whether its own parameters have the shapes that linear maps and LayerNorms have, fused ones too."""
        d_model, d_ff = self.sizes.d_model, self.sizes.d_ff
        shapes = [p.squeeze().shape for p in self.census.others]
        return all(len(shape) < 3 and all(n % d_model == 0 or n == d_ff for n in shape) for shape in shapes)

    def read(self, leaves: Sequence[Tensor]) -> Layer:
        """The layer's parts in their roles, made from these parameters; fails where one of them is wrong.

        Raises:
            UnreadableError: where its own parameters are not laid out as usual.
        """
        size = self.sizes.d_model * self.sizes.d_ff
        of_network = [number for number, (parameter, _) in self._saved.items() if parameter.numel() == size]
        of_attentions = [number for number in self._saved if number not in of_network]
        groups = self._groups(of_attentions)
        n_own = self.n_attentions - len(self.census.attentions)
        is_whole = bool(of_attentions) == bool(n_own) == bool(groups) and len(groups) == n_own
        if not is_whole or len(of_network) != 2 * (1 - len(self.census.feed_forwards)):
            needs_reader("layer that writes parts out")
        try:
            self._switch_on([])
            frame = self._find_frame(leaves)
            network, attentions = frame.network, list(frame.attentions)
            if not self.census.feed_forwards:
                self._switch_on(of_network)
                network = self._find_network(frame, [leaves[number] for number in of_network])
            for group in groups:
                self._switch_on(group)
                number, attention = self._find_attention(frame, [leaves[number] for number in group])
                attentions[number] = attention
        finally:
            self._switch_on(list(self._saved))
        found = replace(frame, attentions=tuple(attentions), network=network)
        self._expect_own_norms(found)
        return found

    def _switch_on(self, numbers: Sequence[int]) -> None:
        """Turns these matrices on and the layer's other ones to zero."""
        with torch.no_grad():
            for number, (parameter, value) in self._saved.items():
                parameter.copy_(value if number in numbers else torch.zeros_like(value))

    def _groups(self, numbers: Sequence[int]) -> list[list[int]]:
        """The matrices of each attention, in order; [] where they cannot be divided like that."""
        groups: list[list[int]] = []
        total = 0
        for number in numbers:
            if total == 4 * self.sizes.d_model**2 * len(groups):
                groups.append([])
            groups[-1].append(number)
            total += self._saved[number][1].numel()
        return groups if total == 4 * self.sizes.d_model**2 * len(groups) else []

    def _run(self) -> list[Tensor]:
        parts = ("x", "self_weights", "cross_weights")[: 1 + self.n_attentions]
        found = expect_parts(self.module(*copies_of(self.inputs)), parts, "what forward returns")
        x = expect_shape(found[0], self.inputs[0].shape, "x")  # type: ignore[union-attr]  # never a mask
        return [x.detach(), *found[1:]]

    def _find_frame(self, leaves: Sequence[Tensor]) -> Layer:
        """The LayerNorms and residual connections, while no sublayer of the layer's own reads its input."""
        candidates = list(self._frames(leaves))
        x, *others = self.inputs
        what = "the output while all matrices that the layer itself holds are zero"
        outputs = [frame(x, *others)[0] for frame in candidates]  # type: ignore[arg-type]
        found = candidates[expect_one(self._run()[0], outputs, what, "residual connections and LayerNorms")]
        self.kinds = [norm.compute for norm in found.norms if norm.compute in KINDS][:1]
        return found

    def _expect_own_norms(self, layer: Layer) -> None:
        """Each of the layer's own LayerNorms has a gain that acts there alone."""
        outputs = []
        for vector in self._vectors:
            for gain in vector.detach().reshape(-1).split(self.sizes.d_model):
                gain.mul_(2)
                outputs.append(self._run()[0])
                gain.div_(2)
        for number, norm in enumerate(layer.norms):
            if norm.compute in KINDS:
                norms = [*layer.norms]
                norms[number] = replace(norm, gain=2 * norm.gain)
                wanted = replace(layer, norms=tuple(norms))(*self.inputs)[0]  # type: ignore[arg-type]
                is_own = any(difference(output, wanted) <= TOLERANCE for output in outputs)
                look_at = "each sublayer has its own LayerNorm; build them in __init__"
                expect(is_own, f"a gain for LayerNorm {number + 1} alone", "a parameter", "none", look_at)

    def _frames(self, leaves: Sequence[Tensor]) -> Iterator[Layer]:
        """All that the layer may be while its own matrices are zero."""
        census = Census.of(leaves, self.sizes.d_model)
        networks: list[Callable[[Tensor], Tensor]]
        networks = [partial(wave, mix=mix, d_ff=self.sizes.d_ff) for mix in census.feed_forwards]
        networks = networks or [lambda x: torch.full_like(x, self.constant)]
        stand_ins = [partial(mixed_look_up, mix=mix, n_heads=self.sizes.n_heads) for mix in census.attentions]
        n_own = self.n_attentions - len(stand_ins)
        # There may be no output bias, one for all heads, or one for each head.
        for biases in product((0.0, self.constant, self.constant * self.sizes.n_heads), repeat=n_own):
            own = [EvenAttention(bias, self.sizes.n_heads) for bias in biases]
            attentions: list[Attention] = [*stand_ins, *own]
            for parts in product(permutations(attentions), networks, self._norm_orders(census.norms)):
                yield Layer(*parts, self.sizes.norm_first)

    def _norm_orders(self, stand_ins: Sequence[Tensor]) -> list[tuple[Norm, ...]]:
        """Each order in which the layer may apply its LayerNorms."""
        vector = torch.full((self.sizes.d_model,), self.constant, dtype=torch.float64)
        known, n_own = [Norm(*norm) for norm in stand_ins], self.n_attentions + 1 - len(stand_ins)
        orders: dict[tuple[int, ...], tuple[Norm, ...]] = {}
        for kind in KINDS if n_own else KINDS[:1]:
            norms = [*known, *[Norm(vector, vector, kind)] * n_own]
            orders |= {tuple(map(id, order)): order for order in permutations(norms)}
        return [*orders.values()]

    def _find_network(self, frame: Layer, matrices: Sequence[Tensor]) -> Network:
        """The feed-forward network, while no attention of the layer's own reads its input."""
        vectors = [torch.full((n,), self.constant, dtype=torch.float64) for n in (self.sizes.d_ff, self.sizes.d_model)]
        networks = list(formula_readings([*matrices, *vectors], self.sizes.d_model, self.sizes.d_ff))
        x, *others = self.inputs
        outputs = [replace(frame, network=network)(x, *others)[0] for network in networks]  # type: ignore[arg-type]
        what = f"the output while {ALONE.format('the feed-forward network')}"
        return networks[expect_one(self._run()[0], outputs, what, NETWORK)]

    def _find_attention(self, frame: Layer, matrices: Sequence[Tensor]) -> tuple[int, FoundAttention]:
        """Which of the layer's attentions has these matrices, and how, while the other matrices are zero."""
        first, *others = self.inputs
        x: Tensor = first  # type: ignore[assignment]  # never a mask
        in_frame = frame(x, *others)
        output, *weights = self._run()
        if [getattr(one, "shape", None) for one in weights] != [one.shape for one in in_frame[1:]]:
            needs_reader("layer that does not return the weights of every head")
        own = [number for number, attention in enumerate(frame.attentions) if isinstance(attention, EvenAttention)]
        uneven = [n for n in own if difference(weights[n], in_frame[1 + n]) > TOLERANCE]
        what = f"the weights while {ALONE.format('one attention')}"
        expect(bool(uneven), what, "weights that depend on query and key", "the same for all keys", ATTENTION)
        number = uneven[0]
        for earlier in range(number):
            x = frame.add(earlier, x, frame.sublayer(earlier, frame.read(earlier, x), others)[0])
        query = frame.read(number, x)
        source = query if number == 0 else others[0]

        def finish(out: Tensor) -> Tensor:
            """(n, m, d): what the layer makes of outputs of this attention at the first place of the first sentence."""
            found = frame.add(number, x[0, 0], out)
            memory = [other[:1] if other is not None else None for other in others]
            for later in range(number + 1, self.n_attentions + 1):
                found = frame.add(later, found, frame.sublayer(later, frame.read(later, found), memory)[0])
            return found

        biases = [
            torch.full((self.sizes.d_model,), self.constant * n, dtype=torch.float64) for n in (1, self.sizes.n_heads)
        ]
        inputs: list[Tensor] = [query, source, source]  # type: ignore[list-item]
        layout = UsualLayout.of([*matrices, *biases], self.sizes.d_model, self.sizes.n_heads)
        seen = inputs, output, weights[number], finish
        found = None if layout is None else find_attention(layout, self.sizes.n_heads, *seen)
        if found is None:
            what = f"weights and output while {ALONE.format('one attention')}"
            fail(what, "those of projected heads, projected again", "others", ATTENTION)
        return number, found


def own_formulas(
    census: Census, count: float, n_attentions: int, sizes: Sizes, norm_kinds: Sequence[NormKind]
) -> list[Formula]:
    """What a layer may compute whose own numbers, so many beside those of stand-ins, may stand anywhere."""
    stand_ins = [partial(mixed_look_up, mix=mix, n_heads=sizes.n_heads) for mix in census.attentions]
    networks = [partial(wave, mix=mix, d_ff=sizes.d_ff) for mix in census.feed_forwards]
    norms = [Norm(*norm) for norm in census.norms]
    network = [] if networks else [network_formula(sizes.d_model, sizes.d_ff)]
    n_norms = n_attentions + 1 - len(norms)
    choices: list[tuple[Formula, ...]] = [] if n_norms else [()]
    for kind in norm_kinds if n_norms else ():
        gains = [Formula([(sizes.d_model,)] * 2, partial(_norm, least=least, kind=kind)) for least in (0.0, 1.0)]
        choices += product(gains, repeat=n_norms)
    kinds = attention_formulas(sizes.d_model, sizes.n_heads)
    found: dict[tuple[int, ...], Formula] = {}
    n_own = n_attentions - len(stand_ins)
    for own in [[kind] * n_own + network for kind in (kinds if n_own else kinds[:1])]:
        if sum(sum(formula.counts) for formula in own) + n_norms * 2 * sizes.d_model != count:
            continue
        for own_norms in choices:
            for attentions in permutations([*stand_ins, *own[:n_own]]):
                for order in permutations([*norms, *own_norms]):
                    slots = [*attentions, *(networks or network), *order]
                    formula = _layer_formula(slots, n_attentions, sizes.norm_first)
                    found.setdefault(tuple(map(id, slots)), formula)
    return [*found.values()]


def _norm(parts: Sequence[Tensor], least: float, kind: NormKind) -> Norm:
    """A layer's own LayerNorm, whose gain may be kept as its difference from 1."""
    return Norm(least + parts[0], parts[1], kind)


def _layer_formula(slots: Sequence[Any], n_attentions: int, norm_first: bool) -> Formula:
    """A layer each of whose parts is either a computation or a formula."""
    shapes: list[tuple[int, ...]] = []
    exchangeable, ends = [], [0]
    for slot in slots:
        if isinstance(slot, Formula):
            exchangeable += [len(shapes) + part for part in slot.exchangeable]
            shapes += slot.shapes
        ends.append(len(shapes))

    def make(parts: Sequence[Tensor]) -> Layer:
        pieces = [parts[start:end] for start, end in pairwise(ends)]
        made: list[Any] = [
            slot.make(piece) if isinstance(slot, Formula) else slot for slot, piece in zip(slots, pieces, strict=True)
        ]
        return Layer(tuple(made[:n_attentions]), made[n_attentions], tuple(made[n_attentions + 1 :]), norm_first)

    return Formula(shapes, make, exchangeable)


@dataclass(frozen=True)
class EvenAttention:
    """An attention whose matrices are zero: it attends to all keys alike."""

    value: float
    n_heads: int

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Output (b, q, d) and even weights (b, h, q, k)."""
        weights = query.new_full((query.size(0), self.n_heads, query.size(1), key.size(1)), 1 / key.size(1))
        return torch.full_like(query, self.value), weights


def expect_one(actual: object, candidates: Sequence[Tensor], what: str, look_at: str) -> int:
    """Returns the index of the first candidate that fits; fails where none does, and shows the nearest."""
    if not candidates:
        fail(what, "parameters in which the parts can be recognised", "none that fit", look_at)
    errors = [
        difference(actual, one) if isinstance(actual, Tensor) and actual.shape == one.shape else math.inf
        for one in candidates
    ]
    index = errors.index(min(errors))
    expect_close(actual, candidates[index], what, look_at)
    return index
