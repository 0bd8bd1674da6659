"""How hard the faults of bug hunts are to see: by the component's tests, and by calls at random of the box."""

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import torch

from autograder.diagnosis.catalogue import apply
from autograder.grading.made_code import MEASURED, boxes, hunted_faults
from autograder.sources import read_modules
from autograder.testing.hunts import Hunt, are_near, call_of, flat, results
from autograder.testing.results import State
from foundation.assignment_file import Assignment, read_assignment
from foundation.whole_files import write_whole

from .run_tests import Version, run_versions

SEED, N_CALLS = 1, 100


def measure() -> int:
    """Writes, for each fault, the share of the task's tests that fail, and how large the change in random calls is."""
    assignment = read_assignment()
    sources = read_modules(assignment.reference)
    known, tests = list(hunted_faults(assignment)), dict[str, float]()
    markers = {fault.id: task.marker for fault in known for task in assignment.tasks if task.number == fault.task}
    versions = [Version(one.id, apply(one, sources), [SEED], (markers[one.id],)) for one in known if one.id in markers]
    for run in run_versions(versions, sources, assignment):
        outcomes = [one for of_task in run.outcomes.values() for one in of_task]
        tests[run.version] = sum(one.state is not State.PASSED for one in outcomes) / len(outcomes)
    measured = {}
    for fault, hunt in zip(known, boxes(assignment), strict=True):
        sizes = differences(hunt, assignment)
        # Given code has no tests of its own: whoever would write some makes calls.
        row = {"tests": tests.get(fault.id, sum(map(bool, sizes)) / N_CALLS), "size": sum(sizes) / N_CALLS}
        measured[fault.id] = {name: round(number, 2) for name, number in row.items()}
    rows = ",\n".join(f"  {json.dumps(fault)}: {json.dumps(row)}" for fault, row in measured.items())
    write_whole(assignment.folder / MEASURED, f"{{\n{rows}\n}}\n")
    return 0


def differences(hunt: Hunt, assignment: Assignment) -> list[float]:
    """The largest difference, at most 1, in each of so many random calls; 0 where results are the same."""
    draw, sizes = random.Random(SEED), list[float]()  # noqa: S311  must be repeatable
    while len(sizes) < N_CALLS:
        given = list(_arguments(call_of(hunt.component, assignment).takes, draw))
        try:
            due = flat(results(hunt, hunt.right, given, assignment))
        except (IndexError, ZeroDivisionError, RuntimeError):
            continue  # no call that the component promises anything about
        try:
            got = flat(results(hunt, hunt.code, given, assignment))
        except (IndexError, ZeroDivisionError, RuntimeError):
            got = []
        is_finite = len(got) == len(due) and all(map(math.isfinite, [*got, *due]))
        largest = min(1.0, max(abs(a - b) for a, b in zip(got, due, strict=True))) if is_finite else 1.0
        sizes.append(0.0 if are_near(got, due) else largest)
    return sizes


def _arguments(takes: dict[str, str], draw: random.Random) -> Iterator[Any]:
    sizes: dict[str, int] = {}
    for name, wanted in takes.items():
        kind, *axes = wanted.split()
        shape = [int(axis) if axis.isdigit() else sizes.setdefault(axis, draw.randint(1, 3)) for axis in axes]
        if name.endswith("?") and draw.random() < 1 / 3:
            yield None
        elif kind == "float":
            yield torch.tensor([float(draw.randint(-4, 4)) for _ in range(torch.Size(shape).numel())]).view(shape)
        else:
            most = 1 if kind == "bool" else 3 if name == "batches" else 4
            yield torch.tensor([draw.randint(0, most) for _ in range(torch.Size(shape).numel())]).view(shape)
