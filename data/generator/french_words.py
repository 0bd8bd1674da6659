"""Forms of French words, and how words meet: contraction (*de le -> du*), elision (*je ai -> j ai*), plain spelling.

The corpus has no accents, capitals, apostrophes or hyphens: an elided word is a token of its own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from foundation.command_line import UserError

from .entries import Adjective, Noun, rows_of
from .meaning import Agreement
from .writing import by_rule

BEFORE_VOWEL = {
    "me": "m", "te": "t", "se": "s", "le": "l", "la": "l", "ne": "n", "je": "j", "que": "qu", "de": "d",
    "jusque": "jusqu", "ma": "mon", "ta": "ton", "sa": "son",
}  # fmt: skip
# An article is written with its form before a vowel; a pronoun *le* is not, and so never contracted.
CONTRACTIONS = {("de", "le|l"): "du", ("de", "les|les"): "des", ("à", "le|l"): "au", ("à", "les|les"): "aux"}
PREPOSITIONS = ("de", "d'", "à", "en", "du", "au")
PLURALS = (
    ("([sxz])", r"\1"), ("^(bij|caill|ch|gen|hib|jouj|p)ou", r"\1oux"), ("^(pn|bl)eu", r"\1eus"), ("([ae]u)", r"\1x"),
    ("^(trav|vitr|cor|ém)ail", r"\1aux"), ("^(bal|carnaval|festival|récital|final|fatal)", r"\1s"), ("al", "aux"),
    ("", "s"),
)  # fmt: skip
FEMININES = (
    ("e", "e"), ("er", "ère"), ("f", "ve"), ("([eo]u)x", r"\1se"), ("teur", "trice"), ("eur", "euse"),
    ("^(compl|inqui|discr|secr|concr)et", r"\1ète"), ("c", "que"), ("gu", "guë"), ("(el|eil)", r"\1le"),
    ("([eo]n)", r"\1ne"), ("et", "ette"), ("", "e"),
)  # fmt: skip


@cache
def plural(form: str) -> str:
    """Plural of a French noun or masculine adjective, which may be several words (*pommes de terre*)."""
    words = form.split()
    for index, part in enumerate(words):
        if part in PREPOSITIONS or part.startswith(("d'", "l'")):
            break
        words[index] = by_rule(part, PLURALS)
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
    if adjective.has("invariable") or agreement[1:] == ("sg", "m"):
        return adjective.french
    if agreement.gender == "m":
        return plural(adjective.french)
    feminine = adjective.options.get("feminine") or by_rule(adjective.french, FEMININES)
    return feminine + ("s" if agreement.number == "pl" else "")


def agreeing(form: str, agreement: Agreement) -> str:
    """A participle or regular adjective as it agrees: *allé, allée, allés, allées*."""
    if agreement.gender == "f":
        form = by_rule(form, (("dû", "due"), ("eux", "euse"), ("e", "e"), ("", "e")))
    elif agreement.number == "pl":
        form = by_rule(form, (("dû", "du"),))
    return form + "s" if agreement.number == "pl" and form[-1] not in "sx" else form


def article(agreement: Agreement) -> str:
    """*le, la, les*."""
    return "les|les" if agreement.number == "pl" else "le|l" if agreement.gender == "m" else "la|l"


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


FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
REGULAR = {  # endings of the present, of the participle, and of the stem of the future
    "dre": (("ds", "ds", "d", "dons", "dez", "dent"), "du", "dr"),
    "ir": (("is", "is", "it", "issons", "issez", "issent"), "i", "ir"),
}
DOUBLING = ("appeler", "rappeler", "jeter", "rejeter")
STRONG_IN_FUTURE = (("e([^aeiouyéèêâôû])", r"è\1"), ("([aou])y", r"\1i"))
STRONG_IN_PRESENT = (("é(gn|br|gr|tr|cr|gl|[^aeiouyéèêâôû])", r"è\1"),)

Forms = dict[str, tuple[str, ...]]
"""Of one verb: by tense six persons (je, tu, il, nous, vous, ils), of the imperative three, one participle."""


@cache
def conjugate(infinitive: str) -> Forms:
    """All forms of a verb, given by its infinitive without *se*.

    Raises:
        UserError: if the infinitive is irregular in form and not in the table.
    """
    row = rows_of("french_irregular_verbs").get(infinitive, {})
    if like := row.get("like"):
        prefix = infinitive.removesuffix(like)
        return {tense: tuple(prefix + form for form in forms) for tense, forms in conjugate(like).items()}
    if row:
        present, participle, future = tuple(row["present"].split(",")), row["participle"], row["future_stem"]
    else:
        present, participle, future = _regular(infinitive)
    stem = row.get("imperfect_stem") or present[3].removesuffix("ons")
    imperfect = (re.sub("ge(?=i)", "g", stem + ending) for ending in IMPERFECT)
    singular = present[1].removesuffix("s") if present[1].endswith("es") else present[1]
    imperative = row.get("imperative")
    return {
        "present": present,
        "imperfect": tuple(re.sub("ç(?=i)", "c", form) for form in imperfect),
        "future": tuple(future + ending for ending in FUTURE),
        "conditional": tuple(future + ending for ending in IMPERFECT),
        "imperative": tuple(imperative.split(",")) if imperative else (singular, present[3], present[4]),
        "participle": (participle,),
    }


def _regular(infinitive: str) -> tuple[tuple[str, ...], str, str]:
    """Present, participle and stem of the future of a regular verb."""
    for end, (present, participle, future) in REGULAR.items():
        if infinitive.endswith(end) and not infinitive.endswith("oir"):
            stem = infinitive.removesuffix(end)
            return tuple(stem + form for form in present), stem + participle, stem + future
    if not infinitive.endswith("er"):
        raise UserError(f"{infinitive!r} has no regular forms: add it to french_irregular_verbs.tsv")
    # changes of spelling: mangeons, commençons, achète, appelle, préfère, nettoie
    stem = infinitive.removesuffix("er")
    doubled = stem + stem[-1]
    in_future = doubled if infinitive in DOUBLING else by_rule(stem, STRONG_IN_FUTURE)
    strong = by_rule(stem, STRONG_IN_PRESENT) if in_future == stem else in_future
    before_o = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(stem[-1], stem)
    forms = (strong + "e", strong + "es", strong + "e", before_o + "ons", stem + "ez", strong + "ent")
    return forms, stem + "é", in_future + "er"


def finite(infinitive: str, tense: str, agreement: Agreement) -> str:
    """The form of a simple tense."""
    return conjugate(infinitive)[tense][agreement.person - 1 + (3 if agreement.number == "pl" else 0)]
