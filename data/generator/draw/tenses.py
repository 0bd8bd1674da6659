"""Drawing the tense of a clause, and the adverbs and spans of time that go with it."""

from __future__ import annotations

from ..meaning.nodes import Adverbial, Clause, TimeSpan
from ..words.entries import Noun, Verb
from .context import Tools

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
