"""The lexicon, the settings and one whole corpus, made once for all tests of the generator."""

from __future__ import annotations

import dataclasses

import pytest

from data import __main__ as command_line
from data.generator.build import Corpus, build
from data.generator.corpus_files import read_manifest, render
from data.generator.settings import Settings, read_settings
from data.generator.words import Lexicon, read_lexicon


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
