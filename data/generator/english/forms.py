"""Forms of English words: plurals, articles, comparatives, verbs; exceptions from the lexicon's tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..tables import LEXICON_FOLDER, read_table

VOWEL_LETTERS_CONSONANT_SOUND = ("uni", "use", "euro", "one", "ukr", "utens")
SILENT_H = ("hour", "honest", "honor", "heir")
IRREGULAR_COMPARATIVES = {
    "good": ("better", "best"), "bad": ("worse", "worst"), "far": ("farther", "farthest"),
    "well": ("better", "best"), "badly": ("worse", "worst"),
}  # fmt: skip


@dataclass(frozen=True)
class VerbForms:
    """Forms of the first word of an English verb."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


@cache
def irregular_plurals(path: Path = LEXICON_FOLDER / "english_irregular_plurals.tsv") -> dict[str, str]:
    """Nouns whose plural no rule gives."""
    return {row["singular"]: row["plural"] for row in read_table(path, ("singular", "plural"))}


@cache
def plural(noun: str) -> str:
    """Plural of an English noun, which may be several words (the last one changes)."""
    known = irregular_plurals()
    if noun in known:
        return known[noun]
    *first, last = noun.split()
    if first and last in known:
        return " ".join([*first, known[last]])
    return noun[: len(noun) - len(last)] + _with_s(last)


def _with_s(word: str) -> str:
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"


def article(next_word: str) -> str:
    """*a* or *an*, as the next word sounds."""
    word = next_word.lower()
    if word.startswith(SILENT_H):
        return "an"
    if word.startswith(VOWEL_LETTERS_CONSONANT_SOUND):
        return "a"
    return "an" if word[0] in "aeiou" else "a"


def comparative(adjective: str, how: str) -> str:
    """Comparative: `how` is `er` or `more`, or the form itself."""
    if how not in ("er", "more"):
        return how
    return _er(adjective, "er") if how == "er" else f"more {adjective}"


def superlative(adjective: str, how: str) -> str:
    """Superlative without *the*; `how` as for the comparative."""
    if adjective in IRREGULAR_COMPARATIVES:
        return IRREGULAR_COMPARATIVES[adjective][1]
    return _er(adjective, "est") if how == "er" else f"most {adjective}"


def _er(adjective: str, ending: str) -> str:
    if adjective in IRREGULAR_COMPARATIVES:
        return IRREGULAR_COMPARATIVES[adjective][0 if ending == "er" else 1]
    if len(re.findall(r"[aeiouy]+", adjective.removesuffix("e"))) > 2 or adjective in ("handsome", "sincere"):
        return ("more " if ending == "er" else "most ") + adjective
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if re.search(r"[^aeiou]y$", adjective):
        return adjective[:-1] + "i" + ending
    if _doubles(adjective):
        return adjective + adjective[-1] + ending
    return adjective + ending


def _doubles(word: str) -> bool:
    """Whether a word of one syllable doubles its last letter: consonant, one vowel, consonant."""
    if word in ("quit",):
        return True
    return bool(re.fullmatch(r"[^aeiou]*[aeiou][bcdfgklmnprtvz]", word))


@cache
def _irregular_verbs(
    path: Path = LEXICON_FOLDER / "english_irregular_verbs.tsv",
) -> dict[str, tuple[str, str, bool]]:
    columns = ("base", "past", "participle", "options")
    return {
        row["base"]: (row["past"], row["participle"], "double" in row.options(("double",)))
        for row in read_table(path, columns)
    }


@cache
def verb_forms(base: str) -> VerbForms:
    """Forms of a verb of one word; *be* has its persons apart (:func:`finite_be`)."""
    past, participle, doubles = _irregular_verbs().get(base, ("", "", False))
    doubles = doubles or _doubles(base)
    third = {"have": "has", "do": "does", "go": "goes", "be": "is", "can": "can", "must": "must"}.get(base)
    if base.endswith("ie"):
        gerund = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith(("ee", "ye", "oe")) and base != "be":
        gerund = base[:-1] + "ing"
    else:
        gerund = base + (base[-1] if doubles else "") + "ing"
    if not past:
        if base.endswith("e"):
            past = base + "d"
        elif re.search(r"[^aeiou]y$", base):
            past = base[:-1] + "ied"
        else:
            past = base + (base[-1] if doubles else "") + "ed"
        participle = past
    return VerbForms(base, third or _with_s(base), past, participle, gerund)


def finite_be(tense: str, person: int, number: str) -> str:
    """*am, are, is* or *was, were*."""
    if tense == "past":
        return "was" if number == "sg" and person != 2 else "were"
    if number == "sg" and person != 2:
        return "am" if person == 1 else "is"
    return "are"
