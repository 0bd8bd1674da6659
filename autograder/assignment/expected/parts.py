"""Recognises by the shapes of its parameters what a component is made of: stand-ins, and parts of its own.

The stand-ins (`stand_ins`) have parameters of shapes that nothing else has. A submission may have a part
of its own in place of a stand-in (a LayerNorm bound as a default argument, a feed-forward network written out
in the layer): then the real part is looked for among the other parameters.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.assignment.stand_ins.formulas import VECTORS, squash, wave

EPSILON = 1e-6  # LayerNorm's default


def learned(module: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes."""
    return [p for p in module.parameters() if p.requires_grad and p.numel()]


@dataclass(frozen=True)
class Census:
    """The parameters of a component by the stand-in that they belong to; `others` are the submission's own."""

    norms: list[Tensor]  # (2, 1, d)
    feed_forwards: list[Tensor]  # (3, 1, d)
    attentions: list[Tensor]  # (4, 1, d)
    encoder_layers: list[Tensor]  # (5, 1, d)
    decoder_layers: list[Tensor]  # (9, 1, d)
    others: list[Tensor]

    def silence(self, silent: Sequence[Tensor], d_ff: int) -> None:
        """Makes these sublayers return 0 and the others plain sums; the norms 0.9 tanh(x), which can be inverted."""
        with torch.no_grad():
            for mix in (*self.attentions, *self.feed_forwards):
                is_network = mix.size(0) == 3
                mix[1 if is_network else 3].fill_(float(all(mix is not one for one in silent)))
                if is_network:
                    mix[2].fill_(-d_ff / 1000)
            for norm in self.norms:
                norm[0].fill_(0.9)
                norm[1].zero_()


def keeps_single_entries(trained: Tensor, whole: Tensor, silent: Tensor, rate: float, n_norms: int) -> bool:
    """Whether dropout has left 0 or 1 / (1 - rate) of each entry of the one sublayer that computes something.

    Args:
        trained: output in train mode, of a layer whose LayerNorms are 0.9 tanh(x).
        whole: in eval mode.
        silent: without that sublayer.
        rate: of dropout.
        n_norms: LayerNorms between the sublayer and the output.
    """
    for _ in range(n_norms):
        trained, whole, silent = (torch.atanh(x / 0.9) for x in (trained, whole, silent))
    kept = (trained - silent) / (whole - silent)
    is_dropped, is_scaled = kept.abs() < 1e-4, (kept - 1 / (1 - rate)).abs() < 1e-4
    is_mixed = [bool((is_dropped != is_dropped.select(axis, 0).unsqueeze(axis)).any()) for axis in range(3)]
    return bool((is_dropped | is_scaled).all()) and all(is_mixed)


def take_census(parameters: Sequence[Tensor], d_model: int) -> Census:
    """Sorts the parameters by their shapes."""
    shapes = [(count, 1, d_model) for count in VECTORS.values()]
    norms, feed_forwards, attentions, encoder_layers, decoder_layers = (
        [p for p in parameters if tuple(p.shape) == shape] for shape in shapes
    )
    others = [p for p in parameters if tuple(p.shape) not in shapes]
    return Census(norms, feed_forwards, attentions, encoder_layers, decoder_layers, others)


@dataclass(frozen=True)
class Norm:
    """A LayerNorm: a stand-in's, or a real one with the submission's own gain and shift."""

    gain: Tensor
    shift: Tensor
    is_stand_in: bool

    def __call__(self, x: Tensor) -> Tensor:
        """(..., d) -> (..., d)."""
        if self.is_stand_in:
            return squash(x, self.gain, self.shift)
        return F.layer_norm(x, (x.size(-1),), self.gain, self.shift, EPSILON)


@dataclass(frozen=True)
class Network:
    """A feed-forward network: a stand-in's (mix, d_ff), or a real one (two matrices and two biases)."""

    parameters: tuple[Tensor, ...]
    d_ff: int
    activation: Callable[[Tensor], Tensor] = F.relu

    def __call__(self, x: Tensor) -> Tensor:
        """(..., d) -> (..., d)."""
        if len(self.parameters) == 1:
            return wave(x, *self.parameters, self.d_ff)
        first, inner, second, outer = self.parameters
        return F.linear(self.activation(F.linear(x, first, inner)), second, outer)


def norm_readings(census: Census, count: int, d_model: int) -> Iterator[tuple[list[Norm], list[Tensor]]]:
    """The `count` norms of a component in no particular order, and the parameters that are left over."""
    if census.norms:
        yield [Norm(norm[0], norm[1], is_stand_in=True) for norm in census.norms], census.others
        return
    vectors = [p for p in census.others if p.numel() == d_model]
    for free in _choices(len(vectors) - 2 * count, len(vectors)):
        taken = [vector.flatten() for index, vector in enumerate(vectors) if index not in free]
        left = [p for p in census.others if not any(p is v for i, v in enumerate(vectors) if i not in free)]
        for first, second in ((taken[0::2], taken[1::2]), (taken[1::2], taken[0::2])):
            yield [Norm(gain, shift, is_stand_in=False) for gain, shift in zip(first, second, strict=True)], left


def _choices(count: int, total: int) -> Iterator[tuple[int, ...]]:
    """The ways to choose the vectors, at most one of `total`, that belong to something else."""
    if count == 0 < total:
        yield ()
    elif count == 1:
        yield from ((index,) for index in range(total))


def network_readings(census: Census, others: Sequence[Tensor], d_model: int, d_ff: int) -> Iterator[Network]:
    """The feed-forward network of a component: a stand-in, or the formula with the other parameters."""
    if census.feed_forwards:
        yield from (Network((mix,), d_ff) for mix in census.feed_forwards)
        return
    yield from formula_readings(others, d_model, d_ff)


def formula_readings(parameters: Sequence[Tensor], d_model: int, d_ff: int) -> Iterator[Network]:
    """W_2 relu(W_1 x + b_1) + b_2 for each way to lay out the parameters; sizes that coincide leave several."""
    if len(parameters) != 4:
        return
    for first, second, inner, outer in permutations(parameters):
        if inner.numel() != d_ff or outer.numel() != d_model or not first.numel() == second.numel() == d_model * d_ff:
            continue
        biases = inner.flatten(), outer.flatten()
        for one, other in product(_turns(first, d_ff, d_model), _turns(second, d_model, d_ff)):
            yield Network((one, biases[0], other, biases[1]), d_ff)


def _turns(matrix: Tensor, rows: int, columns: int) -> list[Tensor]:
    """A parameter as a matrix of that shape, as it is or transposed; both where it is square."""
    shape = [size for size in matrix.shape if size != 1]
    found = []
    if shape == [size for size in (rows, columns) if size != 1]:
        found.append(matrix.reshape(rows, columns))
    if rows != 1 and columns != 1 and shape == [columns, rows]:
        found.append(matrix.reshape(columns, rows).mT)
    return found


def missing_numbers(census: Census, attentions: int, norms: int, d_model: int, d_ff: int) -> tuple[int, int]:
    """How many numbers of its own a layer may learn in place of the stand-ins that it does not use.

    Returns:
        the fewest and the most: attention may have up to four biases.
    """
    n_attentions = attentions - len(census.attentions)
    n_norms = norms - len(census.norms)
    n_networks = 1 - len(census.feed_forwards)
    fewest = n_attentions * 4 * d_model**2 + n_norms * 2 * d_model
    fewest += n_networks * (2 * d_model * d_ff + d_model + d_ff)
    return fewest, fewest + max(0, n_attentions) * 4 * d_model
