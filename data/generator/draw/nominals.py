"""Drawing subjects, objects and other nominals: which noun or name, and what goes with it."""

from __future__ import annotations

from functools import cache

from ..entries import Noun, Selection, Verb
from ..meaning import Agreement, Clause, Gap, Indefinite, Name, Nominal, NounPhrase, Pair, Relative
from ..tables import Lexicon
from .chance import Draw
from .modifiers import (
    Surroundings,
    decorate,
    determine_object,
    determine_subject,
    first_or_second,
    number,
    owned_share,
)

PERSON_CLASSES = frozenset(("human", "job", "kin", "friend"))
INDEFINITES = {("quelqu'un", "someone"): 4, ("tout le monde", "everyone"): 5, ("personne", "nobody"): 3}
PLURAL = ("nous", "vous", "ils", "elles", "pair", "noun")


def name(draw: Draw, kind: str = "name") -> Name:
    """A first name, a city or a country."""
    entry = draw.by_order(draw.lexicon.names[kind], "name")
    return Name(entry, Agreement(3, "pl" if entry.is_plural_only else "sg", entry.gender))


def subject(draw: Draw, selection: Selection, only: tuple[str, ...] = ()) -> Nominal | None:
    """A subject that a verb or adjective admits; `only` restricts to these kinds of `[subject]`."""
    # il, elle stand for persons: a thing is named, and the pronoun it only looks back
    weights = {"noun": 1.0}
    if "human" in selection.classes:
        weights = {
            kind: weight
            for kind, weight in draw.settings.subject.items()
            if (not only or kind in only) and (selection.number != "pl" or kind in PLURAL)
        }
    kind = draw.weighted(weights)
    if kind == "vous" and selection.number == "pl" and draw.address != "vous":
        return None
    if kind == "name":
        return name(draw)
    if kind == "pair":
        return _pair(draw)
    if kind == "someone":
        return Indefinite(draw.weighted(INDEFINITES))
    if kind != "noun":
        return draw.pronoun(kind)
    noun = draw.noun(selection)
    if noun is None:
        return None
    phrase = _phrase(draw, noun, number(draw, noun, selection.number))
    determine_subject(draw, phrase)
    return _finish(draw, phrase, Surroundings())


def _pair(draw: Draw) -> Pair:
    first, second = name(draw), name(draw)
    while second.entry is first.entry:
        second = name(draw)
    genders = {first.entry.gender, second.entry.gender}
    return Pair(first, second, Agreement(3, "pl", "f" if genders == {"f"} else "m"))


def object_(draw: Draw, selection: Selection, around: Surroundings) -> Nominal | None:
    """A nominal after a verb: a noun phrase, or for persons a name, for places a city or country."""
    kinds: dict[str, float] = {"noun": 10.0} if draw.has_nouns(selection) else {}
    kinds |= {kind: 4.0 for kind in ("city", "country") if kind in selection.classes}
    if selection.classes >= PERSON_CLASSES and not around.options & {"generic", "bare"}:
        kinds["name"] = 4.0
    if not kinds:
        return None
    kind = draw.weighted(kinds)
    return object_phrase(draw, selection, around) if kind == "noun" else name(draw, kind)


def object_phrase(draw: Draw, selection: Selection, around: Surroundings) -> NounPhrase | None:
    """A noun phrase after a verb."""
    noun = draw.noun(selection)
    if noun is None:
        return None
    if "indefinite" in around.options and (noun.is_singular_only or noun.owning == "public"):
        return None  # one does not say that somebody has a father or a subway
    measured = _measured(draw, noun, around)
    if measured is not None:
        return measured
    phrase = _phrase(draw, noun, number(draw, noun, selection.number))
    determine_object(draw, phrase, around)
    return _finish(draw, phrase, around)


def _phrase(draw: Draw, noun: Noun, number: str, determiner: str = "the") -> NounPhrase:
    return NounPhrase(noun, draw.synonym(noun.english), number, determiner)


def _measured(draw: Draw, noun: Noun, around: Surroundings) -> NounPhrase | None:
    """*une tasse de café* in the place of *du café*."""
    if not draw.group("measured").admits(noun) or around.is_negated_object:
        return None
    if around.options & {"generic", "definite", "bare", "whole"} or not draw.share("measure"):
        return None
    fitting = [measure for measure in draw.lexicon.nouns if noun.lemma in measure.measures]
    if not fitting:
        return None
    measure = draw.by_order(fitting, "noun")
    count = draw.weighted({1: 70, 2: 20, 3: 10})
    phrase = _phrase(draw, measure, "sg" if count == 1 else "pl", "a" if count == 1 else "number")
    phrase.count = count
    is_cut = noun.is_mass or measure.lemma in ("morceau", "tranche")
    number = "sg" if is_cut and not noun.is_plural_only else "pl"
    phrase.content = NounPhrase(noun, noun.english[0], number, "bare")
    return phrase


def _finish(draw: Draw, phrase: NounPhrase, around: Surroundings) -> NounPhrase:
    """Complement, adjectives, relative clause; relatives always belong to somebody."""
    is_kin = phrase.noun.class_name == "kin" and phrase.determiner == "the"
    if is_kin:
        phrase.number = "sg"
        phrase.complement = (None if draw.happens(0.6) else _simple(draw, draw.group("owner"))) or name(draw)
    if around.is_plain or is_kin or phrase.determiner in ("generic", "bare"):
        return phrase
    if phrase.determiner == "the" and draw.can_relate and draw.share("complement"):
        phrase.complement = _possessor(draw, phrase.noun)
    decorate(draw, phrase)
    can_relate = draw.can_relate and phrase.determiner in ("the", "a", "some") and not phrase.complement
    if can_relate and not phrase.modifiers and draw.share("relative"):
        phrase.relative = _relative(draw, phrase)
    return phrase


def _possessor(draw: Draw, noun: Noun) -> Nominal | None:
    """An owner (*de paul, de mon frère*), or a whole of which the noun is a part (*de la maison*)."""
    if noun.class_name == "part":
        return _simple(draw, draw.group("whole"))
    is_owned = draw.group("possession").admits(noun) and noun.owning != "public"
    if not is_owned or (noun.class_name == "building" and noun.owning != "owned"):
        return None
    return name(draw) if draw.happens(0.5) else _simple(draw, draw.group("owner"))


def _simple(draw: Draw, selection: Selection) -> NounPhrase | None:
    noun = draw.noun(selection)
    if noun is None or noun.is_plural_only:
        return None
    phrase = _phrase(draw, noun, "sg")
    if noun.class_name == "kin" or draw.happens(owned_share(draw, noun)):
        phrase.determiner, phrase.owner = "my", first_or_second(draw)
    return phrase


# -- relative clauses -----------------------------------------------------------------------------------


@cache
def _verbs_about(lexicon: Lexicon, noun: Noun) -> tuple[tuple[Verb, ...], tuple[Verb, ...]]:
    """Verbs that admit the noun as their subject, and as their object."""
    as_subject = tuple(
        verb
        for frame in ("intransitive", "expression", "transitive")
        for verb in lexicon.verbs[frame]
        if verb.subject.admits(noun) and verb.subject.number != "pl"
    )
    as_object = tuple(
        verb
        for verb in lexicon.verbs["transitive"]
        if verb.object.admits(noun) and "human" in verb.subject.classes and verb.french != "avoir"
    )
    return as_subject, as_object


def _relative(draw: Draw, phrase: NounPhrase) -> Relative | None:
    """*qui dort*, *que j'ai acheté*: the noun itself is the subject or object that the verb admits."""
    as_subject, as_object = _verbs_about(draw.lexicon, phrase.noun)
    gap = Gap(phrase.agreement, phrase.is_person)
    if not as_subject or (as_object and not draw.happens(0.5)):
        if not as_object or phrase.noun.is_generic:
            return None
        verb = draw.by_order(as_object, "verb")
        person = draw.pronoun(draw.weighted({"je": 10, "tu": 5, "il": 4, "elle": 4, "nous": 3, "vous": 3}))
        english = draw.synonym(verb.english)
        return Relative(("que", "that"), Clause(person, verb, english, _relative_tense(draw, verb), object=gap))
    verb = draw.by_order(as_subject, "verb")
    tense = _relative_tense(draw, verb)
    clause = Clause(gap, verb, draw.synonym(verb.english), tense)
    if verb.frame == "transitive":
        clause.object = object_(draw, verb.object, Surroundings(gap, tense, options=verb.options, is_plain=True))
        if clause.object is None:
            return None
    return Relative(("qui", "who" if phrase.is_person else "that"), clause)


def _relative_tense(draw: Draw, verb: Verb) -> str:
    if verb.aspect == "state":
        return "present"
    if verb.aspect == "point" or "past" in verb.options:
        return "past"
    return draw.weighted({"progressive": 4, "past": 6})
