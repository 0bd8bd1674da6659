"""The English verb: a chain of auxiliaries and the main verb, with negation and contraction.

The chain is built from the tense's name and aspect; negation and inversion act on its first auxiliary, and where
there is none, on *do*.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..alignment import Word, word
from ..meaning import TENSES, Agreement, Clause
from .forms import finite_be, verb_forms

CONTRACTED_NOT = {
    "is": "isn t", "are": "aren t", "was": "wasn t", "were": "weren t", "do": "don t", "does": "doesn t",
    "did": "didn t", "have": "haven t", "has": "hasn t", "will": "won t", "would": "wouldn t", "can": "can t",
    "could": "couldn t", "had": "hadn t",
}  # fmt: skip
CONTRACTED = {
    "am": "m",
    "are": "re",
    "is": "s",
    "has": "s",
    "have": "ve",
    "will": "ll",
    "would": "d",
    "had": "d",
}


@dataclass
class Chain:
    """The verb's words: auxiliaries, then the main verb, then what belongs to the verb (*get* **up**)."""

    auxiliaries: list[str] = field(default_factory=list)
    main: list[str] = field(default_factory=list)
    particles: list[str] = field(default_factory=list)


def finite(lemma: str, tense: str, agreement: Agreement) -> str:
    """A finite form in the present or past."""
    if lemma == "be":
        return finite_be(tense, agreement.person, agreement.number)
    forms = verb_forms(lemma)
    if tense == "past":
        return forms.past
    is_third = agreement.person == 3 and agreement.number == "sg"
    return forms.third if is_third else forms.base


def build_chain(node: Clause, agreement: Agreement) -> Chain:
    """The words of the clause's verb, not negated."""
    tense = TENSES[node.tense]
    lemma, *particles = _english(node, tense.english, tense.aspect).split()
    name, aspect = tense.english, tense.aspect
    chain = Chain(particles=particles)
    nonfinite = _nonfinite(lemma, aspect)
    if name in ("present", "past"):
        first = {"": lemma, "progressive": "be"}.get(aspect, "have")
        form = finite(first, name, agreement)
        if nonfinite or first in ("be", "can", "must"):
            chain.auxiliaries = [form]
        else:
            chain.main = [form]
        _extend(chain, nonfinite)
    elif name in ("will", "would"):
        chain.auxiliaries = [name]
        chain.main = [lemma]
    elif name == "going_to":
        chain.auxiliaries = [finite("be", "present", agreement), "going", "to"]
        chain.main = [lemma]
    elif name == "used_to":
        chain.main = ["used", "to", lemma]
    elif name == "ing":
        chain.main = [verb_forms(lemma).gerund]
    else:
        chain.main = [lemma]
    return chain


def _nonfinite(lemma: str, aspect: str) -> list[str]:
    forms = verb_forms(lemma)
    return {
        "": [],
        "progressive": [forms.gerund],
        "perfect": forms.participle.split(),
        "perfect_progressive": ["been", forms.gerund],
    }[aspect]


def _extend(chain: Chain, nonfinite: list[str]) -> None:
    *before, last = nonfinite or [""]
    chain.auxiliaries += before
    chain.main += [last] if last else []


def _english(node: Clause, tense: str, aspect: str) -> str:
    """The English verb; *can* and *must* have other words in the tenses that they lack."""
    if node.english == "can":
        if tense in ("present", "past") and not aspect:
            return "can"
        return "be able to"
    if node.english in ("must", "have to"):
        if tense == "present" and not aspect and (node.english == "must" or node.negation == "pas"):
            return "must"
        return "have to"
    return node.english


def with_not(
    node: Clause, chain: Chain, agreement: Agreement, is_contracted: bool, is_after_pronoun: bool
) -> list[Word]:
    """The first auxiliary with *not*, taking *do* where there is no auxiliary. Changes `chain`."""
    if not chain.auxiliaries:
        support_do(node, chain, agreement)
    first = chain.auxiliaries.pop(0)
    role = _auxiliary_role(chain)
    separate = is_after_pronoun and first in ("am", "is", "are")
    if first == "am" or separate or not is_contracted or first not in CONTRACTED_NOT:
        text = CONTRACTED[first] if separate and is_contracted else first
        return [word(text, node, role, (node, "verb")), word("not", node, "negation", (node, "verb"))]
    stem, ending = CONTRACTED_NOT[first].split()
    return [word(stem, node, role, (node, "negation")), word(ending, node, "negation", (node, "verb"))]


def _auxiliary_role(chain: Chain) -> str:
    return "auxiliary" if chain.main else "verb"


def support_do(node: Clause, chain: Chain, agreement: Agreement) -> None:
    """Puts *do* before the main verb: *he eats* -> *does he eat*. Changes `chain`."""
    tense = TENSES[node.tense]
    lemma = _english(node, tense.english, tense.aspect).split()[0]
    if tense.english == "imperative":
        chain.auxiliaries = ["do"]
    elif tense.english == "used_to":
        chain.auxiliaries, chain.main = ["did"], ["use", "to", lemma]
        return
    else:
        chain.auxiliaries = [finite("do", tense.english, agreement)]
    chain.main = [lemma]


def contracted(text: str) -> str:
    """The form after a pronoun: *am -> m*."""
    return CONTRACTED.get(text, text)
