"""Properties that hold for every noun phrase and every sentence, whatever is drawn."""

from __future__ import annotations

import itertools
import re
from functools import cache
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from data.generator.alignment import align, spread
from data.generator.draw.chance import Chance
from data.generator.draw.sentences import Sentences
from data.generator.english.sentences import write_english
from data.generator.french.function_words import POSSESSIVES
from data.generator.french.inflection import adjective_form, noun_form
from data.generator.french.noun_phrases import FrenchNominals
from data.generator.french.sandhi import join, plain, starts_with_vowel
from data.generator.french.sentences import write_french
from data.generator.meaning.nodes import Agreement, Modifier, NounPhrase
from data.generator.settings import read_settings
from data.generator.words.lexicon import read_lexicon

LEXICON, SETTINGS = read_lexicon(), read_settings()
WRITER = FrenchNominals(lambda clause: [])
EXAMPLES = settings(max_examples=100, deadline=None)
DRAWN = settings(max_examples=20, deadline=None)


@cache
def attributes() -> list[Any]:
    """Nouns, each with the adjectives that can stand beside it."""
    fitting = [adjective for adjective in LEXICON.adjectives if adjective.use != "predicate"]
    return [(noun, adjective) for noun in LEXICON.nouns for adjective in fitting if adjective.selection.admits(noun)]


@EXAMPLES
@given(
    st.deferred(lambda: st.sampled_from(attributes())),
    st.sampled_from(("sg", "pl")),
    st.sampled_from(("the", "a", "this", "my")),
)
def test_everything_in_a_noun_phrase_agrees(pair: Any, number: str, determiner: str) -> None:
    """Determiner, noun and adjective have one gender and number."""
    noun, adjective = pair
    number = "pl" if noun.is_plural_only else "sg" if noun.is_mass else number
    phrase = NounPhrase(noun, noun.english[0], number, determiner, Agreement(1, "sg", "m"))
    phrase.modifiers = [Modifier(adjective, adjective.english[0])]
    tokens = [word.text for word in join(WRITER.noun_phrase(phrase))]
    text = " ".join(tokens)
    assert plain(noun_form(noun, number)) in text
    form = adjective_form(adjective, noun.gender, number)
    special = adjective.before_vowel if noun.gender == "m" and number == "sg" else ""
    assert plain(form) in text or (special and plain(special) in text)
    feminine, plural = noun.gender == "f", number == "pl"
    allowed = {
        "the": ["les"] if plural else ["l", "la"] if feminine else ["l", "le"],
        "a": ["des", "de", "d"] if plural else ["du", "de"] if noun.is_mass else ["une"] if feminine else ["un"],
        "this": ["ces"] if plural else ["cette"] if feminine else ["ce", "cet"],
        "my": ["mes"] if plural else ["ma", "mon"] if feminine else ["mon"],
    }
    assert tokens[0] in allowed[determiner]


@EXAMPLES
@given(st.sampled_from(LEXICON.nouns), st.sampled_from(sorted(POSSESSIVES)))
def test_possessives_before_vowels(noun: Any, owner: tuple[int, str]) -> None:
    """Never *ma*, *ta*, *sa* before a vowel."""
    phrase = NounPhrase(noun, noun.english[0], "sg", "my", Agreement(*owner, "m"))
    first, second = [word.text for word in join(WRITER.noun_phrase(phrase))][:2]
    starts_with_vowel = second[0] in "aeiouh" and not noun.is_aspirated
    if first in ("ma", "ta", "sa"):
        assert noun.gender == "f" and not starts_with_vowel


@DRAWN
@given(st.integers(0, 10**9))
@example(778)  # a european colleague
def test_drawn_sentences(seed: int) -> None:
    """Nothing unelided or uncontracted; both sides plain; every word linked; English agrees with its pronouns."""
    sentences = Sentences(LEXICON, SETTINGS, Chance(f"property {seed}", SETTINGS))
    for sentence in itertools.islice(iter(sentences.draw, None), 50):
        source, target = write_french(sentence), write_english(sentence)
        french, english = (" ".join(word.text for word in side) for side in (source, target))
        assert re.fullmatch(r"[a-z .?!]+", french) and re.fullmatch(r"[a-z .?!]+", english)
        assert french[-1] == english[-1] and french[-1] in ".?!"
        assert not unelided(source), french
        assert not re.search(r"\b(a (?!eu)[aei]|an (?:[bcdfgjklmnpqrstvwxz]|eu))", english), english
        assert not re.search(r"\b(i|we|you|they) (is|was not is|has|does)\b", english), english
        assert not re.search(r"\b(he|she) (are|have|do|am|were)\b", english.split(" if ")[0]) or "?" in english
        assert "|" not in english and "_" not in french
        links = align(source, target)
        assert {i for i, _ in links} == set(range(len(source)))
        assert {j for _, j in links} == set(range(len(target)))


def unelided(source: list) -> list[str]:
    """Words that should have been elided or contracted: what could be, before a vowel sound or an article."""
    found = []
    for word, follower in itertools.pairwise(source):
        elides = bool(word.before_vowel) and word.text == plain(word.text) != plain(word.before_vowel)
        if elides and starts_with_vowel(follower):
            found.append(f"{word.text} {follower.text}")
        contracts = word.role == "preposition" and word.text in ("a", "de") and follower.role == "article"
        if contracts and follower.text in ("le", "les"):
            found.append(f"{word.text} {follower.text}")
    return found


def test_pronoun_and_verb(drawn: list) -> None:
    """The verb right behind a French subject pronoun has its ending."""
    endings = {
        "je": r"(e|s|x|ai|is)$", "tu": r"(s|x)$", "nous": r"(ons|mes)$", "vous": r"(ez|tes)$",
        "ils": r"(nt)$", "elles": r"(nt)$",
    }  # fmt: skip
    checked = 0
    for sentence in drawn:
        tokens = [word.text for word in write_french(sentence)]
        if sentence.form == "statement" and sentence.front is None and tokens[0] in endings:
            if tokens[1] in ("ne", "n", "me", "m", "te", "t", "se", "s", "le", "la", "l", "les", "lui", "leur", "y",
                             "en", "nous", "vous"):  # fmt: skip
                continue
            assert re.search(endings[tokens[0]], tokens[1]), tokens
            checked += 1
    assert checked > 100


@EXAMPLES
@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.lists(st.integers(1, 4), min_size=1, max_size=8))
def test_links_spread_over_pieces(source: list[int], target: list[int]) -> None:
    """A link of two words becomes all links of their pieces, and nothing else."""
    links = [(i, j) for i in range(len(source)) for j in range(len(target)) if (i + j) % 2 == 0]
    spread_links = spread(links, source, target)
    assert len(spread_links) == sum(source[i] * target[j] for i, j in links)
    assert spread_links == sorted(set(spread_links))
    if len(source) > 1 or len(target) > 1 or links:
        assert all(i < sum(source) and j < sum(target) for i, j in spread_links)
