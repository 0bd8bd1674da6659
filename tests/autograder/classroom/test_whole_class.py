"""The class of `python -m benchmarks class` in small: all kinds are in it, under names of their own."""

from collections import Counter

import pytest

from autograder.intake import IntakeError, take_in
from benchmarks.submissions import kind_of, write_mixed_class
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON


@pytest.mark.slow
def test_a_third_of_a_class_is_broken_or_hostile(tmp_path):
    kinds = write_mixed_class(tmp_path, 45, seed=1)
    assert kinds == Counter(kind_of(path.name) for path in tmp_path.iterdir()) and kinds.total() == 45
    assert kinds["broken"] + kinds["hostile"] == 15 and kinds["good"] == 15
    assert (tmp_path / "good-reference" / "layers.py").is_file()


@pytest.mark.slow
def test_what_is_broken_is_refused_or_noted(tmp_path):
    write_mixed_class(tmp_path, 24, seed=2)
    refused = []
    for path in sorted(tmp_path.glob("broken-*")):
        try:
            take_in(path, SKELETON, read_assignment())
        except IntakeError:
            refused.append(path.name)
    assert {name.rpartition("-")[0] for name in refused} <= {"broken-archive", "broken-bomb"}
