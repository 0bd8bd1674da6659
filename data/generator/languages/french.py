"""French sentences: subject, *ne*, clitics, verb, negation, complements in order; nominals."""

from __future__ import annotations

import re
from dataclasses import replace

from ..meaning import (
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
    is_thing,
)
from . import Word, Writer, preposition, word, words
from .french_words import (
    WHOLE,
    adjective_form,
    agreeing,
    article,
    conjugate,
    join,
    noun_form,
    number_word,
    starts_with_vowel,
)

DETERMINERS = {
    "many": "beaucoup de", "a_few": "quelques", "several": "plusieurs", "how_many": "combien de", "no": "de",
    "every": "chaque", "bare": "", "in": "",
}  # fmt: skip
COMPARED = {"more": "plus", "less": "moins", "as": "aussi", "most": "plus"}
POSSESSIVES = {
    (1, "sg"): ("mon", "ma", "mes"), (2, "sg"): ("ton", "ta", "tes"), (3, "sg"): ("son", "sa", "ses"),
    (1, "pl"): ("notre", "notre", "nos"), (2, "pl"): ("votre", "votre", "vos"), (3, "pl"): ("leur", "leur", "leurs"),
}  # fmt: skip
PRONOUNS = {
    (1, "sg", "m"): "je me me moi", (2, "sg", "m"): "tu te te toi", (3, "sg", "m"): "il le lui lui",
    (3, "sg", "f"): "elle la lui elle", (1, "pl", "m"): "nous nous nous nous", (2, "pl", "m"): "vous vous vous vous",
    (3, "pl", "m"): "ils les leur eux", (3, "pl", "f"): "elles les leur elles",
}  # fmt: skip
CASES = ("subject", "object", "dative", "disjunctive")
SECOND_NEGATION = {"pas": "pas", "plus": "plus", "jamais": "jamais", "rien": "rien", "encore": "pas encore"}
DE_AFTER_NEGATION = ("pas", "plus", "jamais", "encore")
NEGATED_ARTICLE = "^(de la |de l'|du |des |une |un |d')"
BEFORE_INFINITIVE = ("bien", "mal")
COMPOUND = {"passe_compose": "present", "pluperfect": "imperfect"}  # tense of the auxiliary
TAKES_ETRE = frozenset(
    "aller venir revenir devenir arriver partir sortir rentrer retourner rester tomber naître mourir monter "
    "descendre entrer apparaître".split()
)
WITHOUT_OBJECT = ("intransitive", "expression", "oblique", "locative", "infinitive", "copula", "impersonal")
CLITIC_ORDER = ("me", "te", "se", "nous", "vous", "le", "la", "les", "lui", "leur", "y", "en")
ORDER_AFTER_VERB = ("le", "la", "les", "me", "te", "se", "nous", "vous", "lui", "leur", "y", "en")
SPANS = {"for": "pendant", "since": "depuis", "ago": "il y a", "in": "dans", "at": "à"}


def pronoun_form(pronoun: Pronoun, case: str) -> str:
    """The form of a pronoun in one of CASES; *vous* stands for one person too."""
    agreement = pronoun.agreement
    person, number = agreement.person, "pl" if pronoun.kind == "formal" else agreement.number
    gender = agreement.gender if person == 3 else "m"
    return PRONOUNS[person, number, gender].split()[CASES.index(case)]


class French(Writer):
    """Writes the French side."""

    side = 0
    and_ = "et"
    than = {"more": "que", "less": "que", "as": "que"}
    inverting = ("inversion",)

    def spell(self, words: list[Word]) -> list[Word]:
        """Contracts and elides."""
        return join(words)

    def question(self, body: Clause) -> list[Word]:
        """Question word or phrase, and *est-ce que* where the question has it."""
        question = self.sentence.question
        est_ce_que: list[Word] = []
        if self.sentence.form == "est-ce que":
            head = (body, "verb") if question is None or question.nominal is not None else (question, "head")
            est_ce_que = words("est ce que", self.sentence, "question", head)
        return [*super().question(body), *est_ce_que]

    # -- clauses ----------------------------------------------------------------------------------------

    def clause(self, node: Clause, is_inverted: bool = False) -> list[Word]:
        """Subject, verb, and all that follows."""
        subject: list[Word] = []
        if node.subject is not None and node.tenses.french not in ("infinitive", "imperative"):
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
        tense, periphrasis = node.tenses.french, node.tenses.periphrasis
        paradigm, middle, after = conjugate(head), self.middle(node), self._rest(node, rest)
        own = clitics(node, is_after=tense == "imperative" and not ne)
        if tense == "infinitive":
            is_before = bool(middle) and middle[0].text in BEFORE_INFINITIVE
            verb = [*own, word(head, node, "verb")]
            return [*ne, *pas, *(middle + verb if is_before else verb + middle), *after]
        agreement = node.french_agreement
        if tense == "imperative":
            index = 0 if agreement.number == "sg" else 1 if agreement.person == 1 else 2
            verb = [word(paradigm.tenses["imperative"][index], node, "verb")]
            if ne:
                return [*ne, *own, *verb, *pas, *middle, *after]
            strong = {"me": "moi", "te": "toi"}
            return [*verb, *(replace(w, text=strong.get(w.text, w.text), kind=WHOLE) for w in own), *middle, *after]
        auxiliary, last = head, list[Word]()
        if tense in COMPOUND:
            auxiliary, tense = "être" if takes_etre(node, head) else "avoir", COMPOUND[tense]
            last = [word(self._participle(node, head, rest), node, "verb")]
        elif periphrasis:
            auxiliary, _, link = periphrasis.partition(" ")
            last = [*preposition(link, node, "auxiliary"), *own, word(head, node, "verb")]
            own = []
        first = word(conjugate(auxiliary).finite(tense, agreement), node, "auxiliary" if last else "verb")
        return [*ne, *own, first, *_behind_verb(first, inverted), *pas, *middle, *last, *after]

    @staticmethod
    def _participle(node: Clause, head: str, rest: str) -> str:
        """The participle, which agrees with the subject (*être*) or an object before it (*avoir*)."""
        participle = conjugate(head).participle
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
        # The lexicon writes "l'air" but "le hoquet"; only the *de* of a negation is elided here.
        return [
            word(
                agreeing(part[:-1], node.agreement) if part.endswith("+") else part,
                node,
                "verb",
                kind="" if part == "de" else WHOLE,
            )
            for part in text.split()
        ]

    def objects(self, node: Clause) -> list[Word]:
        """*que* and what is not a clitic: object, object with a preposition, recipient."""
        result = [word("que", node, "only", (node, "negation"))] if node.negation == "que" else []
        if node.object is not None and not isinstance(node.object, Pronoun) and node.negation != "rien":
            result += self.nominal(node.object)
        if node.oblique is not None and not oblique_clitic(node):
            result += self.prepositional(node.verb.prep[0], node.oblique, node)
        if node.recipient is not None and not isinstance(node.recipient, Pronoun):
            prep = "" if "accusative" in node.verb.options else "à"
            result += self.prepositional(prep, node.recipient, node, "recipient")
        return result

    def span(self, node: TimeSpan) -> list[Word]:
        """*pendant deux heures*, *il y a deux jours*, *vingt ans*."""
        count, unit = number_word(node.count, node.unit.gender), noun_form(node.unit, "sg" if node.count == 1 else "pl")
        return [*words(SPANS.get(node.kind, ""), node, "prep"), *words(count, node, "count"), *words(unit, node)]

    # -- nominals ---------------------------------------------------------------------------------------

    def pronoun(self, node: Pronoun, case: str) -> Word:
        """*il* or *lui*; other pronouns stand by the verb."""
        if case in ("disjunctive", "after de"):
            return word(pronoun_form(node, "disjunctive"), node)
        if node.kind in ("on", "ce"):
            return word(node.kind, node, before_vowel="c" if node.kind == "ce" else "")
        return word(pronoun_form(node, "subject"), node)

    def name(self, node: Name) -> list[Word]:
        """A proper name; a country has its article."""
        bare = self._bare(node)
        if node.entry.class_name != "country":
            return bare
        return [article(node.agreement, node, "det"), *bare]

    @staticmethod
    def _bare(node: Name) -> list[Word]:
        first, *rest = words(node.entry.french, node)
        return [replace(first, is_aspirated=node.entry.is_aspirated), *rest]

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
        is_indefinite = node.determiner in ("a", "some", "bare") and (node.number == "pl" or node.noun.is_mass)
        before = self.adjectives(node, True)
        result = [] if case == "after de" and is_indefinite else self._determiner(node, bool(before))
        noun, *rest = words(noun_form(node.noun, node.number), node)
        result += [*before, replace(noun, is_aspirated=node.noun.is_aspirated), *rest]
        if node.content is not None:
            result += preposition("de", node, "of", (node.content, "head"))
            result += self.noun_phrase(node.content, "after de")
        result += self.adjectives(node, False)
        if node.complement is not None:
            result += self.prepositional("de", node.complement, node, "of")
        return [*result, *self.relative(node)]

    @staticmethod
    def _determiner(node: NounPhrase, has_adjective: bool) -> list[Word]:
        kind, number, gender, vowel = node.determiner, node.number, node.noun.gender, ""
        column = 2 if number == "pl" else 0 if gender == "m" else 1
        if kind in ("the", "generic"):
            return [article(node.agreement, node, "det")]
        if kind == "all":
            return [word("tous" if gender == "m" else "toutes", node, "all"), article(node.agreement, node, "det")]
        if kind in ("a", "some") and node.noun.is_mass:
            return [*preposition("de", node, "det"), article(Agreement(3, "sg", gender), node, "det")]
        if kind in ("a", "some"):
            text = "de" if column == 2 and has_adjective else ("un", "une", "des")[column]
        elif kind == "this":
            text, vowel = ("ce", "cette", "ces")[column], "cet" if column == 0 else ""
        elif kind == "my":
            assert node.owner is not None
            forms = POSSESSIVES[node.owner.person, node.owner.number]
            text, vowel = forms[column], forms[0] if column == 1 else ""
        elif kind == "number":
            text = number_word(node.count, gender)
        elif kind == "which":
            text = ("quel", "quelle")[gender == "f"] + ("s" if number == "pl" else "")
        else:
            text = DETERMINERS[kind]
        return [replace(w, before_vowel=vowel) for w in words(text, node, "det")]

    def compared(self, node: Modifier, agreement: Agreement) -> list[Word]:
        """*plus grand*, *meilleur*, *le plus grand* behind the noun."""
        adjective, kind = node.adjective, node.comparison
        form = adjective_form(adjective, agreement.gender, agreement.number)
        result = [article(agreement, node, "most")] if kind == "most" and not adjective.is_before else []
        if kind in ("more", "most") and adjective.french_comparative:
            form = agreeing(adjective.french_comparative, agreement)
        elif kind:
            result.append(word(COMPARED[kind], node, "comparison"))
        vowel = adjective.before_vowel if (agreement.gender, agreement.number) == ("m", "sg") else ""
        first, *rest = words(form, node)
        return [*result, replace(first, before_vowel=vowel), *rest]


# -- parts of a clause ----------------------------------------------------------------------------------


def _negates(nominal: Nominal | None) -> bool:
    return isinstance(nominal, Indefinite) and nominal.texts[0] in ("personne", "rien")


def _behind_verb(verb: Word, pronoun: list[Word]) -> list[Word]:
    """A subject behind the verb; *t* stands between vowels (*a t il*)."""
    if len(pronoun) != 1:
        return pronoun
    [whole] = [replace(form, before_vowel="", kind=WHOLE) for form in pronoun]
    needs_t = verb.text[-1] in "ae" and whole.text in ("il", "elle", "on")
    return [replace(whole, text="t"), whole] if needs_t else [whole]


def takes_etre(node: Clause, head: str) -> bool:
    """True if the compound tenses have *être*: of reflexive verbs, and of some without object."""
    return node.verb.is_reflexive or (head in TAKES_ETRE and node.verb.frame in WITHOUT_OBJECT)


def clitics(node: Clause, is_after: bool = False) -> list[Word]:
    """Clitic pronouns in order; after an affirmative imperative the object comes first (*donne le moi*)."""
    verb, object_case = node.verb, "dative" if node.verb.frame == "swap" else "object"
    recipient_case = "object" if "accusative" in verb.options else "dative"
    result = []
    if verb.is_reflexive:
        agreement = node.french_agreement
        text = "se" if agreement.person == 3 else pronoun_form(Pronoun(agreement), "object")
        result.append(word(text, node, "reflexive"))
    for pronoun, case in ((node.object, object_case), (node.recipient, recipient_case)):
        if isinstance(pronoun, Pronoun):
            result.append(word(pronoun_form(pronoun, case), pronoun))
    if text := oblique_clitic(node):
        result.append(word(text, node.oblique))
    if verb.french.startswith("y "):
        result.append(word("y", node, "verb"))
    order = ORDER_AFTER_VERB if is_after else CLITIC_ORDER
    return sorted(result, key=lambda clitic: order.index(clitic.text))


def oblique_clitic(node: Clause) -> str:
    """*y*, *en* or a dative for a pronoun after a preposition, as the verb's options allow; "" = none."""
    pronoun, options = node.oblique, node.verb.options
    if not isinstance(pronoun, Pronoun):
        return ""
    if is_thing(pronoun):
        return "y" if "y" in options else "en" if "en" in options else ""
    return pronoun_form(pronoun, "dative") if "dative" in options else ""
