"""The meaning of a sentence, apart from either language; both are written from it.

A meaning is a tree of nodes: entries of the lexicon and grammatical choices, no words of a sentence. Nodes are compared
by identity: two mentions of one noun in a sentence are two nodes. A choice that only English makes (one of two
synonyms) is drawn when the node is made and kept here, so that writing a meaning out is a function without chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .entries import Adjective, Noun, Row, Texts, Verb, rows_of


class Agreement(NamedTuple):
    """Person (1, 2, 3), number (*sg*, *pl*) and gender (*m*, *f*) that others agree with."""

    person: int
    number: str
    gender: str


@dataclass(eq=False)
class Pronoun:
    """A personal pronoun. `kind`: personal, formal (*vous* to one), on, thing (English *it*), ce, impersonal.

    `english` overrides who an English pronoun speaks of, as in *c'est mon frère -> he is my brother*.
    """

    agreement: Agreement
    kind: str = "personal"
    english: Agreement | None = None


@dataclass(eq=False)
class Indefinite:
    """*quelqu'un, personne, rien*, and question words: invariable, third person singular."""

    texts: Texts
    agreement = Agreement(3, "sg", "m")


@dataclass(eq=False)
class Name:
    """A first name, city or country, or two first names: *paul et marie*."""

    entry: Noun
    second: Noun | None = None

    @property
    def agreement(self) -> Agreement:
        """Person, number and gender: of two, a plural, feminine only where both names are."""
        if self.second is not None:
            return Agreement(3, "pl", max(self.entry.gender, self.second.gender))
        return Agreement(3, "pl" if self.entry.has("plural_only") else "sg", self.entry.gender)


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

    `determiner`: the, a, some (*a* with English *some*), no (after a negation: *pas de*), generic (only
    French has the article), this, my, number, every, all, which, bare (none in French, *a* in English), in
    (none after *en*, English *the*), and the quantities many, a_few, several, how_many. `relative`: a relative pronoun
    and its clause, in which a gap is what the pronoun stands for.
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
    """An adverb as it is used, in a clause or before an adjective, or a preposition with the nominal that it governs.

    `kind` and `positions` are those of an adverb.
    """

    texts: Texts
    nominal: Nominal | None = None
    kind: str = ""
    positions: Texts = ("end", "end")


@dataclass(eq=False)
class TimeSpan:
    """*pendant deux heures*, *depuis trois ans*, *il y a deux jours*, *dans une semaine*, *à huit heures*."""

    kind: str  # for, since, ago, in, at, clock, age
    count: int
    unit: Noun


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
    adjuncts: list[Adjunct | TimeSpan] = field(default_factory=list)
    controller: Agreement | None = None
    link: Texts = ("", "")

    @property
    def tenses(self) -> Row:
        """French and English tense, and the kind of adverb that goes with them."""
        return rows_of("tenses")[self.tense]

    @property
    def agreement(self) -> Agreement:
        """Person, number and gender of the subject, or of who would do it."""
        agreement = self.controller if self.subject is None else self.subject.agreement
        assert agreement is not None
        return agreement


@dataclass(eq=False)
class Linked:
    """Two clauses and the conjunction between them, or before them where `is_fronted`."""

    first: Clause
    conjunction: Texts
    second: Clause
    is_fronted: bool = False


@dataclass(eq=False)
class Sentence:
    """A sentence and its form; the question is a word, or a phrase such as *quel livre*.

    `form`: statement, est-ce que, inversion, plain (a question whose word is the subject) or imperative.
    """

    body: Clause | Linked
    form: str = "statement"
    mark: str = "."
    front: Adjunct | None = None
    question: Indefinite | NounPhrase | None = None
    is_contracted: bool = True
    is_negation_contracted: bool = True


def french_agreement(nominal: Nominal | Clause) -> Agreement:
    """Person and number of a French verb: *vous* to one person still has the plural, *on* the singular."""
    if isinstance(nominal, Clause) and nominal.subject is not None:
        nominal = nominal.subject
    if isinstance(nominal, Pronoun) and nominal.kind == "formal":
        return nominal.agreement._replace(number="pl")
    return nominal.agreement


def english_agreement(nominal: Nominal) -> Agreement:
    """Person, number and gender of an English verb or possessive."""
    if isinstance(nominal, Pronoun) and nominal.kind == "on":
        return Agreement(1, "pl", "m")
    if isinstance(nominal, Pronoun) and nominal.english is not None:
        return nominal.english
    if isinstance(nominal, NounPhrase):
        return nominal.agreement._replace(number=nominal.english_number)
    return nominal.agreement


def is_thing(nominal: Nominal) -> bool:
    """True if English has *it* and *that* rather than *he* and *who*."""
    if isinstance(nominal, Pronoun):
        return nominal.kind in ("thing", "impersonal", "ce")
    if isinstance(nominal, NounPhrase | Gap):
        return not nominal.is_person
    return isinstance(nominal, Name) and nominal.entry.class_name != "name"
