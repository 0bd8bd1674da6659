"""The measurement `python -m benchmarks store` in small: memory stays flat, and a submission costs little."""

import pytest

from benchmarks.stub_class import cost_of


@pytest.mark.slow
def test_memory_stays_flat_and_a_result_costs_little():
    costs = cost_of(60)
    early, late = costs.memory
    assert late - early < 16, "MiB, for fifty more submissions"
    assert costs.store_cpu / costs.count < 0.05 and costs.queue_cpu / costs.count < 0.1, "seconds; ten times the figure"
    assert costs.disk / costs.count < 100_000
