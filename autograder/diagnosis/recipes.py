"""Copies a submission's parameters into the reference, whatever their layout.

Tests look for the one assignment of parameters that is right; this must also work where the mathematics is wrong. So
it lists assignments, the most natural first, and the caller tries them. A recipe depends on shapes alone: the n-th of
one build is the n-th of any other.

A piece is what belongs in one place: a matrix (d_out, d_in) or a vector.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
def recipes(
    places: tuple[Size, ...], shapes: tuple[Size, ...], readings: tuple[Reading, ...] = (list,)
) -> tuple[Recipe, ...]:
    """All recipes, in order.

    Args:
        places: shapes of the reference's parameters.
        shapes: of the submission's.
        readings: ways to cut the submission's parameters into pieces; by default each is a piece.
    """
    parameters = [torch.empty(shape) for shape in shapes]
    found = []
    for read in readings:
        pieces = [piece.shape for piece in read(parameters)]
        found += [Recipe(read, places, choice, turned) for choice, turned in _choices(places, pieces)]
    return tuple(found)


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
