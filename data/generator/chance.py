"""One stream of random choices with what holds for the sentence drawn from it: who speaks to whom.

Only `random.Random.random` is used, whose sequence stays the same from one Python version to the next.
"""

import random
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from .entries import Lexicon, Noun, Selection, rows_of
from .meaning import NEUTRAL, Agreement, Pronoun, french_agreement

Settings = dict[str, dict[str, Any]]
T = TypeVar("T")


class DeadEndError(Exception):
    """Choices that lead nowhere: what was begun is drawn again, or goes without."""


def require(value: T | None) -> T:
    """The value; a dead end where it is None, False or empty."""
    if not value:
        raise DeadEndError
    return value


def read_settings() -> Settings:
    """The tables of `settings.toml`."""
    return tomllib.loads(Path(__file__).with_name("settings.toml").read_text(encoding="utf-8"))


def attempt(make: Callable[[], T]) -> T | None:
    """The value made, or None where that leads nowhere."""
    try:
        return make()
    except DeadEndError:
        return None


@cache
def nouns_for(lexicon: Lexicon, selection: Selection) -> tuple[list[Noun], tuple[int, ...]]:
    """All nouns that a selection admits, and their ranks."""
    nouns = [noun for noun in lexicon.nouns if selection.admits(noun)]
    return nouns, tuple(noun.rank for noun in nouns)


@cache
def zipf_sums(ranks: Sequence[int], shift: float, slope: float) -> list[float]:
    """Sums of the Zipf weights of ranks, each with all before it."""
    return list(accumulate(float((rank + shift) ** -slope) for rank in ranks))


class Draw:
    """A stream of random choices; the same seed gives the same choices."""

    def __init__(self, seed: str, lexicon: Lexicon, settings: Settings):
        self.lexicon = lexicon
        self.groups = lexicon.groups
        self.settings = settings
        self._random = random.Random(seed)  # noqa: S311  # draws sentences; nothing depends on its secrecy

    def begin_sentence(self) -> None:
        """Draws a speaker and a hearer, who is *tu* or *vous* in all of the sentence."""
        tu, vous = self.settings["subject"]["tu"], self.settings["subject"]["vous"]
        self.speaker, self.hearer = self.pick("mf"), self.pick("mf")  # their genders
        self.address = self.weighted({"tu": tu, "formal": 0.6 * vous, "vous": 0.4 * vous})  # formal: *vous* to one
        self._mentioned: set[str] = set()
        self.can_relate = True  # a noun may have a relative clause or a complement
        self.can_point = True  # a pronoun may stand for a thing that was not mentioned
        self.can_own = True  # a third person may be an owner: *son* cannot be one of two persons'

    def happens(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def share(self, name: str, table: str = "phrase") -> bool:
        """True with the probability that a table of the settings has under this name."""
        return self.happens(self.settings[table][name])

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, all with the same probability."""
        return items[int(self._random.random() * len(items))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, by weight."""
        return self._by_sums(list(weights), list(accumulate(weights.values())))

    def setting(self, table: str, row: str = "", only: Collection[str] = ()) -> str:
        """A key of a table of the settings, or of one of its rows, by weight."""
        weights: dict[str, float] = self.settings[table][row] if row else self.settings[table]
        return self.weighted({name: weights[name] for name in only or weights})

    def by_order(self, items: Sequence[T], kind: str) -> T:
        """One of the items, whose order is that of frequency, with the Zipf weights of `kind`."""
        return self._by_rank(require(items), range(len(items)), kind)

    def _by_rank(self, items: Sequence[T], ranks: Sequence[int], kind: str) -> T:
        knobs = self.settings["zipf"]
        return self._by_sums(items, zipf_sums(ranks, knobs[f"{kind}_shift"], knobs[f"{kind}_slope"]))

    def synonym(self, words: Sequence[str]) -> str:
        """An English word: mostly the first, else one of the others."""
        if len(words) == 1 or self.share("first_synonym", "english"):
            return words[0]
        return self.pick(words[1:])

    def _by_sums(self, items: Sequence[T], sums: Sequence[float]) -> T:
        return items[min(bisect_right(sums, self._random.random() * sums[-1]), len(items) - 1)]

    def noun(self, selection: Selection) -> Noun:
        """A noun that the selection admits and that the sentence has not mentioned yet."""
        nouns, ranks = nouns_for(self.lexicon, selection)
        for _ in range(4):
            noun = self._by_rank(require(nouns), ranks, "noun")
            if noun.lemma not in self._mentioned:
                self._mentioned.add(noun.lemma)
                return noun
        raise DeadEndError

    def owner(self, name: str = "") -> Agreement:
        """The speaker, the hearer, or *nous* as owner: *mon, ton, votre, notre*."""
        return french_agreement(self.pronoun(name or self.weighted({"je": 6, "tu": 3, "nous": 2})))

    def pronoun(self, name: str) -> Pronoun:
        """A subject pronoun by its French name; *tu* and *vous* both address the hearer."""
        if name in ("tu", "vous"):
            agreement = Agreement(2, "pl" if self.address == "vous" else "sg", self.hearer)
            return Pronoun(agreement, french=agreement._replace(number="sg" if self.address == "tu" else "pl"))
        if name == "on":
            return Pronoun(NEUTRAL, "on", english=Agreement(1, "pl", "m"))
        [key] = [key for key, row in rows_of("pronouns").items() if row["subject"] == name]
        person, number, *gender = key.split()
        return Pronoun(Agreement(int(person), number, *(gender or self.speaker)))
