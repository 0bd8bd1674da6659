"""Drawing what is and what there is: *je suis médecin*, *c'est mon frère*, *il y a un chat*, age, weather."""

from __future__ import annotations

from ..entries import Noun, Selection
from ..meaning import Agreement, Clause, Indefinite, NounPhrase, Pronoun, french_subject_agreement
from .chance import Context, Tools, impersonal, pronoun
from .clauses import PERSONS, Clauses
from .modifiers import Adjectives
from .predicates import Predicates

THERE = Selection(
    frozenset(
        ("human", "job", "pet", "wild", "bird", "insect", "furniture", "container", "tool", "food", "fruit", "plant",
         "text", "vehicle", "clothing", "toy", "picture")
    )
)  # fmt: skip
IDENTITIES = Selection(
    frozenset(("job", "kin", "friend", "idea", "problem", "text", "film", "event", "picture", "building", "money"))
)


ON_AND_IN = Selection(
    frozenset(("room",)),
    frozenset(
        [("furniture", name) for name in ("table", "lit", "chaise", "bureau", "étagère", "tapis", "armoire")]
        + [("container", name) for name in ("sac", "boîte", "valise", "panier", "poubelle", "coffre")]
    ),
)


class Existence:
    """Draws clauses with a noun after *être*, and those whose subject says nothing."""

    def __init__(self, tools: Tools, clauses: Clauses, predicates: Predicates, adjectives: Adjectives):
        self.tools = tools
        self.chance = tools.chance
        self.clauses = clauses
        self.nominals = clauses.nominals
        self.predicates = predicates
        self.adjectives = adjectives
        self.tenses = clauses.tenses
        self._copulas = clauses.by_frame["copula"]
        self._special = {verb.french: verb for verb in clauses.by_frame["special"]}
        self._ideas = tuple(
            adjective
            for adjective in tools.lexicon.adjectives
            if "idea" in adjective.selection.classes and adjective.use == "both" and not adjective.is_before
        )

    def noun(self, context: Context) -> Clause | None:
        """*je suis médecin* (bare), *tu es un bon ami*, *il est devenu avocat*."""
        names = ("je", "tu", "il", "elle", "nous", "vous", "ils", "elles", "name")
        subject = self.nominals.subject(PERSONS, context, names)
        if subject is None:
            return None
        agreement = subject.agreement
        selection = Selection(frozenset(("job", "friend", "human")), gender=agreement.gender)
        noun = self.nominals.noun(selection, context)
        if noun is None:
            return None
        phrase = NounPhrase(noun, self.chance.synonym(noun.english), agreement.number, "a")
        verb = self._copulas[0]
        if noun.class_name == "job":
            self.adjectives.decorate(phrase)
            phrase.determiner = "a" if phrase.modifiers else "bare"
            if self.chance.happens(0.2):
                verb = next(v for v in self._copulas if "noun" in v.options and v.french != "être")
        elif noun.class_name == "friend" and self.chance.happens(0.7):
            phrase.determiner, phrase.owner = "my", self._other_owner(agreement, context)
        else:
            self.adjectives.decorate(phrase)
        english = self.chance.synonym(verb.english)
        clause = Clause(subject, verb, english, self.predicates.tense(verb), attribute=phrase)
        if verb.french == "être":
            self.predicates.negate(clause)
        return clause

    def _other_owner(self, agreement: Agreement, context: Context) -> Agreement:
        person = self.chance.weighted({1: 5, 2: 3})
        if agreement.person in (1, 2):
            person = 3 - agreement.person
        return context.owner(person)

    def identity(self, context: Context) -> Clause | None:
        """*c'est mon frère*, *ce sont de bonnes idées*."""
        noun = self.nominals.noun(IDENTITIES, context)
        if noun is None or noun.is_plural_only or noun.is_mass:
            return None
        number = "pl" if self.chance.happens(0.15) and not noun.is_english_mass else "sg"
        phrase = NounPhrase(noun, self.chance.synonym(noun.english), number, "a")
        if noun.class_name in ("kin", "friend") or (noun.class_name != "job" and self.chance.happens(0.2)):
            phrase.determiner, phrase.owner = "my", self.nominals.determiners.owner(None, context)[0]
        elif self.chance.happens(0.15):
            phrase.determiner = "the"
        self.adjectives.decorate(phrase)
        english = Agreement(3, number, noun.gender) if phrase.is_person else None
        plural = Agreement(3, "pl", "m") if number == "pl" else None
        subject = Pronoun(Agreement(3, number, "m"), "ce", english or plural)
        tense = "imperfect" if self.chance.happens(0.12) else "present"
        clause = Clause(subject, self._copulas[0], "be", tense, attribute=phrase)
        self.predicates.negate(clause)
        return clause

    def general(self, context: Context) -> Clause:
        """*c'est vrai*, *c'est trop cher*."""
        modifier = self.adjectives.modifier(self.chance.by_order(self._ideas, "adjective"))
        if modifier.adjective.is_gradable and self.tools.share("degree"):
            modifier.degree = self.adjectives.degree(modifier.adjective)
        clause = Clause(
            Pronoun(Agreement(3, "sg", "m"), "ce"), self._copulas[0], "be",
            "imperfect" if self.chance.happens(0.15) else "present", attribute=modifier,
        )  # fmt: skip
        if modifier.degree is None:
            self.predicates.negate(clause)
        return clause

    # -- others -----------------------------------------------------------------------------------------

    def existential(self, context: Context) -> Clause | None:
        """*il y a un chat dans le jardin*."""
        tense = self.chance.weighted({"present": 75, "imperfect": 20, "future": 5})
        clause = Clause(impersonal(), self._special["y avoir"], "be", tense)
        if self.chance.happens(0.2):
            clause.negation = self.chance.weighted({"pas": 8, "plus": 2 if tense == "present" else 0})
        noun = self.nominals.noun(THERE, context)
        if noun is None or noun.is_generic:
            return None
        phrase = NounPhrase(noun, self.chance.synonym(noun.english), self._number(noun), "a")
        phrase.determiner = "no" if clause.negation else "some" if noun.is_mass else "a"
        counted = phrase.number == "pl" and not noun.is_plural_only and not noun.is_english_mass
        if counted and not clause.negation:
            phrase.determiner = self.chance.weighted({"some": 3, "number": 4, "many": 3, "a_few": 1, "several": 1})
            phrase.count = self.chance.weighted({2: 5, 3: 5, 4: 2, 5: 1})
        self.adjectives.decorate(phrase)
        clause.object = phrase
        clause.place = self.clauses.adjuncts.place(self._surroundings(noun), context, clause)
        return clause if clause.place is not None else None

    @staticmethod
    def _surroundings(noun: Noun) -> Selection:
        """Where such a thing may be."""
        if noun.class_name in ("vehicle", "plant", "wild", "landscape", "bird"):
            return Selection(frozenset(("area",)))
        if noun.class_name in ("human", "job", "pet"):
            return Selection(frozenset(("room", "area", "building", "shop")))
        if noun.class_name in ("furniture", "insect"):
            return Selection(frozenset(("room",)))
        return ON_AND_IN

    def _number(self, noun: Noun) -> str:
        if noun.is_plural_only:
            return "pl"
        return "pl" if self.chance.happens(0.4) and not noun.is_mass else "sg"

    def age(self, context: Context) -> Clause | None:
        """*j'ai vingt ans*."""
        names = ("je", "tu", "il", "elle", "vous", "name", "noun")
        selection = PERSONS if self.chance.happens(0.7) else Selection(frozenset(("kin",)))
        subject = self.nominals.subject(selection, context, names)
        if subject is None or subject.agreement.number == "pl":
            return None
        tense = self.chance.weighted({"present": 80, "imperfect": 15, "future": 5})
        return Clause(subject, self._special["avoir"], "be", tense, adjuncts=[self.tenses.age()])

    def impersonal(self, context: Context) -> Clause | None:
        """*il pleut*, *il fait froid*, *il est huit heures*, *il faut partir*."""
        kind = self.chance.weighted({"weather": 50, "clock": 20, "must": 30})
        if kind == "clock":
            return Clause(impersonal(), self._special["être"], "be", "present", adjuncts=[self.tenses.clock("clock")])
        if kind == "weather":
            return self.weather()
        subject = impersonal()
        subject.english = Agreement(1, "pl", "m")
        tense = self.chance.weighted({"present": 70, "future": 20, "imperfect": 10})
        clause = Clause(subject, self._special["falloir"], "have to", tense)
        we = pronoun("nous", context)
        clause.infinitive = self.clauses.complements.infinitive(clause.verb, we, context)
        if clause.infinitive is None:
            return None
        clause.infinitive.controller = french_subject_agreement(Indefinite("on", "one"))
        return clause

    def weather(self, tense: str = "") -> Clause:
        """*il pleut*."""
        verb = self.chance.by_order(self.clauses.by_frame["impersonal"], "verb")
        clause = Clause(impersonal(), verb, self.chance.synonym(verb.english), tense or self.tenses.tense(verb))
        if clause.tense in ("used_to", "since_progressive", "perfect", "in_progress"):
            clause.tense = "past"
        self.tenses.add_time(clause)
        return clause
