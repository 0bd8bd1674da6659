"""Drawing the words around a noun: adjectives with degree and comparison; article, possessive, number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ..entries import Adjective, Adverb, Noun
from ..meaning import Adverbial, Agreement, Indefinite, Modifier, Nominal, NounPhrase, Pronoun, is_thing
from ..tables import Lexicon
from .chance import Draw


@cache
def adjectives_for(lexicon: Lexicon, noun: Noun, use: str) -> tuple[Adjective, ...]:
    """Adjectives that go with a noun as `attribute` or `predicate`, most frequent first."""
    return tuple(a for a in lexicon.adjectives if a.use in ("both", use) and a.selection.admits(noun))


def modifier(draw: Draw, adjective: Adjective) -> Modifier:
    """The adjective with one of its English words."""
    return Modifier(adjective, draw.synonym(adjective.english))


def degree(draw: Draw, adjective: Adjective, adverb: Adverb | None = None) -> Adverbial:
    """An adverb of degree, *très* before others; *un peu* only for what one may be a little too much."""
    degrees = draw.lexicon.adverbs["degree"]
    adverb = adverb or draw.by_order(degrees, "adverb")
    if adverb.french == "un peu" and not adjective.takes_a_little:
        adverb = degrees[0]
    return Adverbial(adverb, draw.synonym(adverb.english))


def decorate(draw: Draw, phrase: NounPhrase) -> None:
    """Sometimes gives a noun phrase an adjective, rarely two, one of them as a superlative."""
    if phrase.content is not None or phrase.determiner == "no" or not draw.share("adjective"):
        return
    first = _attribute(draw, phrase)
    if first is None:
        return
    phrase.modifiers.append(first)
    is_gradable = first.adjective.is_gradable and not first.adjective.determiner
    is_countable = not phrase.noun.is_mass and not phrase.complement
    if is_gradable and is_countable and phrase.determiner == "the" and draw.happens(0.12):
        first.comparison, first.english = "most", first.adjective.english[0]
    elif is_gradable and phrase.determiner == "a" and draw.happens(0.1):
        first.degree = degree(draw, first.adjective, draw.lexicon.adverbs["degree"][0])
    elif draw.share("second_adjective"):
        second = _attribute(draw, phrase)
        if second is not None and second.adjective.is_before != first.adjective.is_before:
            phrase.modifiers.append(second)


def _attribute(draw: Draw, phrase: NounPhrase) -> Modifier | None:
    adjectives = [
        adjective
        for adjective in adjectives_for(draw.lexicon, phrase.noun, "attribute")
        if (adjective.determiner == "" and (adjective.is_before or phrase.noun.class_name != "kin"))
        or (adjective.determiner, phrase.determiner) in (("definite", "the"), ("possessive", "my"))
    ]
    return modifier(draw, draw.by_order(adjectives, "adjective")) if adjectives else None


# Tenses in which English has *some*: one event, not a habit.
WITH_SOME = frozenset(("past", "pluperfect", "perfect", "future", "going_to", "just", "imperative", "conditional"))
DEFINITE = frozenset(("definite",))
OWNED = 0.25
NOT_OWNED = frozenset(("measure", "time", "sky"))
COUNTS = {2: 10, 3: 7, 4: 4, 5: 3, 6: 2, 7: 1, 8: 1, 10: 1, 12: 1}


@dataclass(frozen=True)
class Surroundings:
    """The clause around a noun phrase, as far as it shapes the phrase."""

    subject: Nominal | None = None
    tense: str = ""
    is_negated_object: bool = False
    options: frozenset[str] = frozenset()
    is_plain: bool = False


def number(draw: Draw, noun: Noun, fixed: str = "") -> str:
    """Singular or plural, as the noun allows; `fixed` where the verb asks for one."""
    if noun.is_plural_only:
        return "pl"
    if noun.is_mass or noun.is_unique or noun.is_generic or noun.is_english_plural_only or noun.is_singular_only:
        return "sg"
    if noun.is_paired and not fixed and draw.happens(0.8):
        return "pl"
    return fixed or ("pl" if draw.share("plural") else "sg")


def determine_subject(draw: Draw, phrase: NounPhrase) -> None:
    """Gives a subject its determiner; its owner can only be speaker or hearer."""
    noun = phrase.noun
    if noun.is_generic:
        phrase.determiner = "generic"
    elif noun.is_unique or noun.is_mass:
        phrase.determiner = "the"
    elif draw.happens(owned_share(draw, noun)):
        phrase.determiner, phrase.owner = "my", first_or_second(draw)
    elif noun.class_name == "kin":
        phrase.determiner = "the"
    else:
        weights = {"the": 60.0, "this": 10.0}
        if phrase.is_person and phrase.number == "sg":
            weights["a"] = 4.0
        if phrase.number == "pl" and noun.is_countable:
            weights |= {"number": 6.0, "many": 3.0, "several": 2.0, "all": 4.0}
        elif noun.is_countable:
            weights["every"] = 2.0
        phrase.determiner = draw.weighted(weights)
    if phrase.determiner == "number":
        phrase.count = draw.weighted(COUNTS)


def determine_object(draw: Draw, phrase: NounPhrase, around: Surroundings) -> None:
    """Gives an object its determiner; its owner may be the subject."""
    noun, options = phrase.noun, around.options
    singular = phrase.number if noun.is_plural_only else "sg"
    if "bare" in options:
        phrase.number, phrase.determiner = ("pl" if noun.is_plural_only else "sg"), "bare"
    elif noun.is_generic or "generic" in options:
        is_singular = noun.is_mass or (noun.is_generic and not noun.is_plural_only)
        phrase.number, phrase.determiner = ("sg" if is_singular else "pl"), "generic"
    elif "definite" in options:
        phrase.number, phrase.determiner = singular, "the"
    elif draw.happens(owned_share(draw, noun)) and "indefinite" not in options:
        phrase.owner, phrase.owner_is_thing = owner(draw, around.subject)
        phrase.determiner = "my"
    elif noun.is_unique or (noun.class_name == "kin" and "indefinite" not in options):
        phrase.number, phrase.determiner = singular, "the"
    else:
        phrase.determiner = draw.weighted(_object_weights(phrase, around))
    if phrase.determiner == "number":
        phrase.count = draw.weighted(COUNTS)


def _object_weights(phrase: NounPhrase, around: Surroundings) -> dict[str, float]:
    noun = phrase.noun
    indefinite = "no" if around.is_negated_object else "some" if around.tense in WITH_SOME else "a"
    is_counted = noun.is_countable and phrase.number == "pl" and not around.is_negated_object
    if "indefinite" in around.options:
        return {indefinite: 1.0, "number": 1.5 if is_counted else 0.0}
    if noun.class_name == "friend":
        return {"the": 5.0, "this": 1.0}
    weights = {"the": 42.0, indefinite: 40.0, "this": 8.0}
    if around.is_negated_object and around.tense == "imperative":
        weights["no"] = 0.0
    if noun.is_mass:
        weights["many"] = 4.0
    elif is_counted:
        of_persons = noun.class_name in ("human", "job")
        weights |= {"number": 4.0 if of_persons else 14.0, "many": 4.0, "a_few": 4.0, "several": 3.0, "all": 2.0}
    return weights


def owner(draw: Draw, subject: Nominal | None) -> tuple[Agreement, bool]:
    """An owner and if it is a thing: mostly the subject itself, else the speaker or hearer.

    A third person is owner only where it is the subject, so that *son* has one meaning.
    """
    if isinstance(subject, Pronoun) and subject.kind in ("impersonal", "ce"):
        subject = None
    if subject is None or isinstance(subject, Indefinite) or draw.happens(0.25):
        return first_or_second(draw), False
    agreement = subject.agreement
    if isinstance(subject, Pronoun) and subject.kind == "on":
        return draw.owner(1, "pl"), False
    if agreement.person == 2:
        return draw.owner(2), False
    if agreement.person == 3 and not draw.can_own:
        return first_or_second(draw), False
    return agreement, agreement.number == "sg" and is_thing(subject)


def first_or_second(draw: Draw) -> Agreement:
    """The speaker, the hearer, or *nous*."""
    return draw.owner(*draw.weighted({(1, "sg"): 6, (2, "sg"): 3, (1, "pl"): 2}))


def owned_share(draw: Draw, noun: Noun) -> float:
    """Share of the noun's determiners that are possessive."""
    if noun.class_name in NOT_OWNED or noun.is_unique or noun.owning == "public":
        return 0.0
    if noun.owning == "owned":
        return OWNED
    owned = draw.lexicon.classes[noun.class_name].owned
    return 0.15 if owned is None else owned
