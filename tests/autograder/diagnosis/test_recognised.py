"""Faults are recognised in other layouts of the parameters."""

import pytest

from autograder.catalogue import read_catalogue
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE
from validity.diagnosis import recognise


@pytest.mark.slow
def test_a_sample_of_faults_in_one_of_the_layouts(zygote, sampled):
    rows = []
    for number, layout in enumerate(("fused", "per-head", "reversed")):
        faults = sampled(read_catalogue()[::16][number::3], 2)
        rows += recognise(faults, [layout], read_assignment(), REFERENCE, zygote)
    assert len(rows) >= 15
    missed = [row for row in rows if not row.is_right]
    assert len(missed) <= 0.35 * len(rows), missed
    assert not [row for row in missed if row.named], "another mistake was named"
