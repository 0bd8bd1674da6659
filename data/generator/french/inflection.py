"""Forms of French nouns and adjectives: plurals and feminines by rule, exceptions from the lexicon."""

from __future__ import annotations

from functools import cache

from ..words.entries import Adjective, Noun

AL_WITH_S = frozenset("bal carnaval festival récital final fatal".split())
AIL_WITH_AUX = frozenset("travail vitrail corail émail".split())
OU_WITH_X = frozenset("bijou caillou chou genou hibou joujou pou".split())
EU_WITH_S = frozenset("pneu bleu".split())
PREPOSITIONS = ("de", "d'", "à", "en", "du", "au")
FEMININE_ETE = frozenset("complet inquiet discret secret concret".split())
DOUBLED = ("el", "eil", "en", "on", "et")


def plural(form: str) -> str:
    """Plural of a French noun or masculine adjective, which may be several words (*pommes de terre*)."""
    words = form.split()
    for index, word in enumerate(words):
        if word in PREPOSITIONS or word.startswith(("d'", "l'")):
            break
        words[index] = _plural_word(word)
    return " ".join(words)


def _plural_word(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word in OU_WITH_X or (word.endswith(("au", "eu", "oeu")) and word not in EU_WITH_S):
        return word + "x"
    if word in AIL_WITH_AUX:
        return word[:-3] + "aux"
    if word.endswith("al") and word not in AL_WITH_S:
        return word[:-2] + "aux"
    return word + "s"


def noun_form(noun: Noun, number: str) -> str:
    """The noun in the singular or plural (*sg*, *pl*)."""
    if number == "sg" or noun.is_plural_only:
        return noun.french
    return noun.plural or plural(noun.french)


@cache
def adjective_form(adjective: Adjective, gender: str, number: str) -> str:
    """The adjective as it agrees, before any change for the sake of a vowel that follows."""
    if adjective.is_invariable:
        return adjective.french
    if gender == "f":
        form = adjective.feminine or feminine(adjective.french)
        return form if number == "sg" else form + "s"
    return adjective.french if number == "sg" else plural(adjective.french)


def feminine(masculine: str) -> str:
    """Feminine singular of a regular adjective or participle."""
    if masculine.endswith("e"):
        return masculine
    if masculine.endswith("er"):
        return masculine[:-2] + "ère"
    if masculine.endswith("f"):
        return masculine[:-1] + "ve"
    if masculine.endswith(("eux", "oux")):
        return masculine[:-1] + "se"
    if masculine.endswith("teur"):
        return masculine[:-4] + "trice"
    if masculine.endswith("eur"):
        return masculine[:-1] + "se"
    if masculine in FEMININE_ETE:
        return masculine[:-2] + "ète"
    if masculine.endswith("c"):
        return masculine[:-1] + "que"
    if masculine.endswith("gu"):
        return masculine + "ë"
    if masculine.endswith(DOUBLED):
        return masculine + masculine[-1] + "e"
    return masculine + "e"


def participle_form(participle: str, gender: str, number: str) -> str:
    """A past participle as it agrees: *allé, allée, allés, allées*."""
    form = participle.replace("dû", "du") if gender == "f" or number == "pl" else participle
    if gender == "f":
        form += "e"
    return form if number == "sg" or form.endswith("s") else form + "s"
