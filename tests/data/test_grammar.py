"""Meanings built by hand, and what both languages must make of them."""

from __future__ import annotations

from typing import Any

import pytest

from data.generator.meaning.nodes import (
    Agreement,
    Comparison,
    Conjunction,
    Gap,
    Indefinite,
    Linked,
    QuestionWord,
    Relative,
)


@pytest.mark.parametrize(
    ("subject", "gender", "french", "english"),
    [
        ("je", "m", "je suis heureux .", "i m happy ."), ("je", "f", "je suis heureuse .", "i m happy ."),
        ("elles", "f", "elles sont heureuses .", "they re happy ."),
        ("formal", "f", "vous etes heureuse .", "you re happy ."),
        ("vous", "m", "vous etes heureux .", "you re happy ."), ("on", "m", "on est heureux .", "we re happy ."),
    ],
)  # fmt: skip
def test_predicate_agrees(words: Any, subject: str, gender: str, french: str, english: str) -> None:
    """The adjective agrees with the person meant, the verb with the pronoun said."""
    clause = words.clause(
        words.who(subject, gender),
        words.verb("copula", "être"),
        "present",
        attribute=words.modifier("heureux", "happy"),
    )
    assert words.both(clause) == (french, english)


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


def test_negation_takes_the_article(words: Any) -> None:
    """Un, du and the article in avoir de la chance become de; rien stands before the participle."""
    have = words.verb("transitive", "avoir")
    clause = words.clause(words.who("il"), have, "present", negation="pas", object=words.phrase("chien", "no"))
    assert words.both(clause) == ("il n a pas de chien .", "he doesn t have a dog .")
    lucky = words.clause(words.who("il"), words.verb("expression", "avoir de la chance"), "present", negation="pas")
    assert words.both(lucky) == ("il n a pas de chance .", "he s not lucky .")
    nothing = words.clause(
        words.who("tu"),
        words.verb("transitive", "voir"),
        "past",
        negation="rien",
        object=Indefinite("rien", "anything"),
    )
    assert words.both(nothing) == ("tu n as rien vu .", "you didn t see anything .")
    nobody = words.clause(
        words.who("tu"), words.verb("transitive", "voir"), "past", negation="personne",
        object=Indefinite("personne", "anyone"),
    )  # fmt: skip
    assert words.both(nobody) == ("tu n as vu personne .", "you didn t see anyone .")
    alone = words.clause(Indefinite("personne", "nobody"), words.verb("intransitive", "dormir"), "past")
    assert words.both(alone) == ("personne n a dormi .", "nobody slept .")


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


def test_clitics_of_infinitives_stay_with_them(words: Any) -> None:
    """And y and en stand for things."""
    inner = words.clause(None, words.verb("transitive", "voir"), "to_infinitive", object=words.who("elle"))
    inner.controller = Agreement(1, "sg", "m")
    clause = words.clause(words.who("je"), words.verb("infinitive", "vouloir"), "present", infinitive=inner)
    assert words.both(clause) == ("je veux la voir .", "i want to see her .")
    it = words.who("il")
    it.kind = "thing"
    need = words.clause(words.who("on"), words.verb("oblique", "avoir besoin"), "present", oblique=it)
    assert words.both(need) == ("on en a besoin .", "we need it .")


@pytest.mark.parametrize(
    ("noun", "adjective", "english", "number", "determiner", "expected"),
    [
        ("homme", "vieux", "old", "sg", "a", ("un vieil homme", "an old man")),
        ("arbre", "beau", "beautiful", "sg", "this", ("ce bel arbre", "this beautiful tree")),
        ("fleur", "beau", "beautiful", "pl", "a", ("de belles fleurs", "beautiful flowers")),
        ("voiture", "rouge", "red", "pl", "the", ("les voitures rouges", "the red cars")),
        ("amie", "bon", "good", "sg", "my", ("ma bonne amie", "my good friend")),
        ("hibou", "grand", "big", "sg", "the", ("le grand hibou", "the big owl")),
        ("pantalon", "noir", "black", "sg", "a", ("un pantalon noir", "black trousers")),
    ],
)
def test_adjectives(
    words: Any,
    noun: str,
    adjective: str,
    english: str,
    number: str,
    determiner: str,
    expected: tuple[str, str],
) -> None:
    """On their side of the noun, as they agree, before a vowel too."""
    phrase = words.phrase(noun, determiner, number, modifiers=[words.modifier(adjective, english)])
    phrase.owner = Agreement(1, "sg", "m")
    clause = words.clause(words.who("je"), words.verb("transitive", "voir"), "present", object=phrase)
    assert words.both(clause) == (f"je vois {expected[0]} .", f"i see {expected[1]} .")


def test_possessive_before_a_vowel_and_by_the_owner(words: Any) -> None:
    """Mon amie; his or her by who owns."""
    see = words.verb("transitive", "voir")
    mine = words.clause(
        words.who("je"), see, "present", object=words.phrase("amie", "my", owner=Agreement(1, "sg", "f"))
    )
    assert words.both(mine) == ("je vois mon amie .", "i see my friend .")
    for gender, english in (("m", "he sees his friend ."), ("f", "she sees her friend .")):
        subject = words.who("il" if gender == "m" else "elle")
        phrase = words.phrase("ami", "my", owner=subject.agreement)
        french = f"{'il' if gender == 'm' else 'elle'} voit son ami ."
        assert words.both(words.clause(subject, see, "present", object=phrase)) == (french, english)


@pytest.mark.parametrize(
    ("noun", "french", "english"),
    [
        ("homme", "je parle a l homme .", "i m talking to the man ."),
        ("garçon", "je parle au garcon .", "i m talking to the boy ."),
        ("fille", "je parle a la fille .", "i m talking to the girl ."),
        ("héros", "je parle au heros .", "i m talking to the hero ."),
    ],
)
def test_contraction(words: Any, noun: str, french: str, english: str) -> None:
    """À le is au, unless the article is elided."""
    talk = words.verb("oblique", "parler", "talk")
    assert talk.prep == ("à", "to")
    clause = words.clause(words.who("je"), talk, "progressive", oblique=words.phrase(noun))
    assert words.both(clause) == (french, english)


def test_partitive_and_quantity(words: Any) -> None:
    """Du pain, but beaucoup de pain and une tasse de café."""
    eat = words.verb("transitive", "manger")
    for determiner, french, english in (
        ("a", "du pain", "bread"), ("some", "du pain", "some bread"), ("many", "beaucoup de pain", "a lot of bread"),
    ):  # fmt: skip
        clause = words.clause(words.who("il"), eat, "past", object=words.phrase("pain", determiner))
        assert words.both(clause) == (f"il a mange {french} .", f"he ate {english} .")
    cup = words.phrase("tasse", "a", class_name="measure", content=words.phrase("café", "bare", class_name="drink"))
    drink = words.clause(words.who("il"), words.verb("transitive", "boire"), "past", object=cup)
    assert words.both(drink) == ("il a bu une tasse de cafe .", "he drank a cup of coffee .")


def test_questions(words: Any) -> None:
    """Est-ce que, inversion with t, question words."""
    eat = words.verb("transitive", "manger")

    def ask(name: str) -> object:
        return words.clause(words.who(name), eat, "past", object=words.phrase("pomme"))

    assert words.both(ask("il"), form="est-ce que", mark="?") == (
        "est ce qu il a mange la pomme ?", "did he eat the apple ?",
    )  # fmt: skip
    assert words.both(ask("il"), form="inversion", mark="?") == (
        "a t il mange la pomme ?",
        "did he eat the apple ?",
    )
    assert words.both(ask("tu"), form="inversion", mark="?") == (
        "as tu mange la pomme ?",
        "did you eat the apple ?",
    )
    what = words.clause(words.who("tu"), eat, "progressive", object=Gap(Agreement(3, "sg", "m")))
    question = QuestionWord("que", "what", "object")
    assert words.both(what, form="est-ce que", mark="?", question=question) == (
        "qu est ce que tu manges ?", "what are you eating ?",
    )  # fmt: skip
    who_eats = words.clause(Gap(Agreement(3, "sg", "m"), True), eat, "past", object=words.phrase("pomme"))
    question = QuestionWord("qui", "who", "subject")
    assert words.both(who_eats, form="plain", mark="?", question=question) == (
        "qui a mange la pomme ?", "who ate the apple ?",
    )  # fmt: skip


def test_comparison(words: Any) -> None:
    """Plus ... que with a disjunctive pronoun; the superlative behind the noun."""
    tall = words.modifier("grand", "tall", comparison=Comparison("more", words.who("je")))
    clause = words.clause(words.who("elle"), words.verb("copula", "être"), "present", attribute=tall)
    assert words.both(clause) == ("elle est plus grande que moi .", "she s taller than me .")
    most = words.phrase(
        "livre", modifiers=[words.modifier("intéressant", "interesting", comparison=Comparison("most"))]
    )
    clause = words.clause(words.who("je"), words.verb("transitive", "lire"), "past", object=most)
    assert words.both(clause) == (
        "j ai lu le livre le plus interessant .",
        "i read the most interesting book .",
    )


def test_swap_and_control(words: Any) -> None:
    """Tu me manques turns subject and object round; the one who is asked does it."""
    miss = words.clause(words.who("tu"), words.verb("swap", "manquer"), "present", object=words.who("je"))
    assert words.both(miss) == ("tu me manques .", "i miss you .")
    inner = words.clause(None, words.verb("intransitive", "se lever"), "to_infinitive")
    inner.controller = Agreement(2, "sg", "m")
    clause = words.clause(
        words.who("il"),
        words.verb("control", "demander"),
        "past",
        recipient=words.who("tu"),
        infinitive=inner,
    )
    assert words.both(clause) == ("il t a demande de te lever .", "he asked you to get up .")


def test_si_elides_only_before_il(words: Any) -> None:
    """S il but si elle."""
    sleep, go = words.verb("intransitive", "dormir"), words.verb("intransitive", "partir")
    for name, french in (("il", "s il part je dormirai ."), ("elle", "si elle part je dormirai .")):
        linked = Linked(
            words.clause(words.who("je"), sleep, "future"), Conjunction("si", "if"),
            words.clause(words.who(name), go, "present"), is_fronted=True,
        )  # fmt: skip
        english = "he" if name == "il" else "she"
        assert words.both(linked) == (french, f"if {english} leaves i ll sleep .")
