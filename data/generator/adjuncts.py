"""Drawing the tense of a clause with its adverbs and spans of time, and its places, company and manner."""

from collections.abc import Collection, Set

from .chance import Draw, attempt, require
from .entries import Selection, Texts, Verb, rows_of
from .meaning import Adjunct, Clause, Name, Nominal, NounPhrase, Pronoun
from .nouns import adverbial, draw_object, name, owner

ONCE = ("avant", "autrefois")
LONG_UNITS = ("an", "mois", "jour", "semaine")
SHORT_UNITS = ("heure", "minute", "jour")
AGO = (("il y a", "ago"), ("jour", "an", "heure", "semaine", "mois", "minute"))
IN = (("dans", "in"), ("jour", "semaine", "heure", "minute", "mois", "an"))
SPANS = {"past": AGO, "future": IN, "going_to": IN}
EVERYONE = ("je", "tu", "il", "elle", "nous", "vous", "ils")
STATIC = ("être", "y avoir")


def draw_tense(draw: Draw, verb: Verb) -> str:
    """A tense that fits the verb's aspect and options."""
    if verb.has("past"):
        return "past"
    if verb.has("involuntary") and verb.aspect == "point":
        return draw.setting("tense", "accident")
    weights: dict[str, float] = dict(draw.settings["tense"][verb.aspect])
    if verb.has("brief"):
        weights = {name: w for name, w in weights.items() if "long" not in rows_of("tenses")[name]["traits"]}
    if verb.has("scheduled"):
        weights["progressive"] = 8
    if not verb.has("duration"):
        weights.pop("since_progressive", None)
    elif verb.aspect == "state":
        weights["since"] = 8
    return draw.weighted(weights)


def add_time(draw: Draw, clause: Clause) -> None:
    """Adds an adverb or span of time where the tense asks for one or chance has it."""
    tense, verb, span = clause.tense, clause.verb, SPANS.get(clause.tense)
    units = LONG_UNITS if verb.aspect == "state" or verb.has("long") else SHORT_UNITS
    is_without = clause.negation in ("plus", "jamais", "encore") or verb.has("past")
    is_required = tense in ("present", "used_to") or (tense == "perfect" and not clause.negation)
    added: Adjunct | None = None
    if tense.startswith("since"):
        added = _span(draw, ("depuis", "for"), units)
    elif is_without or (tense == "present" and verb.aspect == "state") or not (is_required or draw.share("adverb")):
        return
    elif "durative" in clause.tenses["traits"] and verb.has("duration") and draw.share("duration"):
        added = _span(draw, ("pendant", "for"), units) if draw.happens(0.6) else adverb(draw, "duration")
    elif span and draw.happens(0.18):
        added = _span(draw, *span)
    elif span and not verb.has("involuntary") and draw.happens(0.12):
        added = counted(draw, ("à", "at"), "heure", "hours", "clock")
    else:
        kind = "future" if tense == "progressive" and verb.has("scheduled") else clause.tenses["adverb"]
        if kind and not (tense == "present" and clause.negation):
            added = adverb(draw, kind, draw.pick(ONCE) if tense == "imperfect" else "")
    if added is not None:
        clause.adjuncts.append(added)


def drop_time(clause: Clause) -> None:
    """Takes all adjuncts away, and with them the tenses that only they explain."""
    clause.adjuncts = []
    is_habit = clause.negation in ("jamais", "plus")
    if clause.tense == "present" and clause.verb.aspect == "activity" and not is_habit:
        clause.tense = "progressive"
    clause.tense = clause.tenses["alone"] or clause.tense
    if clause.tense == "perfect" and not clause.negation:
        clause.tense = "past"


def adverb(draw: Draw, kind: str, french: str = "") -> Adjunct:
    """An adverb of a kind, or the one written so."""
    adverbs = [adverb for adverb in draw.lexicon.adverbs[kind] if french in ("", adverb.french)]
    return adverbial(draw, adverbs[0] if french else draw.by_order(adverbs, "adverb"))


def _span(draw: Draw, texts: Texts, units: tuple[str, ...]) -> Adjunct:
    return counted(draw, texts, draw.by_order(units, "adverb"))


def counted(draw: Draw, texts: Texts, unit: str, counts: str = "", kind: str = "time") -> Adjunct:
    """A number of units: *pendant deux heures*, *vingt ans*, or of the clock *à huit heures*."""
    [noun] = [noun for noun in draw.lexicon.nouns if (noun.class_name, noun.lemma) == (kind, unit)]
    count = int(draw.setting("count", counts or unit))
    phrase = NounPhrase(noun, noun.english[0], "pl" if count > 1 else "sg", "number", count=count)
    if count == 1 and kind != "clock":
        phrase.determiner = "a"
    return Adjunct(texts, phrase)


def add_adjunct(draw: Draw, clause: Clause) -> None:
    """Adds at most one of manner, company and place, as the verb's options allow."""
    verb = clause.verb
    adjunct: Adjunct | None = None
    if verb.manners and draw.share("manner"):
        adjunct = adverb(draw, "manner", draw.pick(verb.manners))
    elif verb.has("company") and draw.share("company"):
        companion = attempt(lambda: draw_person(draw, clause, {"pronoun": 4, "name": 3, "noun": 3}, {"plain"}))
        adjunct = Adjunct(("avec", "with"), companion) if companion else None
    elif verb.has("place") and clause.place is None and draw.share("place"):
        if draw.happens(0.3):
            adjunct = adverb(draw, "place")
        else:
            adjunct = attempt(lambda: draw_place(draw, draw.groups["place"], clause))
    if adjunct is not None:
        clause.adjuncts.append(adjunct)


def draw_place(draw: Draw, selection: Selection, clause: Clause) -> Adjunct:
    """Where something is or goes, with the preposition that the noun takes."""
    nominal = draw_object(draw, selection, clause, {"definite", "plain"})
    is_direction = clause.verb.has("direction")
    if isinstance(nominal, Name):
        french = "en" if nominal.entries[0].class_name == "country" else "à"
        return Adjunct((french, "to" if is_direction else "in"), nominal)
    assert isinstance(nominal, NounPhrase)
    noun = nominal.noun
    if noun.class_name in ("room", "furniture", "container") and draw.happens(0.15):
        nominal.determiner, nominal.owner = "my", owner(draw, clause.subject)
    near = draw.lexicon.classes[noun.class_name].get("near")
    if clause.verb.french in STATIC and near and draw.happens(0.3):
        return Adjunct(draw.pick(near), nominal)
    french, english = require(noun.place)
    if is_direction:
        english = "into" if noun.class_name == "room" or noun.has("enclosed") else "to"
    if french == "en":
        nominal.determiner, nominal.number, nominal.owner = "in", "sg", None
    return Adjunct((french, english), nominal)


def draw_person(draw: Draw, clause: Clause, weights: dict[str, int], options: Set[str]) -> Nominal:
    """A pronoun, a name, or a relative or friend, but not the subject itself."""
    kind = draw.weighted(weights)
    if kind == "noun":
        return draw_object(draw, draw.groups["companion"], clause, options)
    if kind == "pronoun":
        return require(other_person(draw, clause.subject))
    person = name(draw)
    require(person != clause.subject)
    return person


def other_person(draw: Draw, subject: Nominal | None, names: Collection[str] = EVERYONE) -> Pronoun | None:
    """A pronoun for another person than the subject; None where the draw gave the same."""
    pronoun = draw.pronoun(draw.setting("subject", only=names))
    person = pronoun.agreement.person
    if subject is None or person == 3:
        return pronoun
    is_we = isinstance(subject, Pronoun) and subject.kind == "on"
    return None if subject.agreement.person == person or (is_we and person == 1) else pronoun
