"""The settings, and one stream of random choices with what holds for the sentence drawn from it: who speaks to whom.

Only `random.Random.random` is used, whose sequence stays the same from one Python version to the next.
"""

from __future__ import annotations

import difflib
import random
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from foundation.command_line import UserError

from ..entries import Noun, Selection
from ..meaning import Agreement, Pronoun
from ..tables import Lexicon

SETTINGS_FILE = Path(__file__).resolve().parents[1] / "settings.toml"
KEYS = {
    "zipf": "noun_slope noun_shift adjective_slope adjective_shift verb_slope verb_shift name_slope name_shift "
    "adverb_slope adverb_shift",
    "english": "first_synonym contraction negation_contraction",
    "subject": "je tu il elle nous vous ils elles on name pair noun someone",
    "sentence": "adjective noun verb infinitive content linked yes_no wh imperative existential identity comparison "
    "age impersonal",
    "frame": "intransitive expression transitive oblique dative locative control swap",
    "phrase": "object_pronoun adjective second_adjective degree complement relative measure adverb place company "
    "duration manner negation plural front",
}
SHARES = ("phrase", "english")
PERSONS = {
    "je": (1, "sg", ""), "nous": (1, "pl", ""), "il": (3, "sg", "m"), "elle": (3, "sg", "f"), "ils": (3, "pl", "m"),
    "elles": (3, "pl", "f"), "on": (3, "sg", "m"),
}  # fmt: skip

T = TypeVar("T")


class SettingsError(UserError):
    """`settings.toml` is wrong; the message names the place, and what would be right."""


@dataclass(frozen=True)
class Size:
    """Pairs of each split, tokens of the longest, subwords of each language."""

    train: int
    dev: int
    test: int
    max_tokens: int
    french_vocabulary: int
    english_vocabulary: int


@dataclass(frozen=True)
class Settings:
    """All numbers, table by table; weights and shares are plain dictionaries."""

    size: Size
    zipf: dict[str, float]
    english: dict[str, float]
    subject: dict[str, float]
    sentence: dict[str, float]
    frame: dict[str, float]
    phrase: dict[str, float]


def read_settings(path: Path = SETTINGS_FILE) -> Settings:
    """Reads and checks the settings.

    Raises:
        SettingsError: for an unknown or missing key (naming the nearest valid one) or a wrong value.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise SettingsError(f"{path}: {problem}") from None
    _check_keys(f"{path}: the file", table, ("size", *KEYS))
    _check_keys(f"{path}: [size]", table["size"], [field.name for field in fields(Size)])
    for name, keys in KEYS.items():
        _check_keys(f"{path}: [{name}]", table[name], keys.split())
    for name, numbers in table.items():
        for key, value in numbers.items():
            if name == "size" and (type(value) is not int or value < 1):
                expected = "a whole number of at least 1"
            elif type(value) not in (int, float) or value < 0:
                expected = "a number of at least 0"
            elif name in SHARES and value > 1:
                expected = "a share between 0 and 1"
            else:
                continue
            raise SettingsError(f"{path}: [{name}] {key} is {value!r}, expected {expected}")
    return Settings(**{**table, "size": Size(**table["size"])})


def _check_keys(where: str, table: dict[str, Any], expected: Sequence[str]) -> None:
    for key in table:
        if key not in expected:
            near = difflib.get_close_matches(key, expected, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(expected)}"
            raise SettingsError(f"{where} has the unknown key {key!r}; {hint}")
    missing = [key for key in expected if key not in table]
    if missing:
        raise SettingsError(f"{where} lacks {', '.join(missing)}")


class Draw:
    """A stream of random choices; the same seed gives the same choices.

    Attributes:
        speaker: gender of the speaker.
        hearer: gender of the hearer.
        address: *tu*, formal (*vous* to one) or *vous* (to several).
        can_relate: if a noun may have a relative clause or a complement.
        can_point: if a pronoun may stand for a thing that was not mentioned.
        can_own: if a third person may be an owner; not where *son* could be one of two persons'.
    """

    def __init__(self, seed: str, lexicon: Lexicon, settings: Settings):
        self.lexicon = lexicon
        self.settings = settings
        self._random = random.Random(seed)  # noqa: S311  # draws sentences; nothing depends on its secrecy
        self._sums: dict[tuple[str, int], list[float]] = {}
        self._pools: dict[Selection, tuple[tuple[Noun, ...], list[float]]] = {}

    def begin_sentence(self) -> None:
        """Draws a speaker and a hearer, who is *tu* or *vous* in all of the sentence."""
        tu, vous = self.settings.subject["tu"], self.settings.subject["vous"]
        self.speaker = self.pick("mf")
        self.hearer = self.pick("mf")
        self.address = self.weighted({"tu": tu, "formal": 0.6 * vous, "vous": 0.4 * vous})
        self._mentioned: set[str] = set()
        self.can_relate = self.can_point = self.can_own = True

    # -- choices ----------------------------------------------------------------------------------------

    def happens(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def share(self, name: str) -> bool:
        """True with the probability that `[phrase]` of the settings has under this name."""
        return self.happens(self.settings.phrase[name])

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, all with the same probability."""
        return items[int(self._random.random() * len(items))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, by weight."""
        return self._by_sums(list(weights), list(accumulate(weights.values())))

    def by_order(self, items: Sequence[T], kind: str) -> T:
        """One of the items, whose order is that of frequency, with the Zipf weights of `kind`."""
        key = (kind, len(items))
        if key not in self._sums:
            self._sums[key] = self._zipf(range(len(items)), kind)
        return self._by_sums(items, self._sums[key])

    def synonym(self, words: Sequence[str]) -> str:
        """An English word: mostly the first, else one of the others."""
        if len(words) == 1 or self.happens(self.settings.english["first_synonym"]):
            return words[0]
        return self.pick(words[1:])

    def _by_sums(self, items: Sequence[T], sums: Sequence[float]) -> T:
        return items[min(bisect_right(sums, self._random.random() * sums[-1]), len(items) - 1)]

    def _zipf(self, ranks: Sequence[int], kind: str) -> list[float]:
        shift, slope = (self.settings.zipf[f"{kind}_{knob}"] for knob in ("shift", "slope"))
        return list(accumulate(float((rank + shift) ** -slope) for rank in ranks))

    # -- nouns ------------------------------------------------------------------------------------------

    def group(self, name: str) -> Selection:
        """A class of nouns or a group of classes."""
        return self.lexicon.groups[name]

    def has_nouns(self, selection: Selection) -> bool:
        """True if the selection admits any noun."""
        return bool(self._pool(selection)[0])

    def noun(self, selection: Selection) -> Noun | None:
        """A noun that the selection admits and that the sentence has not mentioned yet."""
        nouns, sums = self._pool(selection)
        for _ in range(4 if nouns else 0):
            noun = self._by_sums(nouns, sums)
            if noun.lemma not in self._mentioned:
                self._mentioned.add(noun.lemma)
                return noun
        return None

    def _pool(self, selection: Selection) -> tuple[tuple[Noun, ...], list[float]]:
        if selection not in self._pools:
            nouns = tuple(noun for noun in self.lexicon.nouns if selection.admits(noun))
            self._pools[selection] = nouns, self._zipf([noun.rank for noun in nouns], "noun")
        return self._pools[selection]

    # -- persons ----------------------------------------------------------------------------------------

    def owner(self, person: int, number: str = "sg") -> Agreement:
        """First or second person as owner: *mon, notre, ton, votre*."""
        if person == 1:
            return Agreement(1, number, self.speaker)
        return Agreement(2, "sg" if self.address == "tu" else "pl", self.hearer)

    def pronoun(self, name: str) -> Pronoun:
        """A subject pronoun by its French name; *tu* and *vous* both address the hearer."""
        if name in ("tu", "vous"):
            number = "pl" if self.address == "vous" else "sg"
            return Pronoun(Agreement(2, number, self.hearer), "formal" if self.address == "formal" else "personal")
        person, number, gender = PERSONS[name]
        return Pronoun(Agreement(person, number, gender or self.speaker), "on" if name == "on" else "personal")
