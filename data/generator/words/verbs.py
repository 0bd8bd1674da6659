"""Reading the tables of verbs: one table a frame, that is, a set of complements."""

from __future__ import annotations

from pathlib import Path

from .entries import Verb
from .selections import SelectionReader
from .tables import Row, read_table

FRAMES = (
    "intransitive", "expression", "transitive", "oblique", "dative", "infinitive", "control", "content", "locative",
    "copula", "swap", "impersonal", "special",
)  # fmt: skip
VERB_COLUMNS = (
    "french", "english", "aspect", "subject", "object", "recipient", "prep", "manner", "options",
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
    "modal": "the English verb is can",
    "modal_must": "the English verb is must or have to",
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
    "aspirated": "the French verb starts with an aspirated h",
}


def read_verbs(folder: Path, reader: SelectionReader) -> tuple[Verb, ...]:
    """Verbs of every frame; ranks count within a frame. Two senses must not compete for an object."""
    verbs: list[Verb] = []
    for frame in FRAMES:
        senses: list[Verb] = []
        for row in read_table(folder / f"verbs_{frame}.tsv", VERB_COLUMNS):
            verb = _verb(row, frame, len(senses), reader)
            for other in senses:
                if other.french == verb.french and other.prep == verb.prep and _compete(other, verb):
                    raise row.error(f"{verb.french!r} has another sense {other.english} for the same nouns")
            senses.append(verb)
        verbs.extend(senses)
    return tuple(verbs)


def _verb(row: Row, frame: str, rank: int, reader: SelectionReader) -> Verb:
    prep = row["prep"].split(":") if row["prep"] else ["", ""]
    if len(prep) != 2:
        raise row.error(f"prep is {row['prep']!r}, expected french:english as in 'de:about' (one may be empty)")
    return Verb(
        frame=frame,
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


def _compete(one: Verb, other: Verb) -> bool:
    if one.frame in ("infinitive", "control", "content", "copula", "impersonal", "special"):
        return True
    if not _overlap(one.subject.classes, one.subject.nouns, other.subject.classes, other.subject.nouns):
        return False
    a, b = one.object, other.object
    return one.frame in ("intransitive", "expression") or _overlap(a.classes, a.nouns, b.classes, b.nouns)


def _overlap(
    classes: frozenset[str],
    nouns: frozenset[tuple[str, str]],
    other_classes: frozenset[str],
    other_nouns: frozenset[tuple[str, str]],
) -> bool:
    return bool(
        classes & other_classes
        or nouns & other_nouns
        or any(name in other_classes for name, _ in nouns)
        or any(name in classes for name, _ in other_nouns)
    )
