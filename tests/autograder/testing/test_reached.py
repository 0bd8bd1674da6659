"""The component tests reach nearly every branch outcome of the code that they judge."""

import pytest

from benchmarks.reached import JUDGED, count_outcomes, sample, trials


@pytest.mark.slow
def test_branch_outcomes_are_reached():
    """A sample; `python -m benchmarks reached` takes 60 submissions."""
    counts, _ = count_outcomes(sample(trials(), 6, seed=1), seed=0)
    seen = counts[JUDGED]
    assert len(seen) >= 20
    assert sum(seen) / len(seen) >= 0.97
