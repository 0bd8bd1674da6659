"""Finds the projections of multi-headed attention among a submission's parameters, whatever their layout.

A submission may use four linear maps or one fused one, matrices on either side of x, one small matrix for each
head, any names, any order, and biases or none. Tests write random values into all parameters and look for the
assignment of roles with which the mathematics gives what the submission returns: of random values only the true
one fits. Query and key are found by the returned weights, then value and output by the returned output.

Shapes: b batch · h heads · q/k query and key positions · d = d_model.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.worker.stand_ins import look_up

from .comparison import TOLERANCE

Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]


def true_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """PyTorch's own attention; the weights are the context of the unit vectors as values."""
    units = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
    weights = F.scaled_dot_product_attention(query, key, units, attn_mask=mask, scale=query.size(-1) ** -0.5)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), weights


@dataclass(frozen=True)
class Projection:
    """x @ matrix + bias, and which features make a head: d_head in a row, or every h-th one (`is_strided`)."""

    matrix: Tensor
    bias: Tensor
    is_strided: bool
    block: int  # which of the four matrices this is

    def heads(self, x: Tensor, n_heads: int) -> Tensor:
        """(b, positions, d) -> (b, h, positions, d_head)."""
        projected = x @ self.matrix + self.bias
        if self.is_strided:
            return projected.unflatten(-1, (x.size(-1) // n_heads, n_heads)).movedim(-1, 1)
        return projected.unflatten(-1, (n_heads, x.size(-1) // n_heads)).movedim(-2, 1)


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
        parts = [
            projection.heads(x, self.n_heads)
            for projection, x in ((self.query, query), (self.key, key), (self.value, value))
        ]
        context, weights = self.attend(*parts, mask)
        return context.movedim(1, -2).flatten(-2) @ self.output.matrix + self.output.bias, weights


@dataclass(frozen=True)
class Search:
    """What a search has found: the roles that fit, or how far it came."""

    found: FoundAttention | None = None
    is_known_layout: bool = False  # the parameters can be cut into four d x d matrices
    weights_fit: bool = False  # query and key were found


def find_attention(
    parameters: Sequence[Tensor], n_heads: int, inputs: Sequence[Tensor], output: Tensor, weights: Tensor
) -> Search:
    """Looks for roles of the parameters that explain output and weights.

    Args:
        parameters: of the module.
        n_heads: h.
        inputs: query (b, q, d), key and value (b, k, d), all different, with two keys or more; no mask.
        output: (b, q, d), what the module returned.
        weights: (b, h, q, k), likewise.
    """
    is_known_layout = weights_fit = False
    for blocks, biases in readings(parameters, inputs[0].size(-1), n_heads):
        is_known_layout = True
        options = [
            Projection(matrix, bias, is_strided, number)
            for number, block in enumerate(blocks)
            for matrix in block
            for bias in biases
            for is_strided in ((False, True) if n_heads > 1 else (False,))
        ]
        for attend in (look_up, true_attention):
            pair = _find_query_and_key(options, attend, n_heads, inputs, weights)
            if pair is None:
                continue
            weights_fit = True
            rest = [option for option in options if option.block not in (pair[0].block, pair[1].block)]
            other_pair = _find_value_and_output(rest, n_heads, inputs, output, weights)
            if other_pair is not None:
                return Search(FoundAttention(*pair, *other_pair, attend, n_heads), True, True)
    return Search(None, is_known_layout, weights_fit)


def _find_query_and_key(
    options: list[Projection], attend: Attend, n_heads: int, inputs: Sequence[Tensor], weights: Tensor
) -> tuple[Projection, Projection] | None:
    """The two options that give the weights of the first query of the first sentence, all pairs at once."""
    n = len(options)
    query, key = inputs[0].detach()[:1, :1], inputs[1].detach()[:1]
    seen = weights.detach()[:1, :, :1]  # (1, h, 1, k)
    with torch.no_grad():
        queries = torch.cat([option.heads(query, n_heads) for option in options])  # (n, h, 1, d_head)
        keys = torch.cat([option.heads(key, n_heads) for option in options])  # (n, h, k, d_head)
        keys = keys.repeat(n, 1, 1, 1)
        _, tried = attend(queries.repeat_interleave(n, dim=0), keys, keys, None)  # (n n, h, 1, k)
    error = (tried - seen).abs().flatten(1).amax(dim=1).view(n, n)
    return _best_pair(options, options, error)


def _find_value_and_output(
    options: list[Projection], n_heads: int, inputs: Sequence[Tensor], output: Tensor, weights: Tensor
) -> tuple[Projection, Projection] | None:
    """The two options that give the output at the first query of the first sentence, all pairs at once."""
    value, seen = inputs[2].detach()[:1], weights.detach()[:1, :, :1]
    target = output.detach()[0, 0]  # (d,)
    outputs = [option for option in options if not option.is_strided]
    with torch.no_grad():
        contexts = torch.cat([(seen @ option.heads(value, n_heads)).flatten(1) for option in options])  # (n, d)
        tried = torch.stack([contexts @ option.matrix + option.bias for option in outputs], dim=1)
    error = ((tried - target).abs() / (1 + target.abs())).amax(dim=-1)
    return _best_pair(options, outputs, error)


def _best_pair(
    rows: list[Projection], columns: list[Projection], error: Tensor
) -> tuple[Projection, Projection] | None:
    """The pair of different matrices with the smallest error, if that is small."""
    blocks = [torch.tensor([option.block for option in options]) for options in (rows, columns)]
    error = error.nan_to_num(nan=torch.inf).masked_fill(blocks[0][:, None] == blocks[1][None, :], torch.inf)
    best, place = error.flatten().min(dim=0)
    if best > TOLERANCE:
        return None
    row, column = divmod(int(place), len(columns))
    return rows[row], columns[column]


def readings(
    parameters: Sequence[Tensor], d_model: int, n_heads: int
) -> Iterator[tuple[list[list[Tensor]], list[Tensor]]]:
    """Ways of cutting the parameters into four matrices, each in every orientation, and biases (0 among them)."""
    small = [p for p in parameters if p.squeeze().dim() > 1 and p.numel() * n_heads == d_model**2]
    if n_heads > 1 and len(small) == 3 * n_heads:
        yield from _readings_by_head(parameters, small, d_model, n_heads)
        return
    weights = [p for p in parameters if p.numel() >= d_model**2]
    vectors = [p for p in parameters if p.numel() < d_model**2]
    if sum(p.numel() for p in weights) != 4 * d_model**2 or any(p.numel() % d_model**2 for p in weights):
        return
    if any(vector.numel() % d_model for vector in vectors):
        return
    for is_interleaved in (False, True) if len(weights) < 4 else (False,):
        blocks = [block for p in weights for block in cut(p, p.numel() // d_model**2, n_heads, is_interleaved)]
        biases = [bias for p in vectors for bias in cut(p, p.numel() // d_model, n_heads, is_interleaved)]
        if len(blocks) == 4:
            matrices = [_orientations(block, d_model) for block in blocks]
            yield matrices, [*(bias.reshape(d_model) for bias in biases), weights[0].new_zeros(d_model)]


def _readings_by_head(
    parameters: Sequence[Tensor], small: list[Tensor], d_model: int, n_heads: int
) -> Iterator[tuple[list[list[Tensor]], list[Tensor]]]:
    """One small matrix for each head and role: role by role, or head by head."""
    whole = [p for p in parameters if p.numel() == d_model**2 and p.squeeze().dim() > 1]
    short = [p.flatten() for p in parameters if p.squeeze().dim() <= 1 and p.numel() * n_heads == d_model]
    long = [p.flatten() for p in parameters if p.squeeze().dim() <= 1 and p.numel() == d_model]
    if len(whole) != 1 or len(short) not in (0, 3 * n_heads):
        return
    for is_head_by_head in (False, True):

        def group(items: list[Tensor], role: int, strided: bool = is_head_by_head) -> list[Tensor]:
            return items[role::3] if strided else items[role * n_heads : (role + 1) * n_heads]

        stacks = [torch.stack([p.squeeze() for p in group(small, role)]) for role in range(3)]
        biases = [torch.cat(group(short, role)) for role in range(3)] if short else []
        blocks = [_orientations(stack, d_model) for stack in stacks] + [_orientations(whole[0], d_model)]
        yield blocks, [*biases, *long, whole[0].new_zeros(d_model)]


def cut(parameter: Tensor, count: int, n_heads: int, is_interleaved: bool) -> list[Tensor]:
    """Cuts a fused parameter along its longest axis that can be cut: in a row, or head by head."""
    parameter = parameter.squeeze()
    if count == 1:
        return [parameter]
    axes = sorted(range(parameter.dim()), key=lambda axis: (parameter.size(axis) != count, -parameter.size(axis)))
    axis = next((axis for axis in axes if parameter.size(axis) % count == 0), None)
    if axis is None:
        return []
    if is_interleaved and parameter.size(axis) % (count * n_heads) == 0:
        by_head = parameter.unflatten(axis, (n_heads, count, parameter.size(axis) // count // n_heads))
        return [by_head.select(axis + 1, index).flatten(axis, axis + 1) for index in range(count)]
    return list(parameter.chunk(count, dim=axis))


def _orientations(block: Tensor, d_model: int) -> list[Tensor]:
    """The matrix (d_in, d_out) that a block of d x d numbers may be: every order of its axes."""
    block = block.squeeze()
    return [block.permute(order).reshape(d_model, d_model) for order in permutations(range(block.dim()))]
