"""What a regrade would change: by how much, and because of which test."""

from dataclasses import replace

from autograder.classroom.marks import weighed
from autograder.classroom.regrading import change_of
from autograder.testing.results import State
from foundation.assignment_file import read_assignment

from ..conftest import graded

OTHER = "f" * 16


def test_nothing_changes_where_only_versions_and_messages_do():
    old = graded("1.2").judgement
    assert change_of(old, graded("1.2", version=OTHER).judgement) is None
    parts = tuple(part.changed(message="said otherwise") for part in old.parts)
    assert change_of(old, old.changed(parts=parts)) is None


def test_the_test_that_decides_is_named():
    change = change_of(graded("1.2").judgement, graded("1.3", version=OTHER).judgement)
    assert change.before == change.after < 100, "the sum alone would hide it"
    first, second = change.parts
    assert first.number == "1.2" and first.before < first.after == 14
    assert first.reasons == ("attention_1: failed → passed",)
    assert second.reasons == ("multi_head_1: passed → failed",)


def test_new_tests_and_tests_that_are_gone_are_named():
    old = graded("1.2").judgement
    tests = old.parts[1].tests
    fewer = old.changed(parts=(old.parts[0], old.parts[1].changed(tests=tests[:1], score=14.0), *old.parts[2:]))
    assert change_of(old, fewer).parts[0].reasons == ("attention_1: failed → no test any more",)
    assert change_of(fewer, old).parts[0].reasons == ("attention_1: new, failed",)


def test_new_points_are_named():
    assignment = read_assignment()
    tasks = tuple(replace(task, points=20.0) if task.number == "1.2" else task for task in assignment.tasks)
    old = graded("1.2").judgement
    change = change_of(old, weighed(old, replace(assignment, tasks=tasks)))
    [part] = change.parts
    assert part.after == round(part.before * 20 / 14, 2) and part.reasons == ("worth 14 points before, 20 now",)


def test_new_weights_of_items_are_named():
    assignment = read_assignment()
    [first, *others] = next(task.items for task in assignment.tasks if task.number == "1.2")
    items = (replace(first, weight=18.0), *others)
    tasks = tuple(replace(task, items=items) if task.number == "1.2" else task for task in assignment.tasks)
    old = graded("1.2").judgement
    [part] = change_of(old, weighed(old, replace(assignment, tasks=tasks))).parts
    assert part.before != part.after
    assert part.reasons[0] == f"{first.name}: worth 4 points before, 9 now"


def test_what_has_no_mark_is_no_zero():
    failed = graded("1.2", state=State.GRADER_ERROR).judgement
    change = change_of(graded("1.2", state=State.FAILED).judgement, failed)
    assert change.after is None and change.parts[0].after is None
    assert change.parts[0].reasons == ("attention_1: failed → grader error",)
