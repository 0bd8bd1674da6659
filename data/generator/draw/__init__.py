"""Drawing whole sentences: which kind, and what it needs; questions and commands.

    chance.py    settings, one random stream             modifiers.py     adjectives, determiners
    nominals.py  subjects, objects, relative clauses     adjuncts.py      tenses, times, places, company
    clauses.py   verbs and their complements             predicates.py    *être* and its like, impersonal verbs
    complex_sentences.py                                 two clauses, one within the other or linked

Each function draws from the stream that it is given; None means that a choice led nowhere, and all is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable

from ..meaning import Adverbial, Agreement, Clause, Gap, Linked, NounPhrase, Pronoun, QuestionWord, Sentence
from .adjuncts import adverb, drop_time
from .chance import Draw
from .clauses import complete, draw_clause, draw_frame, draw_verb
from .complex_sentences import draw_content, draw_infinitive_clause, draw_linked
from .modifiers import DEFINITE, Surroundings
from .nominals import PERSON_CLASSES, object_phrase
from .predicates import (
    draw_adjective,
    draw_age,
    draw_comparison,
    draw_existence,
    draw_identity,
    draw_impersonal,
    draw_noun,
)

EVENT_ADVERBS = ("soudain", "enfin", "finalement")
ASKED = ("tu", "vous", "il", "elle", "ils")
COMMANDED = {"intransitive": 20, "transitive": 45, "dative": 12, "locative": 8, "oblique": 12, "expression": 5}
REPROACHES = ("mal", "trop")


def draw_sentence(draw: Draw) -> Sentence:
    """One sentence, of a kind of `[sentence]` in the settings."""
    while True:
        kind = draw.weighted(draw.settings.sentence)
        draw.begin_sentence()
        sentence = QUESTIONS[kind](draw) if kind in QUESTIONS else _statement(draw, kind)
        if sentence is not None:
            english = draw.settings.english
            sentence.is_contracted = draw.happens(english["contraction"])
            sentence.is_negation_contracted = draw.happens(english["negation_contraction"])
            return sentence


def _statement(draw: Draw, kind: str) -> Sentence | None:
    body = STATEMENTS[kind](draw)
    if body is None:
        return None
    sentence = Sentence(body)
    if isinstance(body, Clause) and kind in ("adjective", "verb") and draw.share("front"):
        front = adverb(draw, "attitude")
        is_event = body.verb.aspect != "state" and body.tense == "past"
        if is_event or front.adverb.french not in EVENT_ADVERBS:
            sentence.front = front
    return sentence


STATEMENTS: dict[str, Callable[[Draw], Clause | Linked | None]] = {
    "adjective": draw_adjective,
    "noun": draw_noun,
    "verb": draw_clause,
    "infinitive": draw_infinitive_clause,
    "content": draw_content,
    "linked": draw_linked,
    "existential": draw_existence,
    "identity": draw_identity,
    "comparison": draw_comparison,
    "age": draw_age,
    "impersonal": draw_impersonal,
}


# -- questions ------------------------------------------------------------------------------------------


def _yes_no(draw: Draw) -> Sentence | None:
    """*est-ce que tu dors ?*, *as tu faim ?*."""
    clause = draw_adjective(draw, subjects=ASKED) if draw.happens(0.3) else _asked(draw, draw_frame(draw, "swap"))
    if clause is None or not isinstance(clause.subject, Pronoun) or clause.tense == "just":
        return None
    return _question(draw, clause)


def _asked(draw: Draw, frame: str, tense: str = "", can_negate: bool = True) -> Clause | None:
    """A clause about a pronoun."""
    clause = draw_clause(draw, subjects=ASKED, frame=frame, tense=tense, can_negate=can_negate)
    return clause if clause is not None and isinstance(clause.subject, Pronoun) else None


def _question(draw: Draw, clause: Clause, word: QuestionWord | None = None) -> Sentence:
    return Sentence(clause, draw.weighted({"est-ce que": 55, "inversion": 45}), "?", question=word)


def _wh(draw: Draw) -> Sentence | None:
    ask = draw.weighted({_adjunct: 30, _where: 20, _what: 20, _who: 12, _which: 18})
    return ask(draw)


def _adjunct(draw: Draw) -> Sentence | None:
    """*pourquoi pleures tu ?*, *quand est-ce que tu vas partir ?*."""
    word = draw.weighted({("pourquoi", "why"): 50, ("quand", "when"): 30, ("comment", "how"): 20})
    is_why = word[0] == "pourquoi"
    if is_why:
        clause = _asked(draw, draw_frame(draw, "swap"))
    else:
        tense = draw.weighted({"past": 5, "going_to": 3, "future": 2})
        frame = draw.pick(("intransitive", "transitive", "locative"))
        clause = _asked(draw, frame, tense, can_negate=False)
    if clause is None or clause.tense == "just":
        return None
    if not is_why:
        if clause.verb.aspect == "state" or "involuntary" in clause.verb.options:
            return None
        clause.adjuncts = []
    return _question(draw, clause, QuestionWord(word))


def _where(draw: Draw) -> Sentence | None:
    """*où est la gare ?*, *où vas tu ?*."""
    word = QuestionWord(("où", "where"))
    if draw.happens(0.3):
        phrase = object_phrase(draw, draw.group("sought"), Surroundings(tense="present", options=DEFINITE))
        if phrase is None or phrase.relative is not None:
            return None
        tense = "imperfect" if draw.happens(0.15) else "present"
        be = Clause(phrase, draw.lexicon.verbs["copula"][0], "be", tense)
        return Sentence(be, "inversion", "?", question=word)
    clause = _asked(draw, "locative", can_negate=False)
    if clause is None:
        return None
    clause.place = None
    drop_time(clause)
    return _question(draw, clause, word)


def _about_object(draw: Draw) -> Clause | None:
    clause = _asked(draw, "transitive", can_negate=False)
    if clause is not None:
        clause.adjuncts = clause.adjuncts[:1]
    return clause


def _what(draw: Draw) -> Sentence | None:
    """*qu'est-ce que tu manges ?*."""
    clause = _about_object(draw)
    if clause is None or clause.verb.object.classes & PERSON_CLASSES:
        return None
    clause.object = Gap(Agreement(3, "sg", "m"))
    return _question(draw, clause, QuestionWord(("que", "what")))


def _who(draw: Draw) -> Sentence | None:
    """*qui a mangé le gâteau ?*."""
    clause = draw_clause(draw, subject=draw.pronoun("il"), frame=draw_frame(draw, "swap"), can_negate=False)
    if clause is None:
        return None
    clause.subject = Gap(Agreement(3, "sg", "m"), is_person=True)
    return Sentence(clause, "plain", "?", question=QuestionWord(("qui", "who")))


def _which(draw: Draw) -> Sentence | None:
    """*quel livre as tu lu ?*, *combien de pommes veux tu ?*."""
    clause = _about_object(draw)
    if clause is None or not isinstance(clause.object, NounPhrase) or clause.object.content is not None:
        return None
    noun = clause.object.noun
    is_counted = draw.happens(0.45)
    if noun.is_generic or noun.is_unique or noun.is_english_plural_only:
        return None
    phrase = NounPhrase(noun, clause.object.english, clause.object.number, "which")
    if is_counted:
        phrase.determiner, phrase.number = "how_many", "sg" if noun.is_mass else "pl"
    if (noun.is_english_mass or noun.is_plural_only) if is_counted else noun.is_mass:
        return None
    clause.object = Gap(phrase.agreement)
    return _question(draw, clause, QuestionWord(("", ""), phrase))


def _command(draw: Draw) -> Sentence | None:
    """*ferme la porte !*."""
    frame = draw.weighted(COMMANDED)
    subject = draw.pronoun(draw.weighted({"tu": 50, "vous": 40, "nous": 10}))
    verb = draw_verb(draw, frame, subject, is_voluntary=True)
    if verb is None:
        return None
    clause = Clause(subject, verb, draw.synonym(verb.english), "imperative")
    is_bad = "bad" in verb.options
    if is_bad and subject.agreement.person == 1:
        return None
    if is_bad or (subject.agreement.person == 2 and draw.happens(0.25)):
        clause.negation = "jamais" if draw.happens(0.1) else "pas"
    if not complete(draw, clause):
        return None
    clause.adjuncts = [a for a in clause.adjuncts if not (isinstance(a, Adverbial) and a.adverb.french in REPROACHES)]
    return Sentence(clause, "imperative", "!" if draw.happens(0.6) else ".")


QUESTIONS = {"yes_no": _yes_no, "wh": _wh, "imperative": _command}
