"""What a student reads of a known mistake: one block, with what leads to it, such as the texts of the table beside."""

import pytest

from autograder.at_home.notebook import run_task
from autograder.course.catalogue import apply, faults_of
from autograder.intake.sources import in_module

from ..conftest import examples_in

READ = examples_in("assignment/what_students_read.toml")


@pytest.mark.slow
def test_one_block_leads_to_the_mistake(assignment, reference, sampled):
    faults = {fault.id: fault for fault in faults_of(assignment)}
    for name in sampled(READ, 5):
        [task] = (task for task in assignment.tasks if task.number == faults[name].task)
        _, shown = run_task(task, apply(faults[name], reference), 11, assignment, in_module)
        assert shown.count("\n[test_") == 1 and ("  observed: " in shown) + ("  look at: " in shown) <= 1, name
        assert all(part in shown for part in READ[name]), shown
