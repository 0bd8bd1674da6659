"""Points that known faults cost, beside their harm to a trained model, and beside the marks of two readers.

`docs/proof/seriousness.jsonl` has what models trained with a fault reach: dev BLEU, and the share of translations that
depend on the batch. The two readers, in the part of a head TA and of a lecturer, had the code and the docstrings, but
neither tests nor rubric: `docs/proof/panel.jsonl` has the share of the task's points, in percent, that each would leave
for a fault, which is one of the catalogue or an edit of the reference; for 70 that were drawn from the catalogue, two
other readers. Tests and weights are those of today.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

from autograder.course.catalogue import Edit, Fault, apply, faults_of
from autograder.intake.sources import Sources, read_sources
from autograder.testing.results import judge_task
from foundation.assignment_file import Task, read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON
from validity.console import table
from validity.run_tests import Version, run_versions

from .trained import read_rows

MEASURED = ROOT / "docs" / "proof" / "seriousness.jsonl"
PANEL = ROOT / "docs" / "proof" / "panel.jsonl"
POST_NORM = ("2.1", "2.2", "2.3")  # tasks whose faults were measured in a post-norm model
RUINED, AS_GOOD = 0.5, 0.95  # of the intact BLEU
FEW = 0.05  # of translations may differ between batches by rounding alone


class Mark(NamedTuple):
    """The share of its task's points that a fault keeps by the tests of today, and the items that it costs."""

    fault: str
    task: str
    kept: float
    lost: Sequence[str]


class Harm(NamedTuple):
    """A fault's harm to a trained model: BLEU as a share of the intact model's, translations that vary by batch."""

    mark: Mark
    bleu: float
    batch: float

    @property
    def fits(self) -> bool:
        """True if what ruins a model keeps at most half, and what leaves it as good as intact loses at most 60%."""
        is_ruined, kept = self.bleu < RUINED or self.batch > FEW, self.mark.kept
        return kept <= 0.5 if is_ruined else self.bleu < AS_GOOD or kept >= 0.4 - 1e-9


def measure() -> int:
    """Compare points that faults cost with what they do to a trained model; list those that do not fit."""
    harms = [harm for harm in harms_of(measured_faults()) if not harm.fits]
    cells = [(harm.mark.fault, f"{harm.mark.kept:.0%}", f"{harm.bleu:.0%}", f"{harm.batch:.0%}") for harm in harms]
    print(table(("fault", "points kept", "BLEU", "translations that vary by batch"), cells))
    return 0


def measure_panel() -> int:
    """Compare points that faults cost with those that two readers would take off."""
    for is_drawn in (False, True):
        rows = read_panel(is_drawn)
        print(panel_table(rows))
        figures = f"mean difference {mean_difference(rows):.1f} points; Kendall's tau {tau_of(rows):.2f}"
        print(f"\n{len(rows)} faults: {figures}\n")
    return 0


def panel_table(rows: Iterable[tuple[Mark, float]]) -> str:
    """A table of faults, with the percentages that readers and kit leave; `docs/explanation/rubric.md` has it, too."""
    cells = []
    for mark, wanted in rows:
        kept, lost = 100 * mark.kept, "; ".join(mark.lost)
        cells.append((mark.task, mark.fault, f"{wanted:.0f}", f"{kept:.0f}", f"{kept - wanted:+.0f}", lost))
    return table(("task", "fault", "readers", "kit", "difference", "items lost"), cells)


def measured_faults() -> list[Fault]:
    """The faults of the catalogue that were measured."""
    measured = {row["fault"] for row in read_rows(MEASURED)}
    return [fault for fault in faults_of(read_assignment()) if fault.id in measured]


def harms_of(faults: Iterable[Fault]) -> list[Harm]:
    """The harm of faults that were measured; what cannot be trained has no BLEU."""
    rows, harms = {row["fault"]: row for row in read_rows(MEASURED)}, []
    for mark in marks_of(faults):
        intact = rows["intact post-norm" if mark.task in POST_NORM else "intact pre-norm"]["bleu"]
        row = rows[mark.fault]
        harms.append(Harm(mark, row.get("bleu", 0.0) / intact, row.get("batch", 0.0)))
    return harms


def read_panel(is_drawn: bool = False) -> list[tuple[Mark, float]]:
    """The panel's faults, or those that were drawn, with their marks, and the mean of the readers' percentages."""
    known = {fault.id: fault for fault in faults_of(read_assignment())}
    rows = [row for row in read_rows(PANEL) if row.get("drawn", False) is is_drawn]
    marks = marks_of([known.get(row["fault"]) or fault_of(row) for row in rows])
    return [(mark, fmean(row["readers"])) for mark, row in zip(marks, rows, strict=True)]


def fault_of(row: Mapping[str, Any]) -> Fault:
    """A fault that the catalogue does not have."""
    edits = [Edit(edit["find"], edit["replace"], row["component"]) for edit in (row, row.get("also")) if edit]
    return Fault(row["fault"], row["component"], row["task"], row["fault"], "", "subtle", tuple(edits), PANEL.name)


def marks_of(faults: Iterable[Fault]) -> list[Mark]:
    """The marks of faults, in the same order."""
    tasks, sources = {task.number: task for task in read_assignment().tasks}, read_sources(REFERENCE, SKELETON)
    missing = missing_in({fault.id: (tasks[fault.task], apply(fault, sources)) for fault in faults})
    marks = []
    for fault in faults:
        weights, lost = {item.name: item.weight for item in tasks[fault.task].items}, missing[fault.id]
        kept = 1 - sum(weights[item] for item in lost) / sum(weights.values())
        marks.append(Mark(fault.id, fault.task, kept, lost))
    return marks


def missing_in(packages: Mapping[str, tuple[Task, Sources]]) -> dict[str, list[str]]:
    """The items of a task's rubric that each package, a task and sources, does not earn, by its name."""
    missing, assignment = {}, read_assignment()
    versions = [Version(name, sources, (0,), (task.marker,)) for name, (task, sources) in packages.items()]
    for run in run_versions(versions, read_sources(REFERENCE, REFERENCE), assignment):
        task, _ = packages[run.version]
        result = judge_task(task, run.outcomes[task.marker], assignment.credit)
        lost = [mark.name for mark in result.items if mark.missed or mark.requires]
        missing[run.version] = lost if result.state.has_mark else [item.name for item in task.items]
    return missing


def mean_difference(rows: Sequence[tuple[Mark, float]]) -> float:
    """How far the tests are from the readers' mean, in percentage points."""
    return fmean(abs(100 * mark.kept - wanted) for mark, wanted in rows)


def tau_of(rows: Sequence[tuple[Mark, float]]) -> float:
    """Kendall's tau-b between the ranks by the readers' mean and by the tests."""
    pairs = [(wanted - other, mark.kept - another.kept) for (mark, wanted), (another, other) in combinations(rows, 2)]
    agreeing = sum((first * second > 0) - (first * second < 0) for first, second in pairs)
    differing = [sum(pair[side] != 0 for pair in pairs) for side in (0, 1)]
    return agreeing / (differing[0] * differing[1]) ** 0.5
