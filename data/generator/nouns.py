"""Drawing nominals: which noun or name, its determiner, adjectives, complement, relative clause."""

from collections.abc import Collection, Set
from functools import cache

from .chance import Draw, attempt, nouns_for, require
from .entries import Adjective, Adverb, Lexicon, Noun, Selection, Texts, Verb
from .meaning import Adjunct, Agreement, Clause, Gap, Indefinite, Modifier, Name, Nominal, NounPhrase, Pronoun, is_thing

INDEFINITES = {("quelqu'un", "someone"): 4, ("tout le monde", "everyone"): 5, ("personne", "nobody"): 3}
PLURAL = ("nous", "vous", "ils", "elles", "pair", "noun")


# -- adjectives -----------------------------------------------------------------------------------------


@cache
def adjectives_for(lexicon: Lexicon, noun: Noun, use: str) -> list[Adjective]:
    """Adjectives that go with a noun as `attribute` or `predicate`, most frequent first."""
    return [a for a in lexicon.adjectives if a.use in ("both", use) and a.selection.admits(noun)]


def adverbial(draw: Draw, adverb: Adverb) -> Adjunct:
    """The adverb with one of its English words."""
    return Adjunct((adverb.french, draw.synonym(adverb.english)), kind=adverb.kind, positions=adverb.positions)


def degree(draw: Draw, adjective: Adjective) -> Adjunct:
    """An adverb of degree; *un peu* only for what one may be a little too much."""
    degrees = draw.lexicon.adverbs["degree"]
    adverb = draw.by_order(degrees, "adverb")
    return adverbial(draw, degrees[0] if adverb.french == "un peu" and not adjective.has("a_little") else adverb)


def decorate(draw: Draw, phrase: NounPhrase) -> None:
    """Sometimes gives a noun phrase an adjective, rarely two, one of them as a superlative."""
    if phrase.determiner == "no" or not draw.share("adjective"):
        return
    first = attempt(lambda: _attribute(draw, phrase))
    if first is None:
        return
    phrase.modifiers.append(first)
    adjective = first.adjective
    is_gradable = adjective.comparison and not adjective.has("definite", "possessive")
    can_be_most = is_gradable and phrase.determiner == "the" and not phrase.noun.has("mass") and not phrase.complement
    if can_be_most and draw.happens(0.12):
        first.comparison, first.english = "most", adjective.english[0]
    elif is_gradable and phrase.determiner == "a" and draw.happens(0.1):
        first.degree = adverbial(draw, draw.lexicon.adverbs["degree"][0])
    elif draw.share("second_adjective"):
        second = attempt(lambda: _attribute(draw, phrase))
        if second is not None and second.adjective.position != adjective.position:
            phrase.modifiers.append(second)


def _attribute(draw: Draw, phrase: NounPhrase) -> Modifier:
    adjectives = adjectives_for(draw.lexicon, phrase.noun, "attribute")
    if phrase.noun.class_name == "kin":
        adjectives = [a for a in adjectives if a.position == "before" or a.has("definite", "possessive")]
    without = [option for option, its in (("definite", "the"), ("possessive", "my")) if phrase.determiner != its]
    adjective = draw.by_order([a for a in adjectives if not a.has(*without)], "adjective")
    return Modifier(adjective, draw.synonym(adjective.english))


# -- determiners ----------------------------------------------------------------------------------------


def number(draw: Draw, noun: Noun, fixed: str) -> str:
    """Singular or plural, as the noun allows; `fixed` where the verb asks for one."""
    if noun.has("plural_only"):
        return "pl"
    if noun.has("mass", "unique", "generic", "en_plural_only", "singular"):
        return "sg"
    if noun.has("paired") and not fixed and draw.happens(0.8):
        return "pl"
    return fixed or ("pl" if draw.share("plural") else "sg")


def determine_subject(draw: Draw, phrase: NounPhrase) -> None:
    """Gives a subject its determiner; its owner can only be speaker or hearer."""
    noun = phrase.noun
    if noun.has("generic"):
        phrase.determiner = "generic"
    elif noun.has("unique", "mass"):
        return
    elif draw.happens(owned_share(draw, noun)):
        phrase.determiner, phrase.owner = "my", draw.owner()
    elif noun.class_name != "kin":
        weights = {"the": 60.0, "this": 10.0}
        if phrase.is_person and phrase.number == "sg":
            weights["a"] = 4.0
        if noun.is_countable:
            plurals = {"number": 6.0, "many": 3.0, "several": 2.0, "all": 4.0}
            weights |= plurals if phrase.number == "pl" else {"every": 2.0}
        phrase.determiner = draw.weighted(weights)


def determine_object(draw: Draw, phrase: NounPhrase, clause: Clause, options: Set[str]) -> None:
    """Gives an object its determiner; its owner may be the subject."""
    noun = phrase.noun
    singular = "pl" if noun.has("plural_only") else "sg"
    is_negated = "negated" in options
    if "bare" in options:
        phrase.number, phrase.determiner = singular, "bare"
    elif noun.has("generic") or "generic" in options:
        phrase.number = "sg" if noun.has("mass") else singular if noun.has("generic") else "pl"
        phrase.determiner = "generic"
    elif "definite" in options:
        phrase.number = singular
    elif draw.happens(owned_share(draw, noun)) and "indefinite" not in options:
        phrase.determiner, phrase.owner = "my", owner(draw, clause.subject)
    elif noun.has("unique") or (noun.class_name == "kin" and "indefinite" not in options):
        phrase.number = singular
    else:
        indefinite = "no" if is_negated else "some" if "event" in clause.tenses["traits"] else "a"
        weights = {"the": 42.0, indefinite: 40.0, "this": 8.0}
        is_counted = noun.is_countable and phrase.number == "pl" and not is_negated
        if "indefinite" in options:
            weights = {indefinite: 1.0, "number": 1.5 if is_counted else 0.0}
        elif noun.class_name == "friend":
            weights = {"the": 5.0, "this": 1.0}
        elif noun.has("mass"):
            weights["many"] = 4.0
        elif is_counted:
            number = 4.0 if noun.class_name in ("human", "job") else 14.0
            weights |= {"number": number, "many": 4.0, "a_few": 4.0, "several": 3.0, "all": 2.0}
        if is_negated and clause.tense == "imperative":
            weights["no"] = 0.0
        phrase.determiner = draw.weighted(weights)


def owner(draw: Draw, subject: Nominal | None) -> Agreement:
    """An owner: mostly the subject itself, else the speaker or hearer.

    A third person is owner only where it is the subject, so that *son* has one meaning.
    """
    kind = subject.kind if isinstance(subject, Pronoun) else ""
    if subject is None or isinstance(subject, Indefinite) or kind in ("impersonal", "ce") or draw.happens(0.25):
        return draw.owner()
    agreement = subject.agreement
    if kind == "on":
        return draw.owner("nous")
    if agreement.person == 2:
        return draw.owner("tu")
    if agreement.person == 3 and not draw.can_own:
        return draw.owner()
    return agreement._replace(gender="thing") if is_thing(subject) else agreement


def owned_share(draw: Draw, noun: Noun) -> float:
    """Share of the noun's determiners that are possessive."""
    if noun.has("unique", "public"):
        return 0.0
    return 0.25 if noun.has("owned") else draw.lexicon.classes[noun.class_name].get("owned", 0.15)


# -- nominals -------------------------------------------------------------------------------------------


def name(draw: Draw, kind: str = "name") -> Name:
    """A first name, a city or a country."""
    return Name((draw.by_order(draw.lexicon.names[kind], "name"),))


def draw_subject(draw: Draw, selection: Selection, only: Collection[str] = ()) -> Nominal:
    """A subject that a verb or adjective admits; `only` restricts to these kinds of `[subject]`."""
    # il, elle stand for persons: a thing is named, and the pronoun it only looks back
    weights = {"noun": 1.0}
    if "human" in selection.classes:
        weights = {
            kind: weight
            for kind, weight in draw.settings["subject"].items()
            if (not only or kind in only) and (selection.number != "pl" or kind in PLURAL)
        }
    kind = draw.weighted(weights)
    require(kind != "vous" or selection.number != "pl" or draw.address == "vous")
    if kind == "name":
        return name(draw)
    if kind == "pair":
        first, second = name(draw), name(draw)
        while second == first:
            second = name(draw)
        return Name(first.entries + second.entries)
    if kind == "someone":
        return Indefinite(draw.weighted(INDEFINITES))
    if kind != "noun":
        return draw.pronoun(kind)
    noun = draw.noun(selection)
    phrase = noun_phrase(draw, noun, number(draw, noun, selection.number))
    determine_subject(draw, phrase)
    return _finish(draw, phrase)


def draw_object(draw: Draw, selection: Selection, clause: Clause, options: Set[str] = frozenset()) -> Nominal:
    """A nominal after a verb: a noun phrase, or for persons a name, for places a city or country.

    The options are those of verbs, or *plain* (without adjectives and the like), *negated* (by what stands before it).
    """
    kinds: dict[str, float] = {"noun": 10.0} if nouns_for(draw.lexicon, selection)[0] else {}
    kinds |= {kind: 4.0 for kind in ("city", "country") if kind in selection.classes}
    if selection.classes >= draw.groups["person"].classes and not options & {"generic", "bare"}:
        kinds["name"] = 4.0
    kind = draw.weighted(require(kinds))
    return object_phrase(draw, selection, clause, options) if kind == "noun" else name(draw, kind)


def object_phrase(draw: Draw, selection: Selection, clause: Clause, options: Set[str]) -> NounPhrase:
    """A noun phrase after a verb; options as above."""
    noun = draw.noun(selection)
    # One does not say that somebody has a father or a subway.
    require(not ("indefinite" in options and noun.has("singular", "public")))
    is_measurable = draw.groups["measured"].admits(noun)
    if is_measurable and not options & {"negated", "generic", "definite", "bare", "whole"} and draw.share("measure"):
        measures = [entry for entry in draw.lexicon.nouns if noun.lemma in entry.options.get("measure", "").split(",")]
        if measures:  # *une tasse de café* in the place of *du café*
            measure = draw.by_order(measures, "noun")
            count = draw.weighted({1: 70, 2: 20, 3: 10})
            phrase = noun_phrase(draw, measure, "sg" if count == 1 else "pl", "a" if count == 1 else "number")
            phrase.count = count
            is_whole = noun.has("plural_only") or not (noun.has("mass") or measure.lemma in ("morceau", "tranche"))
            phrase.content = NounPhrase(noun, noun.english[0], "pl" if is_whole else "sg", "bare")
            return phrase
    phrase = noun_phrase(draw, noun, number(draw, noun, selection.number))
    determine_object(draw, phrase, clause, options)
    return _finish(draw, phrase, is_plain="plain" in options)


def noun_phrase(draw: Draw, noun: Noun, number: str, determiner: str = "the") -> NounPhrase:
    """The noun with one of its English words."""
    return NounPhrase(noun, draw.synonym(noun.english), number, determiner)


def _finish(draw: Draw, phrase: NounPhrase, is_plain: bool = False) -> NounPhrase:
    """Number, complement, adjectives, relative clause; relatives always belong to somebody."""
    if phrase.determiner == "number":
        phrase.count = int(draw.setting("count", "things"))
    if phrase.noun.class_name == "kin" and phrase.determiner == "the":
        phrase.number = "sg"
        phrase.complement = name(draw) if draw.happens(0.6) else _simple(draw, draw.groups["owner"])
        return phrase
    if is_plain or phrase.determiner in ("generic", "bare"):
        return phrase
    if phrase.determiner == "the" and draw.can_relate and draw.share("complement"):
        noun = phrase.noun
        can_be_owned = draw.groups["possession"].admits(noun) and not noun.has("public")
        if noun.class_name == "part":  # of a whole: *de la maison*
            phrase.complement = _simple(draw, draw.groups["whole"])
        elif can_be_owned and (noun.class_name != "building" or noun.has("owned")):  # *de paul, de mon frère*
            phrase.complement = name(draw) if draw.happens(0.5) else _simple(draw, draw.groups["owner"])
    decorate(draw, phrase)
    can_relate = draw.can_relate and phrase.determiner in ("the", "a", "some") and not phrase.complement
    if can_relate and not phrase.modifiers and draw.share("relative"):
        phrase.relative = attempt(lambda: _relative(draw, phrase))
    return phrase


def _simple(draw: Draw, selection: Selection) -> NounPhrase:
    noun = draw.noun(selection)
    phrase = noun_phrase(draw, noun, "sg")
    if noun.class_name == "kin" or draw.happens(owned_share(draw, noun)):
        phrase.determiner, phrase.owner = "my", draw.owner()
    return phrase


@cache
def _verbs_about(lexicon: Lexicon, noun: Noun) -> tuple[list[Verb], list[Verb]]:
    """Verbs that admit the noun as their subject, and as their object."""
    verbs = [verb for frame in ("intransitive", "expression", "transitive") for verb in lexicon.verbs[frame]]
    as_subject = [verb for verb in verbs if verb.subject.admits(noun) and verb.subject.number != "pl"]
    of_persons = [verb for verb in verbs if "human" in verb.subject.classes and verb.french != "avoir"]
    return as_subject, [verb for verb in of_persons if verb.object.admits(noun)]


def _relative(draw: Draw, phrase: NounPhrase) -> tuple[Texts, Clause]:
    """*qui dort*, *que j'ai acheté*: the noun itself is the subject or object that the verb admits."""
    as_subject, as_object = _verbs_about(draw.lexicon, phrase.noun)
    gap = Gap(phrase.agreement, phrase.is_person)
    if not as_subject or (as_object and not draw.happens(0.5)):
        require(not phrase.noun.has("generic"))
        verb = draw.by_order(as_object, "verb")
        person = draw.pronoun(draw.weighted({"je": 10, "tu": 5, "il": 4, "elle": 4, "nous": 3, "vous": 3}))
        clause = Clause(person, verb, draw.synonym(verb.english), _relative_tense(draw, verb), object=gap)
        return ("que", "that"), clause
    verb = draw.by_order(as_subject, "verb")
    tense = _relative_tense(draw, verb)
    clause = Clause(gap, verb, draw.synonym(verb.english), tense)
    if verb.frame == "transitive":
        clause.object = draw_object(draw, verb.object, clause, {"plain", *verb.options})
    return ("qui", "who" if phrase.is_person else "that"), clause


def _relative_tense(draw: Draw, verb: Verb) -> str:
    if verb.aspect == "state":
        return "present"
    return "past" if verb.aspect == "point" or verb.has("past") else draw.weighted({"progressive": 4, "past": 6})
