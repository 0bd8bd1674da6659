"""English nominals: determiner, adjectives before the noun, genitive or *of*, and pronouns in each role."""

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
    english_agreement,
    english_number,
    is_thing,
)
from .forms import article, comparative, plural, superlative

SUBJECTS = {
    (1, "sg"): "i", (2, "sg"): "you", (1, "pl"): "we", (2, "pl"): "you", (3, "pl"): "they",
}  # fmt: skip
OBJECTS = {
    (1, "sg"): "me", (2, "sg"): "you", (1, "pl"): "us", (2, "pl"): "you", (3, "pl"): "them",
}  # fmt: skip
POSSESSIVES = {
    (1, "sg"): "my", (2, "sg"): "your", (1, "pl"): "our", (2, "pl"): "your", (3, "pl"): "their",
}  # fmt: skip
COUNT_QUANTITIES = {
    "many": "many", "too_many": "too many", "enough": "enough", "few": "few", "a_few": "a few",
    "several": "several", "how_many": "how many",
}  # fmt: skip
MASS_QUANTITIES = {
    "many": "a lot of", "too_many": "too much", "enough": "enough", "few": "little", "a_few": "some",
    "several": "several", "how_many": "how much",
}  # fmt: skip
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty"}
WITHOUT_ARTICLE = ("prison", "jail", "class", "town")
ClauseWriter = Callable[[Clause], list[Word]]


def number_word(count: int) -> str:
    """A number in words: *seventeen*, *forty-five*."""
    if count <= 20:
        return NUMBERS[count]
    if count == 100:
        return "a hundred"
    tens, ones = TENS[count // 10 * 10], count % 10
    return f"{tens}-{NUMBERS[ones]}" if ones else tens


def pronoun_form(agreement: Agreement, thing: bool, table: dict[tuple[int, str], str], third: str) -> str:
    """The form of a table, or one of the three singular forms in `third` (he, she, it)."""
    if (agreement.person, agreement.number) == (3, "sg"):
        he, she, it = third.split()
        return it if thing else he if agreement.gender == "m" else she
    return table[agreement.person, agreement.number]


class EnglishNominals:
    """Writes nominals; relative clauses and infinitives inside them go to `write_clause`."""

    def __init__(self, write_clause: ClauseWriter):
        self.write_clause = write_clause

    def nominal(self, node: Nominal, role: str = "object") -> list[Word]:
        """Words of a nominal as `subject` or `object`."""
        if isinstance(node, Gap):
            return []
        if isinstance(node, Pair):
            first, second = self.nominal(node.first, role), self.nominal(node.second, role)
            return [*first, word("and", node, "and"), *second]
        if isinstance(node, Pronoun):
            return [word(self._pronoun(node, role), node, "head")]
        if isinstance(node, Indefinite):
            return words(node.english, node, "head")
        if isinstance(node, Name):
            return words(node.entry.english[0], node, "head")
        return self.noun_phrase(node)

    @staticmethod
    def _pronoun(node: Pronoun, role: str) -> str:
        agreement = english_agreement(node)
        thing = is_thing(node) and (node.english is None or node.kind == "thing")
        if role == "subject":
            return pronoun_form(agreement, thing, SUBJECTS, "he she it")
        return pronoun_form(agreement, thing, OBJECTS, "him her it")

    def noun_phrase(self, node: NounPhrase) -> list[Word]:
        """Determiner, number, adjectives, noun, *of* and its complement, relative clause."""
        if node.complement is not None and self._has_genitive(node.complement):
            genitive = word("s", node, "of", (node, "head"))
            return [*self.nominal(node.complement), genitive, *self._core(node), *self._relative(node)]
        core = [*self._core(node), *self._of(node)]
        return [*self._determiner(node, core[0].text), *core, *self._relative(node)]

    def _core(self, node: NounPhrase) -> list[Word]:
        before = [m for m in node.modifiers if m.adjective.is_before]
        after = [m for m in node.modifiers if not m.adjective.is_before]
        result = [w for m in before for w in self.adjective(m)]
        for index, modifier in enumerate(after):
            if index:
                result.append(word("and", modifier, "and"))
            result += self.adjective(modifier)
        return [*result, *words(self._noun(node), node, "head")]

    @staticmethod
    def _noun(node: NounPhrase) -> str:
        if node.number == "sg" or node.noun.is_mass:
            return node.english
        if node.noun.is_english_mass or node.noun.is_english_plural_only:
            return node.english
        return node.noun.english_plural or plural(node.english)

    @staticmethod
    def _has_genitive(owner: Nominal) -> bool:
        if isinstance(owner, Name):
            return owner.entry.class_name == "name"
        return isinstance(owner, NounPhrase) and owner.is_person and owner.number == "sg"

    def _of(self, node: NounPhrase) -> list[Word]:
        if node.content is not None:
            of = word("of", node, "of", (node.content, "head"))
            return [of, *self._core(node.content)]
        if node.complement is not None:
            return [word("of", node, "of", (node, "head")), *self.nominal(node.complement)]
        return []

    def _determiner(self, node: NounPhrase, next_word: str) -> list[Word]:
        text = self._determiner_text(node, next_word)
        if node.determiner == "all":
            the = word("the", node, "det", (node, "head"))
            return [word("all", node, "all"), the]
        return words(text, node, "det", (node, "head"))

    @staticmethod
    def _determiner_text(node: NounPhrase, next_word: str) -> str:
        kind = node.determiner
        is_plural = english_number(node) == "pl"
        is_mass = node.noun.is_mass or node.noun.is_english_mass
        if kind in ("generic", "all"):
            return ""
        if kind == "in":
            return "" if node.english in WITHOUT_ARTICLE else "the"
        if kind == "bare":
            return "" if is_plural or is_mass else article(next_word)
        if kind == "the":
            return "" if node.noun.is_generic and not node.modifiers else "the"
        if kind == "some" or (kind == "a" and node.noun.is_english_mass and node.number == "sg"):
            return article(next_word) if not (is_plural or is_mass) else "some"
        if kind == "a":
            return "" if is_plural or is_mass else article(next_word)
        if kind == "no":
            return "any" if is_plural or is_mass else article(next_word)
        if kind == "this":
            return "these" if is_plural else "this"
        if kind == "my":
            assert node.owner is not None
            return pronoun_form(node.owner, node.owner_is_thing, POSSESSIVES, "his her its")
        if kind == "number":
            return number_word(node.count)
        if kind == "every":
            return "every"
        if kind == "which":
            return "which"
        return (COUNT_QUANTITIES if is_plural and not is_mass else MASS_QUANTITIES)[kind]

    def adjective(self, node: Modifier) -> list[Word]:
        """Degree, comparison, adjective, and what it is compared with or goes on with."""
        head = (node, "head")
        result: list[Word] = []
        if node.degree is not None:
            result += words(node.degree.english, node.degree, "head", head)
        result += self._compared(node)
        if node.comparison is not None and node.comparison.standard is not None:
            link = "as" if node.comparison.kind == "as" else "than"
            result.append(word(link, node, "than", head))
            result += self.nominal(node.comparison.standard)
        if node.complement is not None:
            result += words(node.adjective.prep[1], node, "prep", head)
            result += self.nominal(node.complement)
        if node.infinitive is not None:
            result += [word("to", node, "to", head), *self.write_clause(node.infinitive)]
        if node.content is not None:
            that = word("that", node, "that", (node.content, "verb"))
            result += [that, *self.write_clause(node.content)]
        return result

    @staticmethod
    def _compared(node: Modifier) -> list[Word]:
        kind = node.comparison.kind if node.comparison else ""
        how = node.adjective.comparison
        if kind in ("more", "most"):
            form = (comparative if kind == "more" else superlative)(node.english, how)
        elif kind:
            form = f"{kind} {node.english}"
        else:
            form = node.english
        particle, _, rest = form.partition(" ")
        if kind and particle in ("more", "most", "less", "as") and rest:
            compared = word(particle, node, "comparison", (node, "head"))
            result = [compared, *words(rest, node, "head")]
        else:
            result = words(form, node, "head")
        return result

    def prepositional(self, node: Prepositional) -> list[Word]:
        """A place, company or other prepositional phrase."""
        return [*words(node.english, node, "prep", (node, "head")), *self.nominal(node.nominal)]

    def _relative(self, node: NounPhrase) -> list[Word]:
        if node.relative is None:
            return []
        relative = node.relative
        text = {"où": "where", "qui": "who" if node.is_person else "that"}.get(relative.pronoun, "that")
        pronoun = word(text, relative, "head", (relative.clause, "verb"))
        return [pronoun, *self.write_clause(relative.clause)]
