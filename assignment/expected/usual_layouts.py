"""Usual layouts of attention and feed-forward network: the computations with a submission's parameters in their roles.

A feed-forward network has four parameters that are told apart by their shapes. Which matrices of multi-headed attention
are query, key, value and output is found by trying: tests write random values into all parameters, and only the right
roles give what the submission returns. Query and key are found by the returned weights, then value and output by the
returned output. Matrices may be on either side of x, each by itself or several in one parameter, with or without
biases, in any order, or have an axis for their heads. `by_behaviour` finds the formulas below in other layouts.

Shapes: b batch · h heads · q/k query and key positions · d = d_model · e = d / h, the features of one head.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations, product

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.testing.comparison import TOLERANCE

from ..stand_ins.formulas import look_up
from ..stand_ins.own_tests import attend as attention
from .by_behaviour import Formula

ROLES = 4  # query, key, value and output
Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Projection:
    """x @ matrix + bias; a head has e consecutive features of the result."""

    matrix: Tensor
    bias: Tensor
    block: int  # which of the four matrices this is

    def heads(self, x: Tensor, n_heads: int) -> Tensor:
        """(b, positions, d) -> (b, h, positions, e)."""
        return torch.unflatten(x @ self.matrix + self.bias, -1, (n_heads, -1)).movedim(-2, 1)

    def join(self, context: Tensor) -> Tensor:
        """(b, h, positions, e) -> (b, positions, d): concatenates the heads, and projects."""
        return context.movedim(1, -2).flatten(-2) @ self.matrix + self.bias


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
class UsualLayout:
    """Parameters in which four matrices can be seen.

    Attributes:
        into_heads: for each of the four, the ways to read it as the projection of query, key or value, (d, d).
        out_of_heads: the ways to read it as the output projection.
        biases: whatever may be one, (d,); at last 0.
    """

    into_heads: list[list[Tensor]]
    out_of_heads: list[list[Tensor]]
    biases: list[Tensor]

    @classmethod
    def of(cls, parameters: Sequence[Tensor], d_model: int, n_heads: int) -> "UsualLayout | None":
        """None where no four matrices can be seen. A submission may keep other parameters, if they are small."""
        matrices = [piece for p in parameters if p.numel() >= d_model**2 for piece in pieces_of(p.squeeze(), d_model)]
        vectors = [p for p in parameters if p.numel() <= ROLES * d_model and p.numel() % d_model == 0]
        biases = [row for p in vectors for row in p.reshape(-1, d_model)]
        ways = [_ways(matrix, d_model, n_heads) for matrix in matrices]
        if len(ways) != ROLES or not all(into for into, _ in ways):
            return None
        zero = matrices[0].new_zeros(d_model)
        return cls([into for into, _ in ways], [out_of for _, out_of in ways], [*biases, zero])

    def most_usual(self, n_heads: int, attend: Attend) -> FoundAttention:
        """Query, key, value and output in this order, each an `nn.Linear`."""
        biases = self.biases if len(self.biases) > ROLES else self.biases[-1:] * ROLES
        query, key, value, output = (
            Projection(ways[-1], biases[number], number) for number, ways in enumerate(self.into_heads)
        )
        return FoundAttention(query, key, value, output, attend, n_heads)


def pieces_of(parameter: Tensor, d_model: int) -> Sequence[Tensor]:
    """The matrices in a parameter: itself, or several one after another along an axis."""
    count = parameter.numel() // d_model**2
    if parameter.numel() != count * d_model**2:
        return []
    for axis, size in enumerate(parameter.shape):
        if count > 1 and parameter.dim() == 2 and size == count * d_model:
            return parameter.chunk(count, dim=axis)
        if count > 1 and parameter.dim() == 3 and size == count:
            return parameter.unbind(axis)
    return [parameter] if count == 1 else []


def _ways(numbers: Tensor, d_model: int, n_heads: int) -> tuple[list[Tensor], list[Tensor]]:
    """The ways to read d x d numbers as a projection into heads, and as one out of heads; the last is nn.Linear's."""
    if numbers.dim() < 3:
        square = numbers.reshape(d_model, d_model)
        return [square, square.mT], [square, square.mT]
    wanted = d_model, n_heads, d_model // n_heads
    orders = [order for order in permutations(range(numbers.dim())) if tuple(numbers.size(a) for a in order) == wanted]
    into = [numbers.permute(order).reshape(d_model, d_model) for order in orders]
    return into, [numbers.permute(*order[1:], order[0]).reshape(d_model, d_model) for order in orders]


def attention_formulas(d_model: int, n_heads: int) -> list[Formula]:
    """Multi-headed attention with each choice of biases, around the stand-in for attention or a true one.

    Of the output there may be a bias for each head's part, all of which are added up.
    """
    found = []
    choices = product((1, 0), (1, 0), (1, 0), {1: None, n_heads: None, 0: None})
    for attend, counts in product((look_up, attention), choices):
        shapes = [(d_model, d_model)] * ROLES + [(count, d_model) for count in counts if count]
        make = partial(_attention_of, counts=counts, attend=attend, n_heads=n_heads)
        # Free are the order of the features of a head, of query and value, and that of biases that are added up.
        exchangeable = [0, 2, *[len(shapes) - 1] * (counts[-1] > 1)]
        found.append(Formula(shapes, make, exchangeable))
    return found


def _attention_of(parts: Sequence[Tensor], counts: Sequence[int], attend: Attend, n_heads: int) -> FoundAttention:
    matrices, biases = parts[:ROLES], iter(parts[ROLES:])
    shifts = [next(biases).sum(dim=0) if count else matrices[0].new_zeros(len(matrices[0])) for count in counts]
    query, key, value, output = map(Projection, matrices, shifts, range(ROLES))
    return FoundAttention(query, key, value, output, attend, n_heads)


def find_attention(
    layout: UsualLayout,
    n_heads: int,
    inputs: Sequence[Tensor],
    output: Tensor,
    weights: Tensor,
    finish: Callable[[Tensor], Tensor] = lambda out: out,
    tolerance: float = TOLERANCE,
) -> FoundAttention | None:
    """Looks for roles of the parameters that explain output and weights.

    Args:
        layout: of the parameters.
        n_heads: h.
        inputs: query (b, q, d), key and value (b, k, d), all different, with two keys or more; no mask.
        output: (b, q, d), what the module returned.
        weights: (b, h, q, k), likewise.
        finish: what the component does with the attention's output at the first query of the first sentence before
            it returns it, for n x m candidates at once: (n, m, d) -> (n, m, d).
        tolerance: how far weights and output may be from those of the right roles.
    """
    into, out_of = (
        [
            Projection(matrix, bias, number)
            for number, ways in enumerate(side)
            for matrix in ways
            for bias in layout.biases
        ]
        for side in (layout.into_heads, layout.out_of_heads)
    )
    query, key, value = (x.detach()[:1] for x in inputs)
    seen = weights.detach()[:1, :, :1]  # of the first query of the first sentence, (1, h, 1, k)
    every, n = _all_at_once(into), len(into)
    for attend in (look_up, attention):
        with torch.no_grad():
            queries = every.heads(query[:, :1], n_heads)  # (n, h, 1, e)
            keys = every.heads(key, n_heads).repeat(n, 1, 1, 1)
            _, tried = attend(queries.repeat_interleave(n, dim=0), keys, keys, None)  # (n n, h, 1, k)
        pair = _best_pair(into, into, (tried - seen).abs().flatten(1).amax(dim=1).view(n, n), tolerance)
        if pair is None:
            continue
        values, outputs = (
            [option for option in side if option.block not in (pair[0].block, pair[1].block)] for side in (into, out_of)
        )
        with torch.no_grad():
            contexts = seen @ _all_at_once(values).heads(value, n_heads)  # (n, h, 1, e)
            joined = _all_at_once(outputs).join(contexts.transpose(0, 2))  # (m, n, d)
            finished = finish(joined.transpose(0, 1))  # (n, m, d)
        target = output.detach()[0, 0]  # (d,)
        error = ((finished - target).abs() / (1 + target.abs())).amax(dim=-1)
        other_pair = _best_pair(values, outputs, error, tolerance)
        if other_pair is not None:
            return FoundAttention(*pair, *other_pair, attend, n_heads)
    return None


def _all_at_once(options: Sequence[Projection]) -> Projection:
    """Projects one batch, (1, ...), with each of n projections: (n, ...)."""
    matrices, biases = torch.stack([one.matrix for one in options]), torch.stack([one.bias for one in options])
    return Projection(matrices, biases[:, None], block=-1)


def _best_pair(
    rows: list[Projection], columns: list[Projection], error: Tensor, tolerance: float
) -> tuple[Projection, Projection] | None:
    """The pair of different blocks with the smallest error, if that is small."""
    blocks = [torch.tensor([option.block for option in options]) for options in (rows, columns)]
    error = error.nan_to_num(nan=torch.inf).masked_fill(blocks[0][:, None] == blocks[1], torch.inf)
    best, place = error.flatten().min(dim=0)
    row, column = divmod(int(place), len(columns))
    return (rows[row], columns[column]) if best <= tolerance else None


@dataclass(frozen=True)
class Network:
    """A feed-forward network with W_1, b_1, W_2 and b_2."""

    parameters: tuple[Tensor, ...]
    activation: Callable[[Tensor], Tensor] = F.relu

    def __call__(self, x: Tensor) -> Tensor:
        """(..., d) -> (..., d)."""
        first, inner, second, outer = self.parameters
        return F.linear(self.activation(F.linear(x, first, inner)), second, outer)


def network_formula(d_model: int, d_ff: int) -> Formula:
    """A feed-forward network whose numbers may stand anywhere."""
    shapes = [(d_model, d_ff), (d_ff,), (d_model, d_ff), (d_model,)]
    return Formula(shapes, lambda parts: Network((parts[0].mT, *parts[1:])), exchangeable=[0])


def formula_readings(parameters: Sequence[Tensor], d_model: int, d_ff: int) -> Iterator[Network]:
    """W_2 relu(W_1 x + b_1) + b_2 for each way to lay out the parameters; sizes that coincide leave several."""
    if len(parameters) != 4:
        return
    for first, second, inner, outer in permutations(parameters):
        if inner.numel() != d_ff or outer.numel() != d_model or not first.numel() == second.numel() == d_model * d_ff:
            continue
        biases = inner.flatten(), outer.flatten()
        for one, other in product(_turns(first, d_ff, d_model), _turns(second, d_model, d_ff)):
            yield Network((one, biases[0], other, biases[1]))


def _turns(matrix: Tensor, rows: int, columns: int) -> list[Tensor]:
    """A parameter as a matrix of that shape, as it is or transposed; both where it is square."""
    shape = [size for size in matrix.shape if size != 1]
    found = []
    if shape == [size for size in (rows, columns) if size != 1]:
        found.append(matrix.reshape(rows, columns))
    if rows != 1 and columns != 1 and shape == [columns, rows]:
        found.append(matrix.reshape(columns, rows).mT)
    return found
