"""Finds out which parameter of a submission plays which part, without asking for names.

A submission may use four linear maps or one fused one, rows or columns, any names and any order. Tests write
random values into all parameters and try every assignment of parts against the mathematics: of random values
only the true one fits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor

Parameters = Sequence[Tensor]


@dataclass(frozen=True)
class Projections:
    """The weights (d, d), applied as x @ weight.T + bias, and biases (d,) of multi-headed attention."""

    weights: tuple[Tensor, Tensor, Tensor, Tensor]  # query, key, value, output
    biases: tuple[Tensor, Tensor, Tensor, Tensor]

    def apply(self, part: int, x: Tensor) -> Tensor:
        """Part 0 query, 1 key, 2 value, 3 output."""
        return x @ self.weights[part].T + self.biases[part]


def matrices(parameters: Parameters) -> list[Tensor]:
    """The parameters with more than one axis longer than 1: weights, not biases."""
    return [parameter for parameter in parameters if parameter.squeeze().dim() > 1]


def vectors(parameters: Parameters) -> list[Tensor]:
    """All others, flattened."""
    return [parameter.flatten() for parameter in parameters if parameter.squeeze().dim() <= 1]


def projection_layouts(parameters: Parameters, d_model: int, n_heads: int) -> Iterator[Projections]:
    """Every way in which the parameters may be the projections of multi-headed attention."""
    for blocks in _square_blocks(matrices(parameters), d_model, n_heads):
        for order in permutations(range(4)):
            ordered = [blocks[index] for index in order]
            for transposed in (False, True):
                weights = tuple(w.T if transposed else w for w in ordered)
                for biases in _bias_layouts(vectors(parameters), order, d_model, n_heads):
                    yield Projections(weights, biases)


def _square_blocks(weights: list[Tensor], d: int, n_heads: int) -> Iterator[list[Tensor]]:
    """Cuts the weights into four of (d, d), in each way that the shapes allow."""
    if sum(weight.numel() for weight in weights) != 4 * d * d:
        return
    single = [weight.flatten(-2) if weight.dim() == 3 and weight.shape[0] == d else weight for weight in weights]
    yielded: list[list[Tensor]] = []

    def collect(cut) -> None:
        blocks = [block for weight in single for block in cut(weight)]
        if len(blocks) == 4 and all(block.shape == (d, d) for block in blocks):
            yielded.append(blocks)

    def chunks(weight: Tensor) -> list[Tensor]:
        if weight.dim() == 3:  # one matrix a head: (h, d, d_head) or (h, d_head, d)
            if weight.shape == (n_heads, d, d // n_heads):
                return [weight.transpose(0, 1).reshape(d, d)]
            if weight.shape == (n_heads, d // n_heads, d):
                return [weight.reshape(d, d)]
            return list(weight) if weight.shape[1:] == (d, d) else [weight]
        if weight.shape[0] % d == 0 and weight.shape[1] == d:
            return list(weight.split(d))
        if weight.shape[1] % d == 0 and weight.shape[0] == d:
            return list(weight.split(d, dim=1))
        return [weight]

    def interleaved(weight: Tensor) -> list[Tensor]:  # for each head: query, key, value
        if weight.dim() == 2 and weight.shape[1] == d and weight.shape[0] in (2 * d, 3 * d):
            parts = weight.shape[0] // d
            by_head = weight.unflatten(0, (n_heads, parts, d // n_heads))
            return [by_head[:, part].reshape(d, d) for part in range(parts)]
        return chunks(weight)

    collect(chunks)
    collect(interleaved)
    d_head = d // n_heads
    small = [w if w.shape == (d_head, d) else w.T for w in weights if w.dim() == 2 and set(w.shape) == {d_head, d}]
    if n_heads > 1 and len(small) == 3 * n_heads:  # a linear map for each head
        rest = [weight for weight in weights if weight.shape == (d, d)]
        grouped = [torch.cat(small[part * n_heads : (part + 1) * n_heads]) for part in range(3)]
        strided = [torch.cat(small[part::3]) for part in range(3)]
        for blocks in (grouped, strided):
            if len(rest) == 1:
                yielded.append([*blocks, rest[0]])
    yield from yielded


def _bias_layouts(biases: list[Tensor], order: tuple[int, ...], d: int, n_heads: int) -> Iterator[tuple[Tensor, ...]]:
    """Biases in the order of their weights, however many there are: none, all, or only some."""
    joined = torch.cat(biases) if biases else torch.zeros(0)
    zero = joined.new_zeros(d)
    if joined.numel() == 0:
        yield (zero,) * 4
        return
    if joined.numel() % d:
        return
    readings = [list(joined.split(d))]
    if any(bias.numel() == 3 * d for bias in biases):
        fused = next(bias for bias in biases if bias.numel() == 3 * d)
        by_head = fused.unflatten(0, (n_heads, 3, d // n_heads))
        readings.append(
            [by_head[:, part].flatten() for part in range(3)] + [bias for bias in biases if bias.numel() == d]
        )
    for reading in readings:
        if len(reading) == 4:
            yield tuple(reading[index] for index in order)
        elif len(reading) == 3:
            yield (*reading, zero)
        elif len(reading) == 1:
            yield (zero, zero, zero, reading[0])


@dataclass(frozen=True)
class StandInParts:
    """The parameters of the stand-ins inside a component, by kind; see `worker.stand_ins`."""

    norms: list[tuple[Tensor, Tensor]]  # gain and shift
    attentions: list[Tensor]
    feed_forwards: list[Tensor]
    encoder_layers: list[Tensor]
    decoder_layers: list[Tensor]


def stand_in_parts(parameters: Parameters, d_model: int) -> StandInParts:
    """Recognises the stand-ins' parameters by their shapes; what is no stand-in's is passed over."""
    by_blocks: dict[int, list[Tensor]] = {2: [], 4: [], 5: [], 9: []}
    vectors_found = []
    for parameter in parameters:
        if parameter.dim() == 3 and parameter.shape[1:] == (d_model, d_model) and parameter.shape[0] in by_blocks:
            by_blocks[parameter.shape[0]].append(parameter)
        elif parameter.shape == (d_model,):
            vectors_found.append(parameter)
    norms = list(zip(vectors_found[0::2], vectors_found[1::2], strict=False))
    return StandInParts(norms, by_blocks[4], by_blocks[2], by_blocks[5], by_blocks[9])
