"""Drawing the tense of a clause with its adverbs and spans of time, and its places, company and manner."""

from __future__ import annotations

from collections.abc import Collection

from .chance import DeadEndError, Draw, attempt
from .entries import Selection, Verb
from .meaning import Adjunct, Clause, Name, Nominal, NounPhrase, Pronoun, TimeSpan, french_agreement
from .nouns import Around, adverbial, draw_object, name, owner

TENSES: dict[str, dict[str, float]] = {
    "activity": {
        "progressive": 32, "in_progress": 4, "present": 10, "past": 26, "going_to": 9, "future": 8,
        "past_progressive": 4, "used_to": 2, "perfect": 3, "just": 3, "since_progressive": 2,
    },
    "point": {
        "past": 50, "going_to": 14, "future": 14, "present": 6, "just": 5, "perfect": 5,
    },
    "state": {"present": 72, "imperfect": 16, "future": 9},
    "accident": {"past": 80, "perfect": 8, "going_to": 5, "future": 4, "just": 3},
}  # fmt: skip
NOT_BRIEF = ("past_progressive", "used_to", "in_progress", "since_progressive")
WITHOUT_ADVERB = {"used_to": "past_progressive", "since": "present", "since_progressive": "progressive"}
LONG_ACTIVITIES = ("travailler", "étudier", "apprendre", "voyager", "souffrir")
ONCE = ("avant", "autrefois")
LONG_UNITS = ("an", "mois", "jour", "semaine")
SHORT_UNITS = ("heure", "minute", "jour")
SPANS = {"past": "ago", "future": "in", "going_to": "in"}
SPAN_UNITS = {
    "ago": ("jour", "an", "heure", "semaine", "mois", "minute"),
    "in": ("jour", "semaine", "heure", "minute", "mois", "an"),
}
COUNTS = {1: 3, 2: 10, 3: 8, 4: 4, 5: 5, 6: 3, 7: 1, 8: 1, 10: 4, 12: 1, 15: 1, 20: 2}
USUAL_COUNTS = {"an": (1, 20), "mois": (1, 8), "semaine": (1, 6), "jour": (2, 10), "heure": (1, 8), "minute": (5, 20)}
HOURS = {1: 2, 2: 3, 3: 3, 4: 3, 5: 4, 6: 4, 7: 6, 8: 6, 9: 5, 10: 4, 11: 2}
AGES = dict.fromkeys((*range(3, 21), 22, 25, 30, 35, 40, 42, 45, 50, 60), 1)
DURATIVE = ("past", "future", "going_to", "past_progressive")
EVERYONE = ("je", "tu", "il", "elle", "nous", "vous", "ils")
ENCLOSED = ("forêt", "jardin", "grotte", "bois", "jungle", "cour")
STATIC = ("être", "y avoir")


def draw_tense(draw: Draw, verb: Verb) -> str:
    """A tense that fits the verb's aspect and options."""
    if verb.has("past"):
        return "past"
    if verb.has("involuntary") and verb.aspect == "point":
        return draw.weighted(TENSES["accident"])
    weights = dict(TENSES[verb.aspect])
    if verb.has("brief"):
        weights = {tense: weight for tense, weight in weights.items() if tense not in NOT_BRIEF}
    if verb.has("scheduled"):
        weights["progressive"] = 8.0
    if not verb.has("duration"):
        weights.pop("since_progressive", None)
    elif verb.aspect == "state":
        weights["since"] = 8.0
    return draw.weighted(weights)


def add_time(draw: Draw, clause: Clause) -> None:
    """Adds an adverb or span of time where the tense asks for one or chance has it."""
    tense, verb, span = clause.tense, clause.verb, SPANS.get(clause.tense)
    units = LONG_UNITS if verb.aspect == "state" or verb.french in LONG_ACTIVITIES else SHORT_UNITS
    is_without = clause.negation in ("plus", "jamais", "encore") or verb.has("past")
    is_required = tense in ("present", "used_to") or (tense == "perfect" and not clause.negation)
    if tense.startswith("since"):
        clause.adjuncts.append(_span(draw, "since", units))
    elif is_without or (tense == "present" and verb.aspect == "state") or not (is_required or draw.share("adverb")):
        return
    elif tense in DURATIVE and verb.has("duration") and draw.share("duration"):
        clause.adjuncts.append(_span(draw, "for", units) if draw.happens(0.6) else adverb(draw, "duration"))
    elif span and draw.happens(0.18):
        clause.adjuncts.append(_span(draw, span, SPAN_UNITS[span]))
    elif span and not verb.has("involuntary") and draw.happens(0.12):
        clause.adjuncts.append(counted(draw, "at", HOURS, "heure"))
    else:
        kind = "future" if tense == "progressive" and verb.has("scheduled") else clause.tenses["adverb"]
        if kind and not (tense == "present" and clause.negation):
            clause.adjuncts.append(adverb(draw, kind, draw.pick(ONCE) if tense == "imperfect" else ""))


def drop_time(clause: Clause) -> None:
    """Takes all adjuncts away, and with them the tenses that only they explain."""
    clause.adjuncts = []
    is_habit = clause.negation in ("jamais", "plus")
    if clause.tense == "present" and clause.verb.aspect == "activity" and not is_habit:
        clause.tense = "progressive"
    clause.tense = WITHOUT_ADVERB.get(clause.tense, clause.tense)
    if clause.tense == "perfect" and not clause.negation:
        clause.tense = "past"


def adverb(draw: Draw, kind: str, french: str = "") -> Adjunct:
    """An adverb of a kind, or the one written so."""
    adverbs = draw.lexicon.adverbs[kind]
    return adverbial(
        draw, next(a for a in adverbs if a.french == french) if french else draw.by_order(adverbs, "adverb")
    )


def _span(draw: Draw, kind: str, units: tuple[str, ...]) -> TimeSpan:
    """*pendant deux heures* and its kin."""
    unit = draw.by_order(units, "adverb")
    lowest, highest = USUAL_COUNTS[unit]
    return counted(draw, kind, {count: w for count, w in COUNTS.items() if lowest <= count <= highest}, unit)


def counted(draw: Draw, kind: str, counts: dict[int, int], unit: str) -> TimeSpan:
    """A number of units: *(à) huit heures* where `kind` is `at` or `clock`, *vingt ans* where it is `age`."""
    [noun] = [noun for noun in draw.lexicon.nouns if (noun.class_name, noun.lemma) == ("time", unit)]
    return TimeSpan(kind, draw.weighted(counts), noun)


def add_adjunct(draw: Draw, clause: Clause) -> None:
    """Adds at most one of manner, company and place, as the verb's options allow."""
    verb = clause.verb
    adjunct: Adjunct | None = None
    if verb.manners and draw.share("manner"):
        adjunct = adverb(draw, "manner", draw.pick(verb.manners))
    elif verb.has("company") and draw.share("company"):
        around = Around(clause.subject, clause.tense, is_plain=True)
        companion = attempt(lambda: draw_person(draw, around, {"pronoun": 4, "name": 3, "noun": 3}))
        adjunct = Adjunct(("avec", "with"), companion) if companion else None
    elif verb.has("place") and clause.place is None and draw.share("place"):
        is_adverb = draw.happens(0.3)
        place = draw.group("place")
        adjunct = adverb(draw, "place") if is_adverb else attempt(lambda: draw_place(draw, place, clause))
    if adjunct is not None:
        clause.adjuncts.append(adjunct)


def draw_place(draw: Draw, selection: Selection, clause: Clause) -> Adjunct:
    """Where something is or goes, with the preposition that the noun takes."""
    nominal = draw_object(draw, selection, Around(clause.subject, clause.tense, ("definite",), is_plain=True))
    is_direction = clause.verb.has("direction")
    if isinstance(nominal, Name):
        french = "en" if nominal.entry.class_name == "country" else "à"
        return Adjunct((french, "to" if is_direction else "in"), nominal)
    assert isinstance(nominal, NounPhrase)
    noun = nominal.noun
    if noun.class_name in ("room", "furniture", "container") and draw.happens(0.15):
        nominal.determiner, nominal.owner = "my", owner(draw, clause.subject)
    near = draw.lexicon.classes[noun.class_name].get("near")
    if clause.verb.french in STATIC and near and draw.happens(0.3):
        return Adjunct(draw.pick(near), nominal)
    if noun.place is None:
        raise DeadEndError
    french, english = noun.place
    if is_direction:
        english = "into" if noun.class_name == "room" or noun.lemma in ENCLOSED else "to"
    if french == "en":
        nominal.determiner, nominal.number, nominal.owner = "in", "sg", None
    return Adjunct((french, english), nominal)


def draw_person(draw: Draw, around: Around, weights: dict[str, int]) -> Nominal:
    """A pronoun, a name, or a relative or friend, but not the subject itself."""
    kind = draw.weighted(weights)
    if kind == "noun":
        return draw_object(draw, draw.group("companion"), around)
    person = other_person(draw, around.subject) if kind == "pronoun" else name(draw)
    if person is None or same(person, around.subject):
        raise DeadEndError
    return person


def other_person(draw: Draw, subject: Nominal | None, names: Collection[str] = EVERYONE) -> Pronoun | None:
    """A pronoun for another person than the subject; None where the draw gave the same."""
    pronoun = draw.pronoun(draw.weighted({name: draw.settings["subject"][name] for name in names}))
    person = pronoun.agreement.person
    if subject is None or person == 3:
        return pronoun
    is_we = isinstance(subject, Pronoun) and subject.kind == "on"
    is_same = french_agreement(subject).person == person or (is_we and person == 1)
    return None if is_same else pronoun


def same(first: Nominal | None, other: Nominal | None) -> bool:
    """True if two nominals are one name."""
    if not (isinstance(first, Name) and isinstance(other, Name)):
        return False
    return first.entry is other.entry and first.second is other.second
