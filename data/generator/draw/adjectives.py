"""Drawing adjectives: which fit a noun, beside it or as a predicate, with degree and comparison."""

from __future__ import annotations

from ..meaning.nodes import Comparison, Degree, Modifier, NounPhrase
from ..words.entries import Adjective, Adverb, Noun
from .context import Tools


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

    def degree(self, adjective: Adjective, adverb: Adverb | None = None) -> Degree:
        """An adverb of degree, *très* before others; *un peu* only for what one may be a little too much."""
        adverb = adverb or self.chance.by_order(self._degrees, "adverb")
        if adverb.french == "un peu" and not adjective.takes_a_little:
            adverb = self._degrees[0]
        return Degree(adverb, self.chance.synonym(adverb.english))

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
