"""Drawing clauses with *être* and its like and an adjective, and comparisons."""

from __future__ import annotations

from ..entries import Adjective, Selection, Verb
from ..meaning import Clause, Comparison, Indefinite, Modifier, Name, Nominal, NounPhrase, Pair, is_thing
from .adjuncts import Tenses
from .chance import Context, Tools
from .clauses import PERSONS, Clauses, is_quantified
from .modifiers import Adjectives, Surroundings

COPULA_TENSES = {"present": 80, "imperfect": 12, "future": 5}
DEAD = "mort"
SIZES = ("grand", "petit", "gros")
THINGS = Selection(
    frozenset(
        ("clothing", "vehicle", "furniture", "container", "device", "text", "film", "song", "building", "room",
         "food", "fruit", "dish", "sweet", "drink", "area", "idea", "problem", "event", "jewel", "picture", "tool",
         "plant", "landscape", "toy", "part", "instrument", "pet", "wild")
    )
)  # fmt: skip


class Predicates:
    """Draws clauses that say what somebody or something is."""

    def __init__(self, tools: Tools, clauses: Clauses, adjectives: Adjectives, tenses: Tenses):
        self.tools = tools
        self.chance = tools.chance
        self.clauses = clauses
        self.nominals = clauses.nominals
        self.adjectives = adjectives
        self.tenses = tenses
        self._copulas = clauses.by_frame["copula"]
        self._special = {verb.french: verb for verb in clauses.by_frame["special"]}
        self._still = tuple(a for a in tools.lexicon.adverbs if a.kind == "predicate")
        self._persons = tuple(
            adjective
            for adjective in tools.lexicon.adjectives
            if adjective.use != "attribute" and "human" in adjective.selection.classes
        )

    # -- adjectives -------------------------------------------------------------------------------------

    def adjective(
        self,
        context: Context,
        subject: Nominal | None = None,
        tense: str = "",
        subjects: tuple[str, ...] = (),
        can_negate: bool = True,
        only_states: bool = False,
        only: tuple[str, ...] = (),
    ) -> Clause | None:
        """*je suis content*: a person or thing, a copula, an adjective that fits."""
        if subject is None:
            selection = PERSONS if subjects or self.chance.happens(0.8) else THINGS
            subject = self.nominals.subject(selection, context, subjects)
        if subject is None:
            return None
        if isinstance(subject, Indefinite) and is_thing(subject):
            return None
        verb = self._copulas[0] if only else self._copula(subject)
        if tense and verb.aspect == "point" and tense in ("present", "imperfect"):
            verb = self._copulas[0]
        modifier = self.modifier(subject, verb, context, only_states, only)
        if modifier is None:
            return None
        clause = Clause(subject, verb, self.chance.synonym(verb.english), tense or self.tense(verb), attribute=modifier)
        if modifier.degree is not None and modifier.degree.adverb in self._still:
            clause.tense = clause.tense if clause.tense in ("present", "imperfect") else "present"
        if can_negate and not modifier.degree and verb.french == "être":
            self.negate(clause)
        return clause

    def _copula(self, subject: Nominal) -> Verb:
        if self.chance.happens(0.86):
            return self._copulas[0]
        if is_thing(subject) or isinstance(subject, Indefinite):
            return self._copulas[0]
        is_seen = subject.agreement.person == 3
        verbs = [
            verb for verb in self._copulas if "adjective" in verb.options and (is_seen or "seen" not in verb.options)
        ]
        return self.chance.by_order(verbs, "verb")

    def tense(self, verb: Verb) -> str:
        """A tense for the copula."""
        if verb.aspect == "point":
            return self.chance.weighted({"past": 5, "going_to": 3, "future": 2})
        if verb.french == "rester":
            return self.chance.weighted({"past": 5, "future": 3})
        if verb.french != "être":
            return self.chance.weighted({"present": 8, "imperfect": 3})
        return self.chance.weighted(COPULA_TENSES)

    def modifier(
        self,
        subject: Nominal,
        verb: Verb,
        context: Context,
        only_states: bool = False,
        only: tuple[str, ...] = (),
    ) -> Modifier | None:
        """A predicate adjective for the subject, with degree, complement, infinitive or clause."""
        adjectives = self._adjectives_for(subject)
        if verb.manners or only:
            adjectives = [a for a in adjectives if a.french in (verb.manners or only)]
        elif verb.french != "être":
            adjectives = [a for a in adjectives if a.is_gradable]
        if only_states:
            adjectives = [a for a in adjectives if a.is_gradable and (is_thing(subject) or is_state(a))]
        if not adjectives:
            return None
        adjective = self.chance.by_order(adjectives, "adjective")
        modifier = self.adjectives.modifier(adjective)
        if verb.french != "être" or isinstance(subject, Indefinite):
            return modifier
        kind = self.chance.weighted({"plain": 45, "complement": 25, "infinitive": 10})
        if kind == "complement" and adjective.complement is not None and not is_thing(subject):
            modifier.complement = self._complement(adjective.complement, subject, context)
        elif kind == "infinitive" and adjective.infinitive and not is_thing(subject):
            bare = next(found for found in self.clauses.by_frame["special"] if found.prep[1] == "bare")
            modifier.infinitive = self.clauses.complements.infinitive(bare, subject, context)
        elif adjective.is_gradable and self.tools.share("degree"):
            modifier.degree = self.adjectives.degree(modifier.adjective)
        elif is_state(adjective) and not is_thing(subject) and self.chance.happens(0.1):
            modifier.degree = self.adjectives.degree(adjective, self.chance.pick(self._still))
        return modifier

    def _adjectives_for(self, subject: Nominal) -> list[Adjective]:
        if isinstance(subject, NounPhrase):
            said = {modifier.adjective.french for modifier in subject.modifiers}
            return [a for a in self.adjectives.fitting(subject.noun, "predicate") if a.french not in said]
        agreement = subject.agreement
        return [
            a
            for a in self._persons
            if a.selection.gender in ("", agreement.gender) and (agreement.person == 3 or a.french != DEAD)
        ]

    def _complement(self, selection: Selection, subject: Nominal, context: Context) -> Nominal | None:
        around = Surroundings(subject, "present", options=frozenset(("definite",)))
        if "human" in selection.classes and self.chance.happens(0.5):
            names = ("je", "tu", "nous", "vous", "il", "elle", "ils")
            return self.clauses.adjuncts.other_person(subject, context, names)
        return self.nominals.object(selection, context, around)

    def negate(self, clause: Clause) -> None:
        """Sometimes *ne ... pas*, *plus* or *jamais*."""
        if is_quantified(clause.subject) or not self.tools.share("negation"):
            return
        never = 5 if isinstance(clause.attribute, Modifier) else 0
        clause.negation = self.chance.weighted({"pas": 85, "plus": 10, "jamais": never})
        if clause.tense != "present" and clause.negation == "plus":
            clause.negation = "pas"

    # -- comparison -------------------------------------------------------------------------------------

    def comparison(self, context: Context) -> Clause | None:
        """*il est plus grand que moi*."""
        subject = self.nominals.subject(PERSONS, context)
        if subject is None or isinstance(subject, Indefinite):
            return None
        adjectives = [a for a in self._adjectives_for(subject) if a.is_gradable]
        if not adjectives:
            return None
        adjective = self.chance.by_order(adjectives, "adjective")
        modifier = Modifier(adjective, adjective.english[0])
        standard = self._standard(subject, context)
        if standard is None:
            return None
        kind = self.chance.weighted({"more": 65, "less": 12, "as": 23})
        is_short = adjective.comparison != "more"  # taller, so less tall is rarely said
        if (is_short and kind == "less") or (adjective.french_comparative and kind == "more"):
            kind = "as"
        modifier.comparison = Comparison(kind, standard)
        clause = Clause(subject, self._copulas[0], "be", self.chance.weighted(COPULA_TENSES), attribute=modifier)
        if kind == "as" or self.chance.happens(0.4):
            self.negate(clause)
        return clause

    def _standard(self, subject: Nominal, context: Context) -> Nominal | None:
        kind = self.chance.weighted({"pronoun": 50, "name": 25, "noun": 25})
        if kind == "pronoun":
            names = ("je", "tu", "il", "elle", "nous", "vous", "ils")
            return self.clauses.adjuncts.other_person(subject, context, names)
        if kind == "name":
            name = self.nominals.name()
            same_name = isinstance(subject, Name) and subject.entry == name.entry
            return None if same_name or isinstance(subject, Pair) else name
        around = Surroundings(subject, "present", options=frozenset(("definite",)), is_plain=True)
        return self.nominals.object(Selection(frozenset(("kin", "friend"))), context, around)


def is_state(adjective: Adjective) -> bool:
    """Whether it says how a person is for a while: *fatigué*, but not *grand*."""
    return adjective.use == "predicate" and adjective.french not in SIZES
