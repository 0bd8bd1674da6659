"""English sentences: subject, auxiliaries with *not*, adverbs, verb, complements in order; nominals."""

from __future__ import annotations

from ..meaning import (
    Agreement,
    Clause,
    Indefinite,
    Modifier,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    TimeSpan,
    english_agreement,
    english_number,
    head_key,
    is_thing,
)
from . import Word, Writer, word, words
from .english_words import (
    Chain,
    article,
    build_chain,
    comparative,
    number_word,
    plural,
    superlative,
    verb_words,
)

SUBJECTS = {(1, "sg"): "i", (2, "sg"): "you", (1, "pl"): "we", (2, "pl"): "you", (3, "pl"): "they"}
OBJECTS = {(1, "sg"): "me", (2, "sg"): "you", (1, "pl"): "us", (2, "pl"): "you", (3, "pl"): "them"}
POSSESSIVES = {(1, "sg"): "my", (2, "sg"): "your", (1, "pl"): "our", (2, "pl"): "your", (3, "pl"): "their"}
COUNT_QUANTITIES = {
    "many": "many", "a_few": "a few", "several": "several", "how_many": "how many",
}  # fmt: skip
MASS_QUANTITIES = {**COUNT_QUANTITIES, "many": "a lot of", "too_many": "too much", "few": "little", "a_few": "some",
                   "how_many": "how much"}  # fmt: skip
WITHOUT_ARTICLE = ("prison", "jail", "class", "town")
CONTRACTED_NOT = {
    "is": "isn t", "are": "aren t", "was": "wasn t", "were": "weren t", "do": "don t", "does": "doesn t",
    "did": "didn t", "have": "haven t", "has": "hasn t", "will": "won t", "would": "wouldn t", "can": "can t",
    "could": "couldn t", "had": "hadn t",
}  # fmt: skip
CONTRACTED = {
    "am": "m", "are": "re", "is": "s", "has": "s", "have": "ve", "will": "ll", "would": "d", "had": "d",
}  # fmt: skip
NEGATED = ("pas", "plus", "rien", "personne", "encore")
SUBJECTLESS = ("base", "to", "ing", "imperative")
SEPARABLE = ("on", "off", "up", "away", "out", "down", "back")
INSEPARABLE = ("operate on",)
SPANS = {"for": "for", "since": "for", "in": "in", "at": "at"}


def pronoun_form(agreement: Agreement, thing: bool, table: dict[tuple[int, str], str], third: str) -> str:
    """The form of a table, or one of the three singular forms in `third` (he, she, it)."""
    if (agreement.person, agreement.number) == (3, "sg"):
        he, she, it = third.split()
        return it if thing else he if agreement.gender == "m" else she
    return table[agreement.person, agreement.number]


class English(Writer):
    """Writes the English side."""

    side = 1
    and_ = "and"
    than = {"more": "than", "less": "than", "as": "as"}
    inverting = ("est-ce que", "inversion")

    def spell(self, words: list[Word]) -> list[Word]:
        """Hyphens and apostrophes separate tokens."""
        return [
            Word(part, word.keys, word.fallback)
            for word in words
            for part in word.text.replace("-", " ").replace("'", " ").split()
        ]

    # -- clauses ----------------------------------------------------------------------------------------

    def clause(self, node: Clause, is_inverted: bool = False) -> list[Word]:
        """Subject, auxiliaries, adverbs, verb, and all that follows."""
        subject = node.object if node.verb.frame == "swap" else node.subject
        agreement = node.controller or Agreement(2, "pl", "m")
        if node.verb.french == "y avoir" and isinstance(node.object, NounPhrase):
            agreement = Agreement(3, english_number(node.object), "m")
        elif subject is not None:
            agreement = english_agreement(subject)
        is_negative = node.negation in NEGATED
        chain = build_chain(node, agreement, needs_auxiliary=is_inverted or is_negative)
        own: list[Word] = []
        if subject is not None and node.tenses.english not in SUBJECTLESS:
            own = self.nominal(subject, "subject")
            if node.verb.french == "y avoir":
                own = [word("there", node, "there", head_key(subject), (node, "verb"))]
        before = own[0].text if isinstance(subject, Pronoun) and own and not is_inverted else ""
        first = self._first(node, chain, before, is_negative)
        start = [*own, *first]
        if is_inverted:
            is_joined = first[-1].text == "t"
            start = [*first, *own] if is_joined else [*first[:1], *own, *first[1:]]
        elif node.tense == "imperative" and agreement.person == 1:
            start = words("let s", node, "auxiliary")
        rest = [word(text, node, "auxiliary") for text in chain.auxiliaries[1:]]
        only = [word("only", node, "only", (node, "negation"))] if node.negation == "que" else []
        main = [word(text, node, "verb") for text in chain.main]
        return [*start, *self.middle(node), *rest, *only, *main, *self.tail(node)]

    def _first(self, node: Clause, chain: Chain, before: str, is_negative: bool) -> list[Word]:
        """The first auxiliary with *not*, contracted with the pronoun before it or with *not*."""
        if not chain.auxiliaries:
            return []
        text, role = chain.auxiliaries[0], "auxiliary" if chain.main else "verb"
        if not is_negative:
            contracts = before and self.sentence.is_contracted and (before, text) != ("there", "are")
            return [word(CONTRACTED.get(text, text) if contracts else text, node, role)]
        contracts = self.sentence.is_negation_contracted
        if before not in ("", "there") and text in ("am", "is", "are"):
            text = CONTRACTED[text] if contracts else text
        elif contracts and text in CONTRACTED_NOT:
            stem, ending = CONTRACTED_NOT[text].split()
            return [word(stem, node, role, (node, "negation")), word(ending, node, "negation")]
        return [word(text, node, role), word("not", node, "negation")]

    def middle(self, node: Clause) -> list[Word]:
        """*never*, *just* and other adverbs by the verb."""
        never = [word("never", node, "negation")] if node.negation == "jamais" else []
        just = [word("just", node, "auxiliary")] if node.tense == "just" else []
        return [*never, *just, *super().middle(node)]

    def end_of_negation(self, node: Clause) -> list[Word]:
        """*anymore* or *yet*."""
        text = {"plus": "anymore", "encore": "yet"}.get(node.negation, "")
        return words(text, node, "second negation", (node, "negation"))

    def objects(self, node: Clause) -> list[Word]:
        """Particles, object and recipient: *give him the book*, *give it to him*, *turn it on*; then a preposition."""
        object_, recipient = node.subject if node.verb.frame == "swap" else node.object, node.recipient
        verb, *particles = verb_words(node)
        result = [word(text, node, "verb") for text in particles]
        own = [] if object_ is None else self.nominal(object_)
        if isinstance(object_, Indefinite) and node.negation == "rien":
            own = words(object_.texts[1], node, "second negation", (node, "negation"))
        is_separated = node.verb.frame == "transitive" and len(particles) == 1 and particles[0] in SEPARABLE
        if is_separated and isinstance(object_, Pronoun) and node.english not in INSEPARABLE:
            result = [*own, *result]
        elif recipient is None:
            result += own
        else:
            fixed = node.verb.options & {"to", "for", "from"}
            is_first = isinstance(recipient, Pronoun) or node.verb.frame == "control" or "first" in node.verb.options
            is_first = is_first and not fixed and not isinstance(object_, Pronoun)
            prep = "" if is_first else next(iter(fixed), "to")
            other = self.prepositional(prep, recipient, node, "recipient")
            result += [*other, *own] if is_first else [*own, *other]
        if node.oblique is not None:
            result += self.prepositional(node.verb.prep[1], node.oblique, node)
        return result

    def span(self, node: TimeSpan) -> list[Word]:
        """*for two hours*, *two days ago*, *twenty years old*, *(at) eight o clock*."""
        unit = node.unit.english[0]
        count = words(number_word(node.count), node, "count")
        prep = words(SPANS.get(node.kind, ""), node, "prep")
        if node.kind in ("at", "clock"):
            return [*prep, *count, *words("o clock", node)]
        if node.count == 1 and node.kind != "age":
            count = [word(article(unit), node, "count")]
        measured = [*count, *words(unit if node.count == 1 else plural(unit), node)]
        ago = words("ago" if node.kind == "ago" else "", node, "prep")
        return [*prep, *measured, *ago, *words("old" if node.kind == "age" else "", node)]

    # -- nominals ---------------------------------------------------------------------------------------

    def pronoun(self, node: Pronoun, case: str) -> Word:
        """*he* or *him*; *it* for a thing."""
        agreement = english_agreement(node)
        thing = is_thing(node) and (node.english is None or node.kind == "thing")
        table, third = (SUBJECTS, "he she it") if case == "subject" else (OBJECTS, "him her it")
        return word(pronoun_form(agreement, thing, table, third), node)

    def noun_phrase(self, node: NounPhrase, case: str = "object") -> list[Word]:
        """Determiner or genitive, adjectives, noun, *of* and its complement, relative clause."""
        core = self._core(node)
        if node.content is not None:
            core += [word("of", node, "of", (node.content, "head")), *self._core(node.content)]
        if node.complement is not None and has_genitive(node.complement):
            return [*self.nominal(node.complement), word("s", node, "of"), *core, *self.relative(node)]
        if node.complement is not None:
            core += [word("of", node, "of"), *self.nominal(node.complement)]
        determiner = words(self._determiner(node, core[0].text), node, "det")
        if node.determiner == "all":
            determiner = [word("all", node, "all"), word("the", node, "det")]
        return [*determiner, *core, *self.relative(node)]

    def _core(self, node: NounPhrase) -> list[Word]:
        is_fixed = node.number == "sg" or node.noun.is_mass or node.noun.is_english_mass
        text = node.noun.english_plural or plural(node.english)
        if is_fixed or node.noun.is_english_plural_only:
            text = node.english
        return [*self.adjectives(node, True), *self.adjectives(node, False), *words(text, node)]

    @staticmethod
    def _determiner(node: NounPhrase, next_word: str) -> str:
        kind = node.determiner
        is_mass = node.noun.is_mass or node.noun.is_english_mass
        is_counted = english_number(node) != "pl" and not is_mass
        if kind in ("generic", "all"):
            return ""
        if kind == "the":
            return "" if node.noun.is_generic and not node.modifiers else "the"
        if kind == "in":
            return "" if node.english in WITHOUT_ARTICLE else "the"
        if kind == "a" and node.noun.is_english_mass and node.number == "sg":
            kind = "some"
        if kind in ("bare", "a", "some", "no"):
            return article(next_word) if is_counted else {"some": "some", "no": "any"}.get(kind, "")
        if kind == "this":
            return "these" if english_number(node) == "pl" else "this"
        if kind == "my":
            assert node.owner is not None
            return pronoun_form(node.owner, node.owner_is_thing, POSSESSIVES, "his her its")
        if kind == "number":
            return number_word(node.count)
        if kind in ("every", "which"):
            return kind
        is_plural = english_number(node) == "pl" and not is_mass
        return (COUNT_QUANTITIES if is_plural else MASS_QUANTITIES)[kind]

    def compared(self, node: Modifier, agreement: Agreement) -> list[Word]:
        """*taller*, *more careful*, *as tall*."""
        kind = node.comparison
        if kind in ("more", "most"):
            form = (comparative if kind == "more" else superlative)(node.english, node.adjective.comparison)
        else:
            form = f"{kind} {node.english}"
        particle, _, rest = form.partition(" ")
        if kind and particle in ("more", "most", "less", "as") and rest:
            return [word(particle, node, "comparison"), *words(rest, node)]
        return words(form, node)


def has_genitive(owner: Nominal) -> bool:
    """True for an owner that stands before what it owns: *paul s*."""
    if isinstance(owner, Name):
        return owner.entry.class_name == "name"
    return isinstance(owner, NounPhrase) and owner.is_person and owner.number == "sg"
