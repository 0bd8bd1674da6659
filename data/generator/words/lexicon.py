"""The lexicon as a whole: reads every table, resolves selections, and refuses contradictions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .entries import Adjective, Adverb, Noun, ProperName, Selection, Verb, WordClass
from .nouns import read_nouns, read_proper_names
from .selections import SelectionReader
from .tables import LexiconError, read_table
from .verbs import read_verbs

LEXICON_FOLDER = Path(__file__).resolve().parent.parent / "lexicon"

ADJECTIVE_COLUMNS = ("french", "english", "applies_to", "position", "use", "comparison", "options")
ADJECTIVE_OPTIONS = (
    "feminine", "vowel", "invariable", "comparative", "prep", "complement", "infinitive", "definite",
    "possessive", "a_little",
)  # fmt: skip
ADVERB_COLUMNS = ("kind", "french", "english", "french_position", "english_position")
POSITIONS = ("before", "middle", "end", "front")
ADVERB_KINDS = (
    "degree", "habit", "now", "past", "future", "perfect", "former", "duration", "place", "manner", "attitude",
    "predicate",
)  # fmt: skip


@dataclass(frozen=True)
class Lexicon:
    """All words, in the order of their tables."""

    classes: dict[str, WordClass]
    groups: dict[str, tuple[str, ...]]
    nouns: tuple[Noun, ...]
    first_names: tuple[ProperName, ...]
    places: tuple[ProperName, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    adverbs: tuple[Adverb, ...]

    def nouns_for(self, selection: Selection) -> tuple[Noun, ...]:
        """The nouns that a selection admits."""
        return tuple(noun for noun in self.nouns if selection.admits(noun))


def read_classes(path: Path) -> tuple[dict[str, WordClass], dict[str, tuple[str, ...]]]:
    """Classes and groups of `classes.toml`."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise LexiconError(f"{path}: {problem}") from None
    classes = {}
    for name, entry in table["class"].items():
        unknown = set(entry) - {"about", "places", "generic", "owned"}
        if unknown or "about" not in entry:
            raise LexiconError(f"{path}: class {name!r}: keys must be about, places, generic, owned: {sorted(entry)}")
        places = tuple(tuple(pair.split(":")) for pair in entry.get("places", "").split(",") if pair)
        classes[name] = WordClass(name, entry["about"], places, entry.get("generic", False), entry.get("owned"))
    groups = {name: tuple(members) for name, members in table["group"].items()}
    for name, members in groups.items():
        for member in members:
            if member not in classes:
                raise LexiconError(f"{path}: group {name!r} names {member!r}, which is no class")
    return classes, groups


def read_adjectives(folder: Path, reader: SelectionReader) -> tuple[Adjective, ...]:
    """Rows of `adjectives.tsv`; two senses of one word must not compete for a noun."""
    adjectives: list[Adjective] = []
    for row in read_table(folder / "adjectives.tsv", ADJECTIVE_COLUMNS):
        options = row.options("options", ADJECTIVE_OPTIONS)
        prep = tuple(options.get("prep", ":").split(":"))
        adjective = Adjective(
            french=row["french"],
            english=row.english(),
            selection=reader.read(row, row["applies_to"]),
            is_before=row.one_of("position", ("before", "after")) == "before",
            use=row.one_of("use", ("both", "attribute", "predicate")),
            comparison=row["comparison"],
            rank=len(adjectives),
            feminine=options.get("feminine", ""),
            before_vowel=options.get("vowel", ""),
            is_invariable="invariable" in options,
            french_comparative=options.get("comparative", ""),
            prep=(prep[0], prep[1]),
            complement=reader.read(row, options["complement"]) if "complement" in options else None,
            infinitive=options.get("infinitive", ""),
            takes_a_little="a_little" in options,
            determiner="definite" if "definite" in options else "possessive" if "possessive" in options else "",
        )
        for other in adjectives:
            if other.french == adjective.french and _compete(other, adjective):
                raise row.error(f"{adjective.french!r} has another sense {other.english} for the same nouns")
        adjectives.append(adjective)
    return tuple(adjectives)


def _compete(one: Adjective, other: Adjective) -> bool:
    if "both" not in (one.use, other.use) and one.use != other.use:
        return False
    if one.is_before != other.is_before and "attribute" in (one.use, other.use):
        return False
    if one.selection.gender and other.selection.gender and one.selection.gender != other.selection.gender:
        return False
    a, b = one.selection, other.selection
    return bool(
        a.classes & b.classes
        or a.nouns & b.nouns
        or any(name in b.classes for name, _ in a.nouns)
        or any(name in a.classes for name, _ in b.nouns)
    )


def read_adverbs(folder: Path) -> tuple[Adverb, ...]:
    """Rows of `adverbs.tsv`; ranks count within a kind."""
    adverbs: list[Adverb] = []
    counts: dict[str, int] = {}
    for row in read_table(folder / "adverbs.tsv", ADVERB_COLUMNS):
        kind = row.one_of("kind", ADVERB_KINDS)
        french, english = row.one_of("french_position", POSITIONS), row.one_of("english_position", POSITIONS)
        rank = counts.get(kind, 0)
        adverbs.append(Adverb(kind, row["french"], row.english(), french, english, rank))
        counts[kind] = rank + 1
    return tuple(adverbs)


def read_lexicon(folder: Path = LEXICON_FOLDER) -> Lexicon:
    """Reads and checks every table.

    Raises:
        LexiconError: with file, line and what would be right.
    """
    classes, groups = read_classes(folder / "classes.toml")
    nouns = read_nouns(folder, classes)
    reader = SelectionReader(classes, groups, nouns)
    first_names, places = read_proper_names(folder)
    return Lexicon(
        classes=classes,
        groups=groups,
        nouns=nouns,
        first_names=first_names,
        places=places,
        adjectives=read_adjectives(folder, reader),
        verbs=read_verbs(folder, reader),
        adverbs=read_adverbs(folder),
    )
