"""Drawing whole sentences, of each kind: of one clause, of two, one within the other or linked; questions; commands.

Each function draws from the stream that it is given. Where a choice leads nowhere, all is drawn again.
"""

from collections.abc import Callable

from . import predicates
from .adjuncts import adverb, draw_tense, drop_time
from .chance import DeadEndError, Draw, attempt, require
from .clauses import complete, draw_clause, draw_frame, draw_infinitive, draw_verb, is_quantified
from .meaning import NEUTRAL, Agreement, Clause, Gap, Indefinite, Name, Nominal, NounPhrase, Pronoun, Sentence
from .nouns import draw_subject, object_phrase
from .predicates import draw_adjective, draw_weather

EVENT_ADVERBS = ("soudain", "enfin", "finalement")


def draw_sentence(draw: Draw) -> Sentence:
    """One sentence, of a kind of `[sentence]` in the settings."""
    while True:
        kind = draw.setting("sentence")
        draw.begin_sentence()
        try:
            made = KINDS[kind](draw)
            sentence = Sentence(made) if isinstance(made, Clause) else made
            clause = sentence.clause
            if kind in ("adjective", "verb") and draw.share("front"):
                front = adverb(draw, "attitude")
                is_event = clause.verb.aspect != "state" and clause.tense == "past"
                if is_event or front.texts[0] not in EVENT_ADVERBS:
                    sentence.front = front
        except DeadEndError:
            continue
        sentence.is_contracted = draw.share("contraction", "english")
        sentence.is_negation_contracted = draw.share("negation_contraction", "english")
        return sentence


# -- one clause within the other ------------------------------------------------------------------------

SIMPLE = ("je", "tu", "il", "elle", "nous", "vous", "ils", "name", "noun")


def draw_infinitive_clause(draw: Draw) -> Clause:
    """*je veux dormir*, *elle a décidé de partir*, *je voudrais un café*."""
    verb = draw_verb(draw, "infinitive")
    subject = draw_subject(draw, verb.subject)
    clause = Clause(subject, verb, draw.synonym(verb.english), draw_tense(draw, verb))
    if "detached" in clause.tenses["traits"]:
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
    is_future = verb.has("future")
    is_past = verb.aspect != "state" and not is_future
    clause = Clause(subject, verb, draw.synonym(verb.english), "past" if is_past else "present")
    if verb.has("negative"):
        clause.negation = "pas"
    draw.can_relate = False
    if not is_future and draw.happens(0.5):
        content = draw_adjective(draw, tense="imperfect" if is_past else "present")
    elif is_past:
        content = draw_clause(draw, tense="pluperfect", frame=draw_frame(draw, "swap"))
        require(content.verb.aspect != "state")
    else:
        content = draw_clause(draw, tense="future" if is_future else "")
    clause.content = content
    is_own = content.agreement.person == subject.agreement.person != 3
    require(is_future or not is_own)
    require(content.subject != subject)
    return clause


# -- two clauses ----------------------------------------------------------------------------------------

CONTRAST = {("mais", "but"): 6, ("et", "and"): 4, ("donc", "so"): 2}


def draw_linked(draw: Draw) -> Sentence:
    """Two clauses and a conjunction."""
    draw.can_relate = draw.can_point = False
    kind = draw.setting("link")
    if kind == "reason":  # elle pleure parce qu'elle est triste
        first = _plain(draw)
        require(first.verb.aspect != "state" and not first.verb.has("involuntary"))
        require(first.tense in ("progressive", "past"))
        return Sentence(first, conjunction=("parce que", "because"), second=_second(draw, first, is_reason=True))
    if kind == "contrast":  # il est riche mais il travaille
        first = _plain(draw, can_be=True)
        second = _second(draw, first)
        require(("past" in first.tenses["traits"]) == ("past" in second.tenses["traits"]))
        require(first.verb is not second.verb and not first.verb.frame == second.verb.frame == "copula")
        drop_time(second)
        return Sentence(first, conjunction=draw.weighted(CONTRAST), second=second)
    if kind == "while":
        kind = draw.weighted({"while": 5, "while_past": 5})
    return _at_one_time(draw, kind)


def _plain(draw: Draw, subject: Pronoun | None = None, tense: str = "", can_be: bool = False) -> Clause:
    """A short clause: an expression, a verb, or where it `can_be` an adjective."""
    if can_be and draw.happens(0.4):
        return draw_adjective(draw, subject, tense, SIMPLE, only_states=True)
    frame = draw.weighted({"intransitive": 35, "expression": 25, "transitive": 40})
    clause = draw_clause(draw, subject, tense, frame=frame, subjects=SIMPLE)
    require(clause.verb.aspect != "state" or clause.verb.frame != "transitive")
    clause.adjuncts = clause.adjuncts[:1]
    return clause


def _look_back(nominal: Nominal | None) -> Pronoun:
    """A pronoun for something that was mentioned: *la voiture -> elle, it*."""
    if isinstance(nominal, Pronoun):
        return nominal
    if isinstance(nominal, Name):
        return Pronoun(nominal.agreement)
    if isinstance(nominal, NounPhrase) and nominal.determiner in ("the", "my", "this", "a", "some", "number"):
        if nominal.is_person:
            return Pronoun(nominal.agreement)
        if not nominal.noun.has("mass") and nominal.content is None:
            return Pronoun(nominal.agreement, "thing", english=Agreement(3, nominal.english_number, "thing"))
    raise DeadEndError


def _second(draw: Draw, first: Clause, is_reason: bool = False) -> Clause:
    """A clause about the subject or object of the first, in a tense that goes with it."""
    topic = first.subject
    if isinstance(first.object, NounPhrase) and not first.object.is_person and draw.happens(0.5):
        topic = first.object
    back = _look_back(topic)
    tense = "imperfect" if "past" in first.tenses["traits"] else "present"
    if isinstance(topic, NounPhrase) and not topic.is_person:
        clause = draw_adjective(draw, topic, tense, only_states=True)
        clause.subject = back
        return clause
    if not is_reason and draw.happens(0.3):
        return _plain(draw, back, "" if tense == "present" else "past", can_be=True)
    if draw.happens(0.5):
        return draw_adjective(draw, back, tense, only_states=True)
    state = draw_clause(draw, back, tense, frame="expression")
    require(state.verb.aspect == "state")
    return state


def _at_one_time(draw: Draw, kind: str) -> Sentence:
    """Clauses of `[timed]`, without adverbs, which would quarrel with the conjunction."""
    link = draw.settings["timed"][kind]
    (first_tense, second_tense), can_be = link["tenses"], link["adjective"]
    first = attempt(lambda: _plain(draw, tense=first_tense, can_be=can_be))
    if link["weather"] and draw.happens(link["weather"]):
        second = draw_weather(draw, second_tense)
    elif first_tense == "conditional":
        second = draw_adjective(draw, None, second_tense, SIMPLE, is_wish=True)
    else:
        second = _plain(draw, tense=second_tense, can_be=can_be)
    first = require(first)
    require(first_tense != "conditional" or first.verb.aspect != "state")
    if "progressive" in first_tense:
        lasting = (first, second) if first_tense == second_tense else (first,)
        require(all(clause.verb.aspect == "activity" and not clause.verb.has("brief") for clause in lasting))
        require(second.verb.aspect != "state" and not first.negation and not second.negation)
    first.adjuncts, second.adjuncts = [], []
    is_fronted = link["front"] > 0 and draw.happens(link["front"])
    return Sentence(first, conjunction=link["conjunction"], second=second, is_fronted=is_fronted)


# -- questions and commands -----------------------------------------------------------------------------

ASKED = ("tu", "vous", "il", "elle", "ils")
REPROACHES = ("mal", "trop")


def _asked(draw: Draw, frame: str, tense: str = "", can_negate: bool = False) -> Clause:
    """A clause about a pronoun."""
    clause = draw_clause(draw, subjects=ASKED, frame=frame, tense=tense, can_negate=can_negate)
    require(isinstance(clause.subject, Pronoun))
    return clause


def _question(draw: Draw, clause: Clause, question: Indefinite | NounPhrase | None = None) -> Sentence:
    return Sentence(clause, draw.weighted({"est-ce que": 55, "inversion": 45}), "?", question)


def _yes_no(draw: Draw) -> Sentence:
    """*est-ce que tu dors ?*, *as tu faim ?*."""
    if draw.happens(0.3):
        clause = draw_adjective(draw, subjects=ASKED)
    else:
        clause = _asked(draw, draw_frame(draw, "swap"), can_negate=True)
    require(isinstance(clause.subject, Pronoun) and clause.tense != "just")
    return _question(draw, clause)


def _wh(draw: Draw) -> Sentence:
    ask = draw.weighted({_adjunct: 30, _where: 20, _what: 20, _who: 12, _which: 18})
    return ask(draw)


def _adjunct(draw: Draw) -> Sentence:
    """*pourquoi pleures tu ?*, *quand est-ce que tu vas partir ?*."""
    word = draw.weighted({("pourquoi", "why"): 50, ("quand", "when"): 30, ("comment", "how"): 20})
    if word[0] == "pourquoi":
        clause = _asked(draw, draw_frame(draw, "swap"), can_negate=True)
        require(clause.tense != "just")
    else:
        tense = draw.weighted({"past": 5, "going_to": 3, "future": 2})
        clause = _asked(draw, draw.pick(("intransitive", "transitive", "locative")), tense)
        require(clause.verb.aspect != "state" and not clause.verb.has("involuntary"))
        clause.adjuncts = []
    return _question(draw, clause, Indefinite(word))


def _where(draw: Draw) -> Sentence:
    """*où est la gare ?*, *où vas tu ?*."""
    word = Indefinite(("où", "where"))
    if draw.happens(0.3):
        clause = Clause(None, draw.lexicon.special["être"], "be", "present")
        clause.subject = phrase = object_phrase(draw, draw.groups["sought"], clause, {"definite"})
        require(phrase.relative is None)
        clause.tense = "imperfect" if draw.happens(0.15) else "present"
        return Sentence(clause, "inversion", "?", word)
    clause = _asked(draw, "locative")
    clause.place = None
    drop_time(clause)
    return _question(draw, clause, word)


def _what(draw: Draw) -> Sentence:
    """*qu'est-ce que tu manges ?*."""
    clause = _asked(draw, "transitive")
    clause.adjuncts = clause.adjuncts[:1]
    require(not clause.verb.object.classes & draw.groups["person"].classes)
    clause.object = Gap(NEUTRAL)
    return _question(draw, clause, Indefinite(("que", "what")))


def _who(draw: Draw) -> Sentence:
    """*qui a mangé le gâteau ?*."""
    clause = draw_clause(draw, subject=draw.pronoun("il"), frame=draw_frame(draw, "swap"), can_negate=False)
    clause.subject = Gap(NEUTRAL, is_person=True)
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
    require(not noun.has("generic", "unique", "en_plural_only", *uncountable))
    clause.object = Gap(phrase.agreement)
    return _question(draw, clause, phrase)


def _command(draw: Draw) -> Sentence:
    """*ferme la porte !*."""
    frame = draw.setting("command")
    subject = draw.pronoun(draw.weighted({"tu": 50, "vous": 40, "nous": 10}))
    verb = draw_verb(draw, frame, subject, is_voluntary=True)
    clause = Clause(subject, verb, draw.synonym(verb.english), "imperative")
    is_bad = verb.has("bad")
    require(not (is_bad and subject.agreement.person == 1))
    if is_bad or (subject.agreement.person == 2 and draw.happens(0.25)):
        clause.negation = "jamais" if draw.happens(0.1) else "pas"
    complete(draw, clause)
    clause.adjuncts = [adjunct for adjunct in clause.adjuncts if adjunct.texts[0] not in REPROACHES]
    return Sentence(clause, "imperative", "!" if draw.happens(0.6) else ".")


KINDS: dict[str, Callable[[Draw], Clause | Sentence]] = {
    "adjective": draw_adjective,
    "noun": predicates.draw_noun,
    "verb": draw_clause,
    "infinitive": draw_infinitive_clause,
    "content": draw_content,
    "linked": draw_linked,
    "existential": predicates.draw_existence,
    "identity": predicates.draw_identity,
    "comparison": predicates.draw_comparison,
    "age": predicates.draw_age,
    "impersonal": predicates.draw_impersonal,
    "yes_no": _yes_no,
    "wh": _wh,
    "imperative": _command,
}
