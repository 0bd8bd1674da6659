"""English: forms of words; sentences with auxiliaries and *not*, adverbs, verb, complements in order; nominals.

Exceptions come from the lexicon's tables. Negation and inversion act on the first auxiliary, and where there is none,
on *do*.
"""

from __future__ import annotations

import re
from functools import cache

from .entries import rows_of
from .meaning import (
    Agreement,
    Clause,
    Modifier,
    Name,
    NounPhrase,
    Pronoun,
    TimeSpan,
    english_agreement,
    is_thing,
)
from .writing import Writer, by_rule

NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
CONSONANT_SOUNDS = ("uni", "use", "euro", "one", "ukr", "utens")
VOWEL_SOUNDS = (*"aeiou", "hour", "honest", "honor", "heir")
WITH_S = ((r"(s|x|z|ch|sh)", r"\1es"), (r"([^aeiou])y", r"\1ies"), ("", "s"))
PAST = (("e", "ed"), (r"([^aeiou])y", r"\1ied"), ("", "ed"))
GERUND = (("ie", "ying"), (r"(ee|ye|oe|^be)", r"\1ing"), ("e", "ing"), ("", "ing"))
DOUBLING = r"[^aeiou]*[aeiou][bcdfgklmnprtvz]"  # one syllable: consonant, one vowel, consonant
SUPERLATIVES = {"better": "best", "worse": "worst"}
THIRD = {"have": "has", "do": "does", "go": "goes", "can": "can", "must": "must"}
BE = {"present": {1: "am", 2: "are", 3: "is"}, "past": {1: "was", 2: "were", 3: "was"}}


def article(next_word: str) -> str:
    """*a* or *an*, as the next word sounds."""
    return "an" if next_word.startswith(VOWEL_SOUNDS) and not next_word.startswith(CONSONANT_SOUNDS) else "a"


@cache
def plural(noun: str) -> str:
    """Plural of an English noun, which may be several words (the last one changes)."""
    before, space, last = noun.rpartition(" ")
    irregular = rows_of("english_irregular_plurals").get(last)
    return before + space + (irregular["plural"] if irregular else by_rule(last, WITH_S))


# -- verbs ----------------------------------------------------------------------------------------------


@cache
def verb_forms(base: str) -> dict[str, str]:
    """Forms of a verb of one word; *be* has its persons apart."""
    irregular = rows_of("english_irregular_verbs").get(base, {"past": "", "participle": "", "options": ""})
    stem = base + base[-1] if irregular["options"] or re.fullmatch(DOUBLING, base) else base
    past = irregular["past"] or by_rule(stem, PAST)
    return {
        "base": base,
        "third": THIRD.get(base) or by_rule(base, WITH_S),
        "past": past,
        "participle": irregular["participle"] or past,
        "gerund": by_rule(stem, GERUND),
    }


def finite(lemma: str, tense: str, agreement: Agreement) -> str:
    """A finite form in the present or past."""
    person = agreement.person if agreement.number == "sg" else 2  # a plural is like *you*
    if lemma == "be":
        return BE[tense][person]
    return verb_forms(lemma)["past" if tense == "past" else "third" if person == 3 else "base"]


def verb_words(node: Clause) -> list[str]:
    """The English verb and what belongs to it (*get up*); *must* only stands where it can."""
    if node.english in ("must", "have to"):
        is_must = node.tense == "present" and (node.english == "must" or node.negation == "pas")
        return ["must"] if is_must else ["have", "to"]
    return node.english.split()


def auxiliaries_and_verb(node: Clause, agreement: Agreement, needs_auxiliary: bool) -> tuple[list[str], list[str]]:
    """The words of the clause's verb, with *do* where an auxiliary is needed and there is none."""
    lemma, tense = verb_words(node)[0], node.tenses["english"]
    if node.tense == "used_to":
        return (["did"], ["use", "to", lemma]) if needs_auxiliary else ([], ["used", "to", lemma])
    chain: list[str] = []
    for part in tense.split():
        auxiliary, _, form = part.rpartition(":")
        if form in BE:
            chain.append(finite(auxiliary or lemma, form, agreement))
        else:
            chain += verb_forms(lemma).get(form, form).split()
    if tense in BE and lemma in ("be", "can", "must"):
        return chain, []
    if len(chain) == 1 and needs_auxiliary:
        return [finite("do", tense, agreement)], [lemma]
    return chain[:-1], chain[-1:]


# -- sentences ------------------------------------------------------------------------------------------

DETERMINERS = {  # of a singular, a plural, and what is not counted
    "the": ("the", "the", "the"), "in": ("the", "the", "the"), "all": ("all the", "all the", "all the"),
    "generic": ("", "", ""),
    "a": ("a", "", ""), "bare": ("a", "", ""), "some": ("a", "some", "some"), "no": ("a", "any", "any"),
    "every": ("every", "every", "every"), "which": ("which", "which", "which"), "many": ("", "many", "a lot of"),
    "a_few": ("", "a few", "some"), "several": ("", "several", "several"), "how_many": ("", "how many", "how much"),
}  # fmt: skip
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
SEPARABLE = ("on", "off", "up", "away", "out", "down", "back")
INSEPARABLE = ("operate on",)
SPANS = {
    "for": "for {}", "since": "for {}", "in": "in {}", "ago": "{} ago", "age": "{} old", "at": "at {} o clock",
    "clock": "{} o clock",
}  # fmt: skip


class English(Writer):
    """Writes the English side."""

    side = 1
    than = {"more": "than", "less": "than", "as": "as"}
    inverting = ("est-ce que", "inversion")
    asking: dict[str, str] = {}
    ending = {"plus": "anymore", "encore": "yet"}
    numbers = {**dict(enumerate(NUMBERS, start=1)), 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty"}
    columns = ("subject", "object", "possessive")
    pronouns = {
        "1 sg": "i me my", "2 sg": "you you your", "3 sg m": "he him his", "3 sg f": "she her her",
        "3 sg thing": "it it its", "1 pl": "we us our", "2 pl": "you you your", "3 pl": "they them their",
    }  # fmt: skip

    def spell(self, text: str) -> list[str]:
        """Hyphens and apostrophes separate tokens."""
        return re.sub("[-']", " ", text).split()

    def clause(self, node: Clause, is_inverted: bool = False) -> str:
        """Subject, auxiliaries, adverbs, verb, and all that follows."""
        subject = node.object if node.verb.frame == "swap" else node.subject
        agreement = node.controller or Agreement(2, "pl", "m")
        own = ""
        if node.verb.french == "y avoir" and isinstance(node.object, NounPhrase):
            agreement, own = english_agreement(node.object), "there"
        elif subject is not None:
            agreement = english_agreement(subject)
            own = "" if node.tense == "imperative" else self.nominal(subject, "subject")
        is_negative = node.negation in NEGATED
        auxiliaries, verb = auxiliaries_and_verb(node, agreement, needs_auxiliary=is_inverted or is_negative)
        before = own if isinstance(subject, Pronoun) and not is_inverted else ""
        first = self._first(auxiliaries[0], before, is_negative) if auxiliaries else ""
        start = f"{own} {first}"
        if is_inverted:
            auxiliary, _, rest = first.partition(" ")
            start = f"{first} {own}" if rest == "t" else f"{auxiliary} {own} {rest}"
        elif node.tense == "imperative" and agreement.person == 1:
            start = "let s"
        never = "never" if node.negation == "jamais" else ""
        just = "just" if node.tense == "just" else ""
        only = "only" if node.negation == "que" else ""
        rest = " ".join([*auxiliaries[1:], only, *verb])
        return f"{start} {never} {just} {self.middle(node)} {rest} {self.tail(node)}"

    def _first(self, text: str, before: str, is_negative: bool) -> str:
        """The first auxiliary with *not*, contracted with the pronoun before it or with *not*."""
        if not is_negative:
            contracts = before and self.sentence.is_contracted and (before, text) != ("there", "are")
            return CONTRACTED.get(text, text) if contracts else text
        contracts = self.sentence.is_negation_contracted
        if before not in ("", "there") and text in ("am", "is", "are"):
            text = CONTRACTED[text] if contracts else text
        elif contracts and text in CONTRACTED_NOT:
            return CONTRACTED_NOT[text]
        return f"{text} not"

    def objects(self, node: Clause) -> str:
        """Particles, object and recipient: *give him the book*, *give it to him*, *turn it on*; then a preposition."""
        object_, recipient, verb = node.subject if node.verb.frame == "swap" else node.object, node.recipient, node.verb
        particles = verb_words(node)[1:]
        own = "" if object_ is None else self.nominal(object_)
        is_separated = verb.frame == "transitive" and len(particles) == 1 and particles[0] in SEPARABLE
        result = " ".join(particles)
        if is_separated and isinstance(object_, Pronoun) and node.english not in INSEPARABLE:
            result = f"{own} {result}"
        elif recipient is None:
            result = f"{result} {own}"
        else:
            fixed = [prep for prep in ("to", "for", "from") if verb.has(prep)]
            is_first = isinstance(recipient, Pronoun) or verb.frame == "control" or verb.has("first")
            if is_first and not fixed and not isinstance(object_, Pronoun):
                result = f"{result} {self.nominal(recipient)} {own}"
            else:
                result = f"{result} {own} {self.prepositional([*fixed, 'to'][0], recipient)}"
        return result if node.oblique is None else f"{result} {self.prepositional(verb.prep[1], node.oblique)}"

    def span(self, node: TimeSpan) -> str:
        """*for two hours*, *two days ago*, *twenty years old*, *(at) eight o clock*."""
        unit, measured = node.unit.english[0], self.number_word(node.count)
        if node.kind not in ("at", "clock"):
            measured = f"{article(unit)} {unit}" if node.count == 1 else f"{measured} {plural(unit)}"
        return SPANS[node.kind].format(measured)

    # -- nominals ---------------------------------------------------------------------------------------

    def name(self, node: Name) -> str:
        """Its English form."""
        return node.entry.english[0] if node.second is None else f"{node.entry.english[0]} and {node.second.english[0]}"

    def pronoun(self, node: Pronoun, case: str) -> str:
        """*he* or *him*; *it* for a thing."""
        agreement = english_agreement(node)
        if is_thing(node) and (node.english is None or node.kind == "thing"):
            agreement = agreement._replace(gender="thing")
        return self.form(agreement, "subject" if case == "subject" else "object")

    def noun_phrase(self, node: NounPhrase, case: str = "object") -> str:
        """Determiner or genitive, adjectives, noun, *of* and its complement, relative clause."""
        core = self._core(node)
        if node.content is not None:
            core += f" of {self._core(node.content)}"
        if node.complement is not None:
            owner = self.nominal(node.complement)
            if isinstance(node.complement, Name) or (
                isinstance(node.complement, NounPhrase) and node.complement.is_person
            ):
                return f"{owner} s {core}"
            core += f" of {owner}"
        return f"{self._determiner(node, core)} {core} {self.relative(node)}"

    def _core(self, node: NounPhrase) -> str:
        text = node.english
        if node.number == "pl" and not node.noun.has("mass", "en_mass", "en_plural_only"):
            text = node.noun.options.get("en_plural") or plural(text)
        return f"{self.adjectives(node, True)} {self.adjectives(node, False)} {text}".lstrip()

    def _determiner(self, node: NounPhrase, next_word: str) -> str:
        kind, noun = node.determiner, node.noun
        if kind == "number":
            return self.number_word(node.count)
        if kind == "my":
            assert node.owner is not None
            return self.form(node.owner, "possessive")
        if kind == "this":
            return "these" if node.english_number == "pl" else "this"
        if kind == "in" and node.english in WITHOUT_ARTICLE:
            return ""
        if kind == "a" and noun.has("en_mass") and node.number == "sg":
            kind = "some"
        column = 2 if noun.has("mass", "en_mass") else 1 if node.english_number == "pl" else 0
        text = DETERMINERS[kind][column]
        return article(next_word) if text == "a" else text

    def compared(self, node: Modifier, agreement: Agreement) -> str:
        """*taller*, *more careful*, *as tall*; the lexicon has `er`, `more`, or the comparative itself."""
        word, kind, how = node.english, node.comparison, node.adjective.comparison
        if kind not in ("more", "most") or how == "more":
            return f"{kind} {word}".lstrip()
        if how != "er":
            return how if kind == "more" else SUPERLATIVES[how]
        ending = "er" if kind == "more" else "est"
        doubled = word[-1] if re.fullmatch(DOUBLING, word) else ""
        return by_rule(word, (("e", ending), (r"([^aeiou])y", rf"\1i{ending}"), ("", doubled + ending)))
