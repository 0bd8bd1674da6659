"""Forms of French words, and how words meet: contraction (*de le -> du*), elision (*je ai -> j ai*), plain spelling.

The corpus has no accents, capitals, apostrophes or hyphens: an elided word is a token of its own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from foundation.command_line import UserError

from .entries import Adjective, Noun, inflect, rows_of
from .meaning import Agreement

BEFORE_VOWEL = {
    "me": "m", "te": "t", "se": "s", "le": "l", "la": "l", "ne": "n", "je": "j", "que": "qu", "de": "d",
    "jusque": "jusqu", "ma": "mon", "ta": "ton", "sa": "son",
}  # fmt: skip
# An article is written with its form before a vowel; a pronoun *le* is not, and so never contracted.
CONTRACTIONS = {("de", "le|l"): "du", ("de", "les|les"): "des", ("à", "le|l"): "au", ("à", "les|les"): "aux"}
PREPOSITIONS = ("de", "d'", "à", "en", "du", "au")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")


@cache
def plural(form: str) -> str:
    """Plural of a French noun or adjective, which may be several words (*pommes de terre*)."""
    words = form.split()
    for index, part in enumerate(words):
        if part in PREPOSITIONS or part.startswith(("d'", "l'")):
            break
        words[index] = inflect("french_plurals", part, "plural")
    return " ".join(words)


def noun_form(noun: Noun, number: str) -> str:
    """The noun in the singular or plural (*sg*, *pl*), marked where its h is aspirated."""
    is_written = number == "sg" or noun.has("plural_only")
    form = noun.french if is_written else noun.options.get("plural") or plural(noun.french)
    return f"*{form}" if noun.has("aspirated") else form


def adjective_form(adjective: Adjective, agreement: Agreement) -> str:
    """The adjective as it agrees."""
    if agreement[1:] == ("sg", "m") and adjective.has("vowel"):
        return f"{adjective.french}|{adjective.options['vowel']}"
    if adjective.has("invariable"):
        return adjective.french
    return agreeing(adjective.french, agreement, adjective.options.get("feminine", ""))


def agreeing(form: str, agreement: Agreement, feminine: str = "") -> str:
    """A participle or adjective as it agrees: *allé, allée, allés, allées*."""
    if agreement.gender == "f":
        form = feminine or inflect("french_feminines", form, "feminine")
    return plural(form) if agreement.number == "pl" else form


def article(agreement: Agreement) -> str:
    """*le, la, les*."""
    return rows_of("determiners")["the"][f"{agreement.number} {agreement.gender}"]


@cache
def plain(text: str) -> tuple[str, ...]:
    """Tokens in lower case without accents; apostrophes and hyphens separate them."""
    text = text.lower().replace("œ", "oe").replace("'", " ").replace("-", " ")
    decomposed = unicodedata.normalize("NFD", text)
    return tuple("".join(letter for letter in decomposed if not unicodedata.combining(letter)).split())


def whole(word: str) -> str:
    """A word that is never elided, such as a pronoun behind its verb."""
    return f"{word}|{word}"


def starts_with_vowel(word: str) -> bool:
    """True if the word starts with a vowel sound: not *onze, oui, huit*, nor an aspirated h."""
    return word not in ("", "onze", "oui", "huit") and plain(word)[0][0] in "aeiouhy"


def join(words: list[str]) -> list[str]:
    """Contracts and elides; each word of the result is one token in the corpus's spelling."""
    contracted: list[str] = []
    for word, follower in zip(words, [*words[1:], ""], strict=True):
        contraction = CONTRACTIONS.get((contracted[-1], word)) if contracted else None
        if contraction and not (word == "le|l" and starts_with_vowel(follower)):
            contracted[-1] = contraction
        else:
            contracted.append(word)
    tokens: list[str] = []
    for word, follower in zip(contracted, [*contracted[1:], ""], strict=True):
        form, _, before_vowel = word.partition("|")
        if starts_with_vowel(follower):
            form = before_vowel or BEFORE_VOWEL.get(form, form)
        if form == "si" and follower in ("il", "ils"):
            form = "s"
        tokens += plain(form.removeprefix("*"))
    return tokens


@cache
def conjugate(infinitive: str) -> dict[str, list[str]]:
    """The six forms of each simple tense of a verb, given by its infinitive without *se*.

    Raises:
        UserError: if no row of the table fits the infinitive.
    """
    form = {column: inflect("french_verbs", infinitive, column) for column in ("present", "future", "imperfect")}
    if not form["present"]:
        raise UserError(f"{infinitive!r} has no regular forms: add it to french_verbs.tsv")
    present = form["present"].split(",")
    imperative = inflect("french_verbs", infinitive, "imperative").split(",")
    singular = present[1].removesuffix("s") if present[1].endswith("es") else present[1]
    stem = form["imperfect"] or present[3].removesuffix("ons")  # mangeons, commençons: mangeais, but mangions
    return {
        "present": present,
        "imperfect": [re.sub("ge(?=i)", "g", re.sub("ç(?=i)", "c", stem + ending)) for ending in IMPERFECT],
        "future": [form["future"] + ending for ending in FUTURE],
        "conditional": [form["future"] + ending for ending in IMPERFECT],
        "imperative": imperative if len(imperative) == 6 else ["", singular, "", *present[3:5], ""],
    }


def finite(infinitive: str, tense: str, agreement: Agreement) -> str:
    """The form of a simple tense."""
    return conjugate(infinitive)[tense][agreement.person - 1 + (3 if agreement.number == "pl" else 0)]
