"""Forms of French words, and how words meet: contraction (*de le -> du*), elision (*je ai -> j ai*), plain spelling.

The corpus has no accents, capitals, apostrophes or hyphens: an elided word is a token of its own.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from functools import cache

from ..alignment import Key, Word, word
from ..entries import Adjective, Noun
from ..meaning import Agreement

NUMBERS = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf vingt"
).split()  # fmt: skip
TENS = {30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante", 100: "cent"}
QUANTITIES = {
    "many": "beaucoup de", "too_many": "trop de", "enough": "assez de", "few": "peu de", "a_few": "quelques",
    "several": "plusieurs", "how_many": "combien de",
}  # fmt: skip
POSSESSIVES = {
    (1, "sg"): ("mon", "ma", "mes"), (2, "sg"): ("ton", "ta", "tes"), (3, "sg"): ("son", "sa", "ses"),
    (1, "pl"): ("notre", "notre", "nos"), (2, "pl"): ("votre", "votre", "vos"), (3, "pl"): ("leur", "leur", "leurs"),
}  # fmt: skip
SUBJECTS = {
    (1, "sg"): ("je", "je"), (2, "sg"): ("tu", "tu"), (3, "sg"): ("il", "elle"),
    (1, "pl"): ("nous", "nous"), (2, "pl"): ("vous", "vous"), (3, "pl"): ("ils", "elles"),
}  # fmt: skip
DISJUNCTIVES = {
    (1, "sg"): ("moi", "moi"), (2, "sg"): ("toi", "toi"), (3, "sg"): ("lui", "elle"),
    (1, "pl"): ("nous", "nous"), (2, "pl"): ("vous", "vous"), (3, "pl"): ("eux", "elles"),
}  # fmt: skip
CLITICS = {
    (1, "sg"): ("me", "me"), (2, "sg"): ("te", "te"), (3, "sg"): ("le", "la"),
    (1, "pl"): ("nous", "nous"), (2, "pl"): ("vous", "vous"), (3, "pl"): ("les", "les"),
}  # fmt: skip
DATIVES = {**{key: forms[0] for key, forms in CLITICS.items()}, (3, "sg"): "lui", (3, "pl"): "leur"}
ELIDED = {
    "me": "m", "te": "t", "se": "s", "le": "l", "la": "l", "ne": "n", "je": "j", "que": "qu", "de": "d",
    "jusque": "jusqu",
}  # fmt: skip
WHOLE = "whole"  # the role of a word that is never elided, such as a pronoun behind its verb


def number_word(count: int, gender: str = "m") -> str:
    """A number in words: *une*, *dix-sept*, *quarante-cinq*."""
    if count == 1:
        return "une" if gender == "f" else "un"
    if count <= 20:
        return NUMBERS[count]
    if count in TENS:
        return TENS[count]
    if count < 30:
        return "vingt-et-un" if count == 21 else f"vingt-{NUMBERS[count % 10]}"
    tens, ones = TENS[count // 10 * 10], count % 10
    return f"{tens}-et-un" if ones == 1 else f"{tens}-{NUMBERS[ones]}"


def person(agreement: Agreement, kind: str) -> tuple[int, str]:
    """Person and number of the pronoun's form: *vous* stands for one person too."""
    return (2, "pl") if kind == "formal" else (agreement.person, agreement.number)


def article(number: str, gender: str, node: object, role: str, *fallback: Key) -> Word:
    """*le, la, les*."""
    text = "les" if number == "pl" else "le" if gender == "m" else "la"
    return word(text, node, role, *fallback, kind="article")


def preposition(text: str, node: object, role: str, *fallback: Key) -> list[Word]:
    """A preposition, which may be several words; its last word contracts."""
    *first, last = text.split()
    return [
        *(word(part, node, role, *fallback) for part in first),
        word(last, node, role, *fallback, kind="preposition"),
    ]


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
    for index, part in enumerate(words):
        if part in PREPOSITIONS or part.startswith(("d'", "l'")):
            break
        words[index] = _plural_word(part)
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


CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def plain(text: str) -> str:
    """Lower case without accents; apostrophes and hyphens become spaces."""
    text = text.lower().replace("œ", "oe").replace("'", " ").replace("-", " ")
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def starts_with_vowel(word: Word) -> bool:
    """Whether the word starts with a vowel sound: not *onze, oui, huit*, nor an aspirated h."""
    first = plain(word.text)[:1]
    return not word.is_aspirated and first in "aeiouhy" and word.text not in ("onze", "oui", "huit")


def join(words: list[Word]) -> list[Word]:
    """Contracts and elides; each word of the result is one token in the corpus's spelling."""
    contracted: list[Word] = []
    for position, current in enumerate(words):
        before = contracted[-1] if contracted else None
        if before is not None and before.role == "preposition" and current.role == "article":
            follower = words[position + 1] if position + 1 < len(words) else None
            elides = current.text == "le" and follower is not None and starts_with_vowel(follower)
            if (before.text, current.text) in CONTRACTIONS and not elides:
                contracted[-1] = before.joined(current, CONTRACTIONS[before.text, current.text])
                continue
        contracted.append(current)
    tokens: list[Word] = []
    for position, current in enumerate(contracted):
        follower = contracted[position + 1] if position + 1 < len(contracted) else None
        text = current.text
        if current.role != WHOLE and follower is not None and starts_with_vowel(follower):
            text = current.before_vowel or ELIDED.get(text, text)
        if text == "si" and follower is not None and follower.text in ("il", "ils"):
            text = "s"
        tokens.extend(replace(current, text=token) for token in plain(text).split())
    return tokens
