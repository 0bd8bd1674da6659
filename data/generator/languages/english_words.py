"""Forms of English words: plurals, articles, comparatives, verbs and their auxiliaries.

Exceptions come from the lexicon's tables. The chain of auxiliaries is built from the tense's name and aspect; negation
and inversion act on the first auxiliary, and where there is none, on *do*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from ..meaning import Agreement, Clause
from ..tables import LEXICON_FOLDER, read_table
from . import by_rule

CONSONANT_SOUNDS = ("uni", "use", "euro", "one", "ukr", "utens")
VOWEL_SOUNDS = (*"aeiou", "hour", "honest", "honor", "heir")
WITH_S = ((r"(s|x|z|ch|sh)", r"\1es"), (r"([^aeiou])y", r"\1ies"), ("", "s"))
PAST = (("e", "ed"), (r"([^aeiou])y", r"\1ied"), ("", "ed"))
GERUND = (("ie", "ying"), (r"(ee|ye|oe|^be)", r"\1ing"), ("e", "ing"), ("", "ing"))
DOUBLING = r"[^aeiou]*[aeiou][bcdfgklmnprtvz]"  # one syllable: consonant, one vowel, consonant
SUPERLATIVES = {"better": "best", "worse": "worst"}
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty"}


def number_word(count: int) -> str:
    """A number in words: *seventeen*, *forty-five*."""
    if count <= 20:
        return NUMBERS[count]
    tens, ones = TENS[count // 10 * 10], count % 10
    return f"{tens}-{NUMBERS[ones]}" if ones else tens


@cache
def _irregular_plurals() -> dict[str, str]:
    path = LEXICON_FOLDER / "english_irregular_plurals.tsv"
    return {row["singular"]: row["plural"] for row in read_table(path, ("singular", "plural"))}


@cache
def plural(noun: str) -> str:
    """Plural of an English noun, which may be several words (the last one changes)."""
    known = _irregular_plurals()
    before, space, last = noun.rpartition(" ")
    return known.get(noun) or before + space + (known.get(last) or by_rule(last, WITH_S))


def article(next_word: str) -> str:
    """*a* or *an*, as the next word sounds."""
    return "an" if next_word.startswith(VOWEL_SOUNDS) and not next_word.startswith(CONSONANT_SOUNDS) else "a"


def comparative(adjective: str, how: str) -> str:
    """Comparative: `how` is `er` or `more`, or the form itself."""
    return {"er": _with_ending(adjective, "er"), "more": f"more {adjective}"}.get(how, how)


def superlative(adjective: str, how: str) -> str:
    """Superlative without *the*; `how` as for the comparative."""
    return {"er": _with_ending(adjective, "est"), "more": f"most {adjective}"}.get(how) or SUPERLATIVES[how]


def _with_ending(adjective: str, ending: str) -> str:
    doubled = adjective[-1] if re.fullmatch(DOUBLING, adjective) else ""
    return by_rule(adjective, (("e", ending), (r"([^aeiou])y", rf"\1i{ending}"), ("", doubled + ending)))


# -- verbs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VerbForms:
    """Forms of the first word of an English verb."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


THIRD = {"have": "has", "do": "does", "go": "goes", "can": "can", "must": "must"}


@cache
def _irregular_verbs() -> dict[str, tuple[str, str, bool]]:
    return {
        row["base"]: (row["past"], row["participle"], bool(row.options(("double",))))
        for row in read_table(LEXICON_FOLDER / "english_irregular_verbs.tsv", ("base", "past", "participle", "options"))
    }


@cache
def verb_forms(base: str) -> VerbForms:
    """Forms of a verb of one word; *be* has its persons apart."""
    past, participle, doubles = _irregular_verbs().get(base, ("", "", False))
    stem = base + base[-1] if doubles or re.fullmatch(DOUBLING, base) else base
    third = THIRD.get(base) or by_rule(base, WITH_S)
    past = past or by_rule(stem, PAST)
    return VerbForms(base, third, past, participle or past, by_rule(stem, GERUND))


def finite(lemma: str, tense: str, agreement: Agreement) -> str:
    """A finite form in the present or past."""
    person, is_singular = agreement.person, agreement.number == "sg"
    if lemma == "be" and tense == "past":
        return "was" if is_singular and person != 2 else "were"
    if lemma == "be":
        return "are" if not is_singular or person == 2 else "am" if person == 1 else "is"
    forms = verb_forms(lemma)
    if tense == "past":
        return forms.past
    return forms.third if person == 3 and is_singular else forms.base


@dataclass
class Chain:
    """The verb's words: auxiliaries, then the main verb."""

    auxiliaries: list[str] = field(default_factory=list)
    main: list[str] = field(default_factory=list)


def verb_words(node: Clause) -> list[str]:
    """The English verb and what belongs to it (*get up*); *must* only stands where it can."""
    if node.english in ("must", "have to"):
        is_must = node.tense == "present" and (node.english == "must" or node.negation == "pas")
        return ["must"] if is_must else ["have", "to"]
    return node.english.split()


def build_chain(node: Clause, agreement: Agreement, needs_auxiliary: bool) -> Chain:
    """The words of the clause's verb, with *do* where an auxiliary is needed and there is none."""
    lemma = verb_words(node)[0]
    forms = verb_forms(lemma)
    tense = node.tenses
    name = tense.english
    if name in ("present", "past"):
        *between, last = {
            "": [""],
            "progressive": [forms.gerund],
            "perfect": forms.participle.split(),
            "perfect_progressive": ["been", forms.gerund],
        }[tense.aspect]
        first = {"": lemma, "progressive": "be"}.get(tense.aspect, "have")
        if last:
            return Chain([finite(first, name, agreement), *between], [last])
        if lemma in ("be", "can", "must"):
            return Chain([finite(lemma, name, agreement)])
        if needs_auxiliary:
            return Chain([finite("do", name, agreement)], [lemma])
        return Chain(main=[finite(lemma, name, agreement)])
    if name in ("will", "would"):
        return Chain([name], [lemma])
    if name == "going_to":
        return Chain([finite("be", "present", agreement), "going", "to"], [lemma])
    if name == "used_to":
        return Chain(["did"], ["use", "to", lemma]) if needs_auxiliary else Chain(main=["used", "to", lemma])
    if name == "ing":
        return Chain(main=[forms.gerund])
    return Chain(["do"] if needs_auxiliary else [], [lemma])
