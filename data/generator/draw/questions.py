"""Drawing questions and commands."""

from __future__ import annotations

from ..entries import Selection
from ..meaning import Adjunct, Adverbial, Agreement, Clause, Gap, NounPhrase, Pronoun, QuestionWord, Sentence
from .chance import Context, Tools, pronoun
from .clauses import Clauses
from .modifiers import Surroundings
from .nominals import PERSON_CLASSES
from .predicates import Predicates

ASKED = ("tu", "vous", "il", "elle", "ils")
HOW = (("pourquoi", "why"), ("quand", "when"), ("comment", "how"))


class Questions:
    """Draws sentences that ask or command."""

    def __init__(self, tools: Tools, clauses: Clauses, predicates: Predicates):
        self.tools = tools
        self.chance = tools.chance
        self.clauses = clauses
        self.predicates = predicates

    def yes_no(self, context: Context) -> Sentence | None:
        """A question or command such as *est-ce que tu dors ?*, *as tu faim ?*."""
        if self.chance.happens(0.3):
            clause = self.predicates.adjective(context, subjects=ASKED)
        else:
            clause = self._clause(context, self.clauses.frame("swap"))
        if clause is None or not isinstance(clause.subject, Pronoun) or clause.tense == "just":
            return None
        return Sentence(clause, self._form(), "?")

    def _clause(self, context: Context, frame: str, tense: str = "", can_negate: bool = True) -> Clause | None:
        """A clause about a pronoun."""
        clause = self.clauses.clause(context, subjects=ASKED, frame=frame, tense=tense, can_negate=can_negate)
        return clause if clause is not None and isinstance(clause.subject, Pronoun) else None

    def _form(self) -> str:
        return self.chance.weighted({"est-ce que": 55, "inversion": 45})

    def wh(self, context: Context) -> Sentence | None:
        """A question with a question word."""
        draw = self.chance.weighted(
            {self._adjunct: 30, self._where: 20, self._what: 20, self._who: 12, self._which: 18}
        )
        return draw(context)

    def _adjunct(self, context: Context) -> Sentence | None:
        french, english = self.chance.weighted({HOW[0]: 50, HOW[1]: 30, HOW[2]: 20})
        if french == "pourquoi":
            clause = self._clause(context, self.clauses.frame("swap"))
        else:
            tense = self.chance.weighted({"past": 5, "going_to": 3, "future": 2})
            frame = self.chance.pick(("intransitive", "transitive", "locative"))
            clause = self._clause(context, frame, tense, can_negate=False)
        if clause is None or clause.tense == "just":
            return None
        if french != "pourquoi":
            if clause.verb.aspect == "state" or "involuntary" in clause.verb.options:
                return None
            clause.adjuncts = []
        return Sentence(clause, self._form(), "?", question=QuestionWord(french, english, "adjunct"))

    def _where(self, context: Context) -> Sentence | None:
        if self.chance.happens(0.3):
            return self._where_is(context)
        clause = self._clause(context, "locative", can_negate=False)
        if clause is None:
            return None
        clause.place = None
        self.clauses.tenses.drop_time(clause)
        return Sentence(clause, self._form(), "?", question=QuestionWord("où", "where", "adjunct"))

    def _where_is(self, context: Context) -> Sentence | None:
        """A question or command such as *où est la gare ?*."""
        things = Selection(frozenset(("building", "shop", "tool", "clothing", "pet", "kin", "text", "container")))
        around = Surroundings(None, "present", options=frozenset(("definite",)))
        phrase = self.clauses.nominals.object_phrase(things, context, around)
        if phrase is None or phrase.relative is not None:
            return None
        if phrase.noun.class_name == "kin" and phrase.complement is None:
            phrase.determiner, phrase.owner = "my", context.owner(self.chance.pick((1, 2)))
        verb = self.clauses.by_frame["copula"][0]
        tense = "imperfect" if self.chance.happens(0.15) else "present"
        clause = Clause(phrase, verb, "be", tense)
        return Sentence(clause, "inversion", "?", question=QuestionWord("où", "where", "adjunct"))

    def _what(self, context: Context) -> Sentence | None:
        """A question or command such as *qu'est-ce que tu manges ?*."""
        clause = self._with_object_gap(context)
        if clause is None or clause.verb.object.classes & PERSON_CLASSES:
            return None
        clause.object = Gap(Agreement(3, "sg", "m"))
        return Sentence(clause, self._form(), "?", question=QuestionWord("que", "what", "object"))

    def _with_object_gap(self, context: Context) -> Clause | None:
        clause = self._clause(context, "transitive", can_negate=False)
        if clause is None or "bare" in clause.verb.options:
            return None
        clause.adjuncts = clause.adjuncts[:1]
        return clause

    def _who(self, context: Context) -> Sentence | None:
        """A question or command such as *qui a mangé le gâteau ?*."""
        gap = Gap(Agreement(3, "sg", "m"), is_person=True)
        carrier = pronoun("il", context)
        clause = self.clauses.clause(context, subject=carrier, frame=self.clauses.frame("swap"), can_negate=False)
        if clause is None:
            return None
        clause.subject = gap
        return Sentence(clause, "plain", "?", question=QuestionWord("qui", "who", "subject"))

    def _which(self, context: Context) -> Sentence | None:
        """A question or command such as *quel livre as tu lu ?*, *combien de pommes veux tu ?*."""
        clause = self._with_object_gap(context)
        if clause is None or not isinstance(clause.object, NounPhrase) or clause.object.content is not None:
            return None
        noun = clause.object.noun
        counts = self.chance.happens(0.45) and not noun.is_generic and not noun.is_unique
        if noun.is_generic or noun.is_unique or (noun.is_mass and not counts) or noun.is_english_plural_only:
            return None
        phrase = NounPhrase(noun, clause.object.english, clause.object.number, "how_many" if counts else "which")
        if counts:
            if noun.is_english_mass or noun.is_plural_only:
                return None
            phrase.number = "sg" if noun.is_mass else "pl"
        clause.object = Gap(phrase.agreement)
        question = QuestionWord("", "", "object", phrase)
        return Sentence(clause, self._form(), "?", question=question)

    def imperative(self, context: Context) -> Sentence | None:
        """A question or command such as *ferme la porte !*."""
        frame = self.chance.weighted(
            {
                "intransitive": 20,
                "transitive": 45,
                "dative": 12,
                "locative": 8,
                "oblique": 12,
                "expression": 5,
            }
        )
        subject = pronoun(self.chance.weighted({"tu": 50, "vous": 40, "nous": 10}), context)
        verb = self.clauses.verb(frame, subject, is_voluntary=True)
        if verb is None:
            return None
        clause = Clause(subject, verb, self.chance.synonym(verb.english), "imperative")
        is_bad = "bad" in verb.options
        if is_bad and subject.agreement.person == 1:
            return None
        if is_bad or (subject.agreement.person == 2 and self.chance.happens(0.25)):
            clause.negation = "jamais" if self.chance.happens(0.1) else "pas"
        if not self.clauses.complements.fill(clause, context):
            return None
        clause.adjuncts = [a for a in clause.adjuncts if not is_reproach(a)]
        return Sentence(clause, "imperative", "!" if self.chance.happens(0.6) else ".")


def is_reproach(adjunct: Adjunct) -> bool:
    """An adverb that no command has: *badly*, *too much*."""
    return isinstance(adjunct, Adverbial) and adjunct.adverb.french in ("mal", "trop")
