"""Writing a meaning out: all that French and English do alike. The writers, `french.py` and `english.py`, do the rest.

What is written is a string of words with spaces between them, as many as there happen to be. In French ones, two signs
tell how a word meets its neighbours, until they are joined: `ce|cet` has its form before a vowel behind the bar, and
before `*hibou`, as in dictionaries, nothing is elided.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable

from .meaning import (
    Adjunct,
    Agreement,
    Clause,
    Gap,
    Modifier,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    Sentence,
    TimeSpan,
)


def by_rule(form: str, rules: Iterable[tuple[str, str]]) -> str:
    """The form with the end that the first fitting rule gives it: a pattern for the end, and what replaces it."""
    for pattern, ending in rules:
        if match := re.search(f"(?:{pattern})$", form):
            return form[: match.start()] + match.expand(ending)
    return form


class Writer(ABC):
    """Writes a sentence in one language."""

    side: int  # the language's place in pairs of French and English
    than: dict[str, str]  # before the standard of a comparison, by its kind
    inverting: tuple[str, ...]  # forms of sentences whose subject follows the verb
    asking: dict[str, str]  # what stands behind the question word, by the form of the sentence
    ending: dict[str, str]  # the part of a negation that ends the clause
    numbers: dict[int, str]  # up to twenty, and tens above
    columns: tuple[str, ...]  # cases of personal pronouns, and possessives
    pronouns: dict[str, str]  # their forms by person and number, or by gender too

    def __init__(self, sentence: Sentence):
        self.sentence = sentence

    def write(self) -> list[str]:
        """The sentence's tokens in the corpus's spelling."""
        sentence, body = self.sentence, self.sentence.body
        if isinstance(body, Clause):
            front = "" if sentence.front is None else self.adjunct(sentence.front)
            question = "" if sentence.question is None else self.nominal(sentence.question)
            clause = self.clause(body, is_inverted=sentence.form in self.inverting)
            text = f"{front} {question} {self.asking.get(sentence.form, '')} {clause}"
        else:
            first, second = self.clause(body.first), self.clause(body.second)
            conjunction = body.conjunction[self.side]
            text = f"{conjunction} {second} {first}" if body.is_fronted else f"{first} {conjunction} {second}"
        return [*self.spell(text), sentence.mark]

    @abstractmethod
    def spell(self, text: str) -> list[str]:
        """The tokens of words that stand side by side."""

    def number_word(self, count: int) -> str:
        """A number in words: *seventeen*, *forty-five*."""
        if count in self.numbers:
            return self.numbers[count]
        return f"{self.numbers[count // 10 * 10]}-{self.numbers[count % 10]}"

    def form(self, agreement: Agreement, column: str) -> str:
        """The pronoun or possessive of a column."""
        key = f"{agreement.person} {agreement.number}"
        forms = self.pronouns.get(key) or self.pronouns[f"{key} {agreement.gender}"]
        return forms.split()[self.columns.index(column)]

    @abstractmethod
    def clause(self, node: Clause, is_inverted: bool = False) -> str:
        """Words of a clause; `is_inverted` puts the subject behind the verb or its first auxiliary."""

    def tail(self, node: Clause) -> str:
        """Complements and adjuncts after the verb."""
        parts = [self.objects(node)]
        if isinstance(node.attribute, NounPhrase):
            parts.append(self.noun_phrase(node.attribute))
        elif node.attribute is not None:
            is_ce = isinstance(node.subject, Pronoun) and node.subject.kind == "ce"
            parts.append(self.adjective(node.attribute, Agreement(3, "sg", "m") if is_ce else node.agreement))
        if node.place is not None:
            parts.append(self.adjunct(node.place))
        if node.infinitive is not None:
            parts += [node.infinitive.link[self.side], self.clause(node.infinitive)]
        parts += [self.adjunct(adjunct) for adjunct in node.adjuncts if not self._is_middle(adjunct)]
        parts.append(self.ending.get(node.negation, ""))
        if node.content is not None:
            parts += [node.verb.prep[self.side], self.clause(node.content)]
        return " ".join(parts)

    @abstractmethod
    def objects(self, node: Clause) -> str:
        """Object, recipient and object with a preposition."""

    def _is_middle(self, adjunct: Adjunct | TimeSpan) -> bool:
        return isinstance(adjunct, Adjunct) and adjunct.positions[self.side] == "middle"

    def middle(self, node: Clause) -> str:
        """The adverbs that stand by the verb."""
        return " ".join(self.adjunct(adjunct) for adjunct in node.adjuncts if self._is_middle(adjunct))

    def adjunct(self, node: Adjunct | TimeSpan) -> str:
        """An adverb, a phrase with a preposition, or a span of time."""
        if isinstance(node, TimeSpan):
            return self.span(node)
        text = node.texts[self.side]
        return text if node.nominal is None else self.prepositional(text, node.nominal)

    @abstractmethod
    def span(self, node: TimeSpan) -> str:
        """A number of units of time, with its preposition."""

    def prepositional(self, prep: str, nominal: Nominal) -> str:
        """A preposition and its nominal; French *de* takes no indefinite plural and no partitive."""
        case = "after de" if prep.split()[-1:] == ["de"] else "disjunctive"
        return f"{prep} {self.nominal(nominal, case)}"

    def nominal(self, node: Nominal, case: str = "object") -> str:
        """Words of a nominal as `subject`, `object`, or after a preposition: `disjunctive`, `after de`."""
        if isinstance(node, Gap):
            return ""
        if isinstance(node, Pronoun):
            return self.pronoun(node, case)
        if isinstance(node, Name):
            return self.name(node)
        return self.noun_phrase(node, case) if isinstance(node, NounPhrase) else node.texts[self.side]

    @abstractmethod
    def name(self, node: Name) -> str:
        """A name, or two."""

    @abstractmethod
    def pronoun(self, node: Pronoun, case: str) -> str:
        """A personal pronoun."""

    @abstractmethod
    def noun_phrase(self, node: NounPhrase, case: str = "object") -> str:
        """Determiner, adjectives, noun, complement, relative clause."""

    def adjectives(self, node: NounPhrase, is_before: bool) -> str:
        """The adjectives before or after the French noun."""
        modifiers = [modifier for modifier in node.modifiers if modifier.adjective.is_before == is_before]
        return " ".join(self.adjective(modifier, node.agreement) for modifier in modifiers)

    def adjective(self, node: Modifier, agreement: Agreement) -> str:
        """Degree, comparison, adjective, and what it is compared with or goes on with."""
        result = self.compared(node, agreement)
        if node.degree is not None:
            result = f"{node.degree.texts[self.side]} {result}"
        if node.standard is not None:
            result += f" {self.than[node.comparison]} {self.nominal(node.standard, 'disjunctive')}"
        if node.complement is not None:
            result += " " + self.prepositional(node.adjective.prep[self.side], node.complement)
        if node.infinitive is not None:
            result += f" {node.infinitive.link[self.side]} {self.clause(node.infinitive)}"
        return result

    @abstractmethod
    def compared(self, node: Modifier, agreement: Agreement) -> str:
        """The adjective as it agrees, with its comparison."""

    def relative(self, node: NounPhrase) -> str:
        """The relative clause, if any."""
        if node.relative is None:
            return ""
        pronoun, clause = node.relative
        return f"{pronoun[self.side]} {self.clause(clause)}"
