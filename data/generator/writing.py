"""Writing a meaning out: all that French and English do alike. The writers, `french.py` and `english.py`, do the rest.

What is written is a string of words with spaces between them, as many as there happen to be. In French ones, two signs
tell how a word meets its neighbours, until they are joined: `ce|cet` has its form before a vowel behind the bar, and
before `*hibou`, as in dictionaries, nothing is elided.
"""

from abc import ABC, abstractmethod

from .entries import rows_of
from .meaning import Adjunct, Agreement, Clause, Gap, Modifier, Name, Nominal, NounPhrase, Pronoun, Sentence


class Writer(ABC):
    """Writes a sentence in one language."""

    language: str
    side: int  # the language's place in pairs of French and English
    inverting: tuple[str, ...]  # forms of sentences whose subject follows the verb
    asking: str  # what stands behind the question word where the form is est-ce que

    def __init__(self, sentence: Sentence):
        self.sentence = sentence

    def write(self) -> list[str]:
        """The sentence's tokens in the corpus's spelling."""
        sentence = self.sentence
        parts = [self.adjunct(sentence.front), self.nominal(sentence.question)]
        parts.append(self.asking if sentence.form == "est-ce que" else "")
        parts.append(self.clause(sentence.clause, is_inverted=sentence.form in self.inverting))
        if sentence.second is not None:
            second = [sentence.conjunction[self.side], self.clause(sentence.second)]
            parts = second + parts if sentence.is_fronted else parts + second
        return [*self.spell(" ".join(parts)), sentence.mark]

    @abstractmethod
    def spell(self, text: str) -> list[str]:
        """The tokens of words that stand side by side."""

    def word(self, table: str, key: str, column: str = "") -> str:
        """A word of grammar, from a table with columns of both languages."""
        return rows_of(table)[key][self.language + column]

    def form(self, agreement: Agreement, column: str) -> str:
        """The pronoun or possessive of a column."""
        rows, key = rows_of("pronouns"), f"{agreement.person} {agreement.number}"
        return (rows.get(key) or rows[f"{key} {agreement.gender}"])[column]

    @abstractmethod
    def clause(self, node: Clause, is_inverted: bool = False) -> str:
        """Words of a clause; `is_inverted` puts the subject behind the verb or its first auxiliary."""

    def tail(self, node: Clause) -> str:
        """Complements and adjuncts after the verb."""
        parts = [self.objects(node)]
        if isinstance(node.attribute, NounPhrase):
            parts.append(self.noun_phrase(node.attribute))
        elif node.attribute is not None:
            parts.append(self.adjective(node.attribute, node.agreement))
        parts.append(self.adjunct(node.place))
        if node.infinitive is not None:
            parts += [node.infinitive.link[self.side], self.clause(node.infinitive)]
        parts += [self.adjuncts(node, is_middle=False), self.word("negations", node.negation, "_end")]
        if node.content is not None:
            parts += [node.verb.prep[self.side], self.clause(node.content)]
        return " ".join(parts)

    @abstractmethod
    def objects(self, node: Clause) -> str:
        """Object, recipient and object with a preposition."""

    def adjuncts(self, node: Clause, is_middle: bool) -> str:
        """The adverbs that stand by the verb (in the middle), or all that ends the clause."""
        return " ".join(self.adjunct(a) for a in node.adjuncts if (a.positions[self.side] == "middle") == is_middle)

    def adjunct(self, node: Adjunct | None) -> str:
        """An adverb, or a phrase with a preposition; nothing where there is none, here and for nominals."""
        if node is None or node.nominal is None:
            return node.texts[self.side] if node else ""
        return self.prepositional(node.texts[self.side], node.nominal)

    def prepositional(self, prep: str, nominal: Nominal) -> str:
        """A preposition and its nominal; French *de* takes no indefinite plural and no partitive."""
        case = "after de" if prep.split()[-1:] == ["de"] else "disjunctive"
        return f"{prep} {self.nominal(nominal, case)}"

    def nominal(self, node: Nominal | None, case: str = "object") -> str:
        """Words of a nominal as `subject`, `object`, or after a preposition: `disjunctive`, `after de`."""
        if node is None or isinstance(node, Gap):
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

    def adjectives(self, node: NounPhrase, position: str) -> str:
        """The adjectives that stand `before` or `after` the French noun."""
        modifiers = [modifier for modifier in node.modifiers if modifier.adjective.position == position]
        return " ".join(self.adjective(modifier, node.agreement) for modifier in modifiers)

    def adjective(self, node: Modifier, agreement: Agreement) -> str:
        """Degree, comparison, adjective, and what it is compared with or goes on with."""
        result = f"{self.adjunct(node.degree)} {self.compared(node, agreement)}".lstrip()
        if node.standard is not None:
            than = self.word("comparisons", node.comparison, "_than")
            result += f" {than} {self.nominal(node.standard, 'disjunctive')}"
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
