"""French: forms of words, and how they meet; clauses with subject, *ne*, clitics, verb, complements in order; nominals.

The corpus has no accents, capitals, apostrophes or hyphens: an elided word is a token of its own (*je ai -> j ai*).
"""

import re
import unicodedata
from functools import cache

from foundation.command_line import UserError

from .entries import Adjective, Noun, inflect, rows_of
from .meaning import Agreement, Clause, Gap, Indefinite, Modifier, Name, Nominal, NounPhrase, Pronoun, french_agreement
from .writing import Writer

PREPOSITIONS = ("de", "d'", "à", "en", "du", "au")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
NEGATED_ARTICLE = "^(de la |de l'|du |des |une |un |d')"
REFLEXIVE = ("se ", "s'")
BEFORE_INFINITIVE = ("bien", "mal")
CLITIC_ORDER = ("me", "te", "se", "nous", "vous", "le", "la", "les", "lui", "leur", "y", "en")
ORDER_AFTER_VERB = ("le", "la", "les", "me", "te", "se", "nous", "vous", "lui", "leur", "y", "en")
STRONG_AFTER_VERB = {"me": "moi", "te": "toi"}


@cache
def plural(form: str) -> str:
    """Plural of a French noun or adjective, which may be several words (*pommes de terre*)."""
    words = form.split()
    for index, part in enumerate(words):
        if part in PREPOSITIONS or part.startswith(("d'", "l'")):
            break
        words[index] = inflect("french_plurals", part, "plural")
    return " ".join(words)


def noun_form(noun: Noun, number: str) -> str:
    """The noun in the singular or plural (*sg*, *pl*), marked where its h is aspirated."""
    is_written = number == "sg" or noun.has("plural_only")
    form = noun.french if is_written else noun.options.get("plural") or plural(noun.french)
    return f"*{form}" if noun.has("aspirated") else form


def adjective_form(adjective: Adjective, agreement: Agreement) -> str:
    """The adjective as it agrees."""
    if agreement[1:] == ("sg", "m") and adjective.has("vowel"):
        return f"{adjective.french}|{adjective.options['vowel']}"
    if adjective.has("invariable"):
        return adjective.french
    return agreeing(adjective.french, agreement, adjective.options.get("feminine", ""))


def agreeing(form: str, agreement: Agreement, feminine: str = "") -> str:
    """A participle or adjective as it agrees: *allé, allée, allés, allées*."""
    if agreement.gender == "f":
        form = feminine or inflect("french_feminines", form, "feminine")
    return plural(form) if agreement.number == "pl" else form


def article(agreement: Agreement) -> str:
    """*le, la, les*."""
    return rows_of("determiners")["the"][f"{agreement.number} {agreement.gender}"]


@cache
def plain(text: str) -> tuple[str, ...]:
    """Tokens in lower case without accents; apostrophes and hyphens separate them."""
    text = text.lower().replace("œ", "oe").replace("'", " ").replace("-", " ")
    decomposed = unicodedata.normalize("NFD", text)
    return tuple("".join(letter for letter in decomposed if not unicodedata.combining(letter)).split())


def whole(word: str) -> str:
    """A word that is never elided, such as a pronoun behind its verb."""
    return f"{word}|{word}"


def starts_with_vowel(word: str) -> bool:
    """True if the word starts with a vowel sound: not *onze, oui, huit*, nor an aspirated h."""
    return word not in ("", "onze", "oui", "huit") and plain(word)[0][0] in "aeiouhy"


@cache
def conjugate(infinitive: str) -> dict[str, list[str]]:
    """The six forms of each simple tense, by the infinitive without *se*. Raises: UserError where no row fits it."""
    form = {column: inflect("french_verbs", infinitive, column) for column in ("present", "future", "imperfect")}
    if not form["present"]:
        raise UserError(f"{infinitive!r} has no regular forms: add it to french_verbs.tsv")
    present = form["present"].split(",")
    imperative = inflect("french_verbs", infinitive, "imperative").split(",")
    singular = present[1].removesuffix("s") if present[1].endswith("es") else present[1]
    stem = form["imperfect"] or present[3].removesuffix("ons")  # mangeons, commençons: mangeais, but mangions
    return {
        "present": present,
        "imperfect": [re.sub("ge(?=i)", "g", re.sub("ç(?=i)", "c", stem + ending)) for ending in IMPERFECT],
        "future": [form["future"] + ending for ending in FUTURE],
        "conditional": [form["future"] + ending for ending in IMPERFECT],
        "imperative": imperative if len(imperative) == 6 else ["", singular, "", *present[3:5], ""],
    }


def finite(infinitive: str, tense: str, agreement: Agreement) -> str:
    """The form of a simple tense."""
    return conjugate(infinitive)[tense][agreement.person - 1 + (3 if agreement.number == "pl" else 0)]


class French(Writer):
    """Writes the French side."""

    language, side = "french", 0
    inverting = ("inversion",)
    asking = "est ce que"

    def spell(self, text: str) -> list[str]:
        """Contracts and elides; each word of the result is one token in the corpus's spelling."""
        words = text.split()
        contracted: list[str] = []
        for word, follower in zip(words, [*words[1:], ""], strict=True):
            # An article is written with its form before a vowel; a pronoun *le* is not, and so never contracted.
            contraction = rows_of("french_contractions").get(f"{contracted[-1]} {word}") if contracted else None
            if contraction and not (word == "le|l" and starts_with_vowel(follower)):
                contracted[-1] = contraction["contracted"]
            else:
                contracted.append(word)
        tokens: list[str] = []
        for word, follower in zip(contracted, [*contracted[1:], ""], strict=True):
            form, _, before_vowel = word.partition("|")
            if starts_with_vowel(follower):
                form = before_vowel or rows_of("french_elisions").get(form, {"before_vowel": form})["before_vowel"]
            if form == "si" and follower in ("il", "ils"):
                form = "s"
            tokens += plain(form.removeprefix("*"))
        return tokens

    def clause(self, node: Clause, is_inverted: bool = False) -> str:
        """Subject, verb, and all that follows."""
        subject = "" if node.tense == "imperative" else self.nominal(node.subject, "subject")
        before, behind = ("", subject) if is_inverted else (subject, "")
        return f"{before} {self._verb_group(node, behind)} {self.tail(node)}"

    def _verb_group(self, node: Clause, inverted: str) -> str:
        """Everything from *ne* to the last part of the verb."""
        indefinites = [nominal.texts[0] for nominal in (node.subject, node.object) if isinstance(nominal, Indefinite)]
        ne = "ne" if node.negation or {*indefinites} & {"personne", "rien"} else ""
        pas = self.word("negations", node.negation)
        head, _, rest = node.verb.french.removeprefix("se ").removeprefix("s'").removeprefix("y ").partition(" ")
        first, _, last = node.tenses["french"].partition(" ")
        middle = self.adjuncts(node, is_middle=True)
        if node.negation:
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
            verb = finite(head, first, agreement)
            verb = f"{ne} {own} {verb} {pas}" if ne else f"{verb} {own}"
            return f"{verb} {middle} {after}"
        auxiliary, _, tense = first.rpartition(":")
        ending = ""
        if last == "participle":
            ending = inflect("french_verbs", head, "participle")
            is_reflexive = node.verb.french.startswith(REFLEXIVE)
            if is_reflexive or node.verb.has("être"):
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
        if verb.french.startswith(REFLEXIVE):
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
        """*y*, *en* or a dative for a pronoun after a preposition; "" = none."""
        pronoun, verb = node.oblique, node.verb
        if not isinstance(pronoun, Pronoun):
            return ""
        if pronoun.kind == "thing":
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

    def pronoun(self, node: Pronoun, case: str) -> str:
        """*il* or *lui*; other pronouns stand by the verb."""
        if case in ("disjunctive", "after de"):
            return self.form(french_agreement(node), "disjunctive")
        if node.kind in ("on", "ce"):
            return "on" if node.kind == "on" else "ce|c"
        return self.form(french_agreement(node), "subject")

    def name(self, node: Name) -> str:
        """The name; a country has its article."""
        form = " et ".join(noun_form(entry, "sg") for entry in node.entries)
        return f"{article(node.agreement)} {form}" if node.entries[0].class_name == "country" else form

    def prepositional(self, prep: str, nominal: Nominal) -> str:
        """A preposition and its nominal; *en* only before a feminine country or one with a vowel."""
        if prep == "en" and isinstance(nominal, Name):
            name = noun_form(nominal.entries[0], "sg")
            if nominal.agreement[1:] == ("sg", "f") or (nominal.agreement.number == "sg" and starts_with_vowel(name)):
                return f"en {name}"
            prep = "à"
        return super().prepositional(prep, nominal)

    def noun_phrase(self, node: NounPhrase, case: str = "object") -> str:
        """Determiner, adjectives around the noun, complement, relative clause."""
        is_indefinite = node.determiner in ("a", "some", "bare") and (node.number == "pl" or node.noun.has("mass"))
        before = self.adjectives(node, "before")
        determiner = "" if case == "after de" and is_indefinite else self._determiner(node, bool(before))
        result = f"{determiner} {before} {noun_form(node.noun, node.number)}"
        if node.content is not None:
            result += f" de {self.noun_phrase(node.content, 'after de')}"
        result += " " + self.adjectives(node, "after")
        if node.complement is not None:
            result += " " + self.prepositional("de", node.complement)
        return f"{result} {self.relative(node)}"

    def _determiner(self, node: NounPhrase, has_adjective: bool) -> str:
        kind, gender = node.determiner, node.noun.gender
        if node.owner is not None:
            own = {"m": "masculine", "f": "feminine"}
            return self.form(node.owner, own[gender] if node.number == "sg" else "plural")
        if kind == "number":
            return "une" if (node.count, gender) == (1, "f") else self.word("numbers", str(node.count))
        if kind in ("a", "some") and node.noun.has("mass"):
            return f"de {article(Agreement(3, 'sg', gender))}"
        if kind in ("a", "some") and node.number == "pl" and has_adjective:
            return "de"
        return rows_of("determiners")[kind][f"{node.number} {gender}"]

    def compared(self, node: Modifier, agreement: Agreement) -> str:
        """*plus grand*, *meilleur*, *le plus grand* behind the noun."""
        adjective, kind = node.adjective, node.comparison
        form = adjective_form(adjective, agreement)
        if kind in ("more", "most") and adjective.has("comparative"):
            form = agreeing(adjective.options["comparative"], agreement)
        elif kind:
            form = f"{self.word('comparisons', kind)} {form}"
        return f"{article(agreement)} {form}" if kind == "most" and adjective.position == "after" else form
