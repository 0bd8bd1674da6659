"""French sentences: subject, *ne*, clitics, verb, negation, complements in order; nominals."""

from __future__ import annotations

import re
from dataclasses import replace

from .french_words import (
    WHOLE,
    adjective_form,
    agreeing,
    article,
    conjugate,
    finite,
    join,
    noun_form,
    starts_with_vowel,
)
from .meaning import (
    Agreement,
    Clause,
    Gap,
    Indefinite,
    Modifier,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    TimeSpan,
    french_agreement,
    is_thing,
)
from .writing import Word, Writer, preposition, word, words

DETERMINERS = {  # of a masculine singular, a feminine one, a plural
    "a": ("un", "une", "des"), "some": ("un", "une", "des"), "this": ("ce", "cette", "ces"),
    "which": ("quel", "quelle", "quels", "quelles"),
}  # fmt: skip
INVARIABLE = {
    "many": "beaucoup de", "a_few": "quelques", "several": "plusieurs", "how_many": "combien de", "no": "de",
    "every": "chaque", "bare": "", "in": "",
}  # fmt: skip
COMPARED = {"more": "plus", "less": "moins", "as": "aussi", "most": "plus"}
SECOND_NEGATION = {"pas": "pas", "plus": "plus", "jamais": "jamais", "rien": "rien", "encore": "pas encore"}
DE_AFTER_NEGATION = ("pas", "plus", "jamais", "encore")
NEGATED_ARTICLE = "^(de la |de l'|du |des |une |un |d')"
BEFORE_INFINITIVE = ("bien", "mal")
TAKES_ETRE = frozenset(
    "aller venir revenir devenir arriver partir sortir rentrer retourner rester tomber naître mourir monter "
    "descendre entrer apparaître".split()
)
WITHOUT_OBJECT = ("intransitive", "expression", "oblique", "locative", "infinitive", "copula", "impersonal")
CLITIC_ORDER = ("me", "te", "se", "nous", "vous", "le", "la", "les", "lui", "leur", "y", "en")
ORDER_AFTER_VERB = ("le", "la", "les", "me", "te", "se", "nous", "vous", "lui", "leur", "y", "en")
STRONG_AFTER_VERB = {"me": "moi", "te": "toi"}
SPANS = {"for": "pendant", "since": "depuis", "ago": "il y a", "in": "dans", "at": "à"}
NUMBERS = (
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt"
).split()


class French(Writer):
    """Writes the French side."""

    side = 0
    and_ = "et"
    than = {"more": "que", "less": "que", "as": "que"}
    inverting = ("inversion",)
    numbers = {**dict(enumerate(NUMBERS, start=1)), 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante"}
    columns = ("subject", "object", "dative", "disjunctive", "masculine", "feminine", "plural")
    pronouns = {
        "1 sg": "je me me moi mon ma mes", "1 pl": "nous nous nous nous notre notre nos",
        "2 sg": "tu te te toi ton ta tes", "2 pl": "vous vous vous vous votre votre vos",
        "3 sg m": "il le lui lui son sa ses", "3 pl m": "ils les leur eux leur leur leurs",
        "3 sg f": "elle la lui elle son sa ses", "3 pl f": "elles les leur elles leur leur leurs",
    }  # fmt: skip

    def spell(self, words: list[Word]) -> list[Word]:
        """Contracts and elides."""
        return join(words)

    def question(self, body: Clause) -> list[Word]:
        """Question word or phrase, and *est-ce que* where the question has it."""
        question = self.sentence.question
        est_ce_que: list[Word] = []
        if self.sentence.form == "est-ce que":
            head = (question, "head") if isinstance(question, Indefinite) else (body, "verb")
            est_ce_que = words("est ce que", self.sentence, "question", head)
        return [*super().question(body), *est_ce_que]

    def clause(self, node: Clause, is_inverted: bool = False) -> list[Word]:
        """Subject, verb, and all that follows."""
        subject: list[Word] = []
        if node.subject is not None and node.has_own_subject:
            subject = self.nominal(node.subject, "subject")
        group = self._verb_group(node, subject if is_inverted else [])
        return [*([] if is_inverted else subject), *group, *self.tail(node)]

    def _verb_group(self, node: Clause, inverted: list[Word]) -> list[Word]:
        """Everything from *ne* to the last part of the verb."""
        has_ne = bool(node.negation) or _negates(node.subject) or _negates(node.object)
        ne = [word("ne", node, "negation")] if has_ne else []
        role = "second negation" if node.negation in ("plus", "encore", "rien") else "negation"
        pas = words(SECOND_NEGATION.get(node.negation, ""), node, role, (node, "negation"))
        head, _, rest = node.verb.french.removeprefix("se ").removeprefix("s'").removeprefix("y ").partition(" ")
        first, _, last = node.tenses.french.partition(" ")
        middle, after = self.middle(node), self._rest(node, rest)
        own = self._clitics(node, is_after=first == "imperative" and not ne)
        infinitive, agreement = word(head, node, "verb"), node.french_agreement
        if first == "infinitive":
            is_before = bool(middle) and middle[0].text in BEFORE_INFINITIVE
            return [*ne, *pas, *([*middle, *own, infinitive] if is_before else [*own, infinitive, *middle]), *after]
        if first == "imperative":
            index = 0 if agreement.number == "sg" else 1 if agreement.person == 1 else 2
            verb = [word(conjugate(head)["imperative"][index], node, "verb")]
            if ne:
                return [*ne, *own, *verb, *pas, *middle, *after]
            strong = (replace(w, text=STRONG_AFTER_VERB.get(w.text, w.text), kind=WHOLE) for w in own)
            return [*verb, *strong, *middle, *after]
        auxiliary, _, tense = first.rpartition(":")
        ending: list[Word] = []
        if last == "participle":
            auxiliary = "être" if takes_etre(node, head) else auxiliary
            ending = [word(self._participle(node, head, rest), node, "verb")]
        elif last:
            link = last.removesuffix("infinitive")
            ending, own = [*preposition(link, node, "auxiliary"), *own, infinitive], []
        verb = [word(finite(auxiliary or head, tense, agreement), node, "auxiliary" if ending else "verb")]
        return [*ne, *own, *verb, *_behind_verb(verb[0], inverted), *pas, *middle, *ending, *after]

    @staticmethod
    def _participle(node: Clause, head: str, rest: str) -> str:
        """The participle, which agrees with the subject (*être*) or an object before it (*avoir*)."""
        [participle] = conjugate(head)["participle"]
        if node.verb.is_reflexive and rest:
            return participle
        if takes_etre(node, head):
            return agreeing(participle, node.agreement)
        return agreeing(participle, node.object.agreement) if isinstance(node.object, Pronoun | Gap) else participle

    @staticmethod
    def _rest(node: Clause, text: str) -> list[Word]:
        """The further words of a verb (avoir *faim*); their article becomes *de* after a negation."""
        if node.negation in DE_AFTER_NEGATION:
            text = re.sub(NEGATED_ARTICLE, "de ", text)
        result = []
        for part in text.split():
            form = agreeing(part[:-1], node.agreement) if part.endswith("+") else part
            # The lexicon writes "l'air" but "le hoquet"; only the *de* of a negation is elided here.
            result.append(word(form, node, "verb", kind="" if part == "de" else WHOLE))
        return result

    def _clitics(self, node: Clause, is_after: bool) -> list[Word]:
        """Clitic pronouns in order; after an affirmative imperative the object comes first (*donne le moi*)."""
        verb, result = node.verb, []
        if verb.is_reflexive:
            agreement = node.french_agreement
            text = "se" if agreement.person == 3 else self.form(agreement, "object")
            result.append(word(text, node, "reflexive"))
        object_case = "dative" if verb.frame == "swap" else "object"
        recipient_case = "object" if verb.has("accusative") else "dative"
        for pronoun, case in ((node.object, object_case), (node.recipient, recipient_case)):
            if isinstance(pronoun, Pronoun):
                result.append(word(self.form(french_agreement(pronoun), case), pronoun))
        if text := self._oblique_clitic(node):
            result.append(word(text, node.oblique))
        if verb.french.startswith("y "):
            result.append(word("y", node, "verb"))
        order = ORDER_AFTER_VERB if is_after else CLITIC_ORDER
        return sorted(result, key=lambda clitic: order.index(clitic.text))

    def _oblique_clitic(self, node: Clause) -> str:
        """*y*, *en* or a dative for a pronoun after a preposition, as the verb's options allow; "" = none."""
        pronoun, verb = node.oblique, node.verb
        if not isinstance(pronoun, Pronoun):
            return ""
        if is_thing(pronoun):
            return next((clitic for clitic in ("y", "en") if verb.has(clitic)), "")
        return self.form(french_agreement(pronoun), "dative") if verb.has("dative") else ""

    def objects(self, node: Clause) -> list[Word]:
        """*que* and what is not a clitic: object, object with a preposition, recipient."""
        result = [word("que", node, "only", (node, "negation"))] if node.negation == "que" else []
        if node.object is not None and not isinstance(node.object, Pronoun) and node.negation != "rien":
            result += self.nominal(node.object)
        if node.oblique is not None and not self._oblique_clitic(node):
            result += self.prepositional(node.verb.prep[0], node.oblique, node)
        if node.recipient is not None and not isinstance(node.recipient, Pronoun):
            prep = "" if node.verb.has("accusative") else "à"
            result += self.prepositional(prep, node.recipient, node, "recipient")
        return result

    def span(self, node: TimeSpan) -> list[Word]:
        """*pendant deux heures*, *il y a deux jours*, *vingt ans*."""
        count, unit = self._count(node.count, node.unit.gender), noun_form(node.unit, "sg" if node.count == 1 else "pl")
        return [*words(SPANS.get(node.kind, ""), node, "prep"), *words(count, node, "count"), *words(unit, node)]

    def _count(self, count: int, gender: str) -> str:
        return "une" if (count, gender) == (1, "f") else self.number_word(count)

    def pronoun(self, node: Pronoun, case: str) -> Word:
        """*il* or *lui*; other pronouns stand by the verb."""
        if case in ("disjunctive", "after de"):
            return word(self.form(french_agreement(node), "disjunctive"), node)
        if node.kind in ("on", "ce"):
            return word(node.kind, node, before_vowel="c" if node.kind == "ce" else "")
        return word(self.form(french_agreement(node), "subject"), node)

    def nominal(self, node: Nominal, case: str = "object") -> list[Word]:
        """As in both languages, but a country has its article."""
        if not isinstance(node, Name):
            return super().nominal(node, case)
        has_article = node.entry.class_name == "country"
        return [*([article(node.agreement, node, "det")] if has_article else []), *self._bare(node)]

    @staticmethod
    def _bare(node: Name) -> list[Word]:
        first, *rest = words(node.entry.french, node)
        return [replace(first, is_aspirated=node.entry.has("aspirated")), *rest]

    def prepositional(self, prep: str, nominal: Nominal, node: object, role: str = "prep") -> list[Word]:
        """A preposition and its nominal; *en* only before a feminine country or one with a vowel."""
        if prep == "en" and isinstance(nominal, Name):
            bare = self._bare(nominal)
            is_feminine = nominal.entry.gender == "f" or starts_with_vowel(bare[0])
            if is_feminine and nominal.agreement.number == "sg":
                return [*preposition("en", node, role, (nominal, "head")), *bare]
            prep = "à"
        return super().prepositional(prep, nominal, node, role)

    def noun_phrase(self, node: NounPhrase, case: str = "object") -> list[Word]:
        """Determiner, adjectives before, noun, adjectives after, *de* and its complement, relative clause."""
        is_indefinite = node.determiner in ("a", "some", "bare") and (node.number == "pl" or node.noun.has("mass"))
        before = self.adjectives(node, True)
        result = [] if case == "after de" and is_indefinite else self._determiner(node, bool(before))
        noun, *rest = words(noun_form(node.noun, node.number), node)
        result += [*before, replace(noun, is_aspirated=node.noun.has("aspirated")), *rest]
        if node.content is not None:
            result += preposition("de", node, "of", (node.content, "head"))
            result += self.noun_phrase(node.content, "after de")
        result += self.adjectives(node, False)
        if node.complement is not None:
            result += self.prepositional("de", node.complement, node, "of")
        return [*result, *self.relative(node)]

    def _determiner(self, node: NounPhrase, has_adjective: bool) -> list[Word]:
        kind, gender = node.determiner, node.noun.gender
        column = 2 if node.number == "pl" else 0 if gender == "m" else 1
        if kind in ("the", "generic"):
            return [article(node.agreement, node, "det")]
        if kind == "all":
            return [word("tous" if gender == "m" else "toutes", node, "all"), article(node.agreement, node, "det")]
        if kind in ("a", "some") and node.noun.has("mass"):
            return [*preposition("de", node, "det"), article(Agreement(3, "sg", gender), node, "det")]
        if kind in ("a", "some") and column == 2 and has_adjective:
            return words("de", node, "det")
        if kind == "my":
            assert node.owner is not None
            owner = node.owner._replace(gender="m")
            return words(self.form(owner, ("masculine", "feminine", "plural")[column]), node, "det")
        if kind == "number":
            return words(self._count(node.count, gender), node, "det")
        if kind == "which" and (node.number, gender) == ("pl", "f"):
            column = 3
        text = DETERMINERS[kind][column] if kind in DETERMINERS else INVARIABLE[kind]
        return [replace(w, before_vowel="cet" if text == "ce" else "") for w in words(text, node, "det")]

    def compared(self, node: Modifier, agreement: Agreement) -> list[Word]:
        """*plus grand*, *meilleur*, *le plus grand* behind the noun."""
        adjective, kind = node.adjective, node.comparison
        form = adjective_form(adjective, agreement)
        result = [article(agreement, node, "most")] if kind == "most" and not adjective.is_before else []
        if kind in ("more", "most") and adjective.has("comparative"):
            form = agreeing(adjective.options["comparative"], agreement)
        elif kind:
            result.append(word(COMPARED[kind], node, "comparison"))
        vowel = adjective.options.get("vowel", "") if agreement[1:] == ("sg", "m") else ""
        first, *rest = words(form, node)
        return [*result, replace(first, before_vowel=vowel), *rest]


def _negates(nominal: Nominal | None) -> bool:
    return isinstance(nominal, Indefinite) and nominal.texts[0] in ("personne", "rien")


def _behind_verb(verb: Word, pronoun: list[Word]) -> list[Word]:
    """A subject behind the verb; *t* stands between vowels (*a t il*)."""
    if len(pronoun) != 1:
        return pronoun
    whole = replace(pronoun[0], before_vowel="", kind=WHOLE)
    needs_t = verb.text[-1] in "ae" and whole.text in ("il", "elle", "on")
    return [replace(whole, text="t"), whole] if needs_t else [whole]


def takes_etre(node: Clause, head: str) -> bool:
    """True if the compound tenses have *être*: of reflexive verbs, and of some without object."""
    return node.verb.is_reflexive or (head in TAKES_ETRE and node.verb.frame in WITHOUT_OBJECT)
