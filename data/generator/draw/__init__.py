"""Drawing whole sentences: which kind, and what it needs.

    chance.py     random choices, speaker, hearer     modifiers.py    adjectives, determiners
    nominals.py   subjects and objects                adjuncts.py     tenses, times, places, company
    clauses.py    verbs and their complements         predicates.py   *être* with an adjective, comparisons
    existence.py  what is and what there is           links.py        two clauses
    questions.py  questions and commands

Each kind of `[sentence]` in the settings is a method here or in one of these.
"""

from __future__ import annotations

from collections.abc import Callable

from ..entries import Verb
from ..meaning import Clause, Gap, Linked, NounPhrase, Relative, Sentence
from ..settings import Settings
from ..words import Lexicon
from .adjuncts import Tenses, same
from .chance import Chance, Context, Tools, new_context, pronoun
from .clauses import Clauses, is_quantified
from .existence import Existence
from .links import Links
from .modifiers import Adjectives
from .nominals import Nominals
from .predicates import Predicates
from .questions import Questions

NOT_BEFORE_INFINITIVE = (
    "perfect", "used_to", "in_progress", "since_progressive", "just", "past_progressive",
)  # fmt: skip
EVENT_ADVERBS = ("soudain", "enfin", "finalement")
FUTURE_CONTENT = ("espérer", "promettre")


class Sentences:
    """Draws sentences, one after the other, from one stream of chance."""

    def __init__(self, lexicon: Lexicon, settings: Settings, chance: Chance):
        self.tools = Tools(lexicon, settings, chance)
        self.chance = chance
        adjectives = Adjectives(self.tools)
        self.tenses = Tenses(self.tools)
        self.nominals = Nominals(self.tools, adjectives)
        self.nominals.relative = self._relative
        self.clauses = Clauses(self.tools, self.nominals, self.tenses)
        self.predicates = Predicates(self.tools, self.clauses, adjectives, self.tenses)
        self.existence = Existence(self.tools, self.clauses, self.predicates, adjectives)
        self.links = Links(self.tools, self.clauses, self.predicates, self.existence)
        questions = Questions(self.tools, self.clauses, self.predicates)
        self._questions = {
            "yes_no": questions.yes_no, "wh": questions.wh, "imperative": questions.imperative,
        }  # fmt: skip
        self._relatives: dict[tuple[str, str, str], tuple[tuple[Verb, ...], tuple[Verb, ...]]] = {}

    def draw(self) -> Sentence:
        """One sentence; draws again where a choice led nowhere."""
        while True:
            sentence = self._draw_kind(self.chance.weighted(self.tools.settings.sentence))
            if sentence is not None:
                english = self.tools.settings.english
                sentence.is_contracted = self.chance.happens(english["contraction"])
                sentence.is_negation_contracted = self.chance.happens(english["negation_contraction"])
                return sentence

    def _draw_kind(self, kind: str) -> Sentence | None:
        context = new_context(self.chance, self.tools.settings)
        if kind in self._questions:
            return self._questions[kind](context)
        draws: dict[str, Callable[[Context], Clause | Linked | None]] = {
            "adjective": self.predicates.adjective,
            "noun": self.existence.noun,
            "verb": self.clauses.clause,
            "infinitive": self._infinitive,
            "content": self._content,
            "linked": self.links.draw,
            "existential": self.existence.existential,
            "identity": self._identity,
            "comparison": self.predicates.comparison,
            "age": self.existence.age,
            "impersonal": self.existence.impersonal,
        }
        body = draws[kind](context)
        if body is None:
            return None
        sentence = Sentence(body)
        if isinstance(body, Clause) and kind in ("adjective", "verb") and self.tools.share("front"):
            front = self.tenses.adverb("attitude")
            is_event = front.adverb.french in EVENT_ADVERBS
            if body.verb.aspect != "state" and body.tense == "past" or not is_event:
                sentence.front = front
        return sentence

    def _identity(self, context: Context) -> Clause | None:
        if self.chance.happens(0.3):
            return self.existence.general(context)
        return self.existence.identity(context)

    def _infinitive(self, context: Context) -> Clause | None:
        """*je veux dormir*, *elle a décidé de partir*, *je voudrais un café*."""
        verb = self.clauses.verb("infinitive")
        assert verb is not None
        subject = self.nominals.subject(verb.subject, context)
        if subject is None:
            return None
        clause = Clause(subject, verb, self.chance.synonym(verb.english), self.tenses.tense(verb))
        if clause.tense in NOT_BEFORE_INFINITIVE:
            clause.tense = "past"
        if verb.french == "vouloir" and self.chance.happens(0.3):
            clause.english, clause.tense = "like", "conditional"
        elif verb.aspect == "state" and clause.tense == "future":
            clause.tense = "present"
        if clause.tense == "present" and verb.aspect == "activity":
            clause.tense = "progressive"
        is_negatable = "negatable" in verb.options and not is_quantified(subject)
        if is_negatable and clause.tense != "conditional" and self.tools.share("negation"):
            clause.negation = "pas"
        clause.infinitive = self.clauses.complements.infinitive(verb, subject, context)
        return clause if clause.infinitive is not None else None

    def _content(self, context: Context) -> Clause | None:
        """*je pense que tu as raison*."""
        verb = self.clauses.verb("content")
        assert verb is not None
        names = ("je", "tu", "il", "elle", "nous", "vous", "ils", "name", "noun")
        subject = self.nominals.subject(verb.subject, context, names)
        if subject is None:
            return None
        is_past = verb.aspect != "state" and verb.french not in FUTURE_CONTENT
        clause = Clause(subject, verb, self.chance.synonym(verb.english), "past" if is_past else "present")
        if "negative" in verb.options:
            clause.negation = "pas"
        tense = "imperfect" if is_past else "future" if verb.french in FUTURE_CONTENT else ""
        context.can_relate = False
        clause.content = self._embedded(context, tense)
        if clause.content is None or clause.content.subject is None:
            return None
        if same(clause.content.subject, subject):
            return None
        speaks_of_self = clause.content.subject.agreement.person == subject.agreement.person != 3
        return None if speaks_of_self and verb.french not in FUTURE_CONTENT else clause

    def _embedded(self, context: Context, tense: str) -> Clause | None:
        if tense != "future" and self.chance.happens(0.5):
            return self.predicates.adjective(context, tense=tense or "present")
        if tense == "imperfect":
            clause = self.clauses.clause(context, tense="pluperfect", frame=self.clauses.frame("swap"))
            return clause if clause is not None and clause.verb.aspect != "state" else None
        return self.clauses.clause(context, tense=tense)

    # -- relative clauses -------------------------------------------------------------------------------

    def _relative(self, phrase: NounPhrase, context: Context) -> Relative | None:
        """*qui dort*, *que j'ai acheté*: the noun itself is the subject or object that the verb admits."""
        key = (phrase.noun.class_name, phrase.noun.lemma, phrase.noun.gender)
        if key not in self._relatives:
            by_frame = self.clauses.by_frame
            as_subject = tuple(
                verb
                for verb in (*by_frame["intransitive"], *by_frame["expression"], *by_frame["transitive"])
                if verb.subject.admits(phrase.noun) and verb.subject.number != "pl"
            )
            as_object = tuple(
                verb
                for verb in by_frame["transitive"]
                if verb.object.admits(phrase.noun) and "human" in verb.subject.classes and verb.french != "avoir"
            )
            self._relatives[key] = as_subject, as_object
        as_subject, as_object = self._relatives[key]
        gap = Gap(phrase.agreement, phrase.is_person)
        if as_subject and (not as_object or self.chance.happens(0.5)):
            return self._relative_qui(self.chance.by_order(as_subject, "verb"), gap, context)
        if as_object and not phrase.noun.is_generic:
            return self._relative_que(self.chance.by_order(as_object, "verb"), gap, context)
        return None

    def _relative_qui(self, verb: Verb, gap: Gap, context: Context) -> Relative | None:
        tense = self._relative_tense(verb)
        clause = Clause(gap, verb, self.chance.synonym(verb.english), tense)
        if verb.frame == "transitive":
            from_ = self.clauses.complements.around(clause, is_plain=True)
            clause.object = self.nominals.object(verb.object, context, from_)
            if clause.object is None:
                return None
        return Relative("qui", clause)

    def _relative_que(self, verb: Verb, gap: Gap, context: Context) -> Relative:
        name = self.chance.weighted({"je": 10, "tu": 5, "il": 4, "elle": 4, "nous": 3, "vous": 3})
        subject = pronoun(name, context)
        clause = Clause(subject, verb, self.chance.synonym(verb.english), self._relative_tense(verb))
        clause.object = gap
        return Relative("que", clause)

    def _relative_tense(self, verb: Verb) -> str:
        if verb.aspect == "state":
            return "present"
        if verb.aspect == "point" or "past" in verb.options:
            return "past"
        return self.chance.weighted({"progressive": 4, "past": 6})
