"""Drawing whole sentences, of each kind: of one clause, of two, one within the other or linked; questions; commands.

    nouns.py       nominals, with adjectives and determiners
    adjuncts.py    tenses, times, places, company
    clauses.py     verbs and their complements
    predicates.py  *être* and its like, impersonal verbs

Each function draws from the stream that it is given. Where a choice leads nowhere, all is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable

from .adjuncts import adverb, draw_tense, drop_time, same
from .chance import DeadEndError, Draw, attempt
from .clauses import complete, draw_clause, draw_frame, draw_infinitive, draw_verb, is_quantified
from .entries import Texts
from .meaning import Adjunct, Agreement, Clause, Gap, Indefinite, Linked, Name, Nominal, NounPhrase, Pronoun, Sentence
from .nouns import PERSON_CLASSES, Around, draw_subject, object_phrase
from .predicates import (
    draw_adjective,
    draw_age,
    draw_comparison,
    draw_existence,
    draw_identity,
    draw_impersonal,
    draw_noun,
    draw_weather,
)

EVENT_ADVERBS = ("soudain", "enfin", "finalement")


def draw_sentence(draw: Draw) -> Sentence:
    """One sentence, of a kind of `[sentence]` in the settings."""
    while True:
        kind = draw.weighted(draw.settings["sentence"])
        draw.begin_sentence()
        try:
            sentence = QUESTIONS[kind](draw) if kind in QUESTIONS else Sentence(STATEMENTS[kind](draw))
            body = sentence.body
            if isinstance(body, Clause) and kind in ("adjective", "verb") and draw.share("front"):
                front = adverb(draw, "attitude")
                is_event = body.verb.aspect != "state" and body.tense == "past"
                if is_event or front.texts[0] not in EVENT_ADVERBS:
                    sentence.front = front
        except DeadEndError:
            continue
        sentence.is_contracted = draw.happens(draw.settings["english"]["contraction"])
        sentence.is_negation_contracted = draw.happens(draw.settings["english"]["negation_contraction"])
        return sentence


# -- one clause within the other ------------------------------------------------------------------------

NOT_BEFORE_INFINITIVE = ("perfect", "used_to", "in_progress", "since_progressive", "just", "past_progressive")
FUTURE_CONTENT = ("espérer", "promettre")
SIMPLE = ("je", "tu", "il", "elle", "nous", "vous", "ils", "name", "noun")


def draw_infinitive_clause(draw: Draw) -> Clause:
    """*je veux dormir*, *elle a décidé de partir*, *je voudrais un café*."""
    verb = draw_verb(draw, "infinitive")
    subject = draw_subject(draw, verb.subject)
    clause = Clause(subject, verb, draw.synonym(verb.english), draw_tense(draw, verb))
    if clause.tense in NOT_BEFORE_INFINITIVE:
        clause.tense = "past"
    if verb.french == "vouloir" and draw.happens(0.3):
        clause.english, clause.tense = "like", "conditional"
    elif verb.aspect == "state" and clause.tense == "future":
        clause.tense = "present"
    if clause.tense == "present" and verb.aspect == "activity":
        clause.tense = "progressive"
    is_negatable = verb.has("negatable") and not is_quantified(subject)
    if is_negatable and clause.tense != "conditional" and draw.share("negation"):
        clause.negation = "pas"
    clause.infinitive = draw_infinitive(draw, verb, subject)
    return clause


def draw_content(draw: Draw) -> Clause:
    """*je pense que tu as raison*."""
    verb = draw_verb(draw, "content")
    subject = draw_subject(draw, verb.subject, SIMPLE)
    is_future = verb.french in FUTURE_CONTENT
    is_past = verb.aspect != "state" and not is_future
    clause = Clause(subject, verb, draw.synonym(verb.english), "past" if is_past else "present")
    if verb.has("negative"):
        clause.negation = "pas"
    draw.can_relate = False
    if not is_future and draw.happens(0.5):
        content = draw_adjective(draw, tense="imperfect" if is_past else "present")
    elif is_past:
        content = draw_clause(draw, tense="pluperfect", frame=draw_frame(draw, "swap"))
        if content.verb.aspect == "state":
            raise DeadEndError
    else:
        content = draw_clause(draw, tense="future" if is_future else "")
    clause.content = content
    is_own = content.agreement.person == subject.agreement.person != 3
    if same(content.subject, subject) or (is_own and not is_future):
        raise DeadEndError
    return clause


# -- two clauses ----------------------------------------------------------------------------------------

PAST = ("past", "imperfect", "past_progressive", "used_to", "perfect")
WISHED = ("riche", "libre", "jeune", "prêt", "célèbre", "patient", "courageux", "prudent", "grand")
LINKS = {"reason": 28, "contrast": 16, "condition": 16, "unreal": 6, "when": 14, "whenever": 10, "while": 10}
TIMED: dict[str, tuple[Texts, str, str, bool, float, float]] = {
    "condition": (("si", "if"), "future", "present", True, 0.3, 0.5),  # si tu viens je serai content
    "unreal": (("si", "if"), "conditional", "imperfect", False, 0.3, 0.5),  # si j'avais le temps je viendrais
    "when": (("quand", "when"), "past_progressive", "past", False, 0.0, 0.2),  # je dormais quand il est venu
    "whenever": (("quand", "when"), "present", "present", False, 0.4, 0.5),  # quand il pleut je reste ici
    "while": (("pendant que", "while"), "progressive", "progressive", False, 0.0, 0.0),
    "while_past": (("pendant que", "while"), "past_progressive", "past_progressive", False, 0.0, 0.0),
}
"""Conjunction, tenses, if they may have an adjective, shares of the second about the weather and in front."""
CONTRAST = {("mais", "but"): 6, ("et", "and"): 4, ("donc", "so"): 2}


def draw_linked(draw: Draw) -> Linked:
    """Two clauses and a conjunction."""
    draw.can_relate = draw.can_point = False
    kind = draw.weighted(LINKS)
    if kind == "reason":  # elle pleure parce qu'elle est triste
        first = _plain(draw)
        is_act = first.verb.aspect != "state" and not first.verb.has("involuntary")
        if not is_act or first.tense not in ("progressive", "past"):
            raise DeadEndError
        return Linked(first, ("parce que", "because"), _second(draw, first, is_reason=True))
    if kind == "contrast":  # il est riche mais il travaille
        first = _plain(draw, can_be=True)
        second = _second(draw, first)
        is_copula = first.verb.frame == second.verb.frame == "copula"
        if (first.tense in PAST) != (second.tense in PAST) or is_copula or first.verb is second.verb:
            raise DeadEndError
        drop_time(second)
        return Linked(first, draw.weighted(CONTRAST), second)
    return _at_one_time(draw, draw.weighted({"while": 5, "while_past": 5}) if kind == "while" else kind)


def _plain(draw: Draw, subject: Pronoun | None = None, tense: str = "", can_be: bool = False) -> Clause:
    """A short clause: an expression, a verb, or where it `can_be` an adjective."""
    if can_be and draw.happens(0.4):
        return draw_adjective(draw, subject, tense, SIMPLE, only_states=True)
    frame = draw.weighted({"intransitive": 35, "expression": 25, "transitive": 40})
    clause = draw_clause(draw, subject, tense, frame=frame, subjects=SIMPLE)
    if clause.verb.aspect == "state" and clause.verb.frame == "transitive":
        raise DeadEndError
    clause.adjuncts = clause.adjuncts[:1]
    return clause


def _look_back(nominal: Nominal | None) -> Pronoun:
    """A pronoun for something that was mentioned: *la voiture -> elle, it*."""
    if isinstance(nominal, Pronoun):
        return Pronoun(nominal.agreement, nominal.kind)
    if isinstance(nominal, Name):
        return Pronoun(nominal.agreement)
    if isinstance(nominal, NounPhrase) and nominal.determiner in ("the", "my", "this", "a", "some", "number"):
        if nominal.is_person:
            return Pronoun(nominal.agreement)
        if not nominal.noun.has("mass") and nominal.content is None:
            return Pronoun(nominal.agreement, "thing", nominal.agreement._replace(number=nominal.english_number))
    raise DeadEndError


def _second(draw: Draw, first: Clause, is_reason: bool = False) -> Clause:
    """A clause about the subject or object of the first, in a tense that goes with it."""
    topic = first.subject
    if isinstance(first.object, NounPhrase) and not first.object.is_person and draw.happens(0.5):
        topic = first.object
    back = _look_back(topic)
    tense = "imperfect" if first.tense in PAST else "present"
    if isinstance(topic, NounPhrase) and not topic.is_person:
        clause = draw_adjective(draw, topic, tense, only_states=True)
        clause.subject = back
        return clause
    if not is_reason and draw.happens(0.3):
        return _plain(draw, back, "" if tense == "present" else "past", can_be=True)
    if draw.happens(0.5):
        return draw_adjective(draw, back, tense, only_states=True)
    state = draw_clause(draw, back, tense, frame="expression")
    if state.verb.aspect != "state":
        raise DeadEndError
    return state


def _at_one_time(draw: Draw, kind: str) -> Linked:
    """Clauses of TIMED, without adverbs of time and the like, which would quarrel with the conjunction."""
    conjunction, first_tense, second_tense, can_be, weather, fronted = TIMED[kind]
    first = attempt(lambda: _plain(draw, tense=first_tense, can_be=can_be))
    if weather and draw.happens(weather):
        second = draw_weather(draw, second_tense)
    elif first_tense == "conditional":
        second = draw_adjective(draw, None, second_tense, SIMPLE, only=WISHED)
    else:
        second = _plain(draw, tense=second_tense, can_be=can_be)
    if first is None or (first_tense == "conditional" and first.verb.aspect == "state"):
        raise DeadEndError
    if "progressive" in first_tense:
        lasting = (first, second) if first_tense == second_tense else (first,)
        if any(clause.verb.aspect != "activity" or clause.verb.has("brief") for clause in lasting):
            raise DeadEndError
        if second.verb.aspect == "state" or first.negation or second.negation:
            raise DeadEndError
    first.adjuncts, second.adjuncts = [], []
    return Linked(first, conjunction, second, fronted > 0 and draw.happens(fronted))


# -- questions and commands -----------------------------------------------------------------------------

ASKED = ("tu", "vous", "il", "elle", "ils")
COMMANDED = {"intransitive": 20, "transitive": 45, "dative": 12, "locative": 8, "oblique": 12, "expression": 5}
REPROACHES = ("mal", "trop")


def _asked(draw: Draw, frame: str, tense: str = "", can_negate: bool = False) -> Clause:
    """A clause about a pronoun."""
    clause = draw_clause(draw, subjects=ASKED, frame=frame, tense=tense, can_negate=can_negate)
    if not isinstance(clause.subject, Pronoun):
        raise DeadEndError
    return clause


def _question(draw: Draw, clause: Clause, question: Indefinite | NounPhrase | None = None) -> Sentence:
    return Sentence(clause, draw.weighted({"est-ce que": 55, "inversion": 45}), "?", question=question)


def _yes_no(draw: Draw) -> Sentence:
    """*est-ce que tu dors ?*, *as tu faim ?*."""
    is_adjective = draw.happens(0.3)
    clause = draw_adjective(draw, subjects=ASKED) if is_adjective else _asked(draw, draw_frame(draw, "swap"), "", True)
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
        clause = _asked(draw, draw_frame(draw, "swap"), can_negate=True)
        if clause.tense == "just":
            raise DeadEndError
    else:
        tense = draw.weighted({"past": 5, "going_to": 3, "future": 2})
        clause = _asked(draw, draw.pick(("intransitive", "transitive", "locative")), tense)
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
    clause = _asked(draw, "locative")
    clause.place = None
    drop_time(clause)
    return _question(draw, clause, word)


def _what(draw: Draw) -> Sentence:
    """*qu'est-ce que tu manges ?*."""
    clause = _asked(draw, "transitive")
    clause.adjuncts = clause.adjuncts[:1]
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
    clause = _asked(draw, "transitive")
    clause.adjuncts = clause.adjuncts[:1]
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
    clause.adjuncts = [a for a in clause.adjuncts if not (isinstance(a, Adjunct) and a.texts[0] in REPROACHES)]
    return Sentence(clause, "imperative", "!" if draw.happens(0.6) else ".")


STATEMENTS: dict[str, Callable[[Draw], Clause | Linked]] = {
    "adjective": draw_adjective, "noun": draw_noun, "verb": draw_clause, "infinitive": draw_infinitive_clause,
    "content": draw_content, "linked": draw_linked, "existential": draw_existence, "identity": draw_identity,
    "comparison": draw_comparison, "age": draw_age, "impersonal": draw_impersonal,
}  # fmt: skip
QUESTIONS = {"yes_no": _yes_no, "wh": _wh, "imperative": _command}
