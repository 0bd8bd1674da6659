"""Drawing whole sentences: which kind, and what it needs; questions and commands.

    nouns.py     nominals, with adjectives and determiners     clauses.py      verbs and their complements
    adjuncts.py  tenses, times, places, company                predicates.py   *être* and its like, impersonal verbs
    linked.py    two clauses, one within the other or linked

Each function draws from the stream that it is given. Where a choice leads nowhere, all is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable

from .adjuncts import adverb, drop_time
from .chance import DeadEndError, Draw
from .clauses import complete, draw_clause, draw_frame, draw_verb
from .linked import draw_content, draw_infinitive_clause, draw_linked
from .meaning import Adverbial, Agreement, Clause, Gap, Indefinite, Linked, NounPhrase, Pronoun, Sentence
from .nouns import PERSON_CLASSES, Around, object_phrase
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


def draw_sentence(draw: Draw) -> Sentence:
    """One sentence, of a kind of `[sentence]` in the settings."""
    while True:
        kind = draw.weighted(draw.settings["sentence"])
        draw.begin_sentence()
        try:
            sentence = QUESTIONS[kind](draw) if kind in QUESTIONS else _statement(draw, kind)
        except DeadEndError:
            continue
        english = draw.settings["english"]
        sentence.is_contracted = draw.happens(english["contraction"])
        sentence.is_negation_contracted = draw.happens(english["negation_contraction"])
        return sentence


def _statement(draw: Draw, kind: str) -> Sentence:
    body = STATEMENTS[kind](draw)
    sentence = Sentence(body)
    if isinstance(body, Clause) and kind in ("adjective", "verb") and draw.share("front"):
        front = adverb(draw, "attitude")
        is_event = body.verb.aspect != "state" and body.tense == "past"
        if is_event or front.adverb.french not in EVENT_ADVERBS:
            sentence.front = front
    return sentence


ASKED = ("tu", "vous", "il", "elle", "ils")
COMMANDED = {"intransitive": 20, "transitive": 45, "dative": 12, "locative": 8, "oblique": 12, "expression": 5}
REPROACHES = ("mal", "trop")


def _asked(draw: Draw, frame: str, tense: str = "", can_negate: bool = True) -> Clause:
    """A clause about a pronoun."""
    clause = draw_clause(draw, subjects=ASKED, frame=frame, tense=tense, can_negate=can_negate)
    if not isinstance(clause.subject, Pronoun):
        raise DeadEndError
    return clause


def _question(draw: Draw, clause: Clause, question: Indefinite | NounPhrase | None = None) -> Sentence:
    return Sentence(clause, draw.weighted({"est-ce que": 55, "inversion": 45}), "?", question=question)


def _yes_no(draw: Draw) -> Sentence:
    """*est-ce que tu dors ?*, *as tu faim ?*."""
    clause = draw_adjective(draw, subjects=ASKED) if draw.happens(0.3) else _asked(draw, draw_frame(draw, "swap"))
    if not isinstance(clause.subject, Pronoun) or clause.tense == "just":
        raise DeadEndError
    return _question(draw, clause)


def _wh(draw: Draw) -> Sentence:
    ask = draw.weighted({_adjunct: 30, _where: 20, _what: 20, _who: 12, _which: 18})
    return ask(draw)


def _adjunct(draw: Draw) -> Sentence:
    """*pourquoi pleures tu ?*, *quand est-ce que tu vas partir ?*."""
    word = draw.weighted({("pourquoi", "why"): 50, ("quand", "when"): 30, ("comment", "how"): 20})
    if word[0] == "pourquoi":
        clause = _asked(draw, draw_frame(draw, "swap"))
        if clause.tense == "just":
            raise DeadEndError
    else:
        tense = draw.weighted({"past": 5, "going_to": 3, "future": 2})
        clause = _asked(draw, draw.pick(("intransitive", "transitive", "locative")), tense, can_negate=False)
        if clause.verb.aspect == "state" or clause.verb.has("involuntary"):
            raise DeadEndError
        clause.adjuncts = []
    return _question(draw, clause, Indefinite(word))


def _where(draw: Draw) -> Sentence:
    """*où est la gare ?*, *où vas tu ?*."""
    word = Indefinite(("où", "where"))
    if draw.happens(0.3):
        phrase = object_phrase(draw, draw.group("sought"), Around(tense="present", options=("definite",)))
        if phrase.relative is not None:
            raise DeadEndError
        tense = "imperfect" if draw.happens(0.15) else "present"
        be = Clause(phrase, draw.lexicon.verbs["copula"][0], "be", tense)
        return Sentence(be, "inversion", "?", question=word)
    clause = _asked(draw, "locative", can_negate=False)
    clause.place = None
    drop_time(clause)
    return _question(draw, clause, word)


def _about_object(draw: Draw) -> Clause:
    clause = _asked(draw, "transitive", can_negate=False)
    clause.adjuncts = clause.adjuncts[:1]
    return clause


def _what(draw: Draw) -> Sentence:
    """*qu'est-ce que tu manges ?*."""
    clause = _about_object(draw)
    if clause.verb.object.classes & PERSON_CLASSES:
        raise DeadEndError
    clause.object = Gap(Agreement(3, "sg", "m"))
    return _question(draw, clause, Indefinite(("que", "what")))


def _who(draw: Draw) -> Sentence:
    """*qui a mangé le gâteau ?*."""
    clause = draw_clause(draw, subject=draw.pronoun("il"), frame=draw_frame(draw, "swap"), can_negate=False)
    clause.subject = Gap(Agreement(3, "sg", "m"), is_person=True)
    return Sentence(clause, "plain", "?", question=Indefinite(("qui", "who")))


def _which(draw: Draw) -> Sentence:
    """*quel livre as tu lu ?*, *combien de pommes veux tu ?*."""
    clause = _about_object(draw)
    if not isinstance(clause.object, NounPhrase) or clause.object.content is not None:
        raise DeadEndError
    noun = clause.object.noun
    phrase = NounPhrase(noun, clause.object.english, clause.object.number, "which")
    uncountable = ["mass"]
    if draw.happens(0.45):
        phrase.determiner, phrase.number = "how_many", "sg" if noun.has("mass") else "pl"
        uncountable = ["en_mass", "plural_only"]
    if noun.has("generic", "unique", "en_plural_only", *uncountable):
        raise DeadEndError
    clause.object = Gap(phrase.agreement)
    return _question(draw, clause, phrase)


def _command(draw: Draw) -> Sentence:
    """*ferme la porte !*."""
    frame = draw.weighted(COMMANDED)
    subject = draw.pronoun(draw.weighted({"tu": 50, "vous": 40, "nous": 10}))
    verb = draw_verb(draw, frame, subject, is_voluntary=True)
    clause = Clause(subject, verb, draw.synonym(verb.english), "imperative")
    is_bad = verb.has("bad")
    if is_bad and subject.agreement.person == 1:
        raise DeadEndError
    if is_bad or (subject.agreement.person == 2 and draw.happens(0.25)):
        clause.negation = "jamais" if draw.happens(0.1) else "pas"
    complete(draw, clause)
    clause.adjuncts = [a for a in clause.adjuncts if not (isinstance(a, Adverbial) and a.adverb.french in REPROACHES)]
    return Sentence(clause, "imperative", "!" if draw.happens(0.6) else ".")


STATEMENTS: dict[str, Callable[[Draw], Clause | Linked]] = {
    "adjective": draw_adjective, "noun": draw_noun, "verb": draw_clause, "infinitive": draw_infinitive_clause,
    "content": draw_content, "linked": draw_linked, "existential": draw_existence, "identity": draw_identity,
    "comparison": draw_comparison, "age": draw_age, "impersonal": draw_impersonal,
}  # fmt: skip
QUESTIONS = {"yes_no": _yes_no, "wh": _wh, "imperative": _command}
