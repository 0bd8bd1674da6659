"""Copies a submission's parameters into the reference, whatever their layout.

Tests look for the one assignment of parameters that is right; this must also work where the mathematics is wrong. So
it lists assignments, the most natural first, and the caller tries them. A recipe depends on shapes alone, and its plan
on none: objects of other sizes, where matrices happen to be square or of one shape, are filled by the same plan.

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
class Plan:
    """A recipe for objects of any size.

    Attributes:
        kind: of reading, see `kind_of`.
        choice: for each place the number of its piece.
        turned: places that get their matrix transposed.
    """

    kind: object
    choice: tuple[tuple[int, int], ...]
    turned: frozenset[int]

    def adapted(
        self, places: tuple[Size, ...], shapes: tuple[Size, ...], readings: Sequence[Reading]
    ) -> "Recipe | None":
        """The recipe for an object of these sizes; None where it does not fit. For the arguments, see `recipes`."""
        parameters = [torch.empty(shape) for shape in shapes]
        for read in readings:
            if kind_of(read) == self.kind:
                pieces = tuple(piece.shape for piece in read(parameters))
                fits = len(self.choice) == len(pieces) and all(  # a plan for one layer says nothing of the others
                    place < len(places) and piece < len(pieces) and places[place].numel() == pieces[piece].numel()
                    for place, piece in self.choice
                )
                if fits:
                    turned = frozenset(place for place in self.turned if is_square(places[place]))
                    return Recipe(read, places, pieces, dict(self.choice), turned)
        return None


@dataclass(frozen=True)
class Recipe:
    """How to fill the reference's places.

    Attributes:
        read: cuts the submission's parameters into pieces.
        places: shapes of the reference's parameters.
        pieces: shapes of the pieces.
        choice: for each place the number of its piece; a place without one stays zero.
        turned: places that get their square matrix transposed.
    """

    read: Reading
    places: tuple[Size, ...]
    pieces: tuple[Size, ...]
    choice: dict[int, int]
    turned: frozenset[int] = frozenset()

    @property
    def plan(self) -> Plan:
        """The same for any size."""
        turned = {
            place
            for place, piece in self.choice.items()
            if not is_square(self.places[place]) and _long(self.places[place]) != _long(self.pieces[piece])
        }
        return Plan(kind_of(self.read), tuple(sorted(self.choice.items())), self.turned | turned)

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


def kind_of(read: Reading) -> object:
    """What readings have in common that differ in sizes alone: their `kind`, where they have one."""
    return getattr(read, "kind", read)


def is_square(shape: Size) -> bool:
    """Whether this is a square matrix, axes of length one left out."""
    return len(_long(shape)) == 2 and len(set(_long(shape))) == 1


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
        found += [Recipe(read, places, tuple(pieces), choice, turned) for choice, turned in _choices(places, pieces)]
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
    squares = [i for i, place in enumerate(places) if is_square(place)]
    turns = dict.fromkeys(map(frozenset, ((), squares, squares[:-1], squares[-1:])))
    for choice in _orders(kinds):
        for turned in turns:
            yield choice, turned


def _orders(kinds: dict[tuple[int, ...], tuple[list[int], list[int]]]) -> Iterator[dict[int, int]]:
    """Pieces in places: first in order, then in any order. Kinds with equally many pieces move together.

    A bias follows its matrix, so the same permutation serves for both.
    """
    counts = sorted({len(found) for _, found in kinds.values() if found})
    # `product` keeps all that it is given: of eleven layers there are 40 million orders.
    all_orders = product(*(islice(permutations(range(count)), MOST) for count in counts))
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
    return tuple(sorted(_long(shape))) or (1,)


def _long(shape: Size) -> tuple[int, ...]:
    """The sizes but for those that are one."""
    return tuple(size for size in shape if size != 1)


def _fit(piece: Tensor, place: Size, is_turned: bool) -> Tensor:
    piece = piece.squeeze()
    if piece.dim() == 2 and (is_turned or tuple(piece.shape) != _long(place)):
        piece = piece.T
    return piece.reshape(place)
