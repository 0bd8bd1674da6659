"""A student's own run and the grading agree over every test."""

import pytest

from benchmarks.agreement import disagreements, sample, submissions


@pytest.mark.slow
def test_own_run_and_grading_agree():
    """A sample; `python -m benchmarks agreement` tries all."""
    everything = submissions()
    assert len([name for name in everything if name.startswith("hostile")]) >= 4
    chosen = {**sample(everything, 60), **{name: everything[name] for name in everything if name.startswith("hostile")}}
    assert disagreements(chosen, seed=0) == {}
