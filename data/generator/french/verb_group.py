"""The words around a French verb: its head and rest, clitic pronouns in their order, the finite form."""

from __future__ import annotations

from dataclasses import dataclass

from ..meaning.nodes import Agreement, Clause, Nominal, Pronoun
from ..meaning.nominals import french_subject_agreement, is_thing
from ..meaning.tenses import TENSES
from ..meaning.tokens import Key, Word, word
from .conjugation import conjugate, person_index
from .function_words import CLITICS, DATIVES, ELIDING, person

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
        found.append((text, word(text, owner, role, *fallback, before_vowel=ELIDING.get(text, ""))))

    if node.verb.is_reflexive:
        add(reflexive(node), node, "reflexive", (node, "verb"))
    is_swap = node.verb.frame == "swap"
    if isinstance(node.object, Pronoun):
        add(_dative(node.object) if is_swap else _accusative(node.object), node.object, "head")
    if isinstance(node.recipient, Pronoun):
        is_direct = "accusative" in node.verb.options
        add(_accusative(node.recipient) if is_direct else _dative(node.recipient), node.recipient, "head")
    if isinstance(node.oblique, Pronoun):
        text = _oblique(node, node.oblique)
        if text:
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


def _oblique(node: Clause, nominal: Nominal) -> str:
    if is_thing(nominal):
        return "y" if "y" in node.verb.options else "en" if "en" in node.verb.options else ""
    return _dative(nominal) if isinstance(nominal, Pronoun) and "dative" in node.verb.options else ""
