"""Meanings built by hand, and what both languages must make of them."""

from __future__ import annotations

from typing import Any

import pytest

from data.generator.meaning.nodes import (
    Gap,
    Relative,
)


@pytest.mark.parametrize(
    ("tense", "french", "english"),
    [
        ("progressive", "elle mange une pomme .", "she s eating an apple ."),
        ("present", "elle mange une pomme .", "she eats an apple ."),
        ("in_progress", "elle est en train de manger une pomme .", "she s eating an apple ."),
        ("past", "elle a mange une pomme .", "she ate an apple ."),
        ("perfect", "elle a mange une pomme .", "she s eaten an apple ."),
        ("past_progressive", "elle mangeait une pomme .", "she was eating an apple ."),
        ("used_to", "elle mangeait une pomme .", "she used to eat an apple ."),
        ("future", "elle mangera une pomme .", "she ll eat an apple ."),
        ("going_to", "elle va manger une pomme .", "she s going to eat an apple ."),
        ("just", "elle vient de manger une pomme .", "she s just eaten an apple ."),
        ("conditional", "elle mangerait une pomme .", "she d eat an apple ."),
    ],
)
def test_tenses(words: Any, tense: str, french: str, english: str) -> None:
    """Each pair of tenses."""
    clause = words.clause(
        words.who("elle"), words.verb("transitive", "manger"), tense, object=words.phrase("pomme", "a")
    )
    assert words.both(clause) == (french, english)


@pytest.mark.parametrize(
    ("negation", "tense", "french", "english"),
    [
        ("pas", "past", "je n ai pas dormi .", "i didn t sleep ."),
        ("pas", "progressive", "je ne dors pas .", "i m not sleeping ."),
        ("plus", "present", "je ne dors plus .", "i don t sleep anymore ."),
        ("jamais", "present", "je ne dors jamais .", "i never sleep ."),
        ("jamais", "perfect", "je n ai jamais dormi .", "i ve never slept ."),
        ("encore", "perfect", "je n ai pas encore dormi .", "i haven t slept yet ."),
        ("pas", "future", "je ne dormirai pas .", "i won t sleep ."),
        ("pas", "going_to", "je ne vais pas dormir .", "i m not going to sleep ."),
    ],
)
def test_negation(words: Any, negation: str, tense: str, french: str, english: str) -> None:
    """Around the finite verb."""
    clause = words.clause(words.who("je"), words.verb("intransitive", "dormir"), tense, negation=negation)
    assert words.both(clause) == (french, english)


def test_participle_agrees_with_what_stands_before(words: Any) -> None:
    """With the clitic or the antecedent under avoir, with the subject under être."""
    buy = words.verb("transitive", "acheter")
    them = words.clause(words.who("je"), buy, "past", object=words.who("elles"))
    assert words.both(them) == ("je les ai achetees .", "i bought them .")
    dress = words.phrase("robe")
    dress.relative = Relative("que", words.clause(words.who("je"), buy, "past", object=Gap(dress.agreement)))
    like = words.clause(words.who("elle"), words.verb("transitive", "aimer", "like"), "present", object=dress)
    assert words.both(like) == ("elle aime la robe que j ai achetee .", "she likes the dress that i bought .")
    gone = words.clause(words.who("elles"), words.verb("intransitive", "partir"), "past")
    assert words.both(gone) == ("elles sont parties .", "they left .")
    awake = words.clause(words.who("formal", "f"), words.verb("intransitive", "se lever"), "past")
    assert words.both(awake) == ("vous vous etes levee .", "you got up .")


@pytest.mark.parametrize(
    ("tense", "form", "french", "english"),
    [
        ("progressive", "statement", "tu me le donnes .", "you re giving it to me ."),
        ("past", "statement", "tu me l as donne .", "you gave it to me ."),
        ("going_to", "statement", "tu vas me le donner .", "you re going to give it to me ."),
        ("imperative", "imperative", "donne le moi .", "give it to me ."),
        ("past", "inversion", "me l as tu donne .", "did you give it to me ."),
    ],
)
def test_clitics(words: Any, tense: str, form: str, french: str, english: str) -> None:
    """Before the verb, behind the imperative, in order."""
    it = words.who("il")
    it.kind = "thing"
    clause = words.clause(words.who("tu"), words.verb("dative", "donner"), tense, object=it, recipient=words.who("je"))
    assert words.both(clause, form=form) == (french, english)
