"""The lexicon, the settings and one whole corpus, made once for all tests of the generator."""

from __future__ import annotations

import dataclasses

import pytest

from data import __main__ as command_line
from data.generator.build import Corpus, build
from data.generator.corpus_files import read_manifest, render
from data.generator.english.sentences import write_english
from data.generator.french.sentences import write_french
from data.generator.meaning.nodes import Agreement, Clause, NounPhrase, Pronoun, Sentence
from data.generator.settings import Settings, read_settings
from data.generator.words.entries import Noun, Verb
from data.generator.words.lexicon import Lexicon, read_lexicon

PERSONS = {
    "je": (1, "sg"), "tu": (2, "sg"), "il": (3, "sg"), "elle": (3, "sg"),
    "nous": (1, "pl"), "vous": (2, "pl"), "ils": (3, "pl"), "elles": (3, "pl"),
}  # fmt: skip


def _who(name: str, gender: str = "m") -> Pronoun:
    """A personal pronoun; *formal* is *vous* to one person."""
    gender = {"il": "m", "ils": "m", "elle": "f", "elles": "f"}.get(name, gender)
    if name == "formal":
        return Pronoun(Agreement(2, "sg", gender), "formal")
    if name == "on":
        return Pronoun(Agreement(3, "sg", "m"), "on")
    person, number = PERSONS[name]
    return Pronoun(Agreement(person, number, gender))


def _both(body: object, **more: object) -> tuple[str, str]:
    """The sentence in both languages."""
    sentence = Sentence(body, **more)  # type: ignore[arg-type]
    french = " ".join(word.text for word in write_french(sentence))
    return french, " ".join(word.text for word in write_english(sentence))


class Words:
    """Builds meanings by hand: finds entries by their French form, writes both languages."""

    who = staticmethod(_who)
    both = staticmethod(_both)

    def __init__(self, lexicon: Lexicon):
        self.lexicon = lexicon

    def noun(self, french: str, class_name: str = "") -> Noun:
        """A noun, by its own form."""
        return next(n for n in self.lexicon.nouns if n.french == french and class_name in ("", n.class_name))

    def verb(self, frame: str, french: str, english: str = "") -> Verb:
        """One sense of a verb."""
        verbs = (v for v in self.lexicon.verbs if v.frame == frame and v.french == french)
        return next(v for v in verbs if not english or english in v.english)

    def phrase(self, french: str, determiner: str = "the", number: str = "sg", **more: object) -> NounPhrase:
        """A noun phrase."""
        noun = self.noun(french, str(more.pop("class_name", "")))
        return NounPhrase(noun, noun.english[0], number, determiner, **more)  # type: ignore[arg-type]

    def clause(self, subject: object, verb: Verb, tense: str, english: str = "", **more: object) -> Clause:
        """A clause."""
        return Clause(subject, verb, english or verb.english[0], tense, **more)  # type: ignore[arg-type]


def run(*arguments: object) -> int:
    """The exit status of a command; argparse's too."""
    try:
        return command_line.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.fixture(scope="session")
def lexicon() -> Lexicon:
    """The committed lexicon."""
    return read_lexicon()


@pytest.fixture(scope="session")
def settings() -> Settings:
    """The committed settings."""
    return read_settings()


@pytest.fixture(scope="session")
def small(settings: Settings) -> Settings:
    """Settings for a corpus of a few hundred pairs."""
    size = dataclasses.replace(settings.size, train=600, dev=80, test=80, french_vocabulary=400, english_vocabulary=400)
    return dataclasses.replace(settings, size=size)


@pytest.fixture(scope="session")
def corpus(lexicon: Lexicon, settings: Settings) -> Corpus:
    """The corpus that the manifest records, drawn anew."""
    manifest = read_manifest()
    return build(lexicon, settings, manifest.seed, manifest.test_seed)


@pytest.fixture(scope="session")
def files(corpus: Corpus) -> dict[str, bytes]:
    """Its files by name."""
    return render(corpus)


@pytest.fixture(scope="session")
def words(lexicon: Lexicon) -> Words:
    """Meanings built by hand."""
    return Words(lexicon)
