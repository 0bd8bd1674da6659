"""The reference's sources, for the tests of what judges submissions."""

from pathlib import Path

import pytest

from autograder.assignment import read_assignment
from autograder.in_process import read_sources

REFERENCE = Path(__file__).resolve().parents[2] / "reference"


@pytest.fixture(scope="session")
def assignment():
    return read_assignment()


@pytest.fixture(scope="session")
def reference():
    return read_sources(REFERENCE, REFERENCE)
