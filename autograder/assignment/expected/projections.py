"""Finds the projections of multi-headed attention among a submission's parameters, whatever their layout.

A submission may use four linear maps or one fused one, matrices on either side of x, one small matrix for each
head, any names, any order, with or without biases. Tests write random values into all parameters and look for the
assignment of roles with which the mathematics gives what the submission returns: with random values, only the
right one fits. Query and key are found by the returned weights, then value and output by the returned output.

Only the shape of a parameter is known. Several roles may be fused in one parameter, outermost, innermost or head by
head along an axis; or each head has its own parameters, which are stacked here before they are split. Where sizes
coincide (a head has as many features as there are roles), a shape has several readings, and all are tried. Tests
should avoid two or three heads: a map (d, 3 e) for each of three heads looks like three separate matrices (d, d).

Shapes: b batch · h heads · q/k query and key positions · d = d_model · e = d / h, the features of one head.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import torch
import torch.nn.functional as F
from torch import Tensor

from ...testing.comparison import TOLERANCE
from ..stand_ins.formulas import look_up

ROLES = 4  # query, key, value and output
NESTINGS = ("roles, rest", "rest, roles", "heads, roles, features", "features, roles, heads")
"""The order in which an axis holds several roles, from the outermost part to the innermost."""
Way = tuple[Tensor, bool]
"""A matrix (d_in, d_out), and whether a head has every h-th feature on its side instead of e consecutive ones."""
Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]


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


def true_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """PyTorch's own attention; the weights are the context of the unit vectors as values."""
    units = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
    weights = F.scaled_dot_product_attention(query, key, units, attn_mask=mask, scale=query.size(-1) ** -0.5)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), weights


@dataclass(frozen=True)
class Projection:
    """x @ matrix + bias, and which features belong to a head: d_head consecutive ones, or every h-th (`is_strided`)."""

    matrix: Tensor
    bias: Tensor
    is_strided: bool
    block: int  # which of the four matrices this is

    def heads(self, x: Tensor, n_heads: int) -> Tensor:
        """(b, positions, d) -> (b, h, positions, d_head)."""
        projected = x @ self.matrix + self.bias
        if self.is_strided:
            return torch.unflatten(projected, -1, (x.size(-1) // n_heads, n_heads)).movedim(-1, 1)
        return torch.unflatten(projected, -1, (n_heads, x.size(-1) // n_heads)).movedim(-2, 1)

    def join(self, context: Tensor) -> Tensor:
        """(b, h, positions, d_head) -> (b, positions, d): concatenates the heads, and projects."""
        return joined(context, self.is_strided) @ self.matrix + self.bias


def joined(context: Tensor, is_strided: bool) -> Tensor:
    """(b, h, positions, d_head) -> (b, positions, d), as the heads were split."""
    return (context.movedim(1, -1) if is_strided else context.movedim(1, -2)).flatten(-2)


@dataclass(frozen=True)
class FoundAttention:
    """Multi-headed attention with the parameters of a submission in their roles."""

    query: Projection
    key: Projection
    value: Projection
    output: Projection
    attend: Attend
    n_heads: int

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Output (b, q, d) and weights (b, h, q, k)."""
        query, key, value = (
            projection.heads(x, self.n_heads)
            for projection, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        context, weights = self.attend(query, key, value, mask)
        return self.output.join(context), weights


@dataclass(frozen=True)
class Search:
    """What a search has found: the roles that fit, or how far it got."""

    found: FoundAttention | None = None
    is_known_layout: bool = False  # the parameters can be cut into four d x d matrices
    weights_fit: bool = False  # query and key were found


def find_attention(
    parameters: Sequence[Tensor],
    n_heads: int,
    inputs: Sequence[Tensor],
    output: Tensor,
    weights: Tensor,
    finish: Callable[[Tensor], Tensor] = lambda out: out,
    tolerance: float = TOLERANCE,
) -> Search:
    """Looks for roles of the parameters that explain output and weights.

    Args:
        parameters: of the module.
        n_heads: h.
        inputs: query (b, q, d), key and value (b, k, d), all different, with two keys or more; no mask.
        output: (b, q, d), what the module returned.
        weights: (b, h, q, k), likewise.
        finish: what the component does with the attention's output at the first query of the first sentence before
            it returns it, for n x m candidates at once: (n, m, d) -> (n, m, d).
        tolerance: how far weights and output may be from those of the right roles.
    """
    is_known_layout = weights_fit = False
    for reading, (blocks, biases) in enumerate(readings(parameters, inputs[0].size(-1), n_heads)):
        is_known_layout = True
        into, out_of = (
            [
                Projection(matrix, bias, is_strided, number)
                for number, block in enumerate(blocks)
                for matrix, is_strided in getattr(block, side)
                for bias in biases
            ]
            for side in ("into_heads", "out_of_heads")
        )
        for options in (_as_before(reading, into, out_of), (into, out_of)):
            for attend in (look_up, true_attention):
                pair = _find_query_and_key(options[0], attend, n_heads, inputs, weights, tolerance)
                if pair is None:
                    continue
                weights_fit = True
                taken = pair[0].block, pair[1].block
                values, outputs = ([option for option in side if option.block not in taken] for side in options)
                other_pair = _find_value_and_output(
                    values, outputs, n_heads, inputs, output, weights, finish, tolerance
                )
                if other_pair is not None:
                    found = FoundAttention(*pair, *other_pair, attend, n_heads)
                    _latest[reading] = _places(into, (found.query, found.key, found.value)), _places(out_of, other_pair)
                    return Search(found, True, True)
    return Search(None, is_known_layout, weights_fit)


_latest: dict[int, tuple[list[int], list[int]]] = {}
"""Where the roles were found last, by the reading's number: most likely they are there again in the next object."""


def _as_before(
    reading: int, into: list[Projection], out_of: list[Projection]
) -> tuple[list[Projection], list[Projection]]:
    """The few options that fitted last, to be tried before all."""
    ways_in, ways_out = _latest.get(reading, ([], []))
    return [into[i] for i in ways_in if i < len(into)], [out_of[i] for i in ways_out if i < len(out_of)]


def _places(options: list[Projection], chosen: Sequence[Projection]) -> list[int]:
    """The numbers of some options."""
    return [number for number, option in enumerate(options) if any(option is one for one in chosen)]


def _find_query_and_key(
    options: list[Projection],
    attend: Attend,
    n_heads: int,
    inputs: Sequence[Tensor],
    weights: Tensor,
    tolerance: float,
) -> tuple[Projection, Projection] | None:
    """The two options that give the weights of the first query of the first sentence, all pairs at once."""
    n = len(options)
    if not n:
        return None
    query, key = inputs[0].detach()[:1, :1], inputs[1].detach()[:1]
    seen = weights.detach()[:1, :, :1]  # (1, h, 1, k)
    with torch.no_grad():
        queries = torch.cat([option.heads(query, n_heads) for option in options])  # (n, h, 1, d_head)
        keys = torch.cat([option.heads(key, n_heads) for option in options])  # (n, h, k, d_head)
        keys = keys.repeat(n, 1, 1, 1)
        _, tried = attend(queries.repeat_interleave(n, dim=0), keys, keys, None)  # (n n, h, 1, k)
    error = (tried - seen).abs().flatten(1).amax(dim=1).view(n, n)
    return _best_pair(options, options, error, tolerance)


def _find_value_and_output(
    values: list[Projection],
    outputs: list[Projection],
    n_heads: int,
    inputs: Sequence[Tensor],
    output: Tensor,
    weights: Tensor,
    finish: Callable[[Tensor], Tensor],
    tolerance: float,
) -> tuple[Projection, Projection] | None:
    """The two options that give the output at the first query of the first sentence, all pairs at once."""
    if not values or not outputs:
        return None
    value, seen = inputs[2].detach()[:1], weights.detach()[:1, :, :1]
    target = output.detach()[0, 0]  # (d,)
    with torch.no_grad():
        contexts = torch.cat([seen @ option.heads(value, n_heads) for option in values])  # (n, h, 1, d_head)
        tried = finish(torch.cat([option.join(contexts) for option in outputs], dim=1))  # (n, m, d)
    error = ((tried - target).abs() / (1 + target.abs())).amax(dim=-1)
    return _best_pair(values, outputs, error, tolerance)


def _best_pair(
    rows: list[Projection], columns: list[Projection], error: Tensor, tolerance: float
) -> tuple[Projection, Projection] | None:
    """The pair of different blocks with the smallest error, if that is small."""
    blocks = [torch.tensor([option.block for option in options]) for options in (rows, columns)]
    error = error.nan_to_num(nan=torch.inf).masked_fill(blocks[0][:, None] == blocks[1], torch.inf)
    best, place = error.flatten().min(dim=0)
    if best > tolerance:
        return None
    row, column = divmod(int(place), len(columns))
    return rows[row], columns[column]
