"""French verb forms against forms written out by hand."""

from __future__ import annotations

import pytest

from data.generator.french.conjugation import conjugate, person_index
from data.generator.french.sandhi import plain
from data.generator.words.lexicon import Lexicon
from data.generator.words.tables import LexiconError

PRESENT = {
    "parler": "parle parles parle parlons parlez parlent",
    "finir": "finis finis finit finissons finissez finissent",
    "vendre": "vends vends vend vendons vendez vendent",
    "manger": "mange manges mange mangeons mangez mangent",
    "commencer": "commence commences commence commençons commencez commencent",
    "acheter": "achète achètes achète achetons achetez achètent",
    "appeler": "appelle appelles appelle appelons appelez appellent",
    "jeter": "jette jettes jette jetons jetez jettent",
    "préférer": "préfère préfères préfère préférons préférez préfèrent",
    "célébrer": "célèbre célèbres célèbre célébrons célébrez célèbrent",
    "nettoyer": "nettoie nettoies nettoie nettoyons nettoyez nettoient",
    "essuyer": "essuie essuies essuie essuyons essuyez essuient",
    "être": "suis es est sommes êtes sont",
    "avoir": "ai as a avons avez ont",
    "aller": "vais vas va allons allez vont",
    "faire": "fais fais fait faisons faites font",
    "comprendre": "comprends comprends comprend comprenons comprenez comprennent",
    "devenir": "deviens deviens devient devenons devenez deviennent",
    "dormir": "dors dors dort dormons dormez dorment",
    "pouvoir": "peux peux peut pouvons pouvez peuvent",
}  # fmt: skip
OTHERS = [
    ("manger", "imperfect", 0, "mangeais"), ("manger", "imperfect", 3, "mangions"),
    ("commencer", "imperfect", 5, "commençaient"), ("commencer", "imperfect", 4, "commenciez"),
    ("être", "imperfect", 3, "étions"), ("finir", "imperfect", 2, "finissait"),
    ("étudier", "imperfect", 3, "étudiions"), ("aller", "future", 0, "irai"),
    ("acheter", "future", 1, "achèteras"), ("appeler", "future", 2, "appellera"),
    ("préférer", "future", 2, "préférera"), ("voir", "conditional", 5, "verraient"),
    ("venir", "conditional", 0, "viendrais"), ("nettoyer", "future", 3, "nettoierons"),
    ("vendre", "future", 4, "vendrez"), ("parler", "imperative", 0, "parle"),
    ("finir", "imperative", 0, "finis"), ("être", "imperative", 2, "soyez"), ("aller", "imperative", 0, "va"),
    ("ouvrir", "imperative", 0, "ouvre"),
]  # fmt: skip
PARTICIPLES = {
    "parler": "parlé", "finir": "fini", "vendre": "vendu", "prendre": "pris", "ouvrir": "ouvert", "naître": "né",
    "mourir": "mort", "avoir": "eu", "être": "été", "peindre": "peint", "transmettre": "transmis", "vivre": "vécu",
}  # fmt: skip


@pytest.mark.parametrize("infinitive", PRESENT)
def test_present(infinitive: str) -> None:
    """All six persons."""
    assert conjugate(infinitive).present == tuple(PRESENT[infinitive].split())


@pytest.mark.parametrize(("infinitive", "tense", "index", "form"), OTHERS)
def test_other_tenses(infinitive: str, tense: str, index: int, form: str) -> None:
    """One form of other tenses."""
    assert getattr(conjugate(infinitive), tense)[index] == form


@pytest.mark.parametrize("infinitive", PARTICIPLES)
def test_participles(infinitive: str) -> None:
    """Past participles."""
    assert conjugate(infinitive).participle == PARTICIPLES[infinitive]


def test_person_index() -> None:
    """Places in a paradigm."""
    assert [person_index(p, n) for n in ("sg", "pl") for p in (1, 2, 3)] == list(range(6))


def test_auxiliary() -> None:
    """Verbs of motion take être."""
    assert conjugate("venir").takes_etre
    assert not conjugate("marcher").takes_etre


def test_unknown_irregular_verb() -> None:
    """An infinitive that no rule covers is an error that says what to do."""
    with pytest.raises(LexiconError, match=r"'valoir' has no regular forms: add it to french_irregular_verbs\.tsv"):
        conjugate("valoir")


def test_every_verb_has_forms(lexicon: Lexicon) -> None:
    """Each verb of the lexicon can be conjugated, in letters that the corpus has."""
    for verb in lexicon.verbs:
        head = verb.french.removeprefix("se ").removeprefix("s'").removeprefix("y ").split()[0]
        paradigm = conjugate(head)
        forms = (*paradigm.present, *paradigm.future, *paradigm.imperfect, paradigm.participle)
        assert all(plain(form).isalpha() or form == "" for form in forms), verb.french
