"""The entries of the lexicon: one immutable record for each sense of a word, equal to nothing but itself.

French is written with its accents here; they go when a sentence is written out. A field made by `flag` or `value` is
an option of the entry's table.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any


def flag(option: str) -> Any:
    """A field that is true where the entry has the option."""
    return field(default=False, metadata={"option": option})


def value(option: str) -> Any:
    """A field with the option's value; empty where the entry has no such option."""
    return field(default="", metadata={"option": option})


def options_of(kind: type) -> dict[str, Field[Any]]:
    """The fields of a kind of entry by the names of their options."""
    return {item.metadata["option"]: item for item in fields(kind) if "option" in item.metadata}


@dataclass(frozen=True)
class Selection:
    """The nouns that a verb or adjective goes with: classes, and single nouns of a class.

    Written `person,text=lettre,=train`: a class or group, a noun of one class, a noun of any class.
    `gender` (from `person:m`) and `number` (from `pl:person`, `sg:person`) restrict further; empty means any.
    """

    classes: frozenset[str] = frozenset()
    nouns: frozenset[tuple[str, str]] = frozenset()
    gender: str = ""
    number: str = ""

    def admits(self, noun: Noun) -> bool:
        """True if the noun may stand here."""
        if self.gender and noun.gender != self.gender:
            return False
        return noun.class_name in self.classes or (noun.class_name, noun.lemma) in self.nouns

    def overlaps(self, other: Selection) -> bool:
        """True if some noun may stand in both places, number aside."""
        if self.gender and other.gender and self.gender != other.gender:
            return False
        return bool(
            self.classes & other.classes
            or self.nouns & other.nouns
            or any(name in other.classes for name, _ in self.nouns)
            or any(name in self.classes for name, _ in other.nouns)
        )

    @property
    def only_classes(self) -> frozenset[str]:
        """All classes named, those of single nouns included."""
        return self.classes | {class_name for class_name, _ in self.nouns}


@dataclass(frozen=True)
class WordClass:
    """A selectional class of nouns with what is usual for it."""

    about: str
    there: str = ""
    places: tuple[tuple[str, str], ...] = ()
    near: tuple[tuple[str, str], ...] = ()
    generic: bool = False
    owned: float | None = None


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun of one gender, or a proper name. Two with one `lemma` and `rank` where persons have two forms."""

    lemma: str
    french: str
    gender: str
    english: tuple[str, ...]
    class_name: str
    rank: int  # in the order of frequency of its class
    is_generic: bool = False
    owning: str = ""  # public: nobody's; owned: somebody's, unlike others of its class
    places: tuple[tuple[str, str], ...] = ()
    measures: tuple[str, ...] = ()
    plural: str = value("plural")
    english_plural: str = value("en_plural")
    is_mass: bool = flag("mass")
    is_plural_only: bool = flag("plural_only")
    is_english_plural_only: bool = flag("en_plural_only")
    is_english_mass: bool = flag("en_mass")
    is_aspirated: bool = flag("aspirated")
    is_unique: bool = flag("unique")
    is_singular_only: bool = flag("singular")
    is_paired: bool = flag("paired")  # mostly plural: shoes

    @property
    def is_countable(self) -> bool:
        """True if the noun can be counted in both languages."""
        return not (self.is_mass or self.is_english_mass or self.is_english_plural_only or self.is_plural_only)


@dataclass(frozen=True, eq=False)
class Adjective:
    """One sense of an adjective: which nouns it goes with, where it stands, how it compares."""

    french: str
    english: tuple[str, ...]
    selection: Selection
    is_before: bool
    use: str  # both, attribute or predicate
    comparison: str  # er, more, none, or the English comparative itself
    prep: tuple[str, str] = ("", "")
    complement: Selection | None = None
    determiner: str = ""  # definite or possessive: the only determiner it stands with
    feminine: str = value("feminine")
    before_vowel: str = value("vowel")
    is_invariable: bool = flag("invariable")
    french_comparative: str = value("comparative")
    infinitive: str = value("infinitive")
    takes_a_little: bool = flag("a_little")  # goes with *un peu*

    @property
    def is_gradable(self) -> bool:
        """True if *very* and *more* go with it."""
        return self.comparison != "none"


@dataclass(frozen=True, eq=False)
class Verb:
    """One sense of a verb in one frame (the complements that it takes)."""

    frame: str
    french: str
    english: tuple[str, ...]
    aspect: str  # state, activity or point
    subject: Selection
    object: Selection
    recipient: Selection
    prep: tuple[str, str]
    manners: tuple[str, ...]
    options: frozenset[str]

    @property
    def is_reflexive(self) -> bool:
        """True if the infinitive is written with *se*."""
        return self.french.startswith(("se ", "s'"))


@dataclass(frozen=True, eq=False)
class Adverb:
    """An adverb or adverbial phrase; its `kind` decides what it goes with.

    Positions in French and English: before (an adjective), middle (by the verb), end, front (of the sentence).
    """

    kind: str
    french: str
    english: tuple[str, ...]
    positions: tuple[str, str]
