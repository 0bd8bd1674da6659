"""The seed decides the inputs, never the marks."""

import random

import pytest

from benchmarks.stability import FAULTS, marks_by_seed


@pytest.mark.slow
def test_the_same_submission_gets_the_same_marks_with_every_seed():
    """Two seeds, other ones each time; `python -m benchmarks stability` takes 200."""
    found = marks_by_seed([random.SystemRandom().getrandbits(64) for _ in range(2)])
    assert len(found) == len(FAULTS) + 1
    assert {name: len(marks) for name, marks in found.items()} == dict.fromkeys(found, 1), found
    assert len({next(iter(marks)) for marks in found.values()}) == len(found)  # each fault costs its own points
