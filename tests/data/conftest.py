"""One whole corpus, drawn once for all tests of the generator, and the command line."""

from __future__ import annotations

import pytest

from data import __main__ as command_line
from data.files import MANIFEST, Manifest, read_manifest
from data.generator.build import Corpus, build
from data.generator.draw.chance import read_settings
from data.generator.tables import read_lexicon


def run(*arguments: object) -> int:
    """The exit status of a command; argparse's too."""
    try:
        return command_line.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.fixture(scope="session")
def recorded() -> Manifest:
    """The committed manifest."""
    return read_manifest(MANIFEST)


@pytest.fixture(scope="session")
def corpus(recorded: Manifest) -> Corpus:
    """The corpus that the manifest records, drawn anew."""
    return build(read_lexicon(), read_settings(), recorded.seed, recorded.test_seed)
