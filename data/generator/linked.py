"""Drawing two clauses: one within the other, or linked by a conjunction, with pronouns that look back."""

from __future__ import annotations

from .adjuncts import draw_tense, drop_time, same
from .chance import DeadEndError, Draw, attempt
from .clauses import draw_clause, draw_frame, draw_infinitive, draw_verb, is_quantified
from .entries import Texts
from .meaning import Clause, Indefinite, Linked, Name, Nominal, NounPhrase, Pair, Pronoun, english_agreement
from .nouns import draw_subject
from .predicates import draw_adjective, draw_weather

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
    if kind == "reason":
        return _reason(draw)
    if kind == "contrast":
        return _contrast(draw)
    return _at_one_time(draw, draw.weighted({"while": 5, "while_past": 5}) if kind == "while" else kind)


def _plain(draw: Draw, subject: Pronoun | None = None, tense: str = "", can_be: bool = False) -> Clause:
    """A short clause: an expression, a verb, or where it `can_be` an adjective."""
    subjects = () if subject else SIMPLE
    if can_be and draw.happens(0.4):
        return draw_adjective(draw, subject, tense, subjects, only_states=True)
    frame = draw.weighted({"intransitive": 35, "expression": 25, "transitive": 40})
    clause = draw_clause(draw, subject, tense, frame=frame, subjects=subjects)
    if clause.verb.aspect == "state" and clause.verb.frame == "transitive":
        raise DeadEndError
    clause.adjuncts = clause.adjuncts[:1]
    return clause


def _look_back(nominal: Nominal | None) -> Pronoun:
    """A pronoun for something that was mentioned: *la voiture -> elle, it*."""
    if isinstance(nominal, Pronoun) and nominal.kind in ("personal", "formal", "on", "thing"):
        return Pronoun(nominal.agreement, nominal.kind)
    if isinstance(nominal, Name | Pair):
        return Pronoun(nominal.agreement)
    if isinstance(nominal, NounPhrase) and nominal.determiner in ("the", "my", "this", "a", "some", "number"):
        if nominal.is_person:
            return Pronoun(nominal.agreement)
        if not nominal.noun.has("mass") and nominal.content is None:
            return Pronoun(nominal.agreement, "thing", english_agreement(nominal))
    raise DeadEndError


def _second(draw: Draw, first: Clause, is_reason: bool = False) -> Clause:
    """A clause about the subject or object of the first, in a tense that goes with it."""
    topic = first.subject
    if isinstance(first.object, NounPhrase) and not first.object.is_person and draw.happens(0.5):
        topic = first.object
    back = _look_back(topic)
    if isinstance(first.subject, Indefinite):
        raise DeadEndError
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


def _reason(draw: Draw) -> Linked:
    """*elle pleure parce qu'elle est triste*."""
    first = _plain(draw)
    if first.verb.aspect == "state" or first.tense not in ("progressive", "past") or first.verb.has("involuntary"):
        raise DeadEndError
    return Linked(first, ("parce que", "because"), _second(draw, first, is_reason=True))


def _contrast(draw: Draw) -> Linked:
    """*il est riche mais il travaille*."""
    first = _plain(draw, can_be=True)
    second = _second(draw, first)
    is_copula = first.verb.frame == second.verb.frame == "copula"
    if (first.tense in PAST) != (second.tense in PAST) or is_copula or first.verb is second.verb:
        raise DeadEndError
    drop_time(second)
    return Linked(first, draw.weighted(CONTRAST), second)


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
