"""French clauses: subject, *ne*, clitics, verb, the rest of the negation, complements in order."""

from __future__ import annotations

from dataclasses import replace

from ..alignment import Word, word, words
from ..meaning import (
    Adjunct,
    Adverbial,
    Agreement,
    Clause,
    Gap,
    Indefinite,
    Modifier,
    Nominal,
    NounPhrase,
    Prepositional,
    Pronoun,
    TimeSpan,
    french_subject_agreement,
)
from .forms import WHOLE, noun_form, number_word, participle_form, preposition
from .noun_phrases import FrenchNominals
from .verbs import SECOND_NEGATION, VerbParts, clitics, conjugate, finite, oblique_clitic, verb_parts

NEGATED_ARTICLES = ("de la ", "de l'", "du ", "des ", "une ", "un ", "d'")
BEFORE_INFINITIVE = ("bien", "mal")
COMPOUND = {"passe_compose": "present", "pluperfect": "imperfect"}  # tense of the auxiliary
SPANS = {"for": "pendant", "since": "depuis", "ago": "il y a", "in": "dans", "at": "à"}
MEASURES = ("age", "clock")


class FrenchClauses:
    """Writes clauses; holds the writer of nominals, which calls back for what is inside them."""

    def __init__(self) -> None:
        self.nominals = FrenchNominals(self.clause)

    def clause(self, node: Clause, is_inverted: bool = False) -> list[Word]:
        """Words of a clause; `is_inverted` puts the subject pronoun behind the verb (*vas tu*)."""
        parts = verb_parts(node)
        subject: list[Word] = []
        if node.subject is not None and parts.tense not in ("infinitive", "imperative"):
            subject = self.nominals.nominal(node.subject, "subject")
        group = self._group(node, parts, subject if is_inverted else [])
        return [*([] if is_inverted else subject), *group, *self._tail(node)]

    def _group(self, node: Clause, parts: VerbParts, inverted: list[Word]) -> list[Word]:
        """Everything from *ne* to the last part of the verb."""
        has_ne = bool(node.negation) or _negates(node.subject) or _negates(node.object)
        ne = [word("ne", node, "negation", (node, "verb"))] if has_ne else []
        second = SECOND_NEGATION.get(node.negation, "")
        pas = [word(part, node, _second_role(node), (node, "negation")) for part in second.split()]
        own = clitics(node)
        middle = [w for adjunct in node.adjuncts if _is_middle(adjunct) for w in self._adjunct(adjunct)]
        if parts.tense == "infinitive":
            paradigm = conjugate(parts.head)
            head = [word(paradigm.infinitive, node, "verb")]
            before = middle if middle and middle[0].text in BEFORE_INFINITIVE else []
            after = [] if before else middle
            return [*ne, *pas, *before, *own, *head, *after, *self._rest(node, parts)]
        if parts.tense == "imperative":
            return self._imperative(node, parts, ne, pas, middle)
        agreement = french_subject_agreement(node.subject) if node.subject else node.controller
        assert agreement is not None
        if parts.tense in COMPOUND:
            auxiliary = "être" if parts.takes_etre else "avoir"
            first = [finite(auxiliary, COMPOUND[parts.tense], agreement, node, "auxiliary", (node, "verb"))]
            last = [word(self._participle(node, parts, agreement), node, "verb")]
            return [
                *ne, *own, *self._turn(first, inverted), *pas, *middle, *last, *self._rest(node, parts)
            ]  # fmt: skip
        if parts.periphrasis:
            auxiliary, *particles = parts.periphrasis.split(" ", 1)
            first = [finite(auxiliary, "present", agreement, node, "auxiliary", (node, "verb"))]
            between = [w for part in particles for w in preposition(part, node, "auxiliary", (node, "verb"))]
            last = [word(parts.head, node, "verb")]
            return [
                *ne, *self._turn(first, inverted), *pas, *middle, *between, *own, *last, *self._rest(node, parts)
            ]  # fmt: skip
        verb = [finite(parts.head, parts.tense, agreement, node, "verb")]
        return [*ne, *own, *self._turn(verb, inverted), *pas, *middle, *self._rest(node, parts)]

    def _turn(self, verb: list[Word], inverted: list[Word]) -> list[Word]:
        """The verb with the pronoun behind it; *t* stands between vowels (*a t il*)."""
        if not inverted:
            return verb
        if len(inverted) > 1:
            return [*verb, *inverted]
        bare = [replace(found, before_vowel="", role=WHOLE) for found in inverted]
        needs_t = verb[-1].text[-1] in "ae" and bare[0].text in ("il", "elle", "on")
        link = [Word("t", bare[0].keys, bare[0].fallback)] if needs_t else []
        return [*verb, *link, *bare]

    def _imperative(
        self, node: Clause, parts: VerbParts, ne: list[Word], pas: list[Word], middle: list[Word]
    ) -> list[Word]:
        assert node.subject is not None
        agreement = french_subject_agreement(node.subject)
        index = 0 if agreement.number == "sg" else 1 if agreement.person == 1 else 2
        verb = [word(conjugate(parts.head).imperative[index], node, "verb")]
        rest = self._rest(node, parts)
        if ne:
            return [*ne, *clitics(node), *verb, *pas, *middle, *rest]
        after = []
        for clitic in clitics(node, is_after=True):
            text = {"me": "moi", "te": "toi"}.get(clitic.text, clitic.text)
            after.append(replace(clitic, text=text, role=WHOLE))
        return [*verb, *after, *middle, *rest]

    def _participle(self, node: Clause, parts: VerbParts, agreement: Agreement) -> str:
        participle = conjugate(parts.head).participle
        if parts.is_reflexive and parts.rest:
            return participle
        if parts.takes_etre:
            subject = node.subject.agreement if node.subject is not None else agreement
            return participle_form(participle, subject.gender, subject.number)
        target = node.object
        if isinstance(target, (Pronoun, Gap)):
            return participle_form(participle, target.agreement.gender, target.agreement.number)
        return participle

    def _rest(self, node: Clause, parts: VerbParts) -> list[Word]:
        """What follows the head of a verb of several words; its article becomes *de* after a negation."""
        text = parts.rest
        if node.negation in ("pas", "plus", "jamais", "encore"):
            for start in NEGATED_ARTICLES:
                if text.startswith(start):
                    text = "de " + text.removeprefix(start)
                    break
        agreement = node.subject.agreement if node.subject is not None else node.controller
        result = []
        for part in text.split():
            if part.endswith("+"):
                assert agreement is not None
                part = self._agreeing(part[:-1], agreement)
            # The lexicon writes "l'air" but "le hoquet"; only the *de* of a negation is elided here.
            result.append(word(part, node, "verb", kind="" if part == "de" else WHOLE))
        return result

    @staticmethod
    def _agreeing(form: str, agreement: Agreement) -> str:
        if agreement.gender == "f":
            form = form[:-1] + "se" if form.endswith("eux") else form if form.endswith("e") else form + "e"
        return form + "s" if agreement.number == "pl" and form[-1] not in "sx" else form

    def _tail(self, node: Clause) -> list[Word]:
        """Complements and adjuncts after the verb, in the order in which French says them."""
        result: list[Word] = []
        result += [w for a in node.adjuncts if isinstance(a, TimeSpan) and a.kind in MEASURES for w in self._span(a)]
        if isinstance(node.attribute, Modifier):
            agreement = node.subject.agreement if node.subject is not None else node.controller
            assert agreement is not None
            if node.subject is not None and isinstance(node.subject, Pronoun) and node.subject.kind == "ce":
                agreement = Agreement(3, "sg", "m")
            result += self.nominals.adjective(node.attribute, agreement)
        elif isinstance(node.attribute, NounPhrase):
            result += self.nominals.noun_phrase(node.attribute)
        if node.negation == "que":
            result.append(word("que", node, "only", (node, "negation")))
        is_rien = isinstance(node.object, Indefinite) and node.negation == "rien"
        if (
            node.object is not None
            and not isinstance(node.object, Pronoun)
            and node.verb.frame != "swap"
            and not is_rien
        ):
            result += self.nominals.nominal(node.object)
        if node.oblique is not None and not oblique_clitic(node, node.oblique):
            result += self.nominals.prepositional(node.verb.prep[0], node.oblique, node, "prep")
        recipient = node.object if node.verb.frame == "swap" else node.recipient
        if recipient is not None and not isinstance(recipient, Pronoun):
            prep = "" if "accusative" in node.verb.options else "à"
            result += self.nominals.prepositional(prep, recipient, node, "recipient")
        if node.place is not None:
            result += self.nominals.place(node.place)
        if node.infinitive is not None:
            if node.verb.prep[0]:
                result += preposition(node.verb.prep[0], node, "to", (node.infinitive, "verb"))
            result += self.clause(node.infinitive)
        for adjunct in node.adjuncts:
            if not _is_middle(adjunct) and not (isinstance(adjunct, TimeSpan) and adjunct.kind in MEASURES):
                result += self._adjunct(adjunct)
        if node.content is not None:
            conjunction = node.verb.prep[0] or "que"
            result.append(word(conjunction, node, "that", (node.content, "verb")))
            result += self.clause(node.content)
        return result

    def _adjunct(self, node: Adjunct) -> list[Word]:
        if isinstance(node, Adverbial):
            return words(node.adverb.french, node, "head")
        if isinstance(node, Prepositional):
            return self.nominals.place(node)
        return self._span(node)

    @staticmethod
    def _span(node: TimeSpan) -> list[Word]:
        assert node.unit is not None
        unit = noun_form(node.unit, "sg" if node.count == 1 else "pl")
        count = number_word(node.count, node.unit.gender)
        start = words(SPANS.get(node.kind, ""), node, "prep", (node, "head"))
        return [*start, *words(count, node, "count"), *words(unit, node, "head")]


def _negates(nominal: Nominal | None) -> bool:
    return isinstance(nominal, Indefinite) and nominal.french in ("personne", "rien")


def _second_role(node: Clause) -> str:
    return "second negation" if node.negation in ("plus", "encore", "rien") else "negation"


def _is_middle(adjunct: Adjunct) -> bool:
    return isinstance(adjunct, Adverbial) and adjunct.adverb.position == "middle"
