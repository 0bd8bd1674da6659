"""The lexicon as a whole: reads every table of `lexicon/`, resolves selections, and refuses contradictions."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .entries import Adjective, Adverb, Noun, ProperName, Selection, Verb, WordClass
from .tables import LexiconError, Row, SelectionReader, read_table

LEXICON_FOLDER = Path(__file__).resolve().parent / "lexicon"

NOUN_COLUMNS = ("french", "gender", "english", "class", "options")
NOUN_OPTIONS = (
    "plural", "en_plural", "mass", "plural_only", "en_plural_only", "en_mass", "aspirated", "unique", "generic",
    "loc", "measure", "singular", "public", "owned", "paired",
)  # fmt: skip


def read_nouns(folder: Path, classes: dict[str, WordClass]) -> tuple[Noun, ...]:
    """Rows of `nouns.tsv`, ranks within a class; a person noun with two forms becomes one record a gender."""
    nouns: list[Noun] = []
    ranks: Counter[str] = Counter()
    lines: dict[tuple[str, str], Row] = {}
    for row in read_table(folder / "nouns.tsv", NOUN_COLUMNS):
        name = row["class"]
        if name not in classes:
            raise row.error(f"{name!r} is no class of classes.toml")
        key = (name, row["french"])
        if key in lines:
            raise row.error(f"{row['french']!r} of class {name!r} stands in line {lines[key].line} too")
        lines[key] = row
        nouns.extend(_records(row, ranks[name], classes[name]))
        ranks[name] += 1
    known = {noun.lemma for noun in nouns}
    for key, row in lines.items():
        for measured in filter(None, row.options("options", NOUN_OPTIONS).get("measure", "").split(",")):
            if measured not in known:
                raise row.error(f"{key[1]!r} measures {measured!r}, which is no noun of the table")
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


def read_names(folder: Path) -> tuple[ProperName, ...]:
    """Rows of `names.tsv`: first names, cities and countries; ranks within each."""
    names: list[ProperName] = []
    ranks: Counter[str] = Counter()
    for row in read_table(folder / "names.tsv", NOUN_COLUMNS):
        kind = row.one_of("class", ("name", "city", "country"))
        options = row.options("options", ("plural", "aspirated"))
        gender = row.one_of("gender", ("m", "f"))
        flags = "plural" in options, "aspirated" in options
        names.append(ProperName(row["french"], row.english()[0], gender, kind, ranks[kind], *flags))
        ranks[kind] += 1
    return tuple(names)


FRAMES = (
    "intransitive", "expression", "transitive", "oblique", "dative", "infinitive", "control", "content", "locative",
    "copula", "swap", "impersonal", "special",
)  # fmt: skip
VERB_COLUMNS = (
    "frame", "french", "english", "aspect", "subject", "object", "recipient", "prep", "manner", "options",
)  # fmt: skip
VERB_OPTIONS = {
    "place": "a place may be said (dans le jardin)",
    "duration": "a duration may be said (pendant deux heures)",
    "company": "company may be said (avec mon ami)",
    "scheduled": "the present may speak of the future (je pars demain)",
    "brief": "no past progressive and no duration",
    "past": "only in the past",
    "generic": "objects stand for their kind (j'aime les chats)",
    "bare": "the complement has no determiner (changer de train)",
    "definite": "the complement has the definite article (jouer du piano)",
    "indefinite": "the complement has the indefinite article",
    "dative": "a person as complement becomes lui, leur",
    "accusative": "the person is a direct object",
    "y": "a thing as complement becomes y",
    "en": "a thing as complement becomes en",
    "direction": "English says where to, not where",
    "skill": "the infinitive is something that one learns",
    "learnt": "something that one learns to do",
    "negative": "only with a negation",
    "adjective": "a copula that takes an adjective",
    "noun": "a copula that takes a noun",
    "to": "the recipient has to",
    "for": "the recipient has for",
    "from": "the recipient has from",
    "first": "the recipient stands before the object (ask him a question)",
    "whole": "the object is never measured out (une tasse de ...)",
    "named": "the object is never a pronoun",
    "third": "only with a third person",
    "bad": "as a command only with a negation",
    "seen": "what one says of others (il a l'air triste)",
    "negatable": "takes a negation before its infinitive",
    "involuntary": "not something that one wants, decides or commands",
}


def read_verbs(folder: Path, reader: SelectionReader) -> tuple[Verb, ...]:
    """Rows of `verbs.tsv`; ranks count within a frame. Two senses must not compete for an object."""
    verbs: list[Verb] = []
    ranks: Counter[str] = Counter()
    for row in read_table(folder / "verbs.tsv", VERB_COLUMNS):
        verb = _verb(row, ranks[row["frame"]], reader)
        for other in verbs:
            is_same = (other.frame, other.french, other.prep) == (verb.frame, verb.french, verb.prep)
            if is_same and _verbs_compete(other, verb):
                raise row.error(f"{verb.french!r} has another sense {other.english} for the same nouns")
        verbs.append(verb)
        ranks[verb.frame] += 1
    return tuple(verbs)


def _verb(row: Row, rank: int, reader: SelectionReader) -> Verb:
    prep = row["prep"].split(":") if row["prep"] else ["", ""]
    if len(prep) != 2:
        raise row.error(f"prep is {row['prep']!r}, expected french:english as in 'de:about' (one may be empty)")
    return Verb(
        frame=row.one_of("frame", FRAMES),
        french=row["french"],
        english=row.english(),
        aspect=row.one_of("aspect", ("state", "activity", "point")),
        rank=rank,
        subject=reader.read(row, row["subject"]),
        object=reader.read(row, row["object"]),
        recipient=reader.read(row, row["recipient"]),
        prep=(prep[0], prep[1]),
        manners=tuple(filter(None, row["manner"].split("|"))),
        options=frozenset(row.options("options", tuple(VERB_OPTIONS))),
    )


def _verbs_compete(one: Verb, other: Verb) -> bool:
    if one.frame in ("infinitive", "control", "content", "copula", "impersonal", "special"):
        return True
    if not one.subject.overlaps(other.subject):
        return False
    return one.frame in ("intransitive", "expression") or one.object.overlaps(other.object)


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
            if other.french == adjective.french and _adjectives_compete(other, adjective):
                raise row.error(f"{adjective.french!r} has another sense {other.english} for the same nouns")
        adjectives.append(adjective)
    return tuple(adjectives)


def _adjectives_compete(one: Adjective, other: Adjective) -> bool:
    if "both" not in (one.use, other.use) and one.use != other.use:
        return False
    if one.is_before != other.is_before and "attribute" in (one.use, other.use):
        return False
    if one.selection.gender and other.selection.gender and one.selection.gender != other.selection.gender:
        return False
    return one.selection.overlaps(other.selection)


def read_adverbs(folder: Path) -> tuple[Adverb, ...]:
    """Rows of `adverbs.tsv`; ranks count within a kind."""
    adverbs: list[Adverb] = []
    ranks: Counter[str] = Counter()
    for row in read_table(folder / "adverbs.tsv", ADVERB_COLUMNS):
        kind = row.one_of("kind", ADVERB_KINDS)
        french, english = row.one_of("french_position", POSITIONS), row.one_of("english_position", POSITIONS)
        adverbs.append(Adverb(kind, row["french"], row.english(), french, english, ranks[kind]))
        ranks[kind] += 1
    return tuple(adverbs)


def read_lexicon(folder: Path = LEXICON_FOLDER) -> Lexicon:
    """Reads and checks every table.

    Raises:
        LexiconError: with file, line and what would be right.
    """
    classes, groups = read_classes(folder / "classes.toml")
    nouns = read_nouns(folder, classes)
    reader = SelectionReader(classes, groups, nouns)
    names = read_names(folder)
    return Lexicon(
        classes=classes,
        groups=groups,
        nouns=nouns,
        first_names=tuple(one for one in names if one.class_name == "name"),
        places=tuple(one for one in names if one.class_name != "name"),
        adjectives=read_adjectives(folder, reader),
        verbs=read_verbs(folder, reader),
        adverbs=read_adverbs(folder),
    )
