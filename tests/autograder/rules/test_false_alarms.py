"""What students get wrong is no short-cut, and neither is anything that they get right in another way."""

import functools

import pytest

from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.rules import find_short_cuts, names
from autograder.testing.in_process import read_sources
from foundation import places
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from validity.proof.reading_variants import Variant, read_variants

FORBIDDEN = read_assignment().contract.forbidden

REFERENCE = read_sources(ROOT / "reference", ROOT / "student")
FAULTS = read_catalogue()
JUDGED = list(dict.fromkeys(component for task in read_assignment().tasks for component in task.components))


@functools.cache
def variants() -> list[Variant]:
    """All of the assignment; reading them takes a second."""
    return read_variants(places.ASSIGNMENT / "proof" / "variants", REFERENCE, read_assignment().contract)


@pytest.fixture(autouse=True)
def _each_text_is_parsed_once(monkeypatch):
    monkeypatch.setattr(names, "parse", functools.cache(names.parse))


def alarms(versions: dict[str, dict]) -> dict[str, object]:
    """What is found in which version."""
    found = {}
    for name, sources in versions.items():
        notes: list[str] = []
        short_cuts = find_short_cuts(sources, JUDGED, FORBIDDEN, notes)
        if short_cuts or notes:
            found[name] = (short_cuts, notes)
    return found


def test_a_few_faults_and_variants_raise_no_alarm():
    assert alarms({fault.id: apply(fault, REFERENCE) for fault in FAULTS[::200]}) == {}
    assert alarms({variant.name: variant.sources for variant in variants()[::25]}) == {}


@pytest.mark.slow
def test_no_fault_raises_an_alarm(sampled):
    assert alarms({fault.id: apply(fault, REFERENCE) for fault in sampled(FAULTS, 4)}) == {}


@pytest.mark.slow
def test_no_correct_variant_raises_an_alarm():
    assert alarms({variant.name: variant.sources for variant in variants()}) == {}
