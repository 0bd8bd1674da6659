"""Compares what known faults cost with what two readers would take off.

Two readers, in the part of a head TA and of a lecturer, had the code and the docstrings, but neither tests nor rubric.
`docs/proof/panel.jsonl` has the share of the task's points, in percent, that each would leave for a fault: one of the
catalogue, or an edit of the reference.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

from autograder.course.catalogue import Edit, Fault, apply, faults_of
from autograder.intake.sources import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON
from validity.report import print_table

from .rubric import missing_in

PANEL = ROOT / "docs" / "proof" / "panel.jsonl"


@dataclass(frozen=True)
class Row:
    """A fault with the percentages of its task's points that are kept: by each reader, and by the tests of today."""

    fault: str
    task: str
    readers: tuple[float, ...]
    kept: float
    lost: tuple[str, ...]  # items of the rubric

    @property
    def wanted(self) -> float:
        """The readers' mean."""
        return fmean(self.readers)


def measure() -> int:
    """Prints the table, the mean difference and Kendall's tau; returns the exit status."""
    rows = read_panel()
    print_table(
        ("task", "fault", "readers", "kit", "difference", "items lost"),
        (
            (
                row.task,
                row.fault,
                f"{row.wanted:.0f}",
                f"{row.kept:.0f}",
                f"{row.kept - row.wanted:+.0f}",
                "; ".join(row.lost),
            )
            for row in rows
        ),
    )
    print(f"\nmean difference {mean_difference(rows):.1f} points; Kendall's tau {tau_of(rows):.2f}")
    return 0


def read_panel() -> list[Row]:
    """The panel's faults, with what the tests of today leave for each."""
    assignment, sources = read_assignment(), read_sources(REFERENCE, SKELETON)
    tasks = {task.number: task for task in assignment.tasks}
    known = {fault.id: fault for fault in faults_of(assignment)}
    table = [json.loads(line) for line in PANEL.read_text(encoding="utf-8").splitlines()]
    faults = [known.get(row["fault"]) or fault_of(row) for row in table]
    missing = missing_in({fault.id: (tasks[fault.task], apply(fault, sources)) for fault in faults})
    rows = []
    for fault, row in zip(faults, table, strict=True):
        weights, lost = {item.name: item.weight for item in tasks[fault.task].items}, missing[fault.id]
        kept = 100 - 100 * sum(weights[item] for item in lost) / sum(weights.values())
        rows.append(Row(fault.id, fault.task, tuple(row["readers"]), kept, tuple(lost)))
    return rows


def fault_of(row: dict[str, Any]) -> Fault:
    """A fault that the catalogue does not have."""
    edits = [Edit(edit["find"], edit["replace"], row["component"]) for edit in (row, row.get("also")) if edit]
    return Fault(row["fault"], row["component"], row["task"], row["fault"], "", "subtle", tuple(edits), PANEL.name)


def mean_difference(rows: Sequence[Row]) -> float:
    """How far the tests are from the readers' mean, in percentage points."""
    return fmean(abs(row.kept - row.wanted) for row in rows)


def tau_of(rows: Sequence[Row]) -> float:
    """Kendall's tau-b between the ranks by the readers' mean and by the tests."""
    pairs = [(a.wanted - b.wanted, a.kept - b.kept) for a, b in combinations(rows, 2)]
    agreeing = sum((one * other > 0) - (one * other < 0) for one, other in pairs)
    differing = [sum(pair[side] != 0 for pair in pairs) for side in (0, 1)]
    return agreeing / (differing[0] * differing[1]) ** 0.5
