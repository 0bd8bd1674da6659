"""Copies a submission's parameters into the reference, whatever their layout.

Unlike the tests (`readings.projections`), which look for the one assignment that is right, this must also work where
the mathematics is wrong. So it lists assignments, the most natural first, and the caller tries them. A recipe depends
on shapes alone: the n-th of one build is the n-th of any other.

Shapes: h heads · d = d_model. A piece is what belongs in one place: a matrix (d_out, d_in) or a vector.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice, permutations, product

import torch
from torch import Size, Tensor

MOST = 200  # ways to fill the places from one reading

Reading = Callable[[Sequence[Tensor]], list[Tensor]]


@dataclass(frozen=True)
class Recipe:
    """How to fill the reference's places.

    Attributes:
        read: cuts the submission's parameters into pieces.
        places: shapes of the reference's parameters.
        choice: for each place the number of its piece; a place without one stays zero.
        turned: places that get their square matrix transposed.
    """

    read: Reading
    places: tuple[Size, ...]
    choice: dict[int, int]
    turned: frozenset[int] = frozenset()

    @property
    def filled(self) -> list[int]:
        """The places that get a piece."""
        return sorted(self.choice)

    def fill(self, pieces: Sequence[Tensor]) -> list[Tensor]:
        """Values for all places, in order."""
        values = [torch.zeros(place) for place in self.places]
        for place, piece in self.choice.items():
            values[place] = _fit(pieces[piece], self.places[place], place in self.turned)
        return values


def fill_all(some: Sequence[Recipe], parameters: Sequence[Tensor]) -> list[list[Tensor]]:
    """Values for all places, by each of some recipes."""
    readings = {id(recipe.read): recipe.read for recipe in some}
    pieces = {key: read(parameters) for key, read in readings.items()}
    return [recipe.fill(pieces[id(recipe.read)]) for recipe in some]


@lru_cache(maxsize=256)
def recipes(places: tuple[Size, ...], shapes: tuple[Size, ...], n_heads: int | None) -> tuple[Recipe, ...]:
    """All recipes, in order.

    Args:
        places: shapes of the reference's parameters.
        shapes: of the submission's.
        n_heads: for multi-headed attention, whose parameters may be fused or split by head; otherwise None.
    """
    parameters = [torch.empty(shape) for shape in shapes]
    found = []
    for read in _readings(parameters, places[0][-1], n_heads) if n_heads and places else [list]:
        pieces = [piece.shape for piece in read(parameters)]
        found += [Recipe(read, places, choice, turned) for choice, turned in _choices(places, pieces)]
    return tuple(found)


def _readings(parameters: Sequence[Tensor], d_model: int, n_heads: int) -> list[Reading]:
    """Ways to cut the parameters of multi-headed attention into matrices (d, d) and vectors (d,)."""
    small = [p for p in parameters if p.squeeze().dim() == 2 and p.numel() * n_heads == d_model**2]
    if n_heads > 1 and len(small) >= n_heads:
        return [partial(_join_heads, d_model=d_model, n_heads=n_heads, by_head=by_head) for by_head in (True, False)]
    fused = any(p.numel() > d_model**2 for p in parameters)
    ways = (False, True) if fused else (False,)
    return [partial(_cut_all, d_model=d_model, n_heads=n_heads, mixed=mixed) for mixed in ways]


def _cut_all(parameters: Sequence[Tensor], d_model: int, n_heads: int, mixed: bool) -> list[Tensor]:
    """Cuts fused parameters: one role after another, or (mixed) all roles of each head together."""
    pieces: list[Tensor] = []
    for parameter in parameters:
        size = d_model**2 if parameter.numel() >= d_model**2 else d_model
        if parameter.numel() % size:
            return []
        for part in _cut(parameter, parameter.numel() // size, n_heads, mixed):
            pieces.append(_as_matrix(part, d_model) if size > d_model else part.reshape(-1))
    return pieces


def _cut(parameter: Tensor, count: int, n_heads: int, is_interleaved: bool) -> list[Tensor]:
    """Cuts a fused parameter along its longest axis that can be cut: in a row, or head by head."""
    parameter = parameter.squeeze()
    if count == 1:
        return [parameter]
    axes = sorted(range(parameter.dim()), key=lambda axis: (parameter.shape[axis] != count, -parameter.shape[axis]))
    axis = next((axis for axis in axes if parameter.size(axis) % count == 0), None)
    if axis is None:
        return []
    if is_interleaved and parameter.size(axis) % (count * n_heads) == 0:
        by_head = torch.unflatten(parameter, axis, (n_heads, count, parameter.size(axis) // count // n_heads))
        return [by_head.select(axis + 1, index).flatten(axis, axis + 1) for index in range(count)]
    return list(parameter.chunk(count, dim=axis))


def _as_matrix(block: Tensor, d_model: int) -> Tensor:
    """(h, d, d_head) and (h, d_head, d) for projections: features of the result first."""
    block = block.squeeze()
    if block.dim() == 3 and block.size(1) == d_model:
        block = block.transpose(1, 2)
    return block.reshape(d_model, d_model)


def _join_heads(parameters: Sequence[Tensor], d_model: int, n_heads: int, by_head: bool) -> list[Tensor]:
    """One small matrix (and vector) for each head and role: all roles of a head together, or role by role."""

    def is_small(p: Tensor) -> bool:
        return p.squeeze().dim() == 2 and p.numel() * n_heads == d_model**2

    small = [p.squeeze() for p in parameters if is_small(p)]
    short = [p.flatten() for p in parameters if p.squeeze().dim() <= 1 and p.numel() * n_heads == d_model]
    rest = [p for p in parameters if not is_small(p) and p.numel() * n_heads != d_model]
    roles = len(small) // n_heads
    if len(small) % n_heads or len(short) not in (0, len(small)):
        return []
    matrices = [p if p.size(-1) == d_model else p.T for p in small]
    pieces = []
    for role in range(roles):
        for items in filter(None, (matrices, short)):
            pieces.append(torch.cat(items[role::roles] if by_head else items[role * n_heads : (role + 1) * n_heads]))
    return [*pieces, *rest]


def _choices(places: Sequence[Size], pieces: Sequence[Size]) -> Iterator[tuple[dict[int, int], frozenset[int]]]:
    """All ways to give each place a piece of its shape, or of the transposed shape."""
    kinds: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
    for side, shapes in enumerate((places, pieces)):
        for index, shape in enumerate(shapes):
            kinds.setdefault(_kind(shape), ([], []))[side].append(index)
    if any(len(wanted) != len(found) and (len(kind) > 1 or found) for kind, (wanted, found) in kinds.items()):
        some_biases = all(len(kind) == 1 or len(wanted) == len(found) for kind, (wanted, found) in kinds.items())
        if not some_biases or any(len(found) > len(wanted) for wanted, found in kinds.values()):
            return
    squares = [i for i, place in enumerate(places) if len(_kind(place)) == 2 and len(set(_kind(place))) == 1]
    turns = dict.fromkeys(map(frozenset, ((), squares, squares[:-1], squares[-1:])))
    for choice in _orders(kinds):
        for turned in turns:
            yield choice, turned


def _orders(kinds: dict[tuple[int, ...], tuple[list[int], list[int]]]) -> Iterator[dict[int, int]]:
    """Pieces in places: first in order, then in any order. Kinds with equally many pieces move together.

    A bias follows its matrix, so the same permutation serves for both.
    """
    counts = sorted({len(found) for _, found in kinds.values() if found})
    all_orders = product(*(permutations(range(count)) for count in counts))
    for orders in islice(all_orders, MOST):
        order_of = dict(zip(counts, orders, strict=True))
        choice: dict[int, int] = {}
        for wanted, found in kinds.values():
            if found:
                # Fewer biases than places: those of the last matrices.
                for place, position in zip(wanted[-len(found) :], order_of[len(found)], strict=True):
                    choice[place] = found[position]
        yield choice


def _kind(shape: Size) -> tuple[int, ...]:
    return tuple(sorted(size for size in shape if size != 1)) or (1,)


def _fit(piece: Tensor, place: Size, is_turned: bool) -> Tensor:
    piece = piece.squeeze()
    wanted = tuple(size for size in place if size != 1)
    if piece.dim() == 2 and (is_turned or tuple(piece.shape) != wanted):
        piece = piece.T
    return piece.reshape(place)
