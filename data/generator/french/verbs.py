"""French verbs: their forms, by rule or from `french_irregular_verbs.tsv`; auxiliaries, clitics, the finite form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..alignment import Key, Word, word
from ..meaning import TENSES, Agreement, Clause, Nominal, Pronoun, french_subject_agreement, is_thing
from ..tables import LEXICON_FOLDER, LexiconError, read_table
from .forms import CLITICS, DATIVES, person

COLUMNS = ("infinitive", "like", "present", "participle", "future_stem", "imperfect_stem", "imperative")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
DOUBLING = ("appeler", "rappeler", "jeter", "rejeter")
TAKES_ETRE = frozenset(
    "aller venir revenir devenir arriver partir sortir rentrer retourner rester tomber naître mourir monter "
    "descendre entrer apparaître".split()
)


@dataclass(frozen=True)
class Paradigm:
    """The forms of one verb. Six persons: je, tu, il, nous, vous, ils."""

    infinitive: str
    present: tuple[str, ...]
    imperfect: tuple[str, ...]
    future: tuple[str, ...]
    conditional: tuple[str, ...]
    imperative: tuple[str, ...]  # tu, nous, vous
    participle: str

    @property
    def takes_etre(self) -> bool:
        """Whether the passé composé has *être* (a verb without object; reflexive verbs always have it)."""
        return self.infinitive in TAKES_ETRE


def person_index(person: int, number: str) -> int:
    """Place of a person in a paradigm: 0 for *je* to 5 for *ils*."""
    return person - 1 + (3 if number == "pl" else 0)


@cache
def conjugate(infinitive: str) -> Paradigm:
    """All forms of a verb, given by its infinitive without *se*.

    Raises:
        LexiconError: if the infinitive is irregular in form and not in the table.
    """
    imperative: tuple[str, ...] = ()
    row = _irregular().get(infinitive)
    if row is None:
        present, participle, future_stem = _regular(infinitive)
        imperfect_stem = ""
    else:
        present, participle, future_stem, imperfect_stem, imperative = row
    stem = imperfect_stem or present[3].removesuffix("ons")
    imperfect = tuple((stem[:-1] if ending[0] == "i" and stem[-2:] == "ge" else stem) + ending for ending in IMPERFECT)
    imperfect = tuple(re.sub(r"ç(?=i)", "c", form) for form in imperfect)
    if not imperative:
        singular = present[1]
        imperative = (singular[:-1] if singular.endswith("es") else singular, present[3], present[4])
    return Paradigm(
        infinitive=infinitive,
        present=present,
        imperfect=imperfect,
        future=tuple(future_stem + ending for ending in FUTURE),
        conditional=tuple(future_stem + ending for ending in IMPERFECT),
        imperative=imperative,
        participle=participle,
    )


def _regular(infinitive: str) -> tuple[tuple[str, ...], str, str]:
    if infinitive.endswith("er"):
        return _first_group(infinitive)
    stem = infinitive[:-2]
    if infinitive.endswith("ir") and not infinitive.endswith("oir"):
        present = tuple(stem + ending for ending in ("is", "is", "it", "issons", "issez", "issent"))
        return present, stem + "i", infinitive
    if infinitive.endswith("dre"):
        present = tuple(stem + ending for ending in ("s", "s", "", "ons", "ez", "ent"))
        return present, stem + "u", infinitive[:-1]
    raise LexiconError(f"{infinitive!r} has no regular forms: add it to french_irregular_verbs.tsv")


def _first_group(infinitive: str) -> tuple[tuple[str, ...], str, str]:
    """Verbs in -er with changes of spelling: mangeons, commençons, achète, appelle, préfère, nettoie."""
    stem = strong = infinitive[:-2]
    future_stem = infinitive
    if infinitive in DOUBLING:
        strong = stem + stem[-1]
        future_stem = strong + "er"
    elif re.search(r"e[^aeiouyéèêâôû]$", stem):
        strong = stem[:-2] + "è" + stem[-1]
        future_stem = strong + "er"
    elif match := re.search(r"é(gn|br|gr|tr|cr|gl|[^aeiouyéèêâôû])$", stem):
        strong = stem[: match.start()] + "è" + match[1]
    elif re.search(r"[aou]y$", stem):
        strong = stem[:-1] + "i"
        future_stem = strong + "er"
    before_o = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(stem[-1], stem)
    present = (strong + "e", strong + "es", strong + "e", before_o + "ons", stem + "ez", strong + "ent")
    return present, stem + "é", future_stem


@cache
def _irregular(
    path: Path = LEXICON_FOLDER / "french_irregular_verbs.tsv",
) -> dict[str, tuple[tuple[str, ...], str, str, str, tuple[str, ...]]]:
    verbs: dict[str, tuple[tuple[str, ...], str, str, str, tuple[str, ...]]] = {}
    for row in read_table(path, COLUMNS):
        infinitive, like = row["infinitive"], row["like"]
        if like:
            if like not in verbs or not infinitive.endswith(like):
                raise row.error(f"{infinitive!r} cannot go like {like!r}: it must end so, and {like!r} stand above")
            prefix = infinitive.removesuffix(like)
            present, participle, future, imperfect, imperative = verbs[like]
            verbs[infinitive] = (
                tuple(prefix + form for form in present),
                prefix + participle,
                prefix + future,
                imperfect and prefix + imperfect,
                tuple(prefix + form for form in imperative),
            )
            continue
        present = tuple("" if form == "-" else form for form in row["present"].split(","))
        imperative = tuple(filter(None, row["imperative"].split(",")))
        if len(present) != 6 or len(imperative) not in (0, 3):
            raise row.error("the present has 6 forms, the imperative 3 or none")
        verbs[infinitive] = (
            present,
            row["participle"],
            row["future_stem"],
            row["imperfect_stem"],
            imperative,
        )
    return verbs


SECOND_NEGATION = {"pas": "pas", "plus": "plus", "jamais": "jamais", "rien": "rien", "encore": "pas encore"}
CLITIC_ORDER = ("me", "te", "se", "nous", "vous", "le", "la", "les", "lui", "leur", "y", "en")
ETRE_FRAMES = ("intransitive", "expression", "oblique", "locative", "infinitive", "copula", "impersonal")


@dataclass(frozen=True)
class VerbParts:
    """A verb of the lexicon taken apart for one clause."""

    head: str  # the infinitive that is conjugated
    rest: str  # what follows it: avoir *faim*
    is_reflexive: bool
    takes_etre: bool
    tense: str  # the French tense
    periphrasis: str


def verb_parts(node: Clause) -> VerbParts:
    """Head, rest, auxiliary and tense of the clause's verb."""
    text = node.verb.french
    is_reflexive = node.verb.is_reflexive
    text = text.removeprefix("se ").removeprefix("s'").removeprefix("y ")
    head, _, rest = text.partition(" ")
    has_object = node.verb.frame not in ETRE_FRAMES
    takes_etre = is_reflexive or (conjugate(head).takes_etre and not has_object)
    tense = TENSES[node.tense]
    return VerbParts(head, rest, is_reflexive, takes_etre, tense.french, tense.periphrasis)


def finite(infinitive: str, tense: str, agreement: Agreement, node: Clause, role: str, *fallback: Key) -> Word:
    """The finite form of a verb in a simple tense."""
    paradigm = conjugate(infinitive)
    forms = {
        "present": paradigm.present,
        "imperfect": paradigm.imperfect,
        "future": paradigm.future,
        "conditional": paradigm.conditional,
    }[tense]
    return word(forms[person_index(agreement.person, agreement.number)], node, role, *fallback)


def reflexive(node: Clause) -> str:
    """*me, te, se, nous, vous* as the subject (or, of an infinitive, its controller) has it."""
    agreement = french_subject_agreement(node.subject) if node.subject is not None else node.controller
    assert agreement is not None
    if agreement.person == 3:
        return "se"
    return CLITICS[agreement.person, agreement.number][0]


def clitics(node: Clause, is_after: bool = False) -> list[Word]:
    """Clitic pronouns in order; after an affirmative imperative the object comes first (*donne le moi*)."""
    found: list[tuple[str, Word]] = []

    def add(text: str, owner: object, role: str, *fallback: Key) -> None:
        found.append((text, word(text, owner, role, *fallback)))

    if node.verb.is_reflexive:
        add(reflexive(node), node, "reflexive", (node, "verb"))
    is_swap = node.verb.frame == "swap"
    if isinstance(node.object, Pronoun):
        add(_dative(node.object) if is_swap else _accusative(node.object), node.object, "head")
    if isinstance(node.recipient, Pronoun):
        is_direct = "accusative" in node.verb.options
        add(_accusative(node.recipient) if is_direct else _dative(node.recipient), node.recipient, "head")
    if text := oblique_clitic(node, node.oblique):
        add(text, node.oblique, "head")
    if node.verb.french.startswith("y "):
        add("y", node, "verb")
    order = (
        ("le", "la", "les", "me", "te", "se", "nous", "vous", "lui", "leur", "y", "en") if is_after else CLITIC_ORDER
    )
    return [clitic for _, clitic in sorted(found, key=lambda pair: order.index(pair[0]))]


def _accusative(pronoun: Pronoun) -> str:
    column = 0 if pronoun.agreement.gender == "m" else 1
    return CLITICS[person(pronoun.agreement, pronoun.kind)][column]


def _dative(pronoun: Pronoun) -> str:
    return DATIVES[person(pronoun.agreement, pronoun.kind)]


def oblique_clitic(node: Clause, nominal: Nominal | None) -> str:
    """*y*, *en* or a dative for a pronoun after a preposition, as the verb's options allow; "" = none."""
    if not isinstance(nominal, Pronoun):
        return ""
    if is_thing(nominal):
        return "y" if "y" in node.verb.options else "en" if "en" in node.verb.options else ""
    return _dative(nominal) if "dative" in node.verb.options else ""
