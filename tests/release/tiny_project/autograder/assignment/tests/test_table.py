"""What students run: one test a task."""

import pytest
from autograder.scale import ZERO


@pytest.mark.task_1_1
def test_it_is_scaled() -> None:
    """The vectors of one feature are as they are in the table."""
    from student.table import Table

    assert Table(1, 1).forward([0]) == [[ZERO]]


@pytest.mark.task_1_2
def test_equal_weights_give_the_middle() -> None:
    """Of two values."""
    from student.mean import weighted_mean

    assert weighted_mean([1.0, 2.0], [0.5, 0.5]) == 1.5


@pytest.mark.task_e_1
def test_a_mask_has_a_row_for_each_position() -> None:
    """Three of them."""
    from student.mean import diagonal

    assert len(diagonal(3)) == 3
