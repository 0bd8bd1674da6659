"""Plurals, feminines, articles and comparatives against forms written out by hand."""

from __future__ import annotations

import pytest

from data.generator.english import inflection as english
from data.generator.english.noun_phrases import number_word as english_number
from data.generator.french import inflection as french
from data.generator.french.function_words import number_word as french_number


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("chat", "chats"), ("gâteau", "gâteaux"), ("journal", "journaux"), ("festival", "festivals"),
        ("genou", "genoux"), ("cou", "cous"), ("nez", "nez"), ("travail", "travaux"), ("bleu", "bleus"),
        ("pomme de terre", "pommes de terre"), ("bande dessinée", "bandes dessinées"),
        ("jus d'orange", "jus d'orange"), ("sac à dos", "sacs à dos"), ("feu d'artifice", "feux d'artifice"),
    ],
)  # fmt: skip
def test_french_plurals(singular: str, plural: str) -> None:
    """Also of several words."""
    assert french.plural(singular) == plural


@pytest.mark.parametrize(
    ("masculine", "feminine"),
    [
        ("grand", "grande"), ("rouge", "rouge"), ("heureux", "heureuse"), ("sportif", "sportive"),
        ("dernier", "dernière"), ("canadien", "canadienne"), ("cruel", "cruelle"), ("inquiet", "inquiète"),
        ("public", "publique"), ("travailleur", "travailleuse"), ("bon", "bonne"), ("discret", "discrète"),
    ],
)  # fmt: skip
def test_french_feminines(masculine: str, feminine: str) -> None:
    """Regular adjectives."""
    assert french.feminine(masculine) == feminine


def test_participles_agree() -> None:
    """In gender and number."""
    forms = [french.participle_form("pris", g, n) for g in "mf" for n in ("sg", "pl")]
    assert forms == ["pris", "pris", "prise", "prises"]
    assert french.participle_form("dû", "f", "sg") == "due"


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("cat", "cats"), ("box", "boxes"), ("city", "cities"), ("boy", "boys"), ("man", "men"), ("knife", "knives"),
        ("police officer", "police officers"), ("fisherman", "fishermen"), ("apple tree", "apple trees"),
        ("watch", "watches"), ("child", "children"), ("brother-in-law", "brothers-in-law"),
    ],
)  # fmt: skip
def test_english_plurals(singular: str, plural: str) -> None:
    """Also of several words."""
    assert english.plural(singular) == plural


@pytest.mark.parametrize(
    ("word", "article"),
    [("apple", "an"), ("dog", "a"), ("hour", "an"), ("university", "a"), ("uncle", "an"), ("umbrella", "an"),
     ("honest", "an"), ("european", "a"), ("idea", "an"), ("house", "a")],
)  # fmt: skip
def test_articles(word: str, article: str) -> None:
    """By sound, not by letter."""
    assert english.article(word) == article


@pytest.mark.parametrize(
    ("adjective", "how", "comparative", "superlative"),
    [
        ("tall", "er", "taller", "tallest"), ("big", "er", "bigger", "biggest"),
        ("happy", "er", "happier", "happiest"),
        ("nice", "er", "nicer", "nicest"), ("careful", "more", "more careful", "most careful"),
        ("good", "better", "better", "best"), ("bad", "worse", "worse", "worst"),
        ("proud", "er", "prouder", "proudest"),
    ],
)  # fmt: skip
def test_comparison(adjective: str, how: str, comparative: str, superlative: str) -> None:
    """By ending or by more."""
    assert (english.comparative(adjective, how), english.superlative(adjective, how)) == (
        comparative,
        superlative,
    )


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("work", "works worked worked working"), ("stop", "stops stopped stopped stopping"),
        ("carry", "carries carried carried carrying"), ("play", "plays played played playing"),
        ("make", "makes made made making"), ("lie", "lies lied lied lying"),
        ("watch", "watches watched watched watching"),
        ("eat", "eats ate eaten eating"), ("forget", "forgets forgot forgotten forgetting"),
        ("agree", "agrees agreed agreed agreeing"), ("travel", "travels traveled traveled traveling"),
        ("run", "runs ran run running"), ("visit", "visits visited visited visiting"),
        ("listen", "listens listened listened listening"), ("ski", "skis skied skied skiing"),
        ("fix", "fixes fixed fixed fixing"), ("quit", "quits quit quit quitting"), ("die", "dies died died dying"),
    ],
)  # fmt: skip
def test_english_verbs(base: str, forms: str) -> None:
    """Third person, past, participle, -ing."""
    found = english.verb_forms(base)
    assert f"{found.third} {found.past} {found.participle} {found.gerund}" == forms


def test_numbers() -> None:
    """In words."""
    assert [french_number(n) for n in (1, 17, 21, 45, 50)] == [
        "un", "dix-sept", "vingt-et-un", "quarante-cinq", "cinquante",
    ]  # fmt: skip
    assert french_number(1, "f") == "une"
    assert [english_number(n) for n in (1, 17, 20, 22, 45)] == [
        "one", "seventeen", "twenty", "twenty-two", "forty-five",
    ]  # fmt: skip
