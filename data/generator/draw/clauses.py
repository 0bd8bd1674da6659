"""Drawing plain verb clauses: frame, verb, a subject that it admits, tense, negation, complements, time."""

from __future__ import annotations

from ..entries import Selection, Verb
from ..meaning import (
    Agreement,
    Clause,
    Indefinite,
    Name,
    Nominal,
    NounPhrase,
    Pair,
    Pronoun,
    french_subject_agreement,
    is_thing,
)
from .adjuncts import EVERYONE, Adjuncts, Tenses, same
from .chance import Context, Tools
from .modifiers import Surroundings
from .nominals import PERSON_CLASSES, Nominals

PERSONS = Selection(PERSON_CLASSES)
# lui would be him or her alike, so it is not said where nothing else tells
DATIVES = ("je", "tu", "nous", "vous", "ils")
INFINITIVE_TENSES = {"to": "to_infinitive", "ing": "gerund", "bare": "infinitive"}
NEVER_PRONOUNS = frozenset(("language", "subject", "sport", "feeling", "quality", "meal", "event"))
PLAIN_FRAMES = ("intransitive", "expression", "transitive", "oblique", "dative", "locative")
NOTHING = {"rien": ("rien", "anything"), "personne": ("personne", "anyone")}


class Complements:
    """Fills the slots of a clause. `by_frame` holds the verbs, most frequent first."""

    def __init__(self, tools: Tools, nominals: Nominals, adjuncts: Adjuncts, by_frame: dict[str, tuple[Verb, ...]]):
        self.tools = tools
        self.chance = tools.chance
        self.nominals = nominals
        self.adjuncts = adjuncts
        self.by_frame = by_frame
        self._skills = tuple(
            verb
            for frame in ("intransitive", "oblique", "transitive")
            for verb in by_frame[frame]
            if "learnt" in verb.options and is_wanted(verb)
        )
        self._wanted = {frame: tuple(verb for verb in verbs if is_wanted(verb)) for frame, verbs in by_frame.items()}

    def fill(self, clause: Clause, context: Context) -> bool:
        """Gives the clause the complements of its frame and perhaps an adjunct; false where none is found."""
        fill = {
            "transitive": self._object,
            "oblique": self._oblique,
            "dative": self._dative,
            "control": self._control,
            "locative": self._locative,
            "swap": self._swap,
        }.get(clause.verb.frame)
        if fill is not None and not fill(clause, context):
            return False
        self.adjuncts.add(clause, context)
        return True

    @staticmethod
    def around(clause: Clause, is_plain: bool = False) -> Surroundings:
        """What a noun phrase in the clause must know."""
        is_act = clause.verb.aspect != "state" or clause.verb.french in ("avoir", "voir", "entendre")
        negated = is_act and clause.negation in ("pas", "plus", "jamais", "encore")
        return Surroundings(clause.subject, clause.tense, negated, clause.verb.options, is_plain)

    def _object(self, clause: Clause, context: Context) -> bool:
        verb = clause.verb
        if clause.negation in NOTHING:
            clause.object = Indefinite(*NOTHING[clause.negation])
            return True
        if clause.negation != "que" and "generic" not in verb.options and self.tools.share("object_pronoun"):
            clause.object = self._pronoun(verb.object, clause, context)
        if clause.object is None:
            clause.object = self.nominals.object(verb.object, context, self.around(clause))
        return clause.object is not None and not same(clause.object, clause.subject)

    def _pronoun(self, selection: Selection, clause: Clause, context: Context) -> Pronoun | None:
        """*me, te, le ...*: a person where the verb's objects can be persons, else a thing."""
        if selection.number == "sg" or "named" in clause.verb.options:
            return None
        if "human" in selection.classes:
            return self.adjuncts.other_person(clause.subject, context, EVERYONE)
        if selection.only_classes & NEVER_PRONOUNS or not context.can_point:
            return None
        number, gender = self.chance.weighted({("sg", "m"): 5, ("sg", "f"): 5, ("pl", "m"): 4})
        return Pronoun(Agreement(3, number, gender), "thing")

    def _oblique(self, clause: Clause, context: Context) -> bool:
        verb, only = clause.verb, clause.verb.object.only_classes
        if "bare" not in verb.options and self.tools.share("object_pronoun"):
            if "human" in verb.object.classes:
                names = DATIVES if "dative" in verb.options else EVERYONE
                clause.oblique = self.adjuncts.other_person(clause.subject, context, names)
            elif verb.options & {"y", "en"} and context.can_point and not only & NEVER_PRONOUNS:
                clause.oblique = Pronoun(Agreement(3, "sg", "m"), "thing")
        if clause.oblique is None:
            definite = {"definite"} if clause.negation else set()  # neither *some* nor *a few* after *not*
            around = Surroundings(clause.subject, clause.tense, options=verb.options | definite)
            clause.oblique = self.nominals.object(verb.object, context, around)
        return clause.oblique is not None and not same(clause.oblique, clause.subject)

    def _recipient(self, clause: Clause, context: Context, names: tuple[str, ...]) -> bool:
        selection = PERSONS if clause.verb.frame == "control" else clause.verb.recipient
        if "human" in selection.classes and self.chance.happens(0.55):
            clause.recipient = self.adjuncts.other_person(clause.subject, context, names)
        if clause.recipient is None:
            plain = Surroundings(clause.subject, clause.tense, is_plain=True)
            clause.recipient = self.nominals.object(selection, context, plain)
        return clause.recipient is not None and not same(clause.recipient, clause.subject)

    def _dative(self, clause: Clause, context: Context) -> bool:
        if not self._recipient(clause, context, DATIVES):
            return False
        recipient = clause.recipient
        is_third = isinstance(recipient, Pronoun) and recipient.agreement.person == 3
        if not is_third and self.tools.share("object_pronoun"):
            clause.object = self._pronoun(clause.verb.object, clause, context)
        if clause.object is None:
            around = self.around(clause, is_plain=not isinstance(recipient, Pronoun))
            clause.object = self.nominals.object(clause.verb.object, context, around)
        return clause.object is not None

    def _control(self, clause: Clause, context: Context) -> bool:
        names = EVERYONE if "accusative" in clause.verb.options else DATIVES
        if not self._recipient(clause, context, names):
            return False
        assert clause.recipient is not None
        context.can_own = False
        clause.infinitive = self.infinitive(clause.verb, clause.recipient, context)
        return clause.infinitive is not None and not speaks_of(clause.infinitive, clause.subject)

    def _locative(self, clause: Clause, context: Context) -> bool:
        clause.place = self.adjuncts.place(clause.verb.object, context, clause)
        return clause.place is not None

    def _swap(self, clause: Clause, context: Context) -> bool:
        clause.object = self.adjuncts.other_person(clause.subject, context, DATIVES)
        return clause.object is not None

    def infinitive(self, outer: Verb, controller: Nominal, context: Context) -> Clause | None:
        """What somebody wants or is asked to do; `controller` is who would do it."""
        if "skill" in outer.options:
            verb = self.chance.by_order(self._skills, "verb")
        else:
            is_purpose = outer.french == "venir"  # come to do something: not to go on to another place
            allowed = ("transitive", "dative") if is_purpose else PLAIN_FRAMES
            weights = {name: self.tools.settings.frame[name] for name in allowed}
            verb = self.chance.by_order(self._wanted[self.chance.weighted(weights)], "verb")
        if verb.french == outer.french:
            return None
        form = self.chance.synonym(outer.prep[1].split("|")).rpartition("_")[2]
        inner = Clause(controller, verb, self.chance.synonym(verb.english), INFINITIVE_TENSES[form])
        if not self.fill(inner, context):
            return None
        inner.subject, inner.controller = None, french_subject_agreement(controller)
        return inner


def speaks_of(clause: Clause, subject: Nominal | None) -> bool:
    """Whether a pronoun in the clause means the first or second person that `subject` means."""
    person = 3 if subject is None else french_subject_agreement(subject).person
    pronouns = (clause.object, clause.recipient, clause.oblique)
    return any(isinstance(p, Pronoun) and p.agreement.person == person != 3 for p in pronouns)


def is_wanted(verb: Verb) -> bool:
    """Whether a person may want, decide or be told to do it."""
    is_person = "human" in verb.subject.classes and verb.subject.number != "pl"
    is_act = verb.aspect != "state" or verb.frame == "locative"
    return is_person and is_act and "involuntary" not in verb.options


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
