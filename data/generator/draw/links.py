"""Drawing two clauses with a conjunction: reasons, conditions, times, and pronouns that look back."""

from __future__ import annotations

from ..meaning import (
    Clause,
    Indefinite,
    Linked,
    Name,
    Nominal,
    NounPhrase,
    Pair,
    Pronoun,
    english_agreement,
)
from .chance import Context, Tools
from .clauses import Clauses
from .existence import Existence
from .predicates import Predicates

SIMPLE = ("je", "tu", "il", "elle", "nous", "vous", "ils", "name", "noun")
BECAUSE = ("parce que", "because")
PAST = ("past", "imperfect", "past_progressive", "used_to", "perfect")
WISHED = ("riche", "libre", "jeune", "prêt", "célèbre", "patient", "courageux", "prudent", "grand")
CONTRAST = {("mais", "but"): 6, ("et", "and"): 4, ("donc", "so"): 2}


class Links:
    """Draws sentences of two clauses."""

    def __init__(self, tools: Tools, clauses: Clauses, predicates: Predicates, existence: Existence):
        self.tools = tools
        self.chance = tools.chance
        self.clauses = clauses
        self.predicates = predicates
        self.existence = existence

    def draw(self, context: Context) -> Linked | None:
        """One of the kinds of links."""
        context.can_relate = context.can_point = False
        kind = self.chance.weighted(
            {self._reason: 28, self._contrast: 16, self._condition: 16, self._unreal: 6, self._when: 14,
             self._whenever: 10, self._while: 10}
        )  # fmt: skip
        return kind(context)

    def _plain(
        self, context: Context, subject: Nominal | None = None, tense: str = "", kinds: str = "verb adjective"
    ) -> Clause | None:
        """A short clause: an adjective, an expression or a verb."""
        if "adjective" in kinds and self.chance.happens(0.4 if "verb" in kinds else 1.0):
            return self.predicates.adjective(context, subject, tense, () if subject else SIMPLE, only_states=True)
        frame = self.chance.weighted({"intransitive": 35, "expression": 25, "transitive": 40})
        clause = self.clauses.clause(context, subject, tense, frame=frame, subjects=() if subject else SIMPLE)
        if clause is not None and clause.verb.aspect == "state" and clause.verb.frame == "transitive":
            return None
        if clause is not None and len(clause.adjuncts) > 1:
            clause.adjuncts = clause.adjuncts[:1]
        return clause

    def _look_back(self, nominal: Nominal | None) -> Pronoun | Nominal | None:
        """A pronoun for something that was said: *la voiture -> elle, it*."""
        if isinstance(nominal, Pronoun):
            same = nominal.kind in ("personal", "formal", "on", "thing")
            return Pronoun(nominal.agreement, nominal.kind) if same else None
        if isinstance(nominal, Name | Pair):
            return Pronoun(nominal.agreement)
        if isinstance(nominal, NounPhrase) and nominal.determiner in ("the", "my", "this", "a", "some", "number"):
            if nominal.is_person:
                return Pronoun(nominal.agreement)
            if nominal.noun.is_mass or nominal.content is not None:
                return None
            return Pronoun(nominal.agreement, "thing", english_agreement(nominal))
        return None

    def _second(self, first: Clause, context: Context, is_reason: bool = False) -> Clause | None:
        """A clause about the subject or object of the first, in a tense that goes with it."""
        noun = first.subject
        if isinstance(first.object, NounPhrase) and not first.object.is_person and self.chance.happens(0.5):
            noun = first.object
        back = self._look_back(noun)
        if back is None or isinstance(first.subject, Indefinite):
            return None
        tense = self._same_time(first)
        if isinstance(noun, NounPhrase) and not noun.is_person:
            clause = self.predicates.adjective(context, noun, tense, only_states=True)
            if clause is not None:
                clause.subject = back
            return clause
        if not is_reason and self.chance.happens(0.3):
            return self._plain(context, back, "" if tense == "present" else "past")
        if self.chance.happens(0.5):
            return self.predicates.adjective(context, back, tense, only_states=True)
        state = self.clauses.clause(context, back, tense, frame="expression")
        return state if state is not None and state.verb.aspect == "state" else None

    @staticmethod
    def _same_time(first: Clause) -> str:
        return "imperfect" if first.tense in PAST else "present"

    def _reason(self, context: Context) -> Linked | None:
        first = self._plain(context, kinds="verb")
        if first is None or isinstance(first.subject, Indefinite) or first.verb.aspect == "state":
            return None
        if first.tense not in ("progressive", "past") or "involuntary" in first.verb.options:
            return None
        second = self._second(first, context, is_reason=True)
        if second is None:
            return None
        return Linked(first, BECAUSE, second)

    def _contrast(self, context: Context) -> Linked | None:
        first = self._plain(context)
        if first is None:
            return None
        second = self._second(first, context)
        if second is None or (first.tense in PAST) != (second.tense in PAST):
            return None
        if first.verb.frame == second.verb.frame == "copula" or first.verb == second.verb:
            return None
        self.clauses.tenses.drop_time(second)
        return Linked(first, self.chance.weighted(CONTRAST), second)

    def _condition(self, context: Context) -> Linked | None:
        """*si tu viens je serai content*: present, then future."""
        first = self._plain(context, tense="future")
        condition = self.existence.weather("present") if self.chance.happens(0.3) else None
        condition = condition or self._plain(context, tense="present")
        if first is None or condition is None:
            return None
        return self._linked(first, ("si", "if"), condition, 0.5)

    def _unreal(self, context: Context) -> Linked | None:
        """*si j'avais le temps je viendrais*: imperfect, then conditional."""
        first = self._plain(context, tense="conditional", kinds="verb")
        if self.chance.happens(0.3):
            condition: Clause | None = self.existence.weather("imperfect")
        else:
            condition = self.predicates.adjective(context, None, "imperfect", SIMPLE, False, only=WISHED)
        if first is None or condition is None or first.verb.aspect == "state":
            return None
        return self._linked(first, ("si", "if"), condition, 0.5)

    def _when(self, context: Context) -> Linked | None:
        """*je dormais quand le téléphone a sonné*."""
        first = self._plain(context, tense="past_progressive", kinds="verb")
        second = self._plain(context, tense="past", kinds="verb")
        if first is None or second is None or first.verb.aspect != "activity" or second.verb.aspect == "state":
            return None
        if "brief" in first.verb.options or first.negation or second.negation:
            return None
        return self._linked(first, ("quand", "when"), second, 0.2)

    def _whenever(self, context: Context) -> Linked | None:
        """*quand il pleut je reste ici*: what happens each time."""
        first = self._plain(context, tense="present", kinds="verb")
        second = self.existence.weather("present") if self.chance.happens(0.4) else None
        second = second or self._plain(context, tense="present", kinds="verb")
        if first is None or second is None:
            return None
        return self._linked(first, ("quand", "when"), second, 0.5)

    def _while(self, context: Context) -> Linked | None:
        """*elle lit pendant que je travaille*."""
        tense = self.chance.weighted({"progressive": 5, "past_progressive": 5})
        first = self._plain(context, tense=tense, kinds="verb")
        second = self._plain(context, tense=tense, kinds="verb")
        if first is None or second is None or {first.verb.aspect, second.verb.aspect} != {"activity"}:
            return None
        if first.negation or second.negation or {"brief"} & (first.verb.options | second.verb.options):
            return None
        return self._linked(first, ("pendant que", "while"), second)

    def _linked(self, first: Clause, conjunction: tuple[str, str], second: Clause, fronted: float = 0.0) -> Linked:
        """Links two clauses without their adverbs of time and the like, which would quarrel with the conjunction."""
        first.adjuncts, second.adjuncts = [], []
        return Linked(first, conjunction, second, fronted > 0 and self.chance.happens(fronted))
