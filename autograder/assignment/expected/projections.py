"""Finds the projections of multi-headed attention among a submission's parameters, whatever their layout.

A submission may use four linear maps or one fused one, matrices on either side of x, one small matrix for each
head, any names, any order, with or without biases. Tests write random values into all parameters and look for the
assignment of roles with which the mathematics gives what the submission returns: with random values, only the
right one fits. Query and key are found by the returned weights, then value and output by the returned output.

Shapes: b batch · h heads · q/k query and key positions · d = d_model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.assignment.stand_ins.formulas import look_up

from ...testing.comparison import TOLERANCE
from .splitting import readings

Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]


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
