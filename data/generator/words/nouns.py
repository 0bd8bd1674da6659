"""Reading the tables of nouns, first names and place names."""

from __future__ import annotations

from pathlib import Path

from .entries import Noun, ProperName, WordClass
from .tables import LexiconError, Row, read_table

NOUN_COLUMNS = ("french", "gender", "english", "class", "options")
NOUN_OPTIONS = (
    "plural", "en_plural", "mass", "plural_only", "en_plural_only", "en_mass", "aspirated", "unique", "generic",
    "loc", "measure",
    "singular", "public", "owned", "paired",
)  # fmt: skip
PLACE_COLUMNS = ("french", "gender", "english", "class", "options")
NAME_COLUMNS = ("french", "gender", "english")


def read_nouns(folder: Path, classes: dict[str, WordClass]) -> tuple[Noun, ...]:
    """Nouns of every `nouns_*.tsv`; a person noun with two forms becomes one record a gender."""
    nouns: list[Noun] = []
    ranks: dict[str, int] = {}
    lines: dict[tuple[str, str], Row] = {}
    paths = sorted(folder.glob("nouns_*.tsv"))
    if not paths:
        raise LexiconError(f"{folder}: no nouns_*.tsv table here")
    for path in paths:
        for row in read_table(path, NOUN_COLUMNS):
            if row["class"] not in classes:
                raise row.error(f"{row['class']!r} is no class of classes.toml")
            if not row["class"] or not row["english"]:
                raise row.error("a noun needs a class and an English word")
            key = (row["class"], row["french"])
            if key in lines:
                raise row.error(f"{row['french']!r} of class {row['class']!r} stands in line {lines[key].line} too")
            lines[key] = row
            rank = ranks.get(row["class"], 0)
            ranks[row["class"]] = rank + 1
            nouns.extend(_records(row, rank, classes[row["class"]]))
    known = {noun.lemma for noun in nouns}
    for key, row in lines.items():
        for measured in filter(None, row.options("options", NOUN_OPTIONS).get("measure", "").split(",")):
            if measured not in known:
                raise row.error(f"{key[1]!r} measures {measured!r}, which is in no noun table")
    return tuple(nouns)


def _records(row: Row, rank: int, word_class: WordClass) -> list[Noun]:
    options = row.options("options", NOUN_OPTIONS)
    genders = {"m": "m", "f": "f", "m/f": "mf"}[row.one_of("gender", ("m", "f", "m/f"))]
    french = row["french"].split("/")
    english = "|".join(row.english()).split("/")
    if len(french) != len(genders) or len(english) > len(genders):
        raise row.error(f"{row['french']!r} and {row['english']!r} need one form for gender {row['gender']!r} each")
    pairs = [pair for pair in options.get("loc", "").split(",") if pair]
    if any(pair.count(":") != 1 for pair in pairs):
        raise row.error(f"loc is {options['loc']!r}, expected french:english prepositions as in 'à:at'")
    places = tuple((french_one, english_one) for french_one, _, english_one in (pair.partition(":") for pair in pairs))
    return [
        Noun(
            lemma=french[0],
            french=form,
            gender=gender,
            english=tuple(english[min(index, len(english) - 1)].split("|")),
            class_name=row["class"],
            rank=rank,
            plural=options.get("plural", ""),
            english_plural=options.get("en_plural", ""),
            is_mass="mass" in options,
            is_plural_only="plural_only" in options,
            is_english_plural_only="en_plural_only" in options,
            is_english_mass="en_mass" in options,
            is_aspirated="aspirated" in options,
            is_unique="unique" in options,
            is_paired="paired" in options,
            is_singular_only="singular" in options,
            owning="public" if "public" in options else "owned" if "owned" in options else "",
            is_generic="generic" in options or word_class.generic,
            places=places or word_class.places,
            measures=tuple(filter(None, options.get("measure", "").split(","))),
        )
        for index, (gender, form) in enumerate(zip(genders, french, strict=True))
    ]


def read_proper_names(folder: Path) -> tuple[tuple[ProperName, ...], tuple[ProperName, ...]]:
    """First names, then cities and countries."""
    first_names = tuple(
        ProperName(row["french"], row.english()[0], row.one_of("gender", ("m", "f")), "name", rank)
        for rank, row in enumerate(read_table(folder / "first_names.tsv", NAME_COLUMNS))
    )
    places: list[ProperName] = []
    ranks: dict[str, int] = {}
    for row in read_table(folder / "place_names.tsv", PLACE_COLUMNS):
        class_name = row.one_of("class", ("city", "country"))
        rank = ranks.get(class_name, 0)
        ranks[class_name] = rank + 1
        options = row.options("options", ("plural", "aspirated"))
        gender = row.one_of("gender", ("m", "f"))
        places.append(
            ProperName(
                row["french"],
                row.english()[0],
                gender,
                class_name,
                rank,
                "plural" in options,
                "aspirated" in options,
            )
        )
    return first_names, tuple(places)
