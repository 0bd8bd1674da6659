"""Writing a meaning out: the words of a sentence, and all that French and English do alike.

Each word names the node and the role that it stands for; words of the two languages with the same name translate each
other. The two writers, `french.py` and `english.py`, know nothing of each other.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from .meaning import (
    Adjunct,
    Adverbial,
    Agreement,
    Clause,
    Gap,
    Key,
    Modifier,
    Nominal,
    NounPhrase,
    Pair,
    Prepositional,
    Pronoun,
    Sentence,
    TimeSpan,
    head_key,
)


@dataclass(frozen=True)
class Word:
    """One word before elision and contraction.

    `before_vowel` is its form before a vowel sound (*beau* -> *bel*); `kind` marks what elision and contraction must
    know (*article*, *preposition*).
    """

    text: str
    keys: frozenset[Key]
    fallback: tuple[Key, ...] = ()
    before_vowel: str = ""
    is_aspirated: bool = False
    kind: str = ""


def word(text: str, node: object, role: str = "head", *fallback: Key, before_vowel: str = "", kind: str = "") -> Word:
    """A word that plays `role` for `node`; without a counterpart, it goes with the node's main word."""
    fallback = fallback or ((node, "head"), (node, "verb"))
    return Word(text, frozenset({(node, role)}), fallback, before_vowel, kind=kind)


def words(text: str, node: object, role: str = "head", *fallback: Key) -> list[Word]:
    """Several words that play one role together, such as *every day*."""
    return [word(part, node, role, *fallback) for part in text.split()]


def preposition(text: str, node: object, role: str, *fallback: Key) -> list[Word]:
    """A preposition, which may be several words, or none; its last word contracts."""
    *first, last = text.split() or [""]
    contracting = [word(last, node, role, *fallback, kind="preposition")] if last else []
    return [*words(" ".join(first), node, role, *fallback), *contracting]


def by_rule(form: str, rules: Iterable[tuple[str, str]]) -> str:
    """The form with the end that the first fitting rule gives it: a pattern for the end, and what replaces it."""
    for pattern, ending in rules:
        if match := re.search(f"(?:{pattern})$", form):
            return form[: match.start()] + match.expand(ending)
    return form


class Writer(ABC):
    """Writes a sentence in one language."""

    side: int  # the language's place in pairs of French and English
    and_: str  # between two names
    than: dict[str, str]  # before the standard of a comparison, by its kind
    inverting: tuple[str, ...]  # forms of sentences whose subject follows the verb
    numbers: dict[int, str]  # up to twenty, and tens above
    columns: tuple[str, ...]  # cases of personal pronouns, and possessives
    pronouns: dict[str, str]  # their forms by person and number, or by gender too

    def __init__(self, sentence: Sentence):
        self.sentence = sentence

    def write(self) -> list[Word]:
        """The sentence's tokens in the corpus's spelling."""
        sentence, body = self.sentence, self.sentence.body
        result = [] if sentence.front is None else self.adjunct(sentence.front)
        if isinstance(body, Clause):
            result += [*self.question(body), *self.clause(body, is_inverted=sentence.form in self.inverting)]
        else:
            conjunction = words(body.conjunction[self.side], body, "conjunction")
            first, second = self.clause(body.first), self.clause(body.second)
            result += [*conjunction, *second, *first] if body.is_fronted else [*first, *conjunction, *second]
        return [*self.spell(result), word(sentence.mark, sentence, "mark")]

    @abstractmethod
    def spell(self, words: list[Word]) -> list[Word]:
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

    def question(self, body: Clause) -> list[Word]:
        """The word or phrase that a question begins with, if any."""
        question = self.sentence.question
        return [] if question is None else self.nominal(question)

    @abstractmethod
    def clause(self, node: Clause, is_inverted: bool = False) -> list[Word]:
        """Words of a clause; `is_inverted` puts the subject behind the verb or its first auxiliary."""

    def tail(self, node: Clause) -> list[Word]:
        """Complements and adjuncts after the verb."""
        result = [w for adjunct in node.adjuncts if is_measure(adjunct) for w in self.adjunct(adjunct)]
        if isinstance(node.attribute, NounPhrase):
            result += self.noun_phrase(node.attribute)
        elif node.attribute is not None:
            is_ce = isinstance(node.subject, Pronoun) and node.subject.kind == "ce"
            result += self.adjective(node.attribute, Agreement(3, "sg", "m") if is_ce else node.agreement)
        result += self.objects(node)
        if node.place is not None:
            result += self.adjunct(node.place)
        if node.infinitive is not None:
            result += self.infinitive(node, node.infinitive)
        for adjunct in node.adjuncts:
            if not is_measure(adjunct) and not self._is_middle(adjunct):
                result += self.adjunct(adjunct)
        result += self.end_of_negation(node)
        if node.content is not None:
            result += words(node.verb.prep[self.side], node, "that", (node.content, "verb"))
            result += self.clause(node.content)
        return result

    @abstractmethod
    def objects(self, node: Clause) -> list[Word]:
        """Object, recipient and object with a preposition."""

    def infinitive(self, node: Clause | Modifier, infinitive: Clause) -> list[Word]:
        """The infinitive after a verb or adjective, with its preposition."""
        link = preposition(infinitive.link[self.side], node, "to", (infinitive, "verb"))
        return [*link, *self.clause(infinitive)]

    def end_of_negation(self, node: Clause) -> list[Word]:
        """The part of a negation that ends the clause."""
        return []

    def _is_middle(self, adjunct: Adjunct) -> bool:
        return isinstance(adjunct, Adverbial) and adjunct.adverb.positions[self.side] == "middle"

    def middle(self, node: Clause) -> list[Word]:
        """The adverbs that stand by the verb."""
        return [w for adjunct in node.adjuncts if self._is_middle(adjunct) for w in self.adjunct(adjunct)]

    def adjunct(self, node: Adjunct) -> list[Word]:
        """An adverb, a phrase with a preposition, or a span of time."""
        if isinstance(node, Adverbial):
            return words(node.texts[self.side], node)
        if isinstance(node, Prepositional):
            return self.prepositional(node.texts[self.side], node.nominal, node)
        return self.span(node)

    @abstractmethod
    def span(self, node: TimeSpan) -> list[Word]:
        """A number of units of time, with its preposition."""

    def prepositional(self, prep: str, nominal: Nominal, node: object, role: str = "prep") -> list[Word]:
        """A preposition and its nominal; French *de* takes no indefinite plural and no partitive."""
        case = "after de" if prep.split()[-1:] == ["de"] else "disjunctive"
        return [*preposition(prep, node, role, head_key(nominal)), *self.nominal(nominal, case)]

    def nominal(self, node: Nominal, case: str = "object") -> list[Word]:
        """Words of a nominal as `subject`, `object`, or after a preposition: `disjunctive`, `after de`."""
        if isinstance(node, Gap):
            return []
        if isinstance(node, Pair):
            return [*self.nominal(node.first), word(self.and_, node, "and"), *self.nominal(node.second)]
        if isinstance(node, Pronoun):
            return [self.pronoun(node, case)]
        if isinstance(node, NounPhrase):
            return self.noun_phrase(node, case)
        return words(node.texts[self.side], node)

    @abstractmethod
    def pronoun(self, node: Pronoun, case: str) -> Word:
        """A personal pronoun."""

    @abstractmethod
    def noun_phrase(self, node: NounPhrase, case: str = "object") -> list[Word]:
        """Determiner, adjectives, noun, complement, relative clause."""

    def adjectives(self, node: NounPhrase, is_before: bool) -> list[Word]:
        """The adjectives before or after the French noun."""
        modifiers = [modifier for modifier in node.modifiers if modifier.adjective.is_before == is_before]
        return [w for modifier in modifiers for w in self.adjective(modifier, node.agreement)]

    def adjective(self, node: Modifier, agreement: Agreement) -> list[Word]:
        """Degree, comparison, adjective, and what it is compared with or goes on with."""
        result = [] if node.degree is None else words(node.degree.texts[self.side], node.degree, "head", (node, "head"))
        result += self.compared(node, agreement)
        if node.standard is not None:
            result += [word(self.than[node.comparison], node, "than"), *self.nominal(node.standard, "disjunctive")]
        if node.complement is not None:
            result += self.prepositional(node.adjective.prep[self.side], node.complement, node)
        return result if node.infinitive is None else [*result, *self.infinitive(node, node.infinitive)]

    @abstractmethod
    def compared(self, node: Modifier, agreement: Agreement) -> list[Word]:
        """The adjective as it agrees, with its comparison."""

    def relative(self, node: NounPhrase) -> list[Word]:
        """The relative clause, if any."""
        if node.relative is None:
            return []
        clause = node.relative.clause
        return [*words(node.relative.texts[self.side], node.relative, "head", (clause, "verb")), *self.clause(clause)]


def is_measure(adjunct: Adjunct) -> bool:
    """True for an age or the time of a clock, which follow *avoir* or *être* at once."""
    return isinstance(adjunct, TimeSpan) and adjunct.kind in ("age", "clock")
