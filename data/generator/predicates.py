"""Drawing clauses with *être* and its like, and those whose subject means nothing (*il pleut*, *il y a un chat*)."""

from collections.abc import Collection
from functools import cache

from .adjuncts import EVERYONE, add_time, counted, draw_person, draw_place, draw_tense, other_person
from .chance import Draw, attempt, require
from .clauses import draw_infinitive, is_quantified
from .entries import Adjective, Lexicon, Selection, Verb
from .meaning import IT, NEUTRAL, Agreement, Clause, Indefinite, Modifier, Name, Nominal, NounPhrase, Pronoun, is_thing
from .nouns import adjectives_for, adverbial, decorate, degree, draw_object, draw_subject, noun_phrase, owner


def _tense(draw: Draw, verb: Verb) -> str:
    return draw.setting("tense", verb.french if verb.french in ("être", "rester") else f"copula_{verb.aspect}")


def _negate(draw: Draw, clause: Clause) -> None:
    """Sometimes *ne ... pas*, *plus* or *jamais*."""
    if is_quantified(clause.subject) or not draw.share("negation"):
        return
    never = 5 if isinstance(clause.attribute, Modifier) else 0
    clause.negation = draw.weighted({"pas": 85, "plus": 10, "jamais": never})
    if clause.tense != "present" and clause.negation == "plus":
        clause.negation = "pas"


def draw_adjective(
    draw: Draw,
    subject: Nominal | None = None,
    tense: str = "",
    subjects: Collection[str] = (),
    only_states: bool = False,
    is_wish: bool = False,
) -> Clause:
    """*je suis content*; what is wished is not negated."""
    if subject is None:
        kind = "person" if subjects or draw.happens(0.8) else "described"
        subject = draw_subject(draw, draw.groups[kind], subjects)
    verb = be = draw.lexicon.special["être"]
    if not (is_wish or draw.happens(0.86) or is_thing(subject) or isinstance(subject, Indefinite)):
        is_third = subject.agreement.person == 3
        copulas = [v for v in draw.lexicon.verbs["copula"] if is_third or not v.has("seen")]
        verb = draw.by_order(copulas, "verb")
        if tense in ("present", "imperfect") and verb.aspect == "point":
            verb = be
    adjectives = _adjectives_about(draw, subject)
    if verb.manners or is_wish:
        adjectives = [a for a in adjectives if a.french in verb.manners or (is_wish and a.has("wished"))]
    if only_states:
        adjectives = [a for a in adjectives if a.comparison and (is_thing(subject) or _is_state(a))]
    adjective = draw.by_order(adjectives, "adjective")
    attribute = Modifier(adjective, draw.synonym(adjective.english))
    clause = Clause(subject, verb, "be", "present", attribute=attribute)
    if verb.french == "être" and not isinstance(subject, Indefinite):
        _extend(draw, clause, subject, attribute)
    clause.english, clause.tense = draw.synonym(verb.english), tense or _tense(draw, verb)
    if attribute.degree is not None and attribute.degree.kind == "predicate":
        clause.tense = clause.tense if clause.tense in ("present", "imperfect") else "present"
    if not is_wish and not attribute.degree and verb.french == "être":
        _negate(draw, clause)
    return clause


def _extend(draw: Draw, clause: Clause, subject: Nominal, attribute: Modifier) -> None:
    """Perhaps gives a predicate adjective a complement, an infinitive or a degree."""
    adjective, is_person = attribute.adjective, not is_thing(subject)
    kind = draw.weighted({"plain": 45, "complement": 25, "infinitive": 10})
    if kind == "complement" and adjective.prep[0] and is_person:
        if "human" in adjective.complement.classes and draw.happens(0.5):
            attribute.complement = other_person(draw, subject, ("je", "tu", "nous", "vous", "il", "elle", "ils"))
        else:
            attribute.complement = attempt(lambda: draw_object(draw, adjective.complement, clause, {"definite"}))
    elif kind == "infinitive" and adjective.has("infinitive") and is_person:
        must, link = draw.lexicon.special["falloir"], (adjective.options["infinitive"], "to")
        attribute.infinitive = attempt(lambda: draw_infinitive(draw, must, subject, link))
    elif adjective.comparison and draw.share("degree"):
        attribute.degree = degree(draw, adjective)
    elif _is_state(adjective) and is_person and draw.happens(0.1):
        attribute.degree = adverbial(draw, draw.pick(draw.lexicon.adverbs["predicate"]))


@cache
def _adjectives_of_persons(lexicon: Lexicon) -> list[Adjective]:
    return [a for a in lexicon.adjectives if a.use != "attribute" and "human" in a.selection.classes]


def _adjectives_about(draw: Draw, subject: Nominal) -> list[Adjective]:
    if isinstance(subject, NounPhrase):
        used = {modifier.adjective.french for modifier in subject.modifiers}
        return [a for a in adjectives_for(draw.lexicon, subject.noun, "predicate") if a.french not in used]
    person, _, gender = subject.agreement
    of_persons = _adjectives_of_persons(draw.lexicon)
    return [a for a in of_persons if a.selection.gender in ("", gender) and (person == 3 or not a.has("third"))]


def _is_state(adjective: Adjective) -> bool:
    """True if it describes a person for a while: *fatigué*, but not *grand*."""
    return adjective.use == "predicate" and not adjective.has("size")


def draw_comparison(draw: Draw) -> Clause:
    """*il est plus grand que moi*."""
    subject = draw_subject(draw, draw.groups["person"])
    require(not isinstance(subject, Indefinite))
    adjective = draw.by_order([a for a in _adjectives_about(draw, subject) if a.comparison], "adjective")
    clause = Clause(subject, draw.lexicon.special["être"], "be", "present")
    standard = draw_person(draw, clause, {"pronoun": 50, "name": 25, "noun": 25}, {"definite", "plain"})
    require(not (isinstance(standard, Name) and isinstance(subject, Name) and len(subject.entries) > 1))
    kind = draw.weighted({"more": 65, "less": 12, "as": 23})
    is_short = adjective.comparison != "more"  # taller, so less tall is rarely used
    if (is_short and kind == "less") or (adjective.has("comparative") and kind == "more"):
        kind = "as"
    clause.attribute = Modifier(adjective, adjective.english[0], comparison=kind, standard=standard)
    clause.tense = _tense(draw, clause.verb)
    if kind == "as" or draw.happens(0.4):
        _negate(draw, clause)
    return clause


def draw_noun(draw: Draw) -> Clause:
    """*je suis médecin* (bare), *tu es un bon ami*, *il est devenu avocat*."""
    subject = draw_subject(draw, draw.groups["person"], (*EVERYONE, "elles", "name"))
    agreement = subject.agreement
    noun = draw.noun(Selection(draw.groups["being"].classes, gender=agreement.gender))
    phrase = noun_phrase(draw, noun, agreement.number, "a")
    verb = draw.lexicon.special["être"]
    if noun.class_name == "friend" and draw.happens(0.7):
        person = draw.weighted({"je": 5, "tu": 3})
        phrase.owner = draw.owner({1: "tu", 2: "je", 3: person}[agreement.person])
        phrase.determiner = "my"
    else:
        decorate(draw, phrase)
    if noun.class_name == "job":
        phrase.determiner = "a" if phrase.modifiers else "bare"
        if draw.happens(0.2):
            verb = draw.lexicon.special["devenir"]
    clause = Clause(subject, verb, draw.synonym(verb.english), _tense(draw, verb), attribute=phrase)
    if verb.french == "être":
        _negate(draw, clause)
    return clause


def draw_identity(draw: Draw) -> Clause:
    """*c'est vrai*, *c'est trop cher*; *c'est mon frère*, *ce sont de bonnes idées*."""
    subject = Pronoun(NEUTRAL, "ce", english=IT)
    clause = Clause(subject, draw.lexicon.special["être"], "be", "present")
    if draw.happens(0.3):
        adjectives = [a for a in draw.lexicon.adjectives if a.use == "both" and "idea" in a.selection.classes]
        adjective = draw.by_order([a for a in adjectives if a.position == "after"], "adjective")
        clause.attribute = attribute = Modifier(adjective, draw.synonym(adjective.english))
        if adjective.comparison and draw.share("degree"):
            attribute.degree = degree(draw, adjective)
        clause.tense = "imperfect" if draw.happens(0.15) else "present"
        if attribute.degree is None:
            _negate(draw, clause)
        return clause
    noun = draw.noun(draw.groups["identity"])
    require(not noun.has("plural_only", "mass"))
    number = "pl" if draw.happens(0.15) and not noun.has("en_mass") else "sg"
    clause.attribute = phrase = noun_phrase(draw, noun, number, "a")
    if noun.class_name in ("kin", "friend") or (noun.class_name != "job" and draw.happens(0.2)):
        phrase.determiner, phrase.owner = "my", owner(draw, None)
    elif draw.happens(0.15):
        phrase.determiner = "the"
    decorate(draw, phrase)
    subject.agreement = Agreement(3, number, "m")
    if phrase.is_person or number == "pl":
        subject.english = Agreement(3, number, noun.gender)
    clause.tense = "imperfect" if draw.happens(0.12) else "present"
    _negate(draw, clause)
    return clause


def _impersonal(verb: Verb, english: str, tense: str) -> Clause:
    """A clause with the *il* of *il pleut*."""
    return Clause(Pronoun(NEUTRAL, "impersonal", english=IT), verb, english, tense)


def draw_existence(draw: Draw) -> Clause:
    """*il y a un chat dans le jardin*."""
    tense = draw.weighted({"present": 75, "imperfect": 20, "future": 5})
    clause = _impersonal(draw.lexicon.special["y avoir"], "be", tense)
    if draw.happens(0.2):
        clause.negation = draw.weighted({"pas": 8, "plus": 2 if tense == "present" else 0})
    noun = draw.noun(draw.groups["there"])
    is_fixed = noun.has("plural_only")
    phrase = noun_phrase(draw, noun, "pl" if is_fixed else "sg", "some" if noun.has("mass") else "a")
    if not is_fixed and draw.happens(0.4) and not noun.has("mass"):
        phrase.number = "pl"
    if clause.negation:
        phrase.determiner = "no"
    elif phrase.number == "pl" and not noun.has("plural_only", "en_mass"):
        phrase.determiner = draw.weighted({"some": 3, "number": 4, "many": 3, "a_few": 1, "several": 1})
        phrase.count = draw.weighted({2: 5, 3: 5, 4: 2, 5: 1})
    decorate(draw, phrase)
    clause.object = phrase
    clause.place = draw_place(draw, draw.groups[draw.lexicon.classes[noun.class_name]["there"]], clause)
    return clause


def draw_age(draw: Draw) -> Clause:
    """*j'ai vingt ans*."""
    selection = draw.groups["person" if draw.happens(0.7) else "kin"]
    subject = draw_subject(draw, selection, ("je", "tu", "il", "elle", "vous", "name", "noun"))
    require(subject.agreement.number == "sg")
    tense = draw.weighted({"present": 80, "imperfect": 15, "future": 5})
    age = counted(draw, ("", "old"), "an", "ages")
    return Clause(subject, draw.lexicon.special["avoir"], "be", tense, adjuncts=[age])


def draw_impersonal(draw: Draw) -> Clause:
    """*il pleut*, *il fait froid*, *il est huit heures*, *il faut partir*."""
    kind = draw.weighted({"weather": 50, "clock": 20, "must": 30})
    if kind == "clock":
        clause = _impersonal(draw.lexicon.special["être"], "be", "present")
        clause.adjuncts = [counted(draw, ("", ""), "heure", "hours", "clock")]
        return clause
    if kind == "weather":
        return draw_weather(draw)
    tense = draw.weighted({"present": 70, "future": 20, "imperfect": 10})
    clause = _impersonal(draw.lexicon.special["falloir"], "have to", tense)
    clause.subject = Pronoun(NEUTRAL, "impersonal", english=Agreement(1, "pl", "m"))
    clause.infinitive = draw_infinitive(draw, clause.verb, draw.pronoun("nous"))
    clause.infinitive.controller = Indefinite.agreement
    return clause


def draw_weather(draw: Draw, tense: str = "") -> Clause:
    """*il pleut*."""
    verb = draw.by_order(draw.lexicon.verbs["impersonal"], "verb")
    clause = _impersonal(verb, draw.synonym(verb.english), tense or draw_tense(draw, verb))
    if clause.tense in ("used_to", "since_progressive", "perfect", "in_progress"):
        clause.tense = "past"
    add_time(draw, clause)
    return clause
