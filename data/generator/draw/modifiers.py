"""Drawing what stands around a noun: adjectives with degree and comparison; article, possessive, number."""

from __future__ import annotations

from dataclasses import dataclass

from ..entries import Adjective, Adverb, Noun
from ..meaning import Adverbial, Agreement, Comparison, Indefinite, Modifier, Nominal, NounPhrase, Pronoun, is_thing
from .chance import Context, Tools


class Adjectives:
    """Draws adjectives for nouns."""

    def __init__(self, tools: Tools):
        self.tools = tools
        self.chance = tools.chance
        self._fitting: dict[tuple[str, str, str, str], tuple[Adjective, ...]] = {}
        self._degrees = tuple(a for a in tools.lexicon.adverbs if a.kind == "degree")

    def fitting(self, noun: Noun, use: str) -> tuple[Adjective, ...]:
        """Adjectives that go with a noun as `attribute` or `predicate`, most frequent first."""
        key = (noun.class_name, noun.lemma, noun.gender, use)
        if key not in self._fitting:
            self._fitting[key] = tuple(
                adjective
                for adjective in self.tools.lexicon.adjectives
                if adjective.use in ("both", use) and adjective.selection.admits(noun)
            )
        return self._fitting[key]

    def modifier(self, adjective: Adjective) -> Modifier:
        """The adjective with one of its English words."""
        return Modifier(adjective, self.chance.synonym(adjective.english))

    def degree(self, adjective: Adjective, adverb: Adverb | None = None) -> Adverbial:
        """An adverb of degree, *très* before others; *un peu* only for what one may be a little too much."""
        adverb = adverb or self.chance.by_order(self._degrees, "adverb")
        if adverb.french == "un peu" and not adjective.takes_a_little:
            adverb = self._degrees[0]
        return Adverbial(adverb, self.chance.synonym(adverb.english))

    def decorate(self, phrase: NounPhrase) -> None:
        """Sometimes gives a noun phrase an adjective, rarely two, one of them as a superlative."""
        if phrase.content is not None or phrase.determiner == "no" or not self.tools.share("adjective"):
            return
        found = self._attribute(phrase)
        if found is None:
            return
        phrase.modifiers.append(found)
        gradable = found.adjective.is_gradable and not found.adjective.determiner
        countable = not phrase.noun.is_mass and not phrase.complement
        if gradable and countable and phrase.determiner == "the" and self.chance.happens(0.12):
            found.comparison = Comparison("most")
            found.english = found.adjective.english[0]
        elif gradable and phrase.determiner == "a" and self.chance.happens(0.1):
            found.degree = self.degree(found.adjective, self._degrees[0])
        elif self.tools.share("second_adjective"):
            second = self._attribute(phrase)
            if second is not None and second.adjective.is_before != found.adjective.is_before:
                phrase.modifiers.append(second)

    def _attribute(self, phrase: NounPhrase) -> Modifier | None:
        adjectives = [
            adjective
            for adjective in self.fitting(phrase.noun, "attribute")
            if (adjective.determiner == "" and (adjective.is_before or phrase.noun.class_name != "kin"))
            or (adjective.determiner == "definite" and phrase.determiner == "the")
            or (adjective.determiner == "possessive" and phrase.determiner == "my")
        ]
        if not adjectives:
            return None
        return self.modifier(self.chance.by_order(adjectives, "adjective"))


# Tenses in which English says *some*: one event, not a habit.
WITH_SOME = frozenset(("past", "pluperfect", "perfect", "future", "going_to", "just", "imperative", "conditional"))
OWNED = 0.25
NOT_OWNED = frozenset(("measure", "time", "sky"))
COUNTS = {2: 10, 3: 7, 4: 4, 5: 3, 6: 2, 7: 1, 8: 1, 10: 1, 12: 1}


@dataclass(frozen=True)
class Surroundings:
    """What a noun phrase must know of its clause."""

    subject: Nominal | None = None
    tense: str = ""
    is_negated_object: bool = False
    options: frozenset[str] = frozenset()
    is_plain: bool = False


def number_fits(noun: Noun) -> bool:
    """Whether the noun can be counted in both languages."""
    return not (noun.is_mass or noun.is_english_mass or noun.is_english_plural_only or noun.is_plural_only)


class Determiners:
    """Chooses the number and determiner of a noun phrase."""

    def __init__(self, tools: Tools):
        self.tools = tools
        self.chance = tools.chance

    def number(self, noun: Noun, fixed: str = "") -> str:
        """Singular or plural, as the noun allows; `fixed` where the verb asks for one."""
        if noun.is_plural_only:
            return "pl"
        if noun.is_mass or noun.is_unique or noun.is_generic or noun.is_english_plural_only:
            return "sg"
        if noun.is_singular_only:
            return "sg"
        if noun.is_paired and not fixed and self.chance.happens(0.8):
            return "pl"
        return fixed or ("pl" if self.tools.share("plural") else "sg")

    def of_subject(self, phrase: NounPhrase, context: Context) -> None:
        """Gives a subject its determiner; its owner can only be speaker or hearer."""
        noun = phrase.noun
        if noun.is_generic:
            phrase.determiner = "generic"
        elif noun.is_unique or noun.is_mass:
            phrase.determiner = "the"
        elif self.chance.happens(self.owned_share(noun)):
            phrase.determiner, phrase.owner = "my", self.first_or_second(context)
        elif noun.class_name == "kin":
            phrase.determiner = "the"
        else:
            weights = {"the": 60.0, "this": 10.0}
            if phrase.is_person and phrase.number == "sg":
                weights["a"] = 4.0
            if phrase.number == "pl" and number_fits(noun):
                weights |= {"number": 6.0, "many": 3.0, "several": 2.0, "all": 4.0}
            elif number_fits(noun):
                weights["every"] = 2.0
            phrase.determiner = self.chance.weighted(weights)
        self.count(phrase)

    def of_object(self, phrase: NounPhrase, context: Context, around: Surroundings) -> None:
        """Gives an object its determiner; its owner may be the subject."""
        noun, options = phrase.noun, around.options
        if "bare" in options:
            phrase.number = "pl" if noun.is_plural_only else "sg"
            phrase.determiner = "bare"
        elif noun.is_generic or "generic" in options:
            is_singular = noun.is_mass or (noun.is_generic and not noun.is_plural_only)
            phrase.number = "sg" if is_singular else "pl"
            phrase.determiner = "generic"
        elif "definite" in options:
            phrase.number = phrase.number if noun.is_plural_only else "sg"
            phrase.determiner = "the"
        elif self.chance.happens(self.owned_share(noun)) and "indefinite" not in options:
            phrase.owner, phrase.owner_is_thing = self.owner(around.subject, context)
            phrase.determiner = "my"
        elif noun.is_unique or (noun.class_name == "kin" and "indefinite" not in options):
            phrase.number = phrase.number if noun.is_plural_only else "sg"
            phrase.determiner = "the"
        else:
            phrase.determiner = self.chance.weighted(self._object_weights(phrase, around))
        self.count(phrase)

    def _object_weights(self, phrase: NounPhrase, around: Surroundings) -> dict[str, float]:
        noun = phrase.noun
        indefinite = "no" if around.is_negated_object else "some" if around.tense in WITH_SOME else "a"
        if "indefinite" in around.options:
            is_counted = number_fits(noun) and phrase.number == "pl" and not around.is_negated_object
            return {indefinite: 1.0, "number": 1.5 if is_counted else 0.0}
        if noun.class_name == "friend":
            return {"the": 5.0, "this": 1.0}
        weights = {"the": 42.0, indefinite: 40.0, "this": 8.0}
        if around.is_negated_object and around.tense == "imperative":
            weights["no"] = 0.0
        if noun.is_mass:
            weights["many"] = 4.0
        elif number_fits(noun) and phrase.number == "pl" and not around.is_negated_object:
            is_person = noun.class_name in ("human", "job")
            weights |= {
                "number": 4.0 if is_person else 14.0,
                "many": 4.0,
                "a_few": 4.0,
                "several": 3.0,
                "all": 2.0,
            }
        return weights

    def count(self, phrase: NounPhrase) -> None:
        """Draws the number where the determiner is one."""
        if phrase.determiner == "number":
            phrase.count = self.chance.weighted(COUNTS)

    def owner(self, subject: Nominal | None, context: Context) -> tuple[Agreement, bool]:
        """Whose something is: mostly the subject's own, else the speaker's or hearer's.

        A third person is owner only where it is the subject, so that *son* has one meaning.
        """
        if isinstance(subject, Pronoun) and subject.kind in ("impersonal", "ce"):
            subject = None
        if subject is None or isinstance(subject, Indefinite) or self.chance.happens(0.25):
            return self.first_or_second(context), False
        agreement = subject.agreement
        if isinstance(subject, Pronoun) and subject.kind == "on":
            return context.owner(1, "pl"), False
        if agreement.person == 2:
            return context.owner(2), False
        if agreement.person == 3 and not context.can_own:
            return self.first_or_second(context), False
        return agreement, agreement.number == "sg" and is_thing(subject)

    def first_or_second(self, context: Context) -> Agreement:
        """The speaker, the hearer, or *nous*."""
        person, number = self.chance.weighted({(1, "sg"): 6, (2, "sg"): 3, (1, "pl"): 2})
        return context.owner(person, number)

    def owned_share(self, noun: Noun) -> float:
        """How often the noun has a possessive."""
        if noun.class_name in NOT_OWNED or noun.is_unique or noun.owning == "public":
            return 0.0
        if noun.owning == "owned":
            return OWNED
        owned = self.tools.lexicon.classes[noun.class_name].owned
        return 0.15 if owned is None else owned
