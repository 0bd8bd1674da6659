"""Questions that both languages ask of a nominal: whom it speaks of, what the verb agrees with."""

from __future__ import annotations

from .nodes import Agreement, Gap, Indefinite, Name, Nominal, NounPhrase, Pair, Pronoun
from .tokens import Key


def head_key(nominal: Nominal) -> Key:
    """The key of the nominal's most telling word."""
    if isinstance(nominal, Pair):
        return head_key(nominal.first)
    return nominal, "head"


def french_subject_agreement(nominal: Nominal) -> Agreement:
    """What a French verb agrees with: *vous* to one person still has the plural, *on* the singular."""
    agreement = nominal.agreement
    if isinstance(nominal, Pronoun) and nominal.kind == "formal":
        return Agreement(2, "pl", agreement.gender)
    if isinstance(nominal, Pronoun) and nominal.kind == "on":
        return Agreement(3, "sg", "m")
    return agreement


def english_agreement(nominal: Nominal) -> Agreement:
    """What an English verb or possessive agrees with."""
    if isinstance(nominal, Pronoun) and nominal.english is not None:
        return nominal.english
    if isinstance(nominal, Pronoun) and nominal.kind == "on":
        return Agreement(1, "pl", "m")
    if isinstance(nominal, NounPhrase):
        return Agreement(3, english_number(nominal), nominal.agreement.gender)
    return nominal.agreement


def english_number(phrase: NounPhrase) -> str:
    """Number of the English noun: *trousers* are plural, *advice* is singular."""
    if phrase.noun.is_english_plural_only:
        return "pl"
    if phrase.noun.is_english_mass:
        return "sg"
    return phrase.number


def is_thing(nominal: Nominal) -> bool:
    """Whether English says *it* and *that* rather than *he* and *who*."""
    if isinstance(nominal, Pronoun):
        return nominal.kind in ("thing", "impersonal", "ce")
    if isinstance(nominal, NounPhrase):
        return not nominal.is_person
    if isinstance(nominal, Gap):
        return not nominal.is_person
    if isinstance(nominal, Name):
        return nominal.entry.class_name != "name"
    return isinstance(nominal, Indefinite) and nominal.english in ("something", "nothing", "everything")
