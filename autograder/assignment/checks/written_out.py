"""Judges a layer that writes its attention out, and perhaps other parts, in place of the components.

There is then no stand-in to recognise. But the tests choose the parameters: all vectors that the layer itself holds
get the same value, and its matrices are switched on part by part while the others are zero. So each part shows
separately in what the layer returns: first the residual connections and LayerNorms, then the feed-forward network,
then each attention.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

import torch
from torch import Tensor

from autograder.assignment.parameter_roles.parts import Network, formula_readings
from autograder.assignment.parameter_roles.projections import FoundAttention, find_attention
from autograder.testing.comparison import TOLERANCE, difference, expect, expect_equal_to_one, fail

from .layer_case import Attention, LayerCase, Sublayers, norm_orders, stand_in

ATTENTION = "written out, it must do what MultiHeadedAttention (task 1.3) does; the layer can use that instead"
NETWORK = "written out, it must do what FeedForward (task 1.5) does; the layer can use that instead"
ALONE = "all matrices that the layer itself holds are zero but those of {}"


def recognise(made: LayerCase, parameters: Sequence[Tensor] | None = None) -> Sublayers:
    """The layer's parts in their roles; fails where one of them is wrong.

    Args:
        made: its own vectors have the value `made.constant`.
        parameters: to make the parts from; None = the layer's own, detached.
    """
    values = [p.detach() for p in made.layer.parameters()] if parameters is None else list(parameters)
    bare = replace(made, inputs=made.probe)  # masks are judged with the layer as a whole
    switches = Switches(made)
    n_own = made.n_attentions - len(made.census().attentions)
    groups = switches.attentions(n_own, made.d_model)
    what = "the attention that the layer writes out"
    shapes = ", ".join(str(tuple(values[number].shape)) for number in switches.of_attention) or "none"
    wanted = "parameters that make up four matrices for each, one attention after the other"
    expect(len(groups) == n_own, what, wanted, shapes, ATTENTION)
    try:
        switches.only([])
        frame = find_frame(bare, values)
        network, attentions = frame.network, list(frame.attentions)
        if not made.census().feed_forwards:
            switches.only(switches.of_network)
            network = find_network(bare, frame, [values[number] for number in switches.of_network])
        for group in groups:
            switches.only(group)
            number, attention = find_own_attention(bare, frame, [values[number] for number in group])
            attentions[number] = attention
    finally:
        switches.all()
    return Sublayers(made, tuple(attentions), network, frame.norms)


class Switches:
    """Turns matrices of a layer's own to zero and back.

    Attributes:
        of_network, of_attention: numbers of these parameters.
    """

    def __init__(self, made: LayerCase) -> None:
        """Takes the values as they are."""
        others = made.census().others
        matrices = {
            number: parameter
            for number, parameter in enumerate(made.layer.parameters())
            if any(parameter is other for other in others) and parameter.numel() > 4 * made.d_model
        }
        self._saved = {number: (parameter, parameter.detach().clone()) for number, parameter in matrices.items()}
        size = made.d_model * made.d_ff
        self.of_network = [number for number, parameter in matrices.items() if parameter.numel() == size]
        self.of_attention = [number for number, parameter in matrices.items() if parameter.numel() != size]

    def only(self, numbers: Sequence[int]) -> None:
        """Turns these on and all others off."""
        with torch.no_grad():
            for number, (parameter, value) in self._saved.items():
                parameter.copy_(value if number in numbers else torch.zeros_like(value))

    def all(self) -> None:
        """Turns all on."""
        self.only(list(self._saved))

    def attentions(self, count: int, d_model: int) -> list[list[int]]:
        """The matrices of each of `count` attentions, in order; [] where they cannot be divided like that."""
        groups: list[list[int]] = []
        total = 0
        for number in self.of_attention:
            if total == 4 * d_model**2 * len(groups):
                groups.append([])
            groups[-1].append(number)
            total += self._saved[number][1].numel()
        return groups if total == 4 * d_model**2 * count else []


def find_frame(made: LayerCase, values: Sequence[Tensor]) -> Sublayers:
    """The LayerNorms and residual connections, while no sublayer of the layer's own reads its input."""
    candidates = list(frames(made, values))
    what = "the output while all matrices that the layer itself holds are zero"
    return candidates[expect_equal_to_one(made.run()[0], [frame.run()[0] for frame in candidates], what, made.rule)]


def frames(made: LayerCase, values: Sequence[Tensor]) -> Iterator[Sublayers]:
    """All that the layer may be while its own matrices are zero."""
    census = made.census(values)
    networks: list[Callable[[Tensor], Tensor]] = [Network((mix,), made.d_ff) for mix in census.feed_forwards]
    networks = networks or [Constant(made.constant)]
    n_own = made.n_attentions - len(census.attentions)
    # There may be no output bias, one for all heads, or one for each head.
    for biases in product((0.0, made.constant, made.constant * made.n_heads), repeat=n_own):
        attentions: list[Attention] = [stand_in(mix, made.n_heads) for mix in census.attentions]
        attentions += [EvenAttention(bias, made.n_heads) for bias in biases]
        for parts in product(permutations(attentions), networks, norm_orders(made, values)):
            yield Sublayers(made, *parts)


@dataclass(frozen=True)
class Constant:
    """A network whose matrices are zero."""

    value: float

    def __call__(self, state: Tensor) -> Tensor:
        """The same value everywhere, in the shape of `state`."""
        return torch.full_like(state, self.value)


@dataclass(frozen=True)
class EvenAttention:
    """An attention whose matrices are zero: it attends to all keys alike."""

    value: float
    n_heads: int

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Output (b, q, d) and even weights (b, h, q, k)."""
        weights = query.new_full((query.size(0), self.n_heads, query.size(1), key.size(1)), 1 / key.size(1))
        return torch.full_like(query, self.value), weights


def find_network(made: LayerCase, frame: Sublayers, matrices: Sequence[Tensor]) -> Network:
    """The feed-forward network, while no attention of the layer's own reads its input."""
    vectors = [torch.full((size,), made.constant, dtype=torch.float64) for size in (made.d_ff, made.d_model)]
    networks = list(formula_readings([*matrices, *vectors], made.d_model, made.d_ff))
    outputs = [replace(frame, network=network).run()[0] for network in networks]
    what = f"the output while {ALONE.format('the feed-forward network')}"
    return networks[expect_equal_to_one(made.run()[0], outputs, what, NETWORK)]


def find_own_attention(made: LayerCase, frame: Sublayers, matrices: Sequence[Tensor]) -> tuple[int, FoundAttention]:
    """Which of the layer's attentions has these matrices, and how, while the other matrices are zero."""
    output, *weights = made.run()
    own = [number for number, attention in enumerate(frame.attentions) if isinstance(attention, EvenAttention)]
    uneven = [n for n in own if difference(weights[n], frame.run()[1 + n]) > TOLERANCE]
    what = f"the weights while {ALONE.format('one attention')}"
    expect(bool(uneven), what, "weights that depend on query and key", "the same for all keys", ATTENTION)
    number = uneven[0]
    state = frame.before(number)
    query = frame.read(number, state)
    source, _ = frame.source(number, query)

    def finish(out: Tensor) -> Tensor:
        """(n, m, d): what the layer makes of outputs of this attention at the first place of the first sentence."""
        found = frame.add(number, state[0, 0], out)
        for later in range(number + 1, made.n_attentions):
            memory = made.inputs[1][:1]
            found = frame.add(later, found, frame.attentions[later](frame.read(later, found), memory, memory, None)[0])
        return frame.add(made.n_attentions, found, frame.network(frame.read(made.n_attentions, found)))

    biases = [torch.full((made.d_model,), made.constant * n, dtype=torch.float64) for n in (1, made.n_heads)]
    inputs = query, source, source
    search = find_attention([*matrices, *biases], made.n_heads, inputs, output, weights[number], finish)
    if search.found is None:
        if search.weights_fit:
            what = f"the output while {ALONE.format('one attention')}"
            fail(what, "the projected heads, projected again", "another", ATTENTION)
        fail(what, "those of a projected query and key in heads", "others", ATTENTION)
    return number, search.found
