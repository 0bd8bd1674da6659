"""Reading the lexicon: every table of `lexicon/`, checked, with selections resolved and contradictions refused."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from foundation.command_line import UserError

from .entries import Adjective, Adverb, Noun, Selection, Verb, WordClass, options_of

LEXICON_FOLDER = Path(__file__).resolve().parent / "lexicon"
EMPTY = "-"
ENGLISH_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz '-|/")

NOUN_COLUMNS = ("french", "gender", "english", "class", "options")
NOUN_OPTIONS = (*options_of(Noun), "generic", "loc", "measure", "public", "owned")
ADJECTIVE_COLUMNS = ("french", "english", "applies_to", "position", "use", "comparison", "options")
ADJECTIVE_OPTIONS = (*options_of(Adjective), "prep", "complement", "definite", "possessive")
ADVERB_COLUMNS = ("kind", "french", "english", "french_position", "english_position")
POSITIONS = ("before", "middle", "end", "front")
ADVERB_KINDS = tuple("degree habit now past future perfect former duration place manner attitude predicate".split())
FRAMES = tuple(
    "intransitive expression transitive oblique dative infinitive control content locative copula "
    "swap impersonal special".split()
)
VERB_COLUMNS = tuple("frame french english aspect subject object recipient prep manner options".split())
ONE_SENSE = ("infinitive", "control", "content", "copula", "impersonal", "special")
"""Frames in which a verb has one sense, since no noun decides between several."""

T = TypeVar("T")
S = TypeVar("S", Adjective, Verb)


class LexiconError(UserError):
    """The lexicon is wrong; the message names the file and line, and what would be right."""


@dataclass(frozen=True)
class Row:
    """One line of a table: where it stands (a number, or a name in a TOML file) and its cells by column name."""

    path: Path
    line: int | str
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        """The cell's text; an empty string where the table has a dash."""
        text = self.cells[column]
        return "" if text == EMPTY else text

    def error(self, message: str) -> LexiconError:
        """An error that points to this line."""
        return LexiconError(f"{self.path}:{self.line}: {message}")

    def english(self) -> tuple[str, ...]:
        """English words, separated by `|`: lower case without accents, as the corpus has them."""
        text = self["english"]
        if not text or not ENGLISH_LETTERS.issuperset(text):
            raise self.error(f"english is {text!r}, expected lower-case letters without accents")
        return tuple(text.split("|"))

    def one_of(self, column: str, allowed: tuple[str, ...]) -> str:
        """The cell's text, which must be one of `allowed`."""
        text = self[column]
        if text not in allowed:
            raise self.error(f"{column} is {text!r}, expected one of: {', '.join(allowed)}")
        return text

    def options(self, allowed: Iterable[str]) -> dict[str, str]:
        """The row's options, `flag` or `name=value`, separated by semicolons; a flag's value is empty."""
        options: dict[str, str] = {}
        for part in filter(None, (part.strip() for part in self["options"].split(";"))):
            name, _, value = part.partition("=")
            if name not in allowed:
                raise self.error(f"unknown option {name!r} in options, expected: {', '.join(sorted(allowed))}")
            if name in options:
                raise self.error(f"option {name!r} stands twice")
            options[name] = value.strip()
        return options

    def pair(self, text: str, column: str) -> tuple[str, str]:
        """Prepositions of both languages, written `de:about`."""
        if text.count(":") != 1:
            raise self.error(f"{column} is {text!r}, expected french:english as in 'de:about' (one may be empty)")
        french, _, english = text.partition(":")
        return french, english


def read_table(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """Rows of a table whose header must be exactly `columns`. Lines that start with `#` are comments."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise LexiconError(f"{path}: cannot read the table: {problem}") from None
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = tuple(line.split("\t"))
        row = Row(path, number, dict(zip(columns, cells, strict=False)))
        if not seen and cells != columns:
            raise row.error(f"the header is {cells}, expected {columns}")
        if len(cells) != len(columns):
            raise row.error(f"{len(cells)} cells, expected {len(columns)}: {', '.join(columns)}")
        for column, cell in row.cells.items():
            if not cell or cell != cell.strip():
                raise row.error(f"{column} is {cell!r}, expected text without spaces around it, or {EMPTY!r}")
        if cells in seen:
            raise row.error(f"the same entry stands in line {seen[cells]}")
        if seen:
            yield row
        seen[cells] = number
    if not seen:
        raise LexiconError(f"{path}: no header, expected {columns}")


@dataclass(frozen=True, eq=False)
class Lexicon:
    """All words, in the order of their tables, which is that of frequency."""

    classes: dict[str, WordClass]
    groups: dict[str, Selection]  # of classes too, and `there`: all that may be somewhere
    nouns: tuple[Noun, ...]
    names: dict[str, tuple[Noun, ...]]  # by class: name, city, country
    adjectives: tuple[Adjective, ...]
    verbs: dict[str, tuple[Verb, ...]]  # by frame
    adverbs: dict[str, tuple[Adverb, ...]]  # by kind
    units: dict[str, Noun]  # of time
    special: dict[str, Verb]  # those of no other frame, by their French


def read_lexicon(folder: Path = LEXICON_FOLDER) -> Lexicon:
    """Reads and checks every table.

    Raises:
        LexiconError: with file, line and what would be right.
    """
    path = folder / "classes.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise LexiconError(f"{path}: {problem}") from None
    classes = dict(_read_classes(path, table["class"]))
    nouns = read_nouns(folder / "nouns.tsv", classes)
    reader = SelectionReader(path, classes, table["group"], nouns)
    verbs = _grouped(read_verbs(folder / "verbs.tsv", reader, table["verb_option"]), "frame")
    return Lexicon(
        classes=classes,
        groups=reader.groups,
        nouns=nouns,
        names=_grouped(read_nouns(folder / "names.tsv", classes), "class_name"),
        adjectives=read_adjectives(folder / "adjectives.tsv", reader),
        verbs=verbs,
        adverbs=_grouped(read_adverbs(folder / "adverbs.tsv"), "kind"),
        units={noun.lemma: noun for noun in nouns if noun.class_name == "time"},
        special={verb.french: verb for verb in verbs["special"]},
    )


def _grouped(entries: Iterable[T], attribute: str) -> dict[str, tuple[T, ...]]:
    key = attrgetter(attribute)
    return {name: tuple(group) for name, group in groupby(sorted(entries, key=key), key)}


def _read_classes(path: Path, table: dict[str, Any]) -> Iterator[tuple[str, WordClass]]:
    keys = [item.name for item in fields(WordClass)]
    for name, entry in table.items():
        if "about" not in entry or not set(entry) <= set(keys):
            raise LexiconError(f"{path}: class {name!r}: keys must be {', '.join(keys)}: {sorted(entry)}")
        texts = {key: entry.get(key, "").split(",") for key in ("places", "near")}
        pairs = {key: tuple(tuple(pair.split(":")) for pair in text if pair) for key, text in texts.items()}
        yield name, WordClass(**{**entry, **pairs})


def _option_fields(kind: type, options: dict[str, str]) -> dict[str, Any]:
    """Fields of an entry from its options: the value, or true for a flag."""
    made = {option: item for option, item in options_of(kind).items() if option in options}
    return {item.name: options[option] if item.default == "" else True for option, item in made.items()}


def read_nouns(path: Path, classes: dict[str, WordClass]) -> tuple[Noun, ...]:
    """Nouns or names, ranks within a class; a person noun with two forms becomes one entry a gender."""
    nouns: list[Noun] = []
    ranks: Counter[str] = Counter()
    lines: dict[tuple[str, str], Row] = {}
    for row in read_table(path, NOUN_COLUMNS):
        name, french = row["class"], row["french"]
        if name not in classes:
            raise row.error(f"{name!r} is no class of classes.toml")
        if (name, french) in lines:
            raise row.error(f"{french!r} of class {name!r} stands in line {lines[name, french].line} too")
        lines[name, french] = row
        nouns.extend(_noun_of_each_gender(row, ranks[name], classes[name]))
        ranks[name] += 1
    known = {noun.lemma for noun in nouns}
    for noun in nouns:
        for measured in noun.measures:
            if measured not in known:
                row = lines[noun.class_name, noun.french]
                raise row.error(f"{noun.french!r} measures {measured!r}, which is no noun of the table")
    return tuple(nouns)


def _noun_of_each_gender(row: Row, rank: int, word_class: WordClass) -> Iterator[Noun]:
    options = row.options(NOUN_OPTIONS)
    genders = row.one_of("gender", ("m", "f", "m/f")).split("/")
    french, english = row["french"].split("/"), "|".join(row.english()).split("/")
    if len(french) != len(genders) or len(english) > len(genders):
        raise row.error(f"{row['french']!r} and {row['english']!r} need one form for gender {row['gender']!r} each")
    places = tuple(row.pair(pair, "loc") for pair in options.get("loc", "").split(",") if pair)
    for index, (gender, form) in enumerate(zip(genders, french, strict=True)):
        yield Noun(
            lemma=french[0],
            french=form,
            gender=gender,
            english=tuple(english[min(index, len(english) - 1)].split("|")),
            class_name=row["class"],
            rank=rank,
            is_generic="generic" in options or word_class.generic,
            owning=next((owning for owning in ("public", "owned") if owning in options), ""),
            places=places or word_class.places,
            measures=tuple(filter(None, options.get("measure", "").split(","))),
            **_option_fields(Noun, options),
        )


class SelectionReader:
    """Turns `person,text=lettre` into a `Selection`, and checks that each part exists."""

    def __init__(self, path: Path, classes: dict[str, WordClass], groups: dict[str, str], nouns: tuple[Noun, ...]):
        self.by_lemma: dict[str, set[str]] = {}
        for noun in nouns:
            self.by_lemma.setdefault(noun.lemma, set()).add(noun.class_name)
        self.groups = {name: Selection(frozenset({name})) for name in classes}
        for name, text in groups.items():
            self.groups[name] = self.read(Row(path, name, {}), text)
        self.groups["there"] = Selection(frozenset(name for name, kind in classes.items() if kind.there))

    def read(self, row: Row, text: str) -> Selection:
        """The selection that `text` means; an empty text admits nothing."""
        number = gender = ""
        names: set[str] = set()
        nouns: set[tuple[str, str]] = set()
        for part in filter(None, text.split(",")):
            if part[:3] in ("pl:", "sg:"):
                number, part = part[:2], part[3:]
            if part[-2:] in (":m", ":f"):
                gender, part = part[-1], part[:-2]
            class_name, equals, lemma = part.partition("=")
            if equals:
                nouns |= self._nouns(row, class_name, lemma)
            elif part in self.groups:
                names |= self.groups[part].classes
                nouns |= self.groups[part].nouns
            else:
                raise row.error(f"{part!r} is no class or group of classes.toml; a single noun is written '=noun'")
        return Selection(frozenset(names), frozenset(nouns), gender, number)

    def _nouns(self, row: Row, class_name: str, lemma: str) -> set[tuple[str, str]]:
        known = self.by_lemma.get(lemma, set())
        if known and not class_name:
            return {(name, lemma) for name in known}
        if class_name not in known:
            where = f"it stands in: {', '.join(sorted(known))}" if known else "it stands in no noun table"
            raise row.error(f"there is no noun {lemma!r} of class {class_name!r}; {where}")
        return {(class_name, lemma)}


def read_adjectives(path: Path, reader: SelectionReader) -> tuple[Adjective, ...]:
    """Adjectives; two senses of one word must not compete for a noun."""
    adjectives: list[Adjective] = []
    for row in read_table(path, ADJECTIVE_COLUMNS):
        options = row.options(ADJECTIVE_OPTIONS)
        adjective = Adjective(
            french=row["french"],
            english=row.english(),
            selection=reader.read(row, row["applies_to"]),
            is_before=row.one_of("position", ("before", "after")) == "before",
            use=row.one_of("use", ("both", "attribute", "predicate")),
            comparison=row["comparison"],
            prep=row.pair(options.get("prep", ":"), "prep"),
            complement=reader.read(row, options["complement"]) if "complement" in options else None,
            determiner=next((name for name in ("definite", "possessive") if name in options), ""),
            **_option_fields(Adjective, options),
        )
        _check_senses(row, adjective, adjectives, _adjectives_compete)
    return tuple(adjectives)


def _check_senses(row: Row, entry: S, others: list[S], compete: Callable[[S, S], bool]) -> None:
    """Adds an entry to others of its kind unless another sense of the word competes with it."""
    for other in others:
        if other.french == entry.french and compete(other, entry):
            raise row.error(f"{entry.french!r} has another sense {other.english} for the same nouns")
    others.append(entry)


def _adjectives_compete(first: Adjective, other: Adjective) -> bool:
    if "both" not in (first.use, other.use) and first.use != other.use:
        return False
    if first.is_before != other.is_before and "attribute" in (first.use, other.use):
        return False
    return first.selection.overlaps(other.selection)


def read_verbs(path: Path, reader: SelectionReader, options: Iterable[str]) -> tuple[Verb, ...]:
    """Verbs; two senses of one word must not compete for an object."""
    verbs: list[Verb] = []
    for row in read_table(path, VERB_COLUMNS):
        verb = Verb(
            frame=row.one_of("frame", FRAMES),
            french=row["french"],
            english=row.english(),
            aspect=row.one_of("aspect", ("state", "activity", "point")),
            subject=reader.read(row, row["subject"]),
            object=reader.read(row, row["object"]),
            recipient=reader.read(row, row["recipient"]),
            prep=row.pair(row["prep"] or ":", "prep"),
            manners=tuple(filter(None, row["manner"].split("|"))),
            options=frozenset(row.options(options)),
        )
        if verb.subject.gender or verb.object.gender or verb.recipient.gender:
            raise row.error("only an adjective can ask for a gender (':m', ':f')")
        _check_senses(row, verb, verbs, _verbs_compete)
    return tuple(verbs)


def _verbs_compete(first: Verb, other: Verb) -> bool:
    if (first.frame, first.prep) != (other.frame, other.prep):
        return False
    if first.frame in ONE_SENSE:
        return True
    if not first.subject.overlaps(other.subject):
        return False
    return first.frame in ("intransitive", "expression") or first.object.overlaps(other.object)


def read_adverbs(path: Path) -> Iterator[Adverb]:
    """Adverbs with their positions in both languages."""
    for row in read_table(path, ADVERB_COLUMNS):
        french, english = row.one_of("french_position", POSITIONS), row.one_of("english_position", POSITIONS)
        yield Adverb(row.one_of("kind", ADVERB_KINDS), row["french"], row.english(), (french, english))
