"""What students get wrong is no short-cut, and neither is anything that they get right in another way."""

from pathlib import Path

import pytest

from autograder.assignment import read_assignment
from autograder.in_process import read_sources
from autograder.misconceptions.catalogue import apply, read_catalogue
from autograder.proof.variants import read_variants
from autograder.rules import find_short_cuts

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = read_sources(ROOT / "reference", ROOT / "student")
FAULTS = read_catalogue()
VARIANTS = read_variants(ROOT / "tests" / "autograder" / "variants", REFERENCE)
JUDGED = list(dict.fromkeys(component for task in read_assignment().tasks for component in task.judges))


def alarms(versions: dict[str, dict]) -> dict[str, object]:
    """What is found in which version."""
    found = {}
    for name, sources in versions.items():
        notes: list[str] = []
        short_cuts = find_short_cuts(sources, JUDGED, notes)
        if short_cuts or notes:
            found[name] = (short_cuts, notes)
    return found


def test_a_few_faults_and_variants_raise_no_alarm():
    assert alarms({fault.id: apply(fault, REFERENCE) for fault in FAULTS[::80]}) == {}
    assert alarms({variant.name: variant.sources for variant in VARIANTS[::9]}) == {}


@pytest.mark.slow
def test_no_fault_raises_an_alarm():
    assert alarms({fault.id: apply(fault, REFERENCE) for fault in FAULTS}) == {}


@pytest.mark.slow
def test_no_correct_variant_raises_an_alarm():
    assert alarms({variant.name: variant.sources for variant in VARIANTS}) == {}
