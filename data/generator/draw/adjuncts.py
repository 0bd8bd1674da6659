"""Drawing places, company and manner: what a clause may have beside its complements."""

from __future__ import annotations

from ..meaning.nodes import Clause, Name, Nominal, NounPhrase, Prepositional, Pronoun
from ..meaning.nominals import french_subject_agreement
from ..words.entries import Noun, Selection
from .context import Context, Tools, pronoun
from .determiners import Surroundings
from .nominals import Nominals
from .tenses import Tenses

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
