"""What a fault does to a trained model, beside the points that it costs.

Faults of the catalogue are put into the reference, one at a time. A model with the fault is trained with the preset
`quick`, or with its post-norm counterpart where the fault sits in a post-norm layer; the tests of its task say what is
left of the points. The results are rows of a file; what stands there already is not done again.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from autograder.catalogue import Fault, apply, faults_of
from autograder.sources import Sources, read_modules, read_sources
from autograder.testing.results import judge_task
from foundation.assignment_file import Task, read_assignment
from foundation.places import REFERENCE, SKELETON
from foundation.whole_files import write_whole
from validity.run_tests import Version, run_versions

from .processes import CommandError, run

if TYPE_CHECKING:
    from given.experiment import Experiment

INTACT = "intact"
PACKAGE = "faulty"
POST_NORM = ("2.1", "2.2", "2.3")  # tasks whose faults a pre-norm model does not have
POST: dict[str, Any] = {"norm_first": False, "learning_rate": 1.5e-3}
TASKS = ("1.1", "1.2", "1.3", "1.4", "1.5", "1.6", *POST_NORM, "2.4", "3.1")
N_TRANSLATED = 100  # dev sentences, translated in batches of two sizes and in two precisions
SEED = 0
FURTHER_SEEDS = (1, 2)  # where the model's BLEU lies near a bound
RUINED, AS_GOOD = 0.5, 0.95  # of the intact BLEU
NEAR = 0.05
FEW = 0.05  # of translations may differ between batches by rounding alone
STOPS = "all else is right, and training stops with the reason, at its first or second step"
EXCEPTIONS = {
    "attention-mask-in-place": STOPS,
    "multi-head-query-changed-in-place": STOPS,
    "feed-forward-in-place": STOPS,
    "encoder-layer-input-changed-in-place": STOPS,
    "decoder-layer-memory-changed-in-place": STOPS,
    "decoder-keeps-memory": STOPS,
    "embedding-keeps-first-result": STOPS,
    "encoder-layer-dropout-rate-turned-round": "all else is right, and the student's own training shows it at once",
    "embedding-renormalised": "these are other vectors than those that are learned, and one call changes the table",
    "attention-half-precision": "the course asks for the dtype of the arguments; in this model, few bits happen to do",
    "layer-norm-running-mean": "what a call returns depends on earlier ones, and the course asks for the paper's",
    "encoder-layer-heads-not-passed-on": "a setting is ignored: in this model, one head happens to do as well",
}
"""Faults whose marks do not fit what they do to a model, with the reason why they stay so."""


def measure(output: Path, count: int, picture: Path, train: Path, dev: Path) -> int:
    """Measures the intact model and `count` faults, spread evenly over each task's; returns the exit status.

    A model near a bound is trained with three seeds, and so are the intact ones; the mean of their BLEU counts. Every
    time, the tests of today say what each fault costs, and the picture is drawn anew.

    Args:
        output: rows of JSON, one a line; models are trained only for faults that it lacks.
        count: faults to measure in all.
        picture: of points kept by what the fault does to BLEU.
        train: `source|||target` lines.
        dev: likewise.
    """
    rows = read_rows(output)
    faults = {fault.id: fault for fault in faults_of(read_assignment())}
    rows = [row for row in rows if row["fault"] in faults or row["fault"].startswith(INTACT)]
    done = {row["fault"] for row in rows}
    intact = [name for name in (f"{INTACT} post-norm", f"{INTACT} pre-norm") if name not in done]
    for name in tqdm([*intact, *choose(count, done)], "training"):
        rows.append(run_alone(name, SEED, train, dev))
        write_rows(output, rows)
    missing = missing_items([faults[row["fault"]] for row in rows if row["fault"] in faults])
    rows = [row | ({"missing": missing[row["fault"]]} if row["fault"] in missing else {}) for row in rows]
    write_rows(output, rows)
    for row in tqdm([row for row in rows if "further" not in row and is_near(row, rows)], "near a bound"):
        again = [run_alone(row["fault"], seed, train, dev) for seed in FURTHER_SEEDS]
        row["further"] = [one.get("bleu") for one in again]
        write_rows(output, rows)
    plot(rows, picture)
    for row in outside(rows):
        print(f"{row['fault']}: {EXCEPTIONS.get(row['fault'], 'NOT an exception yet')}")
    return int(any(row["fault"] not in EXCEPTIONS for row in outside(rows)))


def run_alone(name: str, seed: int, train: Path, dev: Path) -> dict[str, Any]:
    """Trains one model in a process of its own, which a fault may crash."""
    try:
        done = run("-m", "benchmarks.seriousness", name, seed, train.resolve(), dev.resolve())
    except CommandError as error:
        return {"fault": name, "failure": str(error)[-200:]}
    return dict(json.loads(done.output.splitlines()[-1]))


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Writes the rows, whole or not at all."""
    write_whole(path, "".join(json.dumps(row) + "\n" for row in rows))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Reads the rows of a file; none where it does not exist."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def choose(count: int, done: set[str]) -> list[str]:
    """Chooses as many faults as `done` lacks to `count`, evenly spaced among the others of the catalogue."""
    known = [one.id for one in faults_of(read_assignment()) if one.task in TASKS and one.severity != "conditional"]
    others = [name for name in known if name not in done]
    missing = max(0, min(count - (len(known) - len(others)), len(others)))
    return [others[number * len(others) // missing] for number in range(missing)]


def measure_one(name: str, seed: int, train: Path, dev: Path) -> dict[str, Any]:
    """Trains one model: {"fault", "task", "bleu", "loss", "batch", "float32"}.

    `batch` and `float32` are the shares of dev sentences whose translation depends on the batch or on the precision;
    what cannot be trained or translated has a `failure` in place of figures.
    """
    fault = next((one for one in faults_of(read_assignment()) if one.id == name), None)
    row: dict[str, Any] = {"fault": name} | ({"task": fault.task} if fault else {})
    with tempfile.TemporaryDirectory() as scratch:
        write_package(Path(scratch) / PACKAGE, fault)
        sys.path.insert(0, scratch)
        is_post_norm = fault.task in POST_NORM if fault else name.endswith("post-norm")
        try:
            row |= train_model(train, dev, is_post_norm, seed)
        except Exception as error:
            row["failure"] = f"{type(error).__name__}: {error}"[:200]
    return row


def write_package(folder: Path, fault: Fault | None) -> None:
    """Writes the reference, with the fault in it if there is one."""
    folder.mkdir()
    sources = read_modules(REFERENCE)
    for path, text in (apply(fault, sources) if fault else sources).values():
        (folder / Path(path).name).write_text(text)


def missing_items(faults: Sequence[Fault]) -> dict[str, list[str]]:
    """Returns the items of its task's rubric that each fault costs, by the fault's id."""
    tasks, reference = {task.number: task for task in read_assignment().tasks}, read_sources(REFERENCE, SKELETON)
    return missing_in({fault.id: (tasks[fault.task], apply(fault, reference)) for fault in faults})


def missing_in(packages: Mapping[str, tuple[Task, Sources]]) -> dict[str, list[str]]:
    """Returns the items of a task's rubric that each package does not earn, by its name."""
    assignment, missing = read_assignment(), {}
    versions = [Version(name, sources, (SEED,), (task.marker,)) for name, (task, sources) in packages.items()]
    for done in run_versions(versions, read_sources(REFERENCE, SKELETON), assignment):
        task, _ = packages[done.version]
        judged = judge_task(task, done.outcomes[task.marker], assignment.credit)
        lost = [mark.name for mark in judged.items if mark.n_missed or mark.missing]
        missing[done.version] = lost if judged.state.has_mark else [item.name for item in task.items]
    return missing


def kept(row: dict[str, Any]) -> float:
    """Returns the share of the task's points that the fault leaves."""
    task = next(task for task in read_assignment().tasks if task.number == row["task"])
    weights = {item.name: item.weight for item in task.items}
    return 1 - sum(weights[name] for name in row["missing"]) / sum(weights.values())


def mean_bleu(row: dict[str, Any]) -> float:
    """Returns the mean of dev BLEU over seeds; 0 for a model that cannot be trained or translate."""
    scores = [row.get("bleu"), *row.get("further", ())]
    return sum(score or 0.0 for score in scores) / len(scores)


def relative_bleu(row: dict[str, Any], rows: list[dict[str, Any]]) -> float:
    """Returns dev BLEU as a share of the intact model's."""
    norm = "post-norm" if row["task"] in POST_NORM else "pre-norm"
    return mean_bleu(row) / next(mean_bleu(one) for one in rows if one["fault"] == f"{INTACT} {norm}")


def is_near(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    """Whether another seed could put a model on the other side of a bound; the intact ones are compared with all."""
    if "missing" not in row:
        return "task" not in row
    bleu = relative_bleu(row, rows)
    return is_misfit(row, bleu - NEAR) != is_misfit(row, bleu + NEAR)


def is_misfit(row: dict[str, Any], bleu: float) -> bool:
    """Whether a mark does not fit what a fault does to a model, with this share of the intact model's BLEU.

    A fault that ruins it (less than half of BLEU, or translations that depend on the batch) may keep at most half of
    the points; one that leaves it as good as intact may lose at most 60%.
    """
    share, is_ruined = kept(row), bleu < RUINED or (row.get("batch") or 0) > FEW
    return (is_ruined and share > 0.5) or (not is_ruined and bleu >= AS_GOOD and share < 0.4 - 1e-9)


def outside(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows whose mark does not fit."""
    return [row for row in rows if "missing" in row and is_misfit(row, relative_bleu(row, rows))]


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draws each fault: points kept by BLEU, one colour for each task, with the corners that should be empty."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    from given.pictures import save_figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes, colours = figure.subplots(), colormaps["tab20"]
    axes.axvspan(-0.02, RUINED, 0.5, 1, color="tab:red", alpha=0.12)
    axes.axvspan(AS_GOOD, 1.1, 0, 0.4, color="tab:red", alpha=0.12)
    for number, task in enumerate(TASKS):
        chosen = [row for row in rows if row.get("task") == task and "missing" in row]
        shaken = [(row.get("batch") or 0) > FEW for row in chosen]
        for mark, of_kind in (("o", False), ("x", True)):
            several = [row for row, is_shaken in zip(chosen, shaken, strict=True) if is_shaken is of_kind]
            values = [(relative_bleu(row, rows), kept(row)) for row in several]
            label = task if mark == "o" else None
            axes.scatter(
                *zip(*values, strict=True) if values else ((), ()), color=colours(number), marker=mark, label=label
            )
    axes.set(xlim=(-0.02, 1.1), ylim=(0, 1), xlabel="dev BLEU with the fault, as a share of the intact model's")
    axes.set(ylabel="share of the task's points that are kept")
    axes.set_title("cross: translations depend on the batch; shaded: marks that would not fit", fontsize=9)
    figure.legend(title="task", fontsize=8, loc="outside right center")
    save_figure(figure, path)


def train_model(train: Path, dev: Path, is_post_norm: bool, seed: int) -> dict[str, Any]:
    """Trains the faulty package, and measures how it translates."""
    from given.decoding import translate

    trained = prepare(train, dev, seed=seed, **POST if is_post_norm else {})
    trained.run_epoch(progress=False)
    report = trained.history[-1]
    figures = {
        "bleu": report["dev_bleu"],
        "loss": report["train_loss"] if math.isfinite(report["train_loss"]) else None,
    }
    model, sources = trained.model.eval(), [source for source, _ in trained.dev_pairs[:N_TRANSLATED]]
    vocabularies = trained.src_vocab, trained.tgt_vocab
    together = translate(model, sources, *vocabularies, trained.config)
    alone = [translate(model, [source], *vocabularies, trained.config)[0] for source in sources]
    figures["batch"] = share_of_others(together, alone)
    try:
        figures["float32"] = share_of_others(
            together, translate(model.double(), sources, *vocabularies, trained.config)
        )
    except RuntimeError:  # a part that `double` does not reach
        figures["float32"] = None
    return figures


def prepare(train: Path, dev: Path, **settings: Any) -> Experiment:
    """Returns a run of the faulty package with the preset `quick`, but for these settings, and with no short-cuts."""
    from given import package
    from given.config import PRESETS
    from given.experiment import Experiment

    package.use(PACKAGE)
    config = replace(PRESETS["quick"], fused=False, cached=False, precision="float32", **settings)
    return Experiment(config, package.data.read_pairs(train), package.data.read_pairs(dev))


def share_of_others(one: list[str], other: list[str]) -> float:
    """Returns the share of lines that differ."""
    return sum(a != b for a, b in zip(one, other, strict=True)) / len(one)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps(measure_one(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))))
