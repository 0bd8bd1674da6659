"""English: sentences with auxiliaries and *not*, adverbs, verb, complements in order; nominals.

Negation and inversion act on the first auxiliary, and where there is none, on *do*.
"""

import re
from functools import cache

from .entries import inflect, rows_of
from .meaning import Agreement, Clause, Modifier, Name, Nominal, NounPhrase, Pronoun, english_agreement, is_thing
from .writing import Writer

CONSONANT_SOUNDS = ("uni", "use", "euro", "one", "ukr", "utens")
VOWEL_SOUNDS = (*"aeiou", "hour", "honest", "honor", "heir")
BE = {"present": {1: "am", 2: "are", 3: "is"}, "past": {1: "was", 2: "were", 3: "was"}}
WITHOUT_ARTICLE = ("prison", "jail", "class", "town")
POSTPOSITIONS = ("ago", "old")


def article(next_word: str) -> str:
    """*a* or *an*, as the next word sounds."""
    return "an" if next_word.startswith(VOWEL_SOUNDS) and not next_word.startswith(CONSONANT_SOUNDS) else "a"


@cache
def plural(noun: str) -> str:
    """Plural of an English noun, which may be several words (the last one changes)."""
    before, space, last = noun.rpartition(" ")
    return before + space + inflect("english_plurals", last, "plural")


def finite(lemma: str, tense: str, agreement: Agreement) -> str:
    """A finite form in the present or past."""
    person = agreement.person if agreement.number == "sg" else 2  # a plural is like *you*
    if lemma == "be":
        return BE[tense][person]
    if tense == "past":
        return inflect("english_verbs", lemma, "past")
    return inflect("english_verbs", lemma, "third") if person == 3 else lemma


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
        elif form in ("participle", "gerund"):
            chain += inflect("english_verbs", lemma, form).split()
        else:
            chain.append(lemma if form == "base" else form)
    if tense in BE and lemma in ("be", "can", "must"):
        return chain, []
    if len(chain) == 1 and needs_auxiliary:
        return [finite("do", tense, agreement)], [lemma]
    return chain[:-1], chain[-1:]


class English(Writer):
    """Writes the English side."""

    language, side = "english", 1
    inverting = ("est-ce que", "inversion")
    asking = ""

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
        negation = self.word("negations", node.negation)
        is_negative = negation == "not"
        auxiliaries, verb = auxiliaries_and_verb(node, agreement, needs_auxiliary=is_inverted or is_negative)
        before = own if isinstance(subject, Pronoun) and not is_inverted else ""
        first = self._first(auxiliaries[0], before, is_negative) if auxiliaries else ""
        start = f"{own} {first}"
        if is_inverted:
            auxiliary, _, rest = first.partition(" ")
            start = f"{first} {own}" if rest == "t" else f"{auxiliary} {own} {rest}"
        elif node.tense == "imperative" and agreement.person == 1:
            start = "let s"
        just = "just" if node.tense == "just" else ""
        never, only = (word if negation == word else "" for word in ("never", "only"))
        rest = " ".join([*auxiliaries[1:], only, *verb])
        return f"{start} {never} {just} {self.adjuncts(node, is_middle=True)} {rest} {self.tail(node)}"

    def _first(self, text: str, before: str, is_negative: bool) -> str:
        """The first auxiliary with *not*, contracted with the pronoun before it or with *not*."""
        short = rows_of("english_contractions").get(text, {"after_pronoun": "", "with_not": ""})
        if not is_negative:
            contracts = before and self.sentence.is_contracted and (before, text) != ("there", "are")
            return contracts and short["after_pronoun"] or text
        if not self.sentence.is_negation_contracted:
            return f"{text} not"
        if before not in ("", "there") and text in ("am", "is", "are"):
            return f"{short['after_pronoun']} not"
        return short["with_not"] or f"{text} not"

    def objects(self, node: Clause) -> str:
        """Particles, objects and recipient: *give him the book*, *give it to him*, *turn it on*."""
        object_, recipient, verb = node.subject if node.verb.frame == "swap" else node.object, node.recipient, node.verb
        particles = verb_words(node)[1:]
        own = self.nominal(object_)
        result = " ".join(particles)
        if verb.has("separable") and len(particles) == 1 and isinstance(object_, Pronoun):
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

    def prepositional(self, prep: str, nominal: Nominal) -> str:
        """*in two days*, *with him*; but *two days ago*, *twenty years old*."""
        return f"{self.nominal(nominal)} {prep}" if prep in POSTPOSITIONS else super().prepositional(prep, nominal)

    def name(self, node: Name) -> str:
        """Its English form."""
        return " and ".join(entry.english[0] for entry in node.entries)

    def pronoun(self, node: Pronoun, case: str) -> str:
        """*he* or *him*; *it* for a thing."""
        return self.form(english_agreement(node), "en_subject" if case == "subject" else "en_object")

    def noun_phrase(self, node: NounPhrase, case: str = "object") -> str:
        """Determiner or genitive, adjectives, noun, complement, relative clause."""
        core = self._core(node)
        if node.content is not None:
            core += f" of {self._core(node.content)}"
        if node.complement is not None:
            owner = self.nominal(node.complement)
            if not is_thing(node.complement):
                return f"{owner} s {core}"
            core += f" of {owner}"
        return f"{self._determiner(node, core)} {core} {self.relative(node)}"

    def _core(self, node: NounPhrase) -> str:
        text = node.english
        if node.number == "pl" and not node.noun.has("mass", "en_mass", "en_plural_only"):
            text = node.noun.options.get("en_plural") or plural(text)
        return " ".join([self.adjectives(node, "before"), self.adjectives(node, "after"), text]).lstrip()

    def _determiner(self, node: NounPhrase, next_word: str) -> str:
        kind, noun = node.determiner, node.noun
        if kind == "number":
            return self.word("numbers", str(node.count))
        if node.owner is not None:
            return self.form(node.owner, "en_possessive")
        if kind == "in" and node.english in WITHOUT_ARTICLE:
            return ""
        if kind == "a" and noun.has("en_mass") and node.number == "sg":
            kind = "some"
        is_mass = noun.has("mass", "en_mass") and kind != "this"
        text = rows_of("determiners")[kind]["en_mass" if is_mass else f"en_{node.english_number}"]
        return article(next_word) if text == "a" else text

    def compared(self, node: Modifier, agreement: Agreement) -> str:
        """*taller*, *more careful*, *as tall*; the lexicon has `er` or `more`."""
        word, kind = node.english, node.comparison
        if kind in ("more", "most") and node.adjective.comparison != "more":
            return inflect("english_comparison", word, kind)
        return f"{kind} {word}".lstrip()
