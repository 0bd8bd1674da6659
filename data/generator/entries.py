"""The words: every table of `lexicon/` as immutable entries, in the order of frequency.

French is written with its accents here; they go when a sentence is written out.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from foundation.command_line import UserError

LEXICON_FOLDER = Path(__file__).resolve().parent / "lexicon"
EMPTY = "-"

Row = dict[str, str]
Texts = tuple[str, str]
"""French and English."""

T = TypeVar("T")


@dataclass(frozen=True)
class Selection:
    """The nouns that a verb or adjective goes with: classes, and single nouns of a class.

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


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry:
    """One sense of a word, equal to nothing but itself; options that are no flags have a value."""

    french: str
    english: tuple[str, ...]
    options: Row = field(default_factory=dict)

    def has(self, *options: str) -> bool:
        """True if the entry has one of the options."""
        return not self.options.keys().isdisjoint(options)


@dataclass(frozen=True, eq=False, kw_only=True)
class Noun(Entry):
    """A noun of one gender, or a proper name; *acteur* and *actrice* have one `lemma` and `rank`."""

    lemma: str
    gender: str
    class_name: str
    rank: int  # in the order of frequency of its class
    place: Texts | None

    @property
    def is_countable(self) -> bool:
        """True if the noun can be counted in both languages."""
        return not self.has("mass", "en_mass", "en_plural_only", "plural_only")


@dataclass(frozen=True, eq=False, kw_only=True)
class Adjective(Entry):
    """One sense of an adjective: which nouns it goes with, where it stands, how it compares."""

    selection: Selection
    position: str  # before or after the French noun
    use: str  # both, attribute or predicate
    comparison: str  # er, more; empty: neither compared nor *very*
    prep: Texts
    complement: Selection


@dataclass(frozen=True, eq=False, kw_only=True)
class Verb(Entry):
    """One sense of a verb in one frame (the complements that it takes)."""

    frame: str
    aspect: str  # state, activity or point
    subject: Selection
    object: Selection
    recipient: Selection
    prep: Texts
    manners: tuple[str, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Adverb(Entry):
    """An adverb or adverbial phrase; its `kind` decides what it goes with.

    Positions in French and English: before (an adjective), middle (by the verb), end, front (of the sentence).
    """

    kind: str
    positions: Texts


def read_table(path: Path, entry: Callable[[Row], T]) -> list[T]:
    """Makes an entry of each line of a table with a header; those that start with `#` are comments.

    Raises: UserError where a line has other cells than the header, or one that its entry cannot take.
    """
    entries: list[T] = []
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    (_, header), *rows = ((number, line.split("\t")) for number, line in lines if line and not line.startswith("#"))
    for number, row in rows:
        cells = ["" if cell == EMPTY else cell for cell in row]
        try:
            entries.append(entry(dict(zip(header, cells, strict=True))))
        except (KeyError, ValueError) as problem:
            raise UserError(f"{path}:{number}: wrong cells: {problem}") from None
    return entries


@cache
def rows_of(name: str) -> dict[str, Row]:
    """The rows of a table by their first cells."""
    rows = read_table(LEXICON_FOLDER / f"{name}.tsv", dict)
    return {next(iter(row.values())): row for row in rows}


@cache
def inflect(table: str, word: str, column: str) -> str:
    """A form of a word, from the first row that fits it and has the form; "" = from none."""
    for pattern, row in rows_of(table).items():
        if row[column] and (match := re.fullmatch(pattern, word)):
            return match.expand(row[column])
    return ""


class Lexicon:
    """All words but irregular forms, in the order of their tables, which is that of frequency."""

    def __init__(self, folder: Path = LEXICON_FOLDER):
        table = tomllib.loads((folder / "classes.toml").read_text(encoding="utf-8"))
        self.folder = folder
        self.classes: dict[str, dict[str, Any]] = table["class"]  # what is usual for each
        self.nouns = self._nouns("nouns.tsv")
        self.groups = {name: Selection(frozenset({name})) for name in self.classes}
        for name, text in table["group"].items():
            self.groups[name] = self.select(text)
        self.groups["there"] = Selection(frozenset(name for name, usual in self.classes.items() if "there" in usual))
        self.names = _grouped(self._nouns("names.tsv"), "class_name")  # name, city, country
        self.adjectives = tuple(self._entries("adjectives.tsv", Adjective))
        self.verbs = _grouped(self._entries("verbs.tsv", Verb), "frame")
        self.special = {verb.french: verb for verb in (*self.verbs["special"], *self.verbs["copula"])}
        self.adverbs = _grouped(self._entries("adverbs.tsv", Adverb), "kind")

    def select(self, text: str) -> Selection:
        """Reads `person,text=lettre,=train`: a class or group, a noun of one class, a noun of any class."""
        number = gender = ""
        names: set[str] = set()
        single: set[tuple[str, str]] = set()
        for part in filter(None, text.split(",")):
            if part[:3] in ("pl:", "sg:"):
                number, part = part[:2], part[3:]
            if part[-2:] in (":m", ":f"):
                gender, part = part[-1], part[:-2]
            name, equals, lemma = part.partition("=")
            if equals:
                known = {noun.class_name for noun in self.nouns if noun.lemma == lemma}
                single |= {(class_name, lemma) for class_name in known if name in ("", class_name)}
            else:
                names |= self.groups[part].classes
                single |= self.groups[part].nouns
        return Selection(frozenset(names), frozenset(single), gender, number)

    def _nouns(self, name: str) -> list[Noun]:
        """Nouns or names; one of persons with two forms becomes one entry a gender."""
        ranks: Counter[str] = Counter()

        def of_each_gender(row: Row) -> list[Noun]:
            name, usual, options = row["class"], self.classes[row["class"]], _options(row["options"])
            if usual.get("generic"):
                options["generic"] = ""
            shared: dict[str, Any] = {
                "options": options,
                "class_name": name,
                "rank": ranks[name],
                "place": _texts(options["loc"]) if "loc" in options else usual.get("place"),
            }
            forms, english = row["french"].split("/"), row["english"].split("/")
            each = zip(row["gender"].split("/"), forms, english * len(forms), strict=False)
            ranks[name] += 1
            return [
                Noun(french=form, english=_parts(meaning), lemma=forms[0], gender=gender, **shared)
                for gender, form, meaning in each
            ]

        return list(chain.from_iterable(read_table(self.folder / name, of_each_gender)))

    def _entries(self, name: str, kind: Callable[..., T]) -> list[T]:
        convert: dict[str, Callable[[str], Any]] = {
            **dict.fromkeys(("english", "manners"), _parts),
            **dict.fromkeys(("prep", "positions"), _texts),
            **dict.fromkeys(("selection", "complement", "subject", "object", "recipient"), self.select),
            "options": _options,
        }

        def entry(row: Row) -> T:
            return kind(**{column: convert.get(column, str)(text) for column, text in row.items()})

        return read_table(self.folder / name, entry)


def _grouped(entries: Sequence[T], attribute: str) -> dict[str, tuple[T, ...]]:
    names = {getattr(entry, attribute) for entry in entries}
    return {name: tuple(entry for entry in entries if getattr(entry, attribute) == name) for name in names}


def _parts(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()


def _texts(text: str) -> Texts:
    french, english = (text or ":").split(":")
    return french, english


def _options(text: str) -> Row:
    options = (option.strip().partition("=") for option in text.split(";") if option)
    return {name: value for name, _, value in options}
