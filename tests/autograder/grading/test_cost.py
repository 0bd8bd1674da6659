"""What a grading costs, as a share of the same tests without a sandbox: `python -m benchmarks grading` in small."""

from statistics import median

import pytest

from benchmarks.grading import BARE, REFERENCE_ALONE, RIGHT, WRONG, warm


@pytest.mark.slow
def test_a_grading_costs_at_most_six_times_the_bare_tests():
    cost = {what: median(seconds) for what, seconds in warm(1).items()}
    for what in (REFERENCE_ALONE, RIGHT, WRONG):
        assert cost[what] <= 6 * cost[BARE], cost
