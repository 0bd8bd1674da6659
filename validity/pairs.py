"""A second mistake never raises a mark: pairs of faults in one component, against each of the two alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, islice

from autograder.catalogue import Fault, apply, faults_of
from autograder.sources import Sources, read_sources
from autograder.testing.results import State, judge_task
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE, SKELETON

from .run_tests import Version, run_versions

CLOSE = 1e-9  # points: rounding of sums
EXPLAINED = {
    ("attention-no-softmax", "attention-mask-fills-with-zero"): "without a softmax, a score of 0 does forbid a key",
    ("attention-key-as-value", "attention-value-as-key"): "together they are the right function of swapped arguments",
}
"""Pairs that together earn more than either alone, with the reason."""

Pair = tuple[Fault, Fault]


def measure(count: int, seed: int, jobs: int) -> int:
    """Measures so many pairs, and prints those that earn more together than one of their faults alone.

    Returns 1 if a pair earns more than either of its faults, unless that is explained: a second mistake may make up for
    a part of the first, but it must not be worth more than both.
    """
    assignment, reference = read_assignment(), read_sources(REFERENCE, SKELETON)
    pairs = dict(islice(draw(assignment, reference, seed), count))
    marks, failures = marks_of(assignment, reference, pairs, jobs)
    n_raised, most = 0, list[Pair]()
    for first, second in pairs:
        names = first.id, second.id
        both, alone = " + ".join(names), [marks[name] for name in names]
        is_hidden = failures[both] in [failures[name] for name in names]  # one fault hides the other's lines
        if is_hidden or marks[both] <= min(alone) + CLOSE:
            continue
        n_raised += 1
        most += [(first, second)] if marks[both] > max(alone) + CLOSE else []
        told = f"{first.id} alone {alone[0]:g}, {second.id} alone {alone[1]:g}"
        why = EXPLAINED.get(names, "")
        print(f"task {first.task}: together {marks[both]:g} points, {told}" + f"; {why}" * bool(why))
    counts = f"{n_raised} earn more together than one of them alone, {len(most)} than either"
    print(f"{len(pairs)} pairs of faults: {counts}")
    return int(any((first.id, second.id) not in EXPLAINED for first, second in most))


def draw(assignment: Assignment, reference: Sources, seed: int) -> Iterator[tuple[Pair, Sources]]:
    """Pairs of faults that fit into one component together, in any task with points; and the sources with both."""
    worth = {task.number for task in assignment.tasks if task.points}
    faults = [one for one in faults_of(assignment) if one.severity != "conditional" and one.task in worth]
    possible = [(a, b) for a, b in combinations(faults, 2) if (a.task, a.component) == (b.task, b.component)]
    random.Random(seed).shuffle(possible)  # noqa: S311  draws a sample
    for first, second in possible:
        try:
            yield (first, second), apply(second, apply(first, reference))
        except (UserError, SyntaxError):  # the first has changed what the second looks for
            continue


def marks_of(
    assignment: Assignment, reference: Sources, pairs: dict[Pair, Sources], jobs: int
) -> tuple[dict[str, float], dict[str, set[str]]]:
    """Points and failed tests of each pair, "a + b", and of each of its faults, "a", by the tests of their task."""
    tasks = {task.number: task for task in assignment.tasks}
    known: dict[str, tuple[str, Sources]] = {}
    known |= {fault.id: (fault.task, apply(fault, reference)) for pair in pairs for fault in pair}
    known |= {f"{first.id} + {second.id}": (first.task, sources) for (first, second), sources in pairs.items()}
    versions = [Version(name, sources, (0,), (tasks[number].marker,)) for name, (number, sources) in known.items()]
    marks: dict[str, float] = {}
    failures: dict[str, set[str]] = {}
    for run in run_versions(versions, reference, assignment, jobs, "pairs"):
        task = tasks[known[run.version][0]]
        outcomes = run.outcomes[task.marker]
        marks[run.version] = judge_task(task, outcomes, assignment.credit).score
        failures[run.version] = {one.nodeid for one in outcomes if one.state is not State.PASSED}
    return marks, failures
