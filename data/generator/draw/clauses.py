"""Drawing plain verb clauses: frame, verb, a subject that it admits, tense, negation, complements, time."""

from __future__ import annotations

from ..meaning.nodes import Clause, Indefinite, Name, Nominal, NounPhrase, Pair, Pronoun
from ..meaning.nominals import is_thing
from ..words.entries import Selection, Verb
from .adjuncts import Adjuncts
from .complements import Complements, is_wanted
from .context import Context, Tools
from .nominals import PERSON_CLASSES, Nominals
from .tenses import Tenses

NEGATIONS = {"pas": 74.0, "plus": 9.0, "jamais": 9.0, "rien": 6.0, "personne": 4.0, "que": 5.0, "encore": 4.0}
NEVER_NEGATED = ("used_to", "just", "in_progress", "since", "since_progressive")
CONSUMED = frozenset(("food", "drink", "text", "fruit", "dish"))


class Clauses:
    """Draws clauses of every frame but the copula's."""

    def __init__(self, tools: Tools, nominals: Nominals, tenses: Tenses):
        self.tools = tools
        self.chance = tools.chance
        self.nominals = nominals
        self.tenses = tenses
        self.by_frame: dict[str, tuple[Verb, ...]] = {}
        for verb in tools.lexicon.verbs:
            self.by_frame[verb.frame] = (*self.by_frame.get(verb.frame, ()), verb)
        self.adjuncts = Adjuncts(tools, nominals, tenses)
        self.complements = Complements(tools, nominals, self.adjuncts, self.by_frame)

    def frame(self, *without: str) -> str:
        """A frame of a plain clause."""
        weights = {n: w for n, w in self.tools.settings.frame.items() if n not in without}
        return self.chance.weighted(weights)

    def verb(self, frame: str, subject: Nominal | None = None, is_voluntary: bool = False) -> Verb | None:
        """A verb of a frame; one that `subject` may do, and that one may want or decide to do."""
        verbs = [
            verb
            for verb in self.by_frame[frame]
            if (subject is None or admits(verb.subject, subject)) and (not is_voluntary or is_wanted(verb))
        ]
        return self.chance.by_order(verbs, "verb") if verbs else None

    def clause(
        self,
        context: Context,
        subject: Nominal | None = None,
        tense: str = "",
        can_negate: bool = True,
        frame: str = "",
        subjects: tuple[str, ...] = (),
    ) -> Clause | None:
        """A clause; whatever is given (subject, tense, frame) is kept. None where nothing fits."""
        verb = self.verb(frame or self.frame(), subject)
        if verb is None:
            return None
        subject = subject or self.nominals.subject(verb.subject, context, subjects)
        if subject is None or ("third" in verb.options and subject.agreement.person != 3):
            return None
        clause = Clause(subject, verb, self.chance.synonym(verb.english), tense or self.tenses.tense(verb))
        if can_negate and clause.tense not in NEVER_NEGATED:
            self.negate(clause)
        if not self.complements.fill(clause, context):
            return None
        self.tenses.add_time(clause)
        return clause

    def negate(self, clause: Clause) -> None:
        """Sometimes negates the clause, in a way that fits its tense and object."""
        if is_quantified(clause.subject) or not self.tools.share("negation"):
            return
        clause.negation = self.chance.weighted(self._negations(clause))
        if clause.negation in ("jamais", "plus") and clause.tense == "progressive":
            clause.tense = "present"
        if clause.negation in ("pas", "rien", "personne", "que") and clause.tense == "present":
            clause.tense = "present" if clause.verb.aspect == "state" else "progressive"
        if clause.negation in ("jamais", "encore") and clause.tense == "past":
            clause.tense = "perfect"

    @staticmethod
    def _negations(clause: Clause) -> dict[str, float]:
        verb, tense, classes = clause.verb, clause.tense, clause.verb.object.classes
        if tense == "perfect":
            return {"jamais": 2.0, "encore": 3.0}
        allowed = {"pas"}
        if tense in ("present", "progressive", "past", "future"):
            allowed.add("jamais")
        if verb.aspect != "point" and tense in ("present", "progressive") and verb.frame != "swap":
            allowed.add("plus")
        if tense == "past":
            allowed.add("encore")
        if verb.frame == "transitive" and "generic" not in verb.options and verb.aspect != "state":
            if "human" in classes:
                allowed.add("personne")
            elif classes:
                allowed.add("rien")
            if classes & CONSUMED:
                allowed.add("que")
        return {name: weight for name, weight in NEGATIONS.items() if name in allowed}


def is_quantified(subject: Nominal | None) -> bool:
    """Whether a negation would be ambiguous with this subject: *tous les enfants ne dorment pas*."""
    if isinstance(subject, NounPhrase):
        return subject.determiner in ("every", "all", "many", "several", "number", "a")
    return isinstance(subject, Indefinite)


def admits(selection: Selection, subject: Nominal) -> bool:
    """Whether a verb or adjective goes with this subject."""
    if selection.number and subject.agreement.number != selection.number:
        return False
    if isinstance(subject, NounPhrase):
        return selection.admits(subject.noun)
    if isinstance(subject, Pronoun | Name | Pair | Indefinite) and not is_thing(subject):
        return bool(selection.classes & PERSON_CLASSES and "human" in selection.classes)
    return False
