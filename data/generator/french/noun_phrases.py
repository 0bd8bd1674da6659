"""French nominals: determiner, adjectives on both sides, complement, and pronouns in each role."""

from __future__ import annotations

from collections.abc import Callable

from ..alignment import Word, word, words
from ..meaning import (
    Agreement,
    Clause,
    Gap,
    Indefinite,
    Modifier,
    Name,
    Nominal,
    NounPhrase,
    Pair,
    Prepositional,
    Pronoun,
    head_key,
)
from .forms import (
    DISJUNCTIVES,
    POSSESSIVES,
    QUANTITIES,
    SUBJECTS,
    adjective_form,
    article,
    noun_form,
    number_word,
    person,
    preposition,
    starts_with_vowel,
)

ClauseWriter = Callable[[Clause], list[Word]]


class FrenchNominals:
    """Writes nominals; relative clauses and infinitives inside them go to `write_clause`."""

    def __init__(self, write_clause: ClauseWriter):
        self.write_clause = write_clause

    def nominal(self, node: Nominal, role: str = "object") -> list[Word]:
        """Words of a nominal as subject, object or after a preposition (`disjunctive`)."""
        if isinstance(node, Gap):
            return []
        if isinstance(node, Pair):
            return [
                *self.nominal(node.first, "disjunctive"), word("et", node, "and"),
                *self.nominal(node.second, "disjunctive"),
            ]  # fmt: skip
        if isinstance(node, Pronoun):
            return [self._pronoun(node, role)]
        if isinstance(node, Indefinite):
            return words(node.french, node, "head")
        if isinstance(node, Name):
            return self.name(node, with_article=role != "bare")
        return self.noun_phrase(node, drop_indefinite=role == "after de")

    def _pronoun(self, node: Pronoun, role: str) -> Word:
        key = person(node.agreement, node.kind)
        column = 0 if node.agreement.gender == "m" else 1
        if role in ("disjunctive", "after de"):
            return word(DISJUNCTIVES[key][column], node, "head")
        if node.kind == "on":
            return word("on", node, "head")
        if node.kind == "ce":
            return word("ce", node, "head", before_vowel="c")
        return word(SUBJECTS[key][column], node, "head")

    def name(self, node: Name, with_article: bool = True) -> list[Word]:
        """A proper name; a country has its article unless `with_article` is false."""
        result = words(node.entry.french, node, "head")
        if node.entry.class_name == "country" and with_article:
            number = "pl" if node.entry.is_plural_only else "sg"
            return [
                article(number, node.entry.gender, node, "det", (node, "head")),
                *self._aspirate(result, node),
            ]
        return result

    @staticmethod
    def _aspirate(result: list[Word], node: Name) -> list[Word]:
        if not node.entry.is_aspirated:
            return result
        return [Word(result[0].text, result[0].keys, is_aspirated=True), *result[1:]]

    def noun_phrase(self, node: NounPhrase, drop_indefinite: bool = False) -> list[Word]:
        """Determiner, adjectives before, noun, adjectives after, *de* and its complement, relative clause."""
        before = [m for m in node.modifiers if m.adjective.is_before]
        after = [m for m in node.modifiers if not m.adjective.is_before]
        result = [] if drop_indefinite and self._is_indefinite(node) else self._determiner(node, bool(before))
        for modifier in before:
            is_most = modifier.comparison is not None and modifier.comparison.kind == "most"
            if is_most and not modifier.adjective.french_comparative:
                result.append(word("plus", modifier, "comparison", (modifier, "head")))
            result += self.adjective(modifier, node.agreement, with_most=False)
        noun = words(noun_form(node.noun, node.number), node, "head")
        noun[0] = Word(noun[0].text, noun[0].keys, is_aspirated=node.noun.is_aspirated)
        result += noun
        if node.content is not None:
            result += preposition("de", node, "of", (node.content, "head"))
            result += self.noun_phrase(node.content, drop_indefinite=True)
        for index, modifier in enumerate(after):
            if index:
                result.append(word("et", modifier, "and"))
            result += self.adjective(modifier, node.agreement)
        if node.complement is not None:
            result += self.prepositional("de", node.complement, node, "of")
        if node.relative is not None:
            result += self._relative(node)
        return result

    @staticmethod
    def _is_indefinite(node: NounPhrase) -> bool:
        return node.determiner in ("a", "some", "bare") and (node.number == "pl" or node.noun.is_mass)

    def _determiner(self, node: NounPhrase, has_adjective: bool) -> list[Word]:
        number, gender, role, head = node.number, node.noun.gender, "det", (node, "head")
        kind = node.determiner
        column = 2 if number == "pl" else 0 if gender == "m" else 1
        if kind in ("bare", "in"):
            return []
        if kind in ("the", "generic"):
            return [article(number, gender, node, role, head)]
        if kind in ("a", "some") and node.noun.is_mass:
            return [*preposition("de", node, role, head), article("sg", gender, node, role, head)]
        if kind in ("a", "some"):
            text = ("un", "une", "des")[column]
            if text == "des" and has_adjective:
                return [word("de", node, role, head)]
            return [word(text, node, role, head)]
        if kind == "no":
            return [word("de", node, role, head)]
        if kind == "this":
            text = ("ce", "cette", "ces")[column]
            return [word(text, node, role, head, before_vowel="cet" if text == "ce" else "")]
        if kind == "my":
            assert node.owner is not None
            forms = POSSESSIVES[node.owner.person, node.owner.number]
            vowel = forms[0] if column == 1 and forms[0] != forms[1] else ""
            return [word(forms[column], node, role, head, before_vowel=vowel)]
        if kind == "number":
            return words(number_word(node.count, gender), node, role, head)
        if kind == "every":
            return [word("chaque", node, role, head)]
        if kind == "all":
            return [
                word("tous" if gender == "m" else "toutes", node, "all"),
                article("pl", gender, node, role, head),
            ]
        if kind == "which":
            return [word(("quel", "quelle")[gender == "f"] + ("s" if number == "pl" else ""), node, role, head)]
        return words(QUANTITIES[kind], node, role, head)

    def adjective(self, modifier: Modifier, agreement: Agreement, with_most: bool = True) -> list[Word]:
        """Degree, comparison, the adjective as it agrees, what it is compared with, its complement."""
        result: list[Word] = []
        adjective, comparison, head = modifier.adjective, modifier.comparison, (modifier, "head")
        if modifier.degree is not None:
            result += words(modifier.degree.adverb.french, modifier.degree, "head", head)
        form = adjective_form(adjective, agreement.gender, agreement.number)
        if comparison is not None and comparison.kind == "most" and with_most:
            result.append(article(agreement.number, agreement.gender, modifier, "most", head))
        better = comparison is not None and comparison.kind in ("more", "most") and adjective.french_comparative
        if better:
            masculine = adjective.french_comparative
            form = masculine + ("e" if agreement.gender == "f" else "") + ("s" if agreement.number == "pl" else "")
        elif comparison is not None and (with_most or comparison.kind != "most"):
            particle = {"more": "plus", "less": "moins", "as": "aussi", "most": "plus"}[comparison.kind]
            result.append(word(particle, modifier, "comparison", head))
        is_masculine_singular = agreement.gender == "m" and agreement.number == "sg"
        vowel = adjective.before_vowel if is_masculine_singular else ""
        first, *rest = words(form, modifier, "head")
        result += [Word(first.text, first.keys, before_vowel=vowel), *rest]
        if comparison is not None and comparison.standard is not None:
            result.append(word("que", modifier, "than", head))
            result += self.nominal(comparison.standard, "disjunctive")
        if modifier.complement is not None:
            result += self.prepositional(adjective.prep[0], modifier.complement, modifier, "prep")
        if modifier.infinitive is not None:
            result += preposition(adjective.infinitive, modifier, "to", head)
            result += self.write_clause(modifier.infinitive)
        if modifier.content is not None:
            result.append(word("que", modifier, "that", (modifier.content, "verb")))
            result += self.write_clause(modifier.content)
        return result

    def prepositional(self, prep: str, nominal: Nominal, node: object, role: str) -> list[Word]:
        """A preposition and its nominal; *de* takes no indefinite plural and no partitive."""
        role_after = "after de" if prep.split()[-1:] == ["de"] else "disjunctive"
        if isinstance(nominal, Name) and nominal.entry.class_name == "country" and prep == "en":
            return self._in_country(nominal, node, role)
        if not prep:
            return self.nominal(nominal, role_after)
        return [*preposition(prep, node, role, head_key(nominal)), *self.nominal(nominal, role_after)]

    def _in_country(self, name: Name, node: object, role: str) -> list[Word]:
        bare = self._aspirate(self.name(name, with_article=False), name)
        is_feminine = name.entry.gender == "f" or starts_with_vowel(bare[0])
        if is_feminine and not name.entry.is_plural_only:
            return [*preposition("en", node, role, (name, "head")), *bare]
        return [*preposition("à", node, role, (name, "head")), *self.name(name)]

    def place(self, node: Prepositional) -> list[Word]:
        """A place, company or other prepositional phrase."""
        return self.prepositional(node.french, node.nominal, node, "prep")

    def _relative(self, node: NounPhrase) -> list[Word]:
        assert node.relative is not None
        relative = node.relative
        pronoun = word(relative.pronoun, relative, "head", (relative.clause, "verb"))
        return [pronoun, *self.write_clause(relative.clause)]
