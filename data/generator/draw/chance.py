"""Random choices from one seeded source: by weight and by rank.

Only `random.Random.random` is used, whose sequence stays the same from one Python version to the next.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Protocol, TypeVar

from ..settings import Settings


class Ranked(Protocol):
    """Anything with a place in a frequency order."""

    @property
    def rank(self) -> int:
        """0 for the most frequent."""
        ...


T = TypeVar("T")
R = TypeVar("R", bound=Ranked)


class Chance:
    """A stream of random choices; the same seed gives the same choices."""

    def __init__(self, seed: str, settings: Settings):
        self._random = random.Random(seed)  # noqa: S311  # draws sentences; nothing depends on its secrecy
        self._settings = settings
        self._sums: dict[tuple[str, int], list[float]] = {}

    def happens(self, share: float) -> bool:
        """True with this probability."""
        return self._random.random() < share

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, all with the same probability."""
        return items[int(self._random.random() * len(items))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, by weight."""
        return self.by_sums(list(weights), list(accumulate(weights.values())))

    def by_order(self, items: Sequence[T], kind: str) -> T:
        """One of the items, whose order is that of frequency, with the Zipf weights of `kind`."""
        key = (kind, len(items))
        if key not in self._sums:
            self._sums[key] = list(accumulate(self._weight(rank, kind) for rank in range(len(items))))
        return self.by_sums(items, self._sums[key])

    def cumulative(self, items: Sequence[R], kind: str) -> list[float]:
        """Running sums of the Zipf weights of the items' own ranks, for `by_sums`."""
        return list(accumulate(self._weight(item.rank, kind) for item in items))

    def by_sums(self, items: Sequence[T], sums: Sequence[float]) -> T:
        """One of the items by running sums of weights."""
        return items[min(bisect_right(sums, self._random.random() * sums[-1]), len(items) - 1)]

    def synonym(self, words: Sequence[str]) -> str:
        """An English word: mostly the first, else one of the others."""
        if len(words) == 1 or self.happens(self._settings.english["first_synonym"]):
            return words[0]
        return self.pick(words[1:])

    def _weight(self, rank: int, kind: str) -> float:
        zipf = self._settings.zipf
        return float((rank + zipf[f"{kind}_shift"]) ** -zipf[f"{kind}_slope"])
