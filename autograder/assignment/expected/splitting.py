"""Ways to split parameters into the four d x d matrices of multi-headed attention, and their biases.

Only the shape of a parameter is known. Several roles may be fused in one parameter, outermost, innermost or head by
head along an axis; or each head has its own parameters, which are stacked here before they are split. Where sizes
coincide (a head has as many features as there are roles), a shape has several readings, and all are tried. Tests
should avoid two or three heads: a map (d, 3 e) for each of three heads looks like three separate matrices (d, d).

Shapes: d = d_model · h heads · e = d / h, the features of one head.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import torch
from torch import Tensor

ROLES = 4  # query, key, value and output
NESTINGS = ("roles, rest", "rest, roles", "heads, roles, features", "features, roles, heads")
"""The order in which an axis holds several roles, from the outermost part to the innermost."""

Way = tuple[Tensor, bool]
"""A matrix (d_in, d_out), and whether a head has every h-th feature on its side instead of e consecutive ones."""


@dataclass(frozen=True)
class Block:
    """The d x d numbers of one role.

    Attributes:
        into_heads: ways to read them as the projection of query, key or value.
        out_of_heads: ways to read them as the output projection.
    """

    into_heads: list[Way]
    out_of_heads: list[Way]


Reading = tuple[list[Block], list[Tensor]]
"""Four blocks, and biases (d,), 0 among them."""


def readings(parameters: Sequence[Tensor], d_model: int, n_heads: int) -> Iterator[Reading]:
    """Every reading of the parameters, the most usual first; nothing unless they make up four matrices.

    Parameters too small for a matrix that are not a whole number of biases are ignored: a submission may keep others.
    """
    for least in (2 * d_model, ROLES * d_model + 1):  # biases may have several axes too: one for each role or head
        large = [p.numel() >= (least if p.squeeze().dim() > 1 else d_model**2) for p in parameters]
        matrices = [
            p.squeeze() if p.numel() > 1 else p.reshape(1, 1)
            for p, is_large in zip(parameters, large, strict=True)
            if is_large
        ]
        if sum(p.numel() for p in matrices) == ROLES * d_model**2:
            break
    else:
        return
    vectors = [p.flatten() for p, is_large in zip(parameters, large, strict=True) if not is_large]
    weights = _stack_alike(matrices)
    biases = [p for p in _stack_alike(vectors) if p.numel() % d_model == 0]
    if any(p.numel() % d_model**2 for p in weights):
        return
    counts = [p.numel() // d_model**2 for p in weights]
    is_plain = all(p.size(-1) == d_model for p in biases)
    for axes in product(*(_axes(p, count, d_model, n_heads) for p, count in zip(weights, counts, strict=True))):
        ways = list(zip(weights, axes, counts, strict=True))
        is_whole = all(count in (1, p.size(axis)) for p, axis, count in ways)
        for nesting in NESTINGS[:1] if is_whole and is_plain else NESTINGS:
            cuts = [_cut(p, axis, count, nesting, d_model, n_heads) for p, axis, count in ways]
            if all(cuts):
                blocks = [_block(piece, d_model, n_heads) for pieces in cuts for piece in pieces]
                if not all(block.into_heads for block in blocks):
                    continue
                found = [*_biases(biases, nesting, d_model, n_heads), weights[0].new_zeros(d_model)]
                if any(count == 1 and p.dim() > 2 for p, _, count in ways):
                    found += _sums(biases, d_model, n_heads)
                yield blocks, found


def _stack_alike(parameters: Sequence[Tensor]) -> list[Tensor]:
    """One tensor for each shape, with one more axis where several parameters have that shape."""
    by_shape: dict[torch.Size, list[Tensor]] = {}
    for parameter in parameters:
        by_shape.setdefault(parameter.shape, []).append(parameter)
    return [torch.stack(some) if len(some) > 1 else some[0] for some in by_shape.values()]


def _axes(parameter: Tensor, count: int, d_model: int, n_heads: int) -> list[int]:
    """The axes along which a parameter may hold `count` roles: those of that size, or those that it divides."""
    if count == 1:
        return [0]
    exact = [axis for axis, size in enumerate(parameter.shape) if size == count]
    divisible = [axis for axis, size in enumerate(parameter.shape) if size > count and size % count == 0]
    divisible.sort(key=lambda axis: parameter.size(axis), reverse=True)
    is_chance = count < ROLES and count in (n_heads, d_model // n_heads)  # an axis of heads or features may look so
    return exact + divisible if is_chance or not exact else exact


def _cut(parameter: Tensor, axis: int, count: int, nesting: str, d_model: int, n_heads: int) -> list[Tensor]:
    """A parameter's roles; [] where the axis cannot be nested like that."""
    if count == 1:
        return [parameter]
    size = parameter.size(axis) // count  # of one role
    d_head = d_model // n_heads
    outer = 1 if size == 1 else dict(zip(NESTINGS, (1, size, n_heads, d_head), strict=True))[nesting]
    if size % outer or (1 < outer == size and nesting in NESTINGS[2:]):
        return []
    apart = torch.unflatten(parameter, axis, (outer, count, size // outer))
    return [apart.select(axis + 1, role).flatten(axis, axis + 1) for role in range(count)]


def _biases(biases: Sequence[Tensor], nesting: str, d_model: int, n_heads: int) -> Iterator[Tensor]:
    """All that may be a bias (d,)."""
    for bias in biases:
        count = bias.numel() // d_model
        for axis in _axes(bias, count, d_model, n_heads):
            for piece in _cut(bias, axis, count, nesting, d_model, n_heads):
                yield piece.reshape(d_model)


def _sums(biases: Sequence[Tensor], d_model: int, n_heads: int) -> Iterator[Tensor]:
    """The sums of biases: they add up where each head has an output projection of its own."""
    for bias in biases:
        if bias.dim() > 1 and bias.size(-1) == d_model and len(bias) >= n_heads:
            yield from bias.unfold(0, n_heads, 1).sum(dim=-1)


def _block(numbers: Tensor, d_model: int, n_heads: int) -> Block:
    """All ways to read d x d numbers; where heads have an axis of their own, few make sense."""
    numbers = numbers.squeeze()
    if numbers.dim() != 3:
        square = numbers.reshape(d_model, d_model)
        ways = [(matrix, is_strided) for matrix in (square, square.mT) for is_strided in (False, True)[:n_heads]]
        return Block(ways, ways)
    wanted = d_model, n_heads, d_model // n_heads
    orders = [order for order in permutations(range(3)) if tuple(numbers.size(axis) for axis in order) == wanted]
    into = [numbers.permute(order).reshape(d_model, d_model) for order in orders]
    out_of = [numbers.permute(*order[1:], order[0]).reshape(d_model, d_model) for order in orders]
    return Block([(matrix, False) for matrix in into], [(matrix, False) for matrix in out_of])
