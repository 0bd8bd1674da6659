"""Random choices from one seeded source; what holds for a whole sentence: who speaks to whom, which nouns were said.

Only `random.Random.random` is used, whose sequence stays the same from one Python version to the next.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Protocol, TypeVar

from ..meaning import Agreement, Pronoun
from ..settings import Settings
from ..words import Lexicon


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


@dataclass
class Context:
    """Speaker and hearer of one sentence. `address`: tu, formal (*vous* to one) or vous (to several)."""

    speaker: str
    hearer: str
    address: str
    said: set[str] = field(default_factory=set)
    can_relate: bool = True  # relative clauses and complements of nouns
    can_point: bool = True  # pronouns for things that were not said
    can_own: bool = True  # a third person as owner: false where son could be one of two persons'

    def hearer_agreement(self) -> Agreement:
        """Person and number in which the hearer is addressed."""
        return Agreement(2, "pl" if self.address == "vous" else "sg", self.hearer)

    def owner(self, person: int, number: str = "sg") -> Agreement:
        """First or second person as owner: *mon, notre, ton, votre*."""
        if person == 1:
            return Agreement(1, number, self.speaker)
        return Agreement(2, "sg" if self.address == "tu" else "pl", self.hearer)


@dataclass(frozen=True)
class Tools:
    """What every drawing module needs."""

    lexicon: Lexicon
    settings: Settings
    chance: Chance

    def share(self, name: str) -> bool:
        """Whether something of `[phrase]` in the settings happens now."""
        return self.chance.happens(self.settings.phrase[name])


def new_context(chance: Chance, settings: Settings) -> Context:
    """A speaker and a hearer, who is *tu* or *vous* in all of the sentence."""
    tu, vous = settings.subject["tu"], settings.subject["vous"]
    return Context(
        speaker=chance.pick("mf"),
        hearer=chance.pick("mf"),
        address=chance.weighted({"tu": tu, "formal": 0.6 * vous, "vous": 0.4 * vous}),
    )


def pronoun(name: str, context: Context) -> Pronoun:
    """A subject pronoun by its French name; *tu* and *vous* both address the hearer."""
    fixed = {
        "je": Agreement(1, "sg", context.speaker),
        "nous": Agreement(1, "pl", context.speaker),
        "il": Agreement(3, "sg", "m"),
        "elle": Agreement(3, "sg", "f"),
        "ils": Agreement(3, "pl", "m"),
        "elles": Agreement(3, "pl", "f"),
        "on": Agreement(3, "sg", "m"),
    }
    if name in ("tu", "vous"):
        kind = "formal" if context.address == "formal" else "personal"
        return Pronoun(context.hearer_agreement(), kind)
    return Pronoun(fixed[name], "on" if name == "on" else "personal")


def impersonal() -> Pronoun:
    """*il* of *il pleut*."""
    return Pronoun(Agreement(3, "sg", "m"), "impersonal")
