"""Faults in other layouts are recognised, and whatever a submission answers costs no marks and no crash."""

import pytest

from autograder.diagnosis.catalogue import read_catalogue
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE
from validity.diagnosis import recognise, share, share_alone

SAMPLE = {  # each names itself alone
    "layer-norm-over-positions": "fused",
    "multi-head-merge-without-transpose": "per-head",
    "decoder-layer-memory-as-value-only": "reversed",
}


@pytest.mark.slow
@pytest.mark.parametrize("fault_id", SAMPLE)
def test_sample(zygote, fault_id):
    [fault] = (fault for fault in read_catalogue() if fault.id == fault_id)
    rows = recognise([fault], [SAMPLE[fault_id]], read_assignment(), REFERENCE, zygote, seed=11)
    assert [(row.named, row.group) for row in rows] == [(fault_id, 1)]


@pytest.mark.slow
def test_a_sample_of_faults_in_one_of_the_layouts(zygote, sampled):
    rows = []
    for number, layout in enumerate(("fused", "per-head", "reversed")):
        faults = sampled(read_catalogue()[::16][number::3], 2)
        rows += recognise(faults, [layout], read_assignment(), REFERENCE, zygote, seed=5)
    assert len(rows) >= 15
    missed = [(row.fault, row.layout, row.named) for row in rows if not row.is_right]
    assert share(rows) >= 0.95, missed
    assert share_alone(rows) >= 0.92, [(row.fault, row.layout) for row in rows if row.group > 1]
