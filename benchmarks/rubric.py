"""What known faults cost in points, beside what they do to a trained model.

`docs/proof/seriousness.jsonl` has what models trained with a fault reach: dev BLEU, and the share of translations that
depend on the batch. The tests and weights of today say what is left of the points of the fault's task.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.course.catalogue import apply, faults_of
from autograder.intake.sources import Sources, read_sources
from autograder.testing.results import judge_task
from foundation.assignment_file import Task, read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON
from validity.run_tests import Version, run_versions

MEASURED = ROOT / "docs" / "proof" / "seriousness.jsonl"
POST_NORM = ("2.1", "2.2", "2.3")  # tasks whose faults were measured in a post-norm model
RUINED, AS_GOOD = 0.5, 0.95  # of the intact BLEU
FEW = 0.05  # of translations may differ between batches by rounding alone


@dataclass(frozen=True)
class Cost:
    """What a fault costs: the share of its task's points that are kept, and BLEU as a share of the intact model's.

    `batch` is the share of translations that depend on the batch.
    """

    fault: str
    task: str
    kept: float
    bleu: float
    batch: float

    @property
    def fits(self) -> bool:
        """Whether what ruins a model keeps at most half, and what leaves it as good as intact loses at most 60%."""
        is_ruined = self.bleu < RUINED or self.batch > FEW
        return self.kept <= 0.5 if is_ruined else self.bleu < AS_GOOD or self.kept >= 0.4 - 1e-9


def measure(picture: Path) -> int:
    """Prints the faults whose cost does not fit, and draws all of them; returns the exit status."""
    costs = costs_of_faults()
    for cost in (cost for cost in costs if not cost.fits):
        print(f"{cost.fault}: keeps {cost.kept:.0%} of the points, {cost.bleu:.0%} of BLEU")
    plot(costs, picture)
    return 0


def costs_of_faults() -> list[Cost]:
    """All faults that were measured; what cannot be trained has no BLEU."""
    rows = {row["fault"]: row for row in map(json.loads, MEASURED.read_text(encoding="utf-8").splitlines())}
    tasks, costs = {task.number: task for task in read_assignment().tasks}, []
    for name, lost in missing_items(rows).items():
        row = rows[name]
        intact = rows["intact post-norm" if row["task"] in POST_NORM else "intact pre-norm"]["bleu"]
        weights = {item.name: item.weight for item in tasks[row["task"]].items}
        kept = 1 - sum(weights[item] for item in lost) / sum(weights.values())
        costs.append(Cost(name, row["task"], kept, row.get("bleu", 0.0) / intact, row.get("batch", 0.0)))
    return costs


def missing_items(names: Collection[str]) -> dict[str, list[str]]:
    """The items of its task's rubric that each of these faults costs, by the fault's id."""
    tasks, sources = {task.number: task for task in read_assignment().tasks}, read_sources(REFERENCE, SKELETON)
    faults = [fault for fault in faults_of(read_assignment()) if fault.id in names]
    return missing_in({fault.id: (tasks[fault.task], apply(fault, sources)) for fault in faults})


def missing_in(packages: Mapping[str, tuple[Task, Sources]]) -> dict[str, list[str]]:
    """The items of a task's rubric that each package, a task and sources, does not earn, by its name."""
    assignment, missing = read_assignment(), {}
    versions = [Version(name, sources, (0,), (task.marker,)) for name, (task, sources) in packages.items()]
    for done in run_versions(versions, read_sources(REFERENCE, SKELETON), assignment):
        task, _ = packages[done.version]
        judged = judge_task(task, done.outcomes[task.marker], assignment.credit)
        lost = [mark.name for mark in judged.items if mark.missed or mark.requires]
        missing[done.version] = lost if judged.state.has_mark else [item.name for item in task.items]
    return missing


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
