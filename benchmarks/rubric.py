"""Points that known faults cost, beside their harm to a trained model, and beside the marks of two readers.

`docs/proof/seriousness.jsonl` has what models trained with a fault reach: dev BLEU, and the share of translations that
depend on the batch. The two readers, in the part of a head TA and of a lecturer, had the code and the docstrings, but
neither tests nor rubric: `docs/proof/panel.jsonl` has the share of the task's points, in percent, that each would leave
for a fault, which is one of the catalogue or an edit of the reference. Tests and weights are those of today.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

from autograder.course.catalogue import Edit, Fault, apply, faults_of
from autograder.intake.sources import Sources, read_sources
from foundation.assignment_file import Task, read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON
from validity.console import option, print_table
from validity.run_tests import results_of

MEASURED = ROOT / "docs" / "proof" / "seriousness.jsonl"
PANEL = ROOT / "docs" / "proof" / "panel.jsonl"
PICTURE = Path("docs/pictures/rubric.png")
POST_NORM = ("2.1", "2.2", "2.3")  # tasks whose faults were measured in a post-norm model
RUINED, AS_GOOD = 0.5, 0.95  # of the intact BLEU
FEW = 0.05  # of translations may differ between batches by rounding alone


@dataclass(frozen=True)
class Cost:
    """The cost of a fault: the share of its task's points that are kept, and BLEU as a share of the intact model's.

    `batch` is the share of translations that depend on the batch.
    """

    fault: str
    task: str
    kept: float
    bleu: float
    batch: float

    @property
    def fits(self) -> bool:
        """True if what ruins a model keeps at most half, and what leaves it as good as intact loses at most 60%."""
        is_ruined = self.bleu < RUINED or self.batch > FEW
        return self.kept <= 0.5 if is_ruined else self.bleu < AS_GOOD or self.kept >= 0.4 - 1e-9


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


def measure(picture: Annotated[Path, option("file to draw into", type=Path)] = PICTURE) -> int:
    """Compare points that faults cost with what they do to a trained model, in a picture."""
    costs = costs_of_faults(measured_faults())
    for cost in (cost for cost in costs if not cost.fits):
        print(f"{cost.fault}: keeps {cost.kept:.0%} of the points, {cost.bleu:.0%} of BLEU")
    plot(costs, picture)
    return 0


def measure_panel() -> int:
    """Compare points that faults cost with those that two readers would take off."""
    rows = read_panel()
    head = ("task", "fault", "readers", "kit", "difference", "items lost")
    numbers = [(f"{row.wanted:.0f}", f"{row.kept:.0f}", f"{row.kept - row.wanted:+.0f}") for row in rows]
    print_table(head, ((r.task, r.fault, *n, "; ".join(r.lost)) for r, n in zip(rows, numbers, strict=True)))
    print(f"\nmean difference {mean_difference(rows):.1f} points; Kendall's tau {tau_of(rows):.2f}")
    return 0


def measured_faults() -> list[str]:
    """The ids of all faults that were measured."""
    known = {fault.id for fault in faults_of(read_assignment())}
    return [row["fault"] for row in read_lines(MEASURED) if row["fault"] in known]


def costs_of_faults(names: Collection[str]) -> list[Cost]:
    """The costs of faults that were measured; what cannot be trained has no BLEU."""
    rows = {row["fault"]: row for row in read_lines(MEASURED)}
    tasks, costs = {task.number: task for task in read_assignment().tasks}, []
    for name, lost in missing_items(names).items():
        row = rows[name]
        intact = rows["intact post-norm" if row["task"] in POST_NORM else "intact pre-norm"]["bleu"]
        kept = kept_share(tasks[row["task"]], lost)
        costs.append(Cost(name, row["task"], kept, row.get("bleu", 0.0) / intact, row.get("batch", 0.0)))
    return costs


def read_panel() -> list[Row]:
    """The panel's faults, with what the tests of today leave for each."""
    assignment, sources = read_assignment(), read_sources(REFERENCE, SKELETON)
    tasks = {task.number: task for task in assignment.tasks}
    known = {fault.id: fault for fault in faults_of(assignment)}
    rows = {row["fault"]: row for row in read_lines(PANEL)}
    faults = [known.get(name) or fault_of(row) for name, row in rows.items()]
    missing = missing_in({fault.id: (tasks[fault.task], apply(fault, sources)) for fault in faults})
    return [
        Row(
            fault.id,
            fault.task,
            tuple(rows[fault.id]["readers"]),
            100 * kept_share(tasks[fault.task], missing[fault.id]),
            tuple(missing[fault.id]),
        )
        for fault in faults
    ]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def fault_of(row: Mapping[str, Any]) -> Fault:
    """A fault that the catalogue does not have."""
    edits = [Edit(edit["find"], edit["replace"], row["component"]) for edit in (row, row.get("also")) if edit]
    return Fault(row["fault"], row["component"], row["task"], row["fault"], "", "subtle", tuple(edits), PANEL.name)


def missing_items(names: Collection[str]) -> dict[str, list[str]]:
    """The items of its task's rubric that each of these faults costs, by the fault's id."""
    tasks, sources = {task.number: task for task in read_assignment().tasks}, read_sources(REFERENCE, SKELETON)
    faults = [fault for fault in faults_of(read_assignment()) if fault.id in names]
    return missing_in({fault.id: (tasks[fault.task], apply(fault, sources)) for fault in faults})


def missing_in(packages: Mapping[str, tuple[Task, Sources]]) -> dict[str, list[str]]:
    """The items of a task's rubric that each package, a task and sources, does not earn, by its name."""
    missing = {}
    for name, result in results_of(packages, read_sources(REFERENCE, REFERENCE), read_assignment()).items():
        lost = [mark.name for mark in result.items if mark.missed or mark.requires]
        missing[name] = lost if result.state.has_mark else [item.name for item in packages[name][0].items]
    return missing


def kept_share(task: Task, lost: Collection[str]) -> float:
    """The share of a task's points that is left without these items."""
    weights = {item.name: item.weight for item in task.items}
    return 1 - sum(weights[item] for item in lost) / sum(weights.values())


def mean_difference(rows: Sequence[Row]) -> float:
    """How far the tests are from the readers' mean, in percentage points."""
    return fmean(abs(row.kept - row.wanted) for row in rows)


def tau_of(rows: Sequence[Row]) -> float:
    """Kendall's tau-b between the ranks by the readers' mean and by the tests."""
    pairs = [(a.wanted - b.wanted, a.kept - b.kept) for a, b in combinations(rows, 2)]
    agreeing = sum((first * second > 0) - (first * second < 0) for first, second in pairs)
    differing = [sum(pair[side] != 0 for pair in pairs) for side in (0, 1)]
    return agreeing / (differing[0] * differing[1]) ** 0.5


def plot(costs: list[Cost], path: Path) -> None:
    """Draws each fault: points kept by BLEU, one colour for each task, with the corners that should be empty."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    from given.pictures import save_figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes, colours = figure.subplots(), colormaps["tab20"]
    axes.axvspan(-0.02, RUINED, 0.5, 1, color="tab:red", alpha=0.12)
    axes.axvspan(AS_GOOD, 1.1, 0, 0.4, color="tab:red", alpha=0.12)
    for number, task in enumerate(dict.fromkeys(cost.task for cost in costs)):
        for mark, is_shaken in (("o", False), ("x", True)):
            several = [cost for cost in costs if cost.task == task and (cost.batch > FEW) is is_shaken]
            places = [cost.bleu for cost in several], [cost.kept for cost in several]
            axes.scatter(*places, color=colours(number), marker=mark, label=None if is_shaken else task)
    axes.set(xlim=(-0.02, 1.1), ylim=(0, 1), xlabel="dev BLEU with the fault, as a share of the intact model's")
    axes.set(ylabel="share of the task's points that are kept")
    axes.set_title("cross: translations depend on the batch; shaded: marks that would not fit", fontsize=9)
    figure.legend(title="task", fontsize=8, loc="outside right center")
    save_figure(figure, path)
