"""A second mistake never raises a mark: pairs of faults in one component, against each of the two alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from autograder.diagnosis.catalogue import CatalogueError, Fault, apply, faults_of
from autograder.sources import Sources, read_sources
from autograder.testing.results import State, judge_task
from foundation.assignment_file import Assignment, read_assignment
from foundation.places import REFERENCE, SKELETON

from .run_tests import Run, Version, progress_bar, run_versions

SEED = 0  # of the tests' inputs
CLOSE = 1e-9  # points: rounding of sums
EXPLAINED = {
    ("attention-no-softmax", "attention-mask-fills-with-zero"): "without a softmax, a score of 0 does forbid a key",
    ("attention-key-as-value", "attention-value-as-key"): "together they are the right function of swapped arguments",
}
"""Pairs that together earn more than either alone, with the reason."""


@dataclass(frozen=True)
class Pair:
    """Two faults of one component, and the sources with both."""

    first: Fault
    second: Fault
    sources: Sources


@dataclass(frozen=True)
class Raised:
    """A pair that earns more than one of its faults alone."""

    pair: Pair
    both: float
    alone: tuple[float, float]


def measure(count: int, seed: int, jobs: int) -> int:
    """Measures so many pairs, and prints those that earn more together than one of their faults alone.

    Returns 1 if a pair earns more than either of its faults, unless that is explained: a second mistake may make up for
    a part of the first, but it must not be worth more than both.
    """
    assignment = read_assignment()
    pairs = choose(assignment, count, seed)
    raised = find_raised(assignment, pairs, jobs)
    for one in raised:
        first, second = one.pair.first, one.pair.second
        alone = f"{first.id} alone {one.alone[0]:g}, {second.id} alone {one.alone[1]:g}"
        why = EXPLAINED.get((first.id, second.id), "")
        print(f"task {first.task}: together {one.both:g} points, {alone}" + f"; {why}" * bool(why))
    most = [one for one in raised if one.both > max(one.alone) + CLOSE]
    counts = f"{len(raised)} earn more together than one of them alone, {len(most)} than either"
    print(f"{len(pairs)} pairs of faults: {counts}")
    return int(any((one.pair.first.id, one.pair.second.id) not in EXPLAINED for one in most))


def choose(assignment: Assignment, count: int, seed: int) -> list[Pair]:
    """Draws pairs of faults that fit into one component together, in any task with points."""
    reference = read_sources(REFERENCE, SKELETON)
    worth = {task.number for task in assignment.tasks if task.points}
    faults = [one for one in faults_of(assignment) if one.severity != "conditional" and one.task in worth]
    possible = [(a, b) for a, b in combinations(faults, 2) if (a.task, a.component) == (b.task, b.component)]
    random.Random(seed).shuffle(possible)  # noqa: S311  draws a sample
    return [pair for pair, _ in zip(combined(possible, reference), range(count), strict=False)]


def combined(possible: list[tuple[Fault, Fault]], reference: Sources) -> Iterator[Pair]:
    """Puts both faults in, where the second still finds the line that it changes."""
    for first, second in possible:
        try:
            yield Pair(first, second, apply(second, apply(first, reference)))
        except (CatalogueError, SyntaxError):  # the first has changed what the second looks for
            continue


def find_raised(assignment: Assignment, pairs: list[Pair], jobs: int) -> list[Raised]:
    """Runs the tests of the task on each pair and on each of its faults, and compares the points."""
    reference = read_sources(REFERENCE, SKELETON)
    tasks = {task.number: task for task in assignment.tasks}
    versions: dict[str, Version] = {}
    for pair in pairs:
        markers = (tasks[pair.first.task].marker,)
        for fault in (pair.first, pair.second):
            versions[fault.id] = Version(fault.id, apply(fault, reference), (SEED,), markers)
        name = f"{pair.first.id} + {pair.second.id}"
        versions[name] = Version(name, pair.sources, (SEED,), markers)
    marks: dict[str, float] = {}
    failures: dict[str, set[str]] = {}
    with progress_bar(len(versions), "pairs") as bar:

        def note(done: Run) -> None:
            task = next(task for task in assignment.tasks if (task.marker,) == versions[done.version].markers)
            outcomes = done.outcomes[task.marker]
            marks[done.version] = judge_task(task, outcomes, assignment.credit).score
            failures[done.version] = {one.nodeid for one in outcomes if one.state is not State.PASSED}
            bar.update()

        run_versions([*versions.values()], reference, assignment, note, jobs)
    raised = []
    for pair in pairs:
        name, first, second = f"{pair.first.id} + {pair.second.id}", pair.first.id, pair.second.id
        is_hidden = failures[name] in (failures[first], failures[second])  # one fault hides the other's lines
        if not is_hidden and marks[name] > min(marks[first], marks[second]) + CLOSE:
            raised.append(Raised(pair, marks[name], (marks[first], marks[second])))
    return raised
