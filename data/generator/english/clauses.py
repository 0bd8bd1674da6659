"""English clauses: subject, auxiliaries with *not*, adverbs, verb, complements in order."""

from __future__ import annotations

from ..alignment import Word, word, words
from ..meaning import (
    TENSES,
    Adjunct,
    Adverbial,
    Agreement,
    Clause,
    Indefinite,
    Modifier,
    Nominal,
    NounPhrase,
    Prepositional,
    Pronoun,
    Sentence,
    TimeSpan,
    english_agreement,
    english_number,
    head_key,
)
from .forms import article, plural
from .noun_phrases import EnglishNominals, number_word
from .verbs import build_chain, contracted, support_do, with_not

SEPARABLE = ("on", "off", "up", "away", "out", "down", "back")
INSEPARABLE = ("operate on",)
UNCONTRACTED = (("there", "are"),)
SPANS = {"for": "for", "since": "for", "in": "in", "at": "at"}


class EnglishClauses:
    """Writes clauses; holds the writer of nominals, which calls back for what is inside them."""

    def __init__(self, sentence: Sentence):
        self.sentence = sentence  # which says what is contracted in it
        self.nominals = EnglishNominals(self.clause)

    def clause(self, node: Clause, is_inverted: bool = False) -> list[Word]:
        """Words of a clause; `is_inverted` puts the first auxiliary before the subject."""
        subject = node.object if node.verb.frame == "swap" else node.subject
        agreement = self._agreement(node, subject)
        name = TENSES[node.tense].english
        has_subject = name not in ("base", "to", "ing", "imperative") and subject is not None
        own = self._subject(node, subject) if has_subject and subject is not None else []
        chain = build_chain(node, agreement)
        is_pronoun = isinstance(subject, Pronoun)
        is_negative = node.negation in ("pas", "plus", "rien", "personne", "encore")
        if is_inverted and not chain.auxiliaries:
            support_do(node, chain, agreement)
        first: list[Word] = []
        if name in ("base", "to", "ing") and is_negative:
            first = [word("not", node, "negation", (node, "verb"))]
        elif is_negative:
            after = is_pronoun and not is_inverted and bool(own) and own[0].text != "there"
            first = with_not(node, chain, agreement, self.sentence.is_negation_contracted, after)
        elif chain.auxiliaries:
            text = chain.auxiliaries.pop(0)
            contracts = is_pronoun and self.sentence.is_contracted and not is_inverted and bool(own)
            contracts = contracts and (own[0].text, text) not in UNCONTRACTED
            role = "auxiliary" if chain.main else "verb"
            first = [word(contracted(text) if contracts else text, node, role, (node, "verb"))]
        to = [word("to", node, "to", (node, "verb"))] if name == "to" else []
        start = [*first[:1], *own, *first[1:]] if is_inverted else [*own, *first]
        if is_inverted and len(first) == 2 and first[1].text == "t":
            start = [*first, *own]
        rest = [word(text, node, "auxiliary", (node, "verb")) for text in chain.auxiliaries]
        main = [word(text, node, "verb") for text in chain.main]
        tail = self._tail(node, chain.particles)
        if TENSES[node.tense].french == "infinitive" and is_negative:
            return [*first, *to, *main, *tail]
        if name == "imperative" and subject is not None and english_agreement(subject).person == 1:
            start = words("let s", node, "auxiliary", (node, "verb"))
        return [*start, *to, *self._middle(node), *rest, *self._only(node), *main, *tail]

    @staticmethod
    def _agreement(node: Clause, subject: Nominal | None) -> Agreement:
        if node.verb.french == "y avoir" and isinstance(node.object, NounPhrase):
            return Agreement(3, english_number(node.object), "m")
        if subject is None:
            return node.controller or Agreement(2, "pl", "m")
        return english_agreement(subject)

    def _subject(self, node: Clause, subject: Nominal) -> list[Word]:
        if node.verb.french == "y avoir":
            return [word("there", node, "there", head_key(subject), (node, "verb"))]
        return self.nominals.nominal(subject, "subject")

    def _middle(self, node: Clause) -> list[Word]:
        result = [word("never", node, "negation", (node, "verb"))] if node.negation == "jamais" else []
        if node.tense == "just":
            result.append(word("just", node, "auxiliary", (node, "verb")))
        for adjunct in node.adjuncts:
            if isinstance(adjunct, Adverbial) and adjunct.adverb.english_position == "middle":
                result += words(adjunct.english, adjunct, "head")
        return result

    @staticmethod
    def _only(node: Clause) -> list[Word]:
        return [word("only", node, "only", (node, "negation"))] if node.negation == "que" else []

    def _tail(self, node: Clause, particles: list[str]) -> list[Word]:
        object_ = node.subject if node.verb.frame == "swap" else node.object
        verb = [word(text, node, "verb") for text in particles]
        result = [w for a in node.adjuncts if self._is_age(a) for w in self._adjunct(a)]
        if self._is_separated(node, object_):
            assert object_ is not None
            result += [*self.nominals.nominal(object_), *verb]
            object_ = None
        else:
            result = [*verb, *result]
        if isinstance(node.attribute, Modifier):
            result += self.nominals.adjective(node.attribute)
        elif isinstance(node.attribute, NounPhrase):
            result += self.nominals.noun_phrase(node.attribute)
        result += self._objects(node, object_)
        if node.oblique is not None:
            result += words(node.verb.prep[1], node, "prep", head_key(node.oblique))
            result += self.nominals.nominal(node.oblique)
        if node.place is not None:
            result += self.nominals.prepositional(node.place)
        if node.infinitive is not None:
            result += self._infinitive(node, node.infinitive)
        for adjunct in node.adjuncts:
            if not self._is_age(adjunct):
                result += self._at_end(adjunct)
        if node.negation in ("plus", "encore"):
            text = "anymore" if node.negation == "plus" else "yet"
            result.append(word(text, node, "second negation", (node, "negation")))
        if node.content is not None:
            result += self._content(node, node.content)
        return result

    @staticmethod
    def _is_separated(node: Clause, object_: Nominal | None) -> bool:
        parts = node.english.split()
        can_part = node.verb.frame == "transitive" and len(parts) == 2 and parts[1] in SEPARABLE
        return can_part and isinstance(object_, Pronoun) and node.english not in INSEPARABLE

    def _objects(self, node: Clause, object_: Nominal | None) -> list[Word]:
        """Direct object and recipient: *give him the book*, *give it to him*, *borrow it from him*."""
        direct = [] if object_ is None else self._object(node, object_)
        recipient = node.recipient
        if recipient is None:
            return direct
        own = self.nominals.nominal(recipient)
        fixed = node.verb.options & {"to", "for", "from"}
        is_first = isinstance(recipient, Pronoun) or node.verb.frame == "control" or "first" in node.verb.options
        if is_first and not fixed and not isinstance(object_, Pronoun):
            return [*own, *direct]
        prep = next(iter(fixed), "to")
        return [*direct, word(prep, node, "recipient", head_key(recipient)), *own]

    def _object(self, node: Clause, object_: Nominal) -> list[Word]:
        if isinstance(object_, Indefinite) and node.negation in ("rien", "personne"):
            role = "second negation" if node.negation == "rien" else "head"
            owner: object = node if node.negation == "rien" else object_
            return [word(object_.english, owner, role, (node, "negation"))]
        return self.nominals.nominal(object_)

    def _infinitive(self, node: Clause, infinitive: Clause) -> list[Word]:
        link = node.verb.prep[1].partition("_")[0] if "_" in node.verb.prep[1] else ""
        start = words(link, node, "to", (infinitive, "verb"))
        inner = self.clause(infinitive)
        if inner and inner[0].text == "to" and TENSES[infinitive.tense].english == "to":
            inner[0] = word("to", node, "to", (infinitive, "verb"))
        return [*start, *inner]

    def _content(self, node: Clause, content: Clause) -> list[Word]:
        that = words(node.verb.prep[1], node, "that", (content, "verb"))
        return [*that, *self.clause(content)]

    def _at_end(self, adjunct: Adjunct) -> list[Word]:
        if isinstance(adjunct, Adverbial) and adjunct.adverb.english_position == "middle":
            return []
        return self._adjunct(adjunct)

    @staticmethod
    def _is_age(adjunct: Adjunct) -> bool:
        return isinstance(adjunct, TimeSpan) and adjunct.kind in ("age", "clock")

    def _adjunct(self, adjunct: Adjunct) -> list[Word]:
        if isinstance(adjunct, Adverbial):
            return words(adjunct.english, adjunct, "head")
        if isinstance(adjunct, Prepositional):
            return self.nominals.prepositional(adjunct)
        return self._span(adjunct)

    @staticmethod
    def _span(node: TimeSpan) -> list[Word]:
        assert node.unit is not None
        head = (node, "head")
        count = words(number_word(node.count), node, "count", head)
        if node.kind in ("at", "clock"):
            at = words(SPANS.get(node.kind, ""), node, "prep", head)
            return [*at, *count, *words("o clock", node, "head")]
        if node.count == 1 and node.kind != "age":
            count = [word(article(node.unit.english[0]), node, "count", head)]
        unit = node.unit.english[0] if node.count == 1 else plural(node.unit.english[0])
        measured = [*count, *words(unit, node, "head")]
        if node.kind == "age":
            return [*measured, word("old", node, "head")]
        if node.kind == "ago":
            return [*measured, word("ago", node, "prep", head)]
        return [word(SPANS[node.kind], node, "prep", head), *measured]
