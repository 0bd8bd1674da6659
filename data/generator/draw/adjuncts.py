"""Drawing the tense of a clause with its adverbs and spans of time, and its places, company and manner."""

from __future__ import annotations

from ..entries import Noun, Selection, Verb
from ..meaning import (
    Adverbial,
    Clause,
    Name,
    Nominal,
    NounPhrase,
    Prepositional,
    Pronoun,
    TimeSpan,
    french_subject_agreement,
)
from .chance import Context, Tools, pronoun
from .modifiers import Surroundings
from .nominals import Nominals

WEIGHTS: dict[str, dict[str, float]] = {
    "activity": {
        "progressive": 32, "in_progress": 4, "present": 10, "past": 26, "going_to": 9, "future": 8,
        "past_progressive": 4, "used_to": 2, "perfect": 3, "just": 3, "since_progressive": 2,
    },
    "point": {
        "past": 50, "going_to": 14, "future": 14, "present": 6, "just": 5, "perfect": 5,
    },
    "state": {"present": 72, "imperfect": 16, "future": 9},
}  # fmt: skip
ADVERBS = {
    "progressive": "now", "past": "past", "future": "future", "going_to": "future", "present": "habit",
    "perfect": "perfect", "used_to": "former", "imperfect": "former",
}  # fmt: skip
HABITS = ("jamais", "plus")
WITHOUT_ADVERB = {"used_to": "past_progressive", "since": "present", "since_progressive": "progressive"}
LONG_ACTIVITIES = ("travailler", "étudier", "apprendre", "voyager", "souffrir")
ONCE = ("avant", "autrefois")
LONG_UNITS = ("an", "mois", "jour", "semaine")
SHORT_UNITS = ("heure", "minute", "jour")
SPAN_UNITS = {
    "ago": ("jour", "an", "heure", "semaine", "mois", "minute"),
    "in": ("jour", "semaine", "heure", "minute", "mois", "an"),
}
COUNTS = {1: 3, 2: 10, 3: 8, 4: 4, 5: 5, 6: 3, 7: 1, 8: 1, 10: 4, 12: 1, 15: 1, 20: 2}
DURATIVE = ("past", "future", "going_to", "past_progressive")


class Tenses:
    """Draws tenses and expressions of time."""

    def __init__(self, tools: Tools):
        self.tools = tools
        self.chance = tools.chance
        self._adverbs = {
            kind: tuple(adverb for adverb in tools.lexicon.adverbs if adverb.kind == kind)
            for kind in {adverb.kind for adverb in tools.lexicon.adverbs}
        }
        self._units = {noun.lemma: noun for noun in tools.lexicon.nouns if noun.class_name == "time"}

    def tense(self, verb: Verb) -> str:
        """A tense that fits the verb's aspect and options."""
        if "past" in verb.options:
            return "past"
        weights = dict(WEIGHTS[verb.aspect])
        if "involuntary" in verb.options and verb.aspect == "point":
            return self.chance.weighted({"past": 80, "perfect": 8, "going_to": 5, "future": 4, "just": 3})
        if "brief" in verb.options:
            for name in ("past_progressive", "used_to", "in_progress", "since_progressive"):
                weights.pop(name, None)
        if "scheduled" in verb.options:
            weights["progressive"] = 8.0
        if "duration" not in verb.options:
            weights.pop("since_progressive", None)
        elif verb.aspect == "state":
            weights["since"] = 8.0
        return self.chance.weighted(weights)

    def add_time(self, clause: Clause) -> None:
        """Adds an adverb or span of time where the tense asks for one or chance has it."""
        tense = clause.tense
        if tense in ("since", "since_progressive"):
            clause.adjuncts.append(self.span("since", self._units_of(clause.verb)))
            return
        if clause.negation in ("plus", "jamais", "encore") or "past" in clause.verb.options:
            return
        if tense == "present" and clause.verb.aspect == "state":
            return
        required = tense in ("present", "used_to") or (tense == "perfect" and not clause.negation)
        if not required and not self.tools.share("adverb"):
            return
        if tense in DURATIVE and "duration" in clause.verb.options and self.tools.share("duration"):
            units = self._units_of(clause.verb)
            is_counted = self.chance.happens(0.6)
            clause.adjuncts.append(self.span("for", units) if is_counted else self.adverb("duration"))
            return
        span = {"past": "ago", "future": "in", "going_to": "in"}.get(tense)
        if span and self.chance.happens(0.18):
            clause.adjuncts.append(self.span(span))
        elif span and "involuntary" not in clause.verb.options and self.chance.happens(0.12):
            clause.adjuncts.append(self.clock("at"))
        else:
            kind = ADVERBS.get(tense)
            if tense == "progressive" and "scheduled" in clause.verb.options:
                kind = "future"
            if kind and not (tense == "present" and clause.negation):
                french = self.chance.pick(ONCE) if tense == "imperfect" else ""
                clause.adjuncts.append(self.adverb(kind, french))

    @staticmethod
    def drop_time(clause: Clause) -> None:
        """Takes all adjuncts away, and with them the tenses that only they explain."""
        clause.adjuncts = []
        if clause.tense == "present" and clause.verb.aspect == "activity" and clause.negation not in HABITS:
            clause.tense = "progressive"
        clause.tense = WITHOUT_ADVERB.get(clause.tense, clause.tense)
        if clause.tense == "perfect" and not clause.negation:
            clause.tense = "past"

    def adverb(self, kind: str, french: str = "") -> Adverbial:
        """An adverb of a kind, or the one written so."""
        adverbs = self._adverbs[kind]
        if french:
            adverb = next(adverb for adverb in adverbs if adverb.french == french)
        else:
            adverb = self.chance.by_order(adverbs, "adverb")
        return Adverbial(adverb, self.chance.synonym(adverb.english))

    @staticmethod
    def _units_of(verb: Verb) -> tuple[str, ...]:
        """Units of how long one does it: *depuis deux heures* or *depuis deux ans*."""
        return LONG_UNITS if verb.aspect == "state" or verb.french in LONG_ACTIVITIES else SHORT_UNITS

    def span(self, kind: str, units: tuple[str, ...] = ()) -> TimeSpan:
        """*pendant deux heures* and its kin."""
        unit = self._units[self.chance.by_order(units or SPAN_UNITS[kind], "adverb")]
        count = self.chance.weighted({n: w for n, w in COUNTS.items() if fits(n, unit)})
        return TimeSpan(kind, count, unit)

    def clock(self, kind: str) -> TimeSpan:
        """*(à) huit heures*: `kind` is `at` or `clock`."""
        hours = {1: 2, 2: 3, 3: 3, 4: 3, 5: 4, 6: 4, 7: 6, 8: 6, 9: 5, 10: 4, 11: 2}
        return TimeSpan(kind, self.chance.weighted(hours), self._units["heure"])

    def age(self) -> TimeSpan:
        """*vingt ans*."""
        ages = dict.fromkeys((*range(3, 21), 22, 25, 30, 35, 40, 42, 45, 50, 60), 1)
        return TimeSpan("age", self.chance.weighted(ages), self._units["an"])


def fits(count: int, unit: Noun) -> bool:
    """Whether one says so many of a unit (not *vingt minutes* for an age, nor *quinze semaines*)."""
    limits = {"an": 20, "mois": 8, "semaine": 6, "jour": 10, "heure": 8, "minute": 20}
    lowest = {"minute": 5, "jour": 2}.get(unit.lemma, 1)
    return lowest <= count <= limits[unit.lemma]


PLACES = Selection(frozenset(("room", "area", "building", "shop")))
COMPANIONS = Selection(frozenset(("kin", "friend")))
EVERYONE = ("je", "tu", "il", "elle", "nous", "vous", "ils")
NEAR: dict[str, tuple[tuple[str, str], ...]] = {
    "building": (
        ("devant", "in front of"), ("derrière", "behind"), ("près de", "near"), ("à côté de", "next to"),
        ("loin de", "far from"),
    ),
    "furniture": (("sous", "under"), ("derrière", "behind"), ("à côté de", "next to"), ("près de", "near")),
    "container": (("derrière", "behind"), ("à côté de", "next to"), ("sous", "under")),
    "area": (("près de", "near"), ("loin de", "far from")),
}  # fmt: skip
NEAR["shop"] = NEAR["building"]
ENCLOSED = ("forêt", "jardin", "grotte", "bois", "jungle", "cour")
STATIC = ("être", "y avoir")


class Adjuncts:
    """Draws adjuncts, and pronouns for other persons than the subject."""

    def __init__(self, tools: Tools, nominals: Nominals, tenses: Tenses):
        self.tools = tools
        self.chance = tools.chance
        self.nominals = nominals
        self.tenses = tenses

    def add(self, clause: Clause, context: Context) -> None:
        """Adds at most one of manner, company and place, as the verb's options allow."""
        verb, options = clause.verb, clause.verb.options
        if verb.manners and self.tools.share("manner"):
            clause.adjuncts.append(self.tenses.adverb("manner", self.chance.pick(verb.manners)))
        elif "company" in options and self.tools.share("company"):
            found = self._companion(clause, context)
            if found is not None:
                clause.adjuncts.append(Prepositional("avec", "with", found, "company"))
        elif "place" in options and clause.place is None and self.tools.share("place"):
            if self.chance.happens(0.3):
                clause.adjuncts.append(self.tenses.adverb("place"))
                return
            place = self.place(PLACES, context, clause)
            if place is not None:
                clause.adjuncts.append(place)

    def place(self, selection: Selection, context: Context, clause: Clause) -> Prepositional | None:
        """Where something is or goes, with the preposition that the noun takes."""
        is_static = clause.verb.french in STATIC
        options = frozenset(("definite",))
        around = Surroundings(clause.subject, clause.tense, options=options, is_plain=True)
        nominal = self.nominals.object(selection, context, around)
        is_direction = "direction" in clause.verb.options
        if isinstance(nominal, Name):
            french = "en" if nominal.entry.class_name == "country" else "à"
            return Prepositional(french, "to" if is_direction else "in", nominal)
        if not isinstance(nominal, NounPhrase):
            return None
        if nominal.noun.class_name in ("room", "furniture", "container") and self.chance.happens(0.15):
            nominal.determiner = "my"
            nominal.owner, nominal.owner_is_thing = self.nominals.determiners.owner(clause.subject, context)
        near = NEAR.get(nominal.noun.class_name, ())
        if is_static and near and self.chance.happens(0.3):
            return Prepositional(*self.chance.pick(near), nominal)
        if not nominal.noun.places:
            return None
        french, english = nominal.noun.places[0]
        if is_direction:
            english = "into" if is_enclosed(nominal.noun) else "to"
        if french == "en":
            nominal.determiner, nominal.number, nominal.owner = "in", "sg", None
        return Prepositional(french, english, nominal)

    def _companion(self, clause: Clause, context: Context) -> Nominal | None:
        kind = self.chance.weighted({"pronoun": 4, "name": 3, "noun": 3})
        if kind == "pronoun":
            return self.other_person(clause.subject, context)
        if kind == "name":
            name = self.nominals.name()
            return None if same(name, clause.subject) else name
        around = Surroundings(clause.subject, clause.tense, is_plain=True)
        return self.nominals.object(COMPANIONS, context, around)

    def other_person(
        self, subject: Nominal | None, context: Context, names: tuple[str, ...] = EVERYONE
    ) -> Pronoun | None:
        """A pronoun for another person than the subject; None where the draw gave the same."""
        weights = {name: self.tools.settings.subject[name] for name in names}
        found = pronoun(self.chance.weighted(weights), context)
        person = found.agreement.person
        if subject is None or person == 3:
            return found
        is_we = isinstance(subject, Pronoun) and subject.kind == "on"
        is_same = french_subject_agreement(subject).person == person or (is_we and person == 1)
        return None if is_same else found


def is_enclosed(noun: Noun) -> bool:
    """Whether one goes *into* it."""
    return noun.class_name == "room" or noun.lemma in ENCLOSED


def same(one: Nominal | None, other: Nominal | None) -> bool:
    """Whether two nominals are one name."""
    return isinstance(one, Name) and isinstance(other, Name) and one.entry == other.entry
