"""French sentences: subject, *ne*, clitics, verb, negation, complements in order; nominals."""

from __future__ import annotations

import re

from .french_words import (
    adjective_form,
    agreeing,
    article,
    conjugate,
    finite,
    join,
    noun_form,
    starts_with_vowel,
    whole,
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
from .writing import Writer

DETERMINERS = {  # of a masculine singular, a feminine one, a plural
    "a": ("un", "une", "des"), "some": ("un", "une", "des"), "this": ("ce|cet", "cette", "ces"),
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
    than = {"more": "que", "less": "que", "as": "que"}
    inverting = ("inversion",)
    asking = {"est-ce que": "est ce que"}
    ending: dict[str, str] = {}
    numbers = {**dict(enumerate(NUMBERS, start=1)), 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante"}
    columns = ("subject", "object", "dative", "disjunctive", "masculine", "feminine", "plural")
    pronouns = {
        "1 sg": "je me me moi mon ma mes", "1 pl": "nous nous nous nous notre notre nos",
        "2 sg": "tu te te toi ton ta tes", "2 pl": "vous vous vous vous votre votre vos",
        "3 sg m": "il le lui lui son sa ses", "3 pl m": "ils les leur eux leur leur leurs",
        "3 sg f": "elle la lui elle son sa ses", "3 pl f": "elles les leur elles leur leur leurs",
    }  # fmt: skip

    def spell(self, text: str) -> list[str]:
        """Contracts and elides."""
        return join(text.split())

    def clause(self, node: Clause, is_inverted: bool = False) -> str:
        """Subject, verb, and all that follows."""
        subject = ""
        if node.subject is not None and node.tense != "imperative":
            subject = self.nominal(node.subject, "subject")
        before, behind = ("", subject) if is_inverted else (subject, "")
        return f"{before} {self._verb_group(node, behind)} {self.tail(node)}"

    def _verb_group(self, node: Clause, inverted: str) -> str:
        """Everything from *ne* to the last part of the verb."""
        indefinites = [nominal.texts[0] for nominal in (node.subject, node.object) if isinstance(nominal, Indefinite)]
        ne = "ne" if node.negation or {*indefinites} & {"personne", "rien"} else ""
        pas = SECOND_NEGATION.get(node.negation, "")
        head, _, rest = node.verb.french.removeprefix("se ").removeprefix("s'").removeprefix("y ").partition(" ")
        first, _, last = node.tenses["french"].partition(" ")
        middle = self.middle(node)
        if node.negation in DE_AFTER_NEGATION:
            rest = re.sub(NEGATED_ARTICLE, "de ", rest)
        parts = [agreeing(part[:-1], node.agreement) if part.endswith("+") else part for part in rest.split()]
        # The lexicon writes "l'air" but "le hoquet"; only the *de* of a negation is elided here.
        after = " ".join(part if part == "de" else whole(part) for part in parts)
        own = self._clitics(node, is_after=first == "imperative" and not ne)
        agreement = french_agreement(node)
        if first == "infinitive":
            is_before = middle.startswith(BEFORE_INFINITIVE)
            verb = f"{middle} {own} {head}" if is_before else f"{own} {head} {middle}"
            return f"{ne} {pas} {verb} {after}"
        if first == "imperative":
            index = 0 if agreement.number == "sg" else 1 if agreement.person == 1 else 2
            verb = conjugate(head)["imperative"][index]
            verb = f"{ne} {own} {verb} {pas}" if ne else f"{verb} {own}"
            return f"{verb} {middle} {after}"
        auxiliary, _, tense = first.rpartition(":")
        ending = ""
        if last == "participle":
            [ending] = conjugate(head)["participle"]
            is_reflexive = node.verb.is_reflexive
            if is_reflexive or (head in TAKES_ETRE and node.verb.frame in WITHOUT_OBJECT):
                auxiliary = "être"
                ending = ending if is_reflexive and rest else agreeing(ending, node.agreement)
            elif isinstance(node.object, Pronoun | Gap):  # which stand before it
                ending = agreeing(ending, node.object.agreement)
        elif last:
            ending, own = f"{last.removesuffix('infinitive')} {own} {head}", ""
        verb = finite(auxiliary or head, tense, agreement)
        if len(inverted.split()) == 1:
            pronoun = inverted.partition("|")[0]
            needs_t = verb[-1] in "ae" and pronoun in ("il", "elle", "on")  # between vowels: a t il
            inverted = f"t {whole(pronoun)}" if needs_t else whole(pronoun)
        return f"{ne} {own} {verb} {inverted} {pas} {middle} {ending} {after}"

    def _clitics(self, node: Clause, is_after: bool) -> str:
        """Clitic pronouns in order; after an affirmative imperative the object comes first (*donne le moi*)."""
        verb, result = node.verb, []
        if verb.is_reflexive:
            agreement = french_agreement(node)
            result.append("se" if agreement.person == 3 else self.form(agreement, "object"))
        object_case = "dative" if verb.frame == "swap" else "object"
        recipient_case = "object" if verb.has("accusative") else "dative"
        for pronoun, case in ((node.object, object_case), (node.recipient, recipient_case)):
            if isinstance(pronoun, Pronoun):
                result.append(self.form(french_agreement(pronoun), case))
        if clitic := self._oblique_clitic(node):
            result.append(clitic)
        if verb.french.startswith("y "):
            result.append("y")
        if is_after:
            result.sort(key=ORDER_AFTER_VERB.index)
            return " ".join(whole(STRONG_AFTER_VERB.get(clitic, clitic)) for clitic in result)
        return " ".join(sorted(result, key=CLITIC_ORDER.index))

    def _oblique_clitic(self, node: Clause) -> str:
        """*y*, *en* or a dative for a pronoun after a preposition, as the verb's options allow; "" = none."""
        pronoun, verb = node.oblique, node.verb
        if not isinstance(pronoun, Pronoun):
            return ""
        if is_thing(pronoun):
            return next((clitic for clitic in ("y", "en") if verb.has(clitic)), "")
        return self.form(french_agreement(pronoun), "dative") if verb.has("dative") else ""

    def objects(self, node: Clause) -> str:
        """*que* and what is not a clitic: object, object with a preposition, recipient."""
        parts = ["que"] if node.negation == "que" else []
        if node.object is not None and not isinstance(node.object, Pronoun) and node.negation != "rien":
            parts.append(self.nominal(node.object))
        if node.oblique is not None and not self._oblique_clitic(node):
            parts.append(self.prepositional(node.verb.prep[0], node.oblique))
        if node.recipient is not None and not isinstance(node.recipient, Pronoun):
            parts.append(self.prepositional("" if node.verb.has("accusative") else "à", node.recipient))
        return " ".join(parts)

    def span(self, node: TimeSpan) -> str:
        """*pendant deux heures*, *il y a deux jours*, *vingt ans*."""
        count, unit = self._count(node.count, node.unit.gender), noun_form(node.unit, "sg" if node.count == 1 else "pl")
        return f"{SPANS.get(node.kind, '')} {count} {unit}"

    def _count(self, count: int, gender: str) -> str:
        return "une" if (count, gender) == (1, "f") else self.number_word(count)

    def pronoun(self, node: Pronoun, case: str) -> str:
        """*il* or *lui*; other pronouns stand by the verb."""
        if case in ("disjunctive", "after de"):
            return self.form(french_agreement(node), "disjunctive")
        if node.kind in ("on", "ce"):
            return "on" if node.kind == "on" else "ce|c"
        return self.form(french_agreement(node), "subject")

    def name(self, node: Name) -> str:
        """The name; a country has its article."""
        form = noun_form(node.entry, "sg")
        if node.second is not None:
            return f"{form} et {node.second.french}"
        return f"{article(node.agreement)} {form}" if node.entry.class_name == "country" else form

    def prepositional(self, prep: str, nominal: Nominal) -> str:
        """A preposition and its nominal; *en* only before a feminine country or one with a vowel."""
        if prep == "en" and isinstance(nominal, Name):
            name = noun_form(nominal.entry, "sg")
            is_feminine = nominal.entry.gender == "f" or starts_with_vowel(name)
            if is_feminine and nominal.agreement.number == "sg":
                return f"en {name}"
            prep = "à"
        return super().prepositional(prep, nominal)

    def noun_phrase(self, node: NounPhrase, case: str = "object") -> str:
        """Determiner, adjectives before, noun, adjectives after, *de* and its complement, relative clause."""
        is_indefinite = node.determiner in ("a", "some", "bare") and (node.number == "pl" or node.noun.has("mass"))
        before = self.adjectives(node, True)
        determiner = "" if case == "after de" and is_indefinite else self._determiner(node, bool(before))
        result = f"{determiner} {before} {noun_form(node.noun, node.number)}"
        if node.content is not None:
            result += f" de {self.noun_phrase(node.content, 'after de')}"
        result += " " + self.adjectives(node, False)
        if node.complement is not None:
            result += " " + self.prepositional("de", node.complement)
        return f"{result} {self.relative(node)}"

    def _determiner(self, node: NounPhrase, has_adjective: bool) -> str:
        kind, gender = node.determiner, node.noun.gender
        column = 2 if node.number == "pl" else 0 if gender == "m" else 1
        if kind in ("the", "generic"):
            return article(node.agreement)
        if kind == "all":
            return f"{'tous' if gender == 'm' else 'toutes'} {article(node.agreement)}"
        if kind in ("a", "some") and node.noun.has("mass"):
            return f"de {article(Agreement(3, 'sg', gender))}"
        if kind in ("a", "some") and column == 2 and has_adjective:
            return "de"
        if kind == "my":
            assert node.owner is not None
            return self.form(node.owner._replace(gender="m"), ("masculine", "feminine", "plural")[column])
        if kind == "number":
            return self._count(node.count, gender)
        if kind == "which" and (node.number, gender) == ("pl", "f"):
            column = 3
        return DETERMINERS[kind][column] if kind in DETERMINERS else INVARIABLE[kind]

    def compared(self, node: Modifier, agreement: Agreement) -> str:
        """*plus grand*, *meilleur*, *le plus grand* behind the noun."""
        adjective, kind = node.adjective, node.comparison
        form = adjective_form(adjective, agreement)
        if kind in ("more", "most") and adjective.has("comparative"):
            form = agreeing(adjective.options["comparative"], agreement)
        elif kind:
            form = f"{COMPARED[kind]} {form}"
        return f"{article(agreement)} {form}" if kind == "most" and not adjective.is_before else form
