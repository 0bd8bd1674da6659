"""Few rows in which each pair of levels of any two factors occurs: a covering array (allpairspy makes it)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import cycle, islice
from typing import Any

from allpairspy import AllPairs

from .case import Case


class Either(tuple[Any, ...]):
    """Alternatives that count as one level of a factor: the rows that have it take one after the other."""

    def __new__(cls, *alternatives: object) -> "Either":
        """Takes two or more alternatives."""
        return super().__new__(cls, alternatives)


ROUNDS = 2
"""How often each cell of an array is looked at to even out its levels."""


class Rows:
    """Rows with one level of each factor."""

    def __init__(self, factors: Mapping[str, Sequence[Any]], always: Sequence[Mapping[str, Any]] = ()) -> None:
        """Takes what the rows are made of.

        Args:
            factors: levels by name, all of them different within a factor; an `Either` is one of them.
            always: further rows, of which only some levels are given; the others are drawn.
        """
        self.factors, self._always = dict(factors), always

    def rows(self, case: Case, further: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
        """The rows. Which levels meet, as far as that is free, and in which order, differs from case to case.

        Args:
            case: draws.
            further: more of what is there always.
        """
        rows = self.drawn(case)
        for some in (*self._always, *further):
            rows.append({name: case.choose(levels) for name, levels in self.factors.items()} | dict(some))
        rows = case.shuffle(rows)
        for name in self.factors:
            take_in_turn(case, name, rows)
        return rows

    def drawn(self, case: Case) -> list[dict[str, Any]]:
        """The rows, before further ones are added."""
        raise NotImplementedError


class Covering(Rows):
    """Any two levels of two factors meet in some row.

    Make it when a module is imported: making it takes longer than the tests, and processes that judge are forks.
    """

    def __init__(self, factors: Mapping[str, Sequence[Any]], always: Sequence[Mapping[str, Any]] = ()) -> None:
        """Makes the array; see `Rows`."""
        super().__init__(factors, always)
        self._array = covering_array(tuple(len(levels) for levels in factors.values()))

    def drawn(self, case: Case) -> list[dict[str, Any]]:
        """The array's rows."""
        shuffled = {name: case.shuffle(levels) for name, levels in self.factors.items()}
        return [
            {name: shuffled[name][level] for name, level in zip(self.factors, row, strict=True)} for row in self._array
        ]


class Occurring(Rows):
    """Fewer rows: each level occurs in two of them at least. For what is judged in pairs elsewhere."""

    def drawn(self, case: Case) -> list[dict[str, Any]]:
        """Each factor's levels in an order of their own."""
        count = 2 * max(map(len, self.factors.values()))
        columns = [case.shuffle([*islice(cycle(levels), count)]) for levels in self.factors.values()]
        return [dict(zip(self.factors, row, strict=True)) for row in zip(*columns, strict=True)]


def take_in_turn(case: Case, name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Puts alternatives in the place of the levels of a factor that stand for several."""
    left: dict[Either, list[Any]] = {}
    for row in rows:
        level = row[name]
        if isinstance(level, Either):
            if not left.get(level):
                left[level] = case.shuffle(level)
            row[name] = left[level].pop()


@cache
def covering_array(counts: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Numbers of levels, for factors with so many levels; each level occurs about as often as the others."""
    order = sorted(range(len(counts)), key=lambda index: -counts[index])  # the array is smaller that way
    place = {index: position for position, index in enumerate(order)}
    found = AllPairs([range(counts[index]) for index in order])
    rows = [[row[place[index]] for index in range(len(counts))] for row in found]
    even_out(rows, counts)
    return tuple(map(tuple, rows))


def even_out(rows: list[list[int]], counts: Sequence[int]) -> None:
    """Replaces levels that occur too often where every pair of theirs occurs elsewhere, too."""
    pairs = Counter(pair for row in rows for factor in range(len(counts)) for pair in pairs_of(row, factor))
    used = Counter((factor, level) for row in rows for factor, level in enumerate(row))
    for _ in range(ROUNDS):
        for row in rows:
            for factor, count in enumerate(counts):
                old = row[factor]
                new = min(range(count), key=lambda level: used[factor, level])
                if used[factor, old] <= used[factor, new] + 1 or any(pairs[p] < 2 for p in pairs_of(row, factor)):
                    continue
                pairs.subtract(pairs_of(row, factor))
                row[factor] = new
                pairs.update(pairs_of(row, factor))
                used.subtract([(factor, old)])
                used.update([(factor, new)])


def pairs_of(row: Sequence[int], factor: int) -> list[tuple[int, int, int, int]]:
    """The pairs of a row that one factor is part of."""
    return [(factor, row[factor], other, level) for other, level in enumerate(row) if other != factor]
