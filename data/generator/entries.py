"""What the lexicon holds: one immutable record for each sense of a word.

French is written with its accents here; they go when a sentence is written out (`french/forms.py`). A record's `rank`
is its place among its kind in the table, which is its place in the frequency order.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Selection:
    """Which nouns a verb or adjective goes with: classes, and single nouns of a class.

    Written `person,text=lettre,=train`: a class or group, a noun of one class, a noun of any class.
    `gender` (from `person:m`) and `number` (from `pl:person`, `sg:person`) restrict further; empty means any.
    """

    classes: frozenset[str] = frozenset()
    nouns: frozenset[tuple[str, str]] = frozenset()
    gender: str = ""
    number: str = ""

    def admits(self, noun: Noun) -> bool:
        """Whether the noun may stand here."""
        if self.gender and noun.gender != self.gender:
            return False
        return noun.class_name in self.classes or (noun.class_name, noun.lemma) in self.nouns

    def overlaps(self, other: Selection) -> bool:
        """Whether some noun may stand in both places, gender and number aside."""
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

    name: str
    about: str
    places: tuple[tuple[str, str], ...] = ()
    generic: bool = False
    owned: float | None = None


@dataclass(frozen=True)
class Noun:
    """A noun of one gender. Two records with one `lemma` and `rank` where persons have two forms."""

    lemma: str
    french: str
    gender: str
    english: tuple[str, ...]
    class_name: str
    rank: int
    plural: str = ""
    english_plural: str = ""
    is_mass: bool = False
    is_plural_only: bool = False
    is_english_plural_only: bool = False
    is_english_mass: bool = False
    is_aspirated: bool = False
    is_unique: bool = False
    is_generic: bool = False
    is_singular_only: bool = False
    is_paired: bool = False  # mostly plural: shoes
    owning: str = ""  # public: nobody's; owned: somebody's, unlike others of its class
    places: tuple[tuple[str, str], ...] = ()
    measures: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProperName:
    """A first name, city or country."""

    french: str
    english: str
    gender: str
    class_name: str
    rank: int
    is_plural: bool = False
    is_aspirated: bool = False


@dataclass(frozen=True)
class Adjective:
    """One sense of an adjective: which nouns it goes with, where it stands, how it compares."""

    french: str
    english: tuple[str, ...]
    selection: Selection
    is_before: bool
    use: str  # both, attribute or predicate
    comparison: str  # er, more, none, or the English comparative itself
    rank: int
    feminine: str = ""
    before_vowel: str = ""
    is_invariable: bool = False
    french_comparative: str = ""
    prep: tuple[str, str] = ("", "")
    complement: Selection | None = None
    infinitive: str = ""
    takes_a_little: bool = False  # goes with *un peu*
    determiner: str = ""  # definite or possessive: the only determiner it stands with

    @property
    def is_gradable(self) -> bool:
        """Whether *very* and *more* go with it."""
        return self.comparison != "none"


@dataclass(frozen=True)
class Verb:
    """One sense of a verb in one frame (the name of its table: what complements it takes)."""

    frame: str
    french: str
    english: tuple[str, ...]
    aspect: str  # state, activity or point
    rank: int
    subject: Selection
    object: Selection
    recipient: Selection
    prep: tuple[str, str] = ("", "")
    manners: tuple[str, ...] = ()
    options: frozenset[str] = field(default_factory=frozenset)

    @property
    def is_reflexive(self) -> bool:
        """Whether the infinitive is written with *se*."""
        return self.french.startswith(("se ", "s'"))


@dataclass(frozen=True)
class Adverb:
    """An adverb or adverbial phrase; `kind` says what it may go with.

    Positions: before (an adjective), middle (by the verb), end, front (of the sentence).
    """

    kind: str
    french: str
    english: tuple[str, ...]
    position: str
    english_position: str
    rank: int
