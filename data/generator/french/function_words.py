"""French function words: pronouns, possessives, articles, prepositions, numbers and words of quantity."""

from __future__ import annotations

from ..meaning.nodes import Agreement
from ..meaning.tokens import Key, Word, word

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
ELIDING = {
    "me": "m",
    "te": "t",
    "se": "s",
    "le": "l",
    "la": "l",
    "ne": "n",
    "je": "j",
    "que": "qu",
    "de": "d",
}


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
    return word(text, node, role, *fallback, before_vowel="l" if number == "sg" else "", kind="article")


def preposition(text: str, node: object, role: str, *fallback: Key) -> list[Word]:
    """A preposition, which may be several words; its last word contracts and elides."""
    *first, last = text.split()
    vowel = {"de": "d", "jusque": "jusqu"}.get(last, "")
    result = [word(part, node, role, *fallback, before_vowel="d" if part == "de" else "") for part in first]
    return [*result, word(last, node, role, *fallback, before_vowel=vowel, kind="preposition")]
