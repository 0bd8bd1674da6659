"""The meaning of a sentence, apart from either language; both are written from it.

A meaning is a tree of nodes: entries of the lexicon and grammatical choices, no words of a sentence. Two mentions of a
noun are two nodes, which are not equal; only names are. A choice that only English makes (one of two synonyms) is drawn
when the node is made and kept here, so that writing a meaning out is a function without chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .entries import Adjective, Noun, Row, Texts, Verb, rows_of


class Agreement(NamedTuple):
    """Person (1, 2, 3), number (*sg*, *pl*) and gender (*m*, *f*, in English *thing*)."""

    person: int
    number: str
    gender: str


NEUTRAL = Agreement(3, "sg", "m")
IT = Agreement(3, "sg", "thing")


@dataclass(eq=False)
class Pronoun:
    """A personal pronoun; adjectives agree with its `agreement`, and verbs too if there is no other for the language.

    Such as the plural of *vous* to one person, *we* for *on*, *it* for a thing.
    """

    agreement: Agreement
    kind: str = "personal"  # or on, thing, ce, impersonal
    french: Agreement | None = None
    english: Agreement | None = None


@dataclass(eq=False)
class Indefinite:
    """*quelqu'un, personne, rien*, and question words: invariable, third person singular."""

    texts: Texts
    agreement = NEUTRAL


@dataclass(frozen=True)
class Name:
    """A first name, city or country, or two first names: *paul et marie*."""

    entries: tuple[Noun, ...]

    @property
    def agreement(self) -> Agreement:
        """Person, number and gender: of two, a plural, feminine only where both names are."""
        is_plural = len(self.entries) > 1 or self.entries[0].has("plural_only")
        return Agreement(3, "pl" if is_plural else "sg", max(entry.gender for entry in self.entries))


@dataclass(eq=False)
class Gap:
    """The place in a relative clause or question that a relative pronoun or question word fills."""

    agreement: Agreement
    is_person: bool = False


@dataclass(eq=False)
class Modifier:
    """An adjective as it is used: with a degree, a comparison, a complement.

    `comparison`: empty, or *plus/moins/aussi ... que* (more, less, as) with its `standard`, or the superlative (most).
    """

    adjective: Adjective
    english: str
    degree: Adjunct | None = None
    comparison: str = ""
    standard: Nominal | None = None
    complement: Nominal | None = None
    infinitive: Clause | None = None


@dataclass(eq=False)
class NounPhrase:
    """A noun with its determiner, adjectives and complement.

    `determiner`: one of `determiners.tsv` (*no* stands after a negation, only French has the article of *generic*, *in*
    is that after *en*), *my* of an `owner`, or *number* with a `count`. `content` is what is measured (*une tasse de
    café*). `relative`: a relative pronoun and its clause, in which a gap is what the pronoun stands for.
    """

    noun: Noun
    english: str
    number: str
    determiner: str
    owner: Agreement | None = None
    count: int = 0
    modifiers: list[Modifier] = field(default_factory=list)
    complement: Nominal | None = None
    content: NounPhrase | None = None
    relative: tuple[Texts, Clause] | None = None

    @property
    def agreement(self) -> Agreement:
        """Person, number and gender of the French noun."""
        return Agreement(3, self.number, self.noun.gender)

    @property
    def english_number(self) -> str:
        """Number of the English noun: *trousers* are plural, *advice* is singular."""
        return "pl" if self.noun.has("en_plural_only") else "sg" if self.noun.has("en_mass") else self.number

    @property
    def is_person(self) -> bool:
        """True if *he* and *who* go with it."""
        return self.noun.class_name in ("human", "job", "kin", "friend")


@dataclass(eq=False)
class Adjunct:
    """An adverb as it is used, or a preposition with the nominal that it governs.

    `kind` and `positions` are those of an adverb.
    """

    texts: Texts
    nominal: Nominal | None = None
    kind: str = ""
    positions: Texts = ("end", "end")


Nominal = Pronoun | Indefinite | Name | Gap | NounPhrase


@dataclass(eq=False)
class Clause:
    """A clause. `tense` names a pair of a French and an English tense.

    `negation`: empty or pas, plus, jamais, rien, personne, que, encore. An infinitive has no subject: `controller` is
    who would do it, and `link` the prepositions before it.
    """

    subject: Nominal | None
    verb: Verb
    english: str
    tense: str
    negation: str = ""
    attribute: Modifier | NounPhrase | None = None
    object: Nominal | None = None
    oblique: Nominal | None = None
    recipient: Nominal | None = None
    place: Adjunct | None = None
    infinitive: Clause | None = None
    content: Clause | None = None
    adjuncts: list[Adjunct] = field(default_factory=list)
    controller: Agreement | None = None
    link: Texts = ("", "")

    @property
    def tenses(self) -> Row:
        """The row of the tense: French and English words, the adverb that goes with it, traits."""
        return rows_of("tenses")[self.tense]

    @property
    def agreement(self) -> Agreement:
        """Person, number and gender of the subject, or of who would do it."""
        agreement = self.controller if self.subject is None else self.subject.agreement
        assert agreement is not None
        return agreement


@dataclass(eq=False)
class Sentence:
    """A clause, or two with a conjunction, which is in front with the second where that `is_fronted`.

    `form`: statement, est-ce que, inversion, plain (a question whose word is the subject) or imperative. The question
    is a word, or a phrase such as *quel livre*.
    """

    clause: Clause
    form: str = "statement"
    mark: str = "."
    question: Indefinite | NounPhrase | None = None
    front: Adjunct | None = None
    conjunction: Texts = ("", "")
    second: Clause | None = None
    is_fronted: bool = False
    is_contracted: bool = True
    is_negation_contracted: bool = True


def french_agreement(nominal: Nominal | Clause) -> Agreement:
    """Person and number of a French verb: *vous* to one person still has the plural, *on* the singular."""
    subject = nominal.subject if isinstance(nominal, Clause) else nominal
    return (isinstance(subject, Pronoun) and subject.french) or nominal.agreement


def english_agreement(nominal: Nominal) -> Agreement:
    """Person, number and gender of an English verb or possessive."""
    if isinstance(nominal, NounPhrase):
        return nominal.agreement._replace(number=nominal.english_number)
    return (isinstance(nominal, Pronoun) and nominal.english) or nominal.agreement


def is_thing(nominal: Nominal) -> bool:
    """True if English has *it* and *that* rather than *he* and *who*."""
    if isinstance(nominal, Pronoun):
        return nominal.kind in ("thing", "impersonal", "ce")
    if isinstance(nominal, NounPhrase | Gap):
        return not nominal.is_person
    return isinstance(nominal, Name) and nominal.entries[0].class_name != "name"
