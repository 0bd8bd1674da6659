"""What a fault does to a trained model, beside the points that it costs.

Faults of the catalogue are put into the reference, one at a time. A model with the fault is trained with the preset
`quick`, or with its post-norm counterpart where the fault sits in a post-norm layer; the tests of its task say what is
left of the points. The results are rows of a file; what stands there already is not done again.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from autograder.diagnosis.catalogue import Fault, apply, faults_of
from foundation.assignment_file import Task, read_assignment
from foundation.places import REFERENCE

INTACT = "intact"
PACKAGE = "faulty"
POST_NORM = ("2.1", "2.2", "2.3")  # tasks whose faults a pre-norm model does not have
TASKS = ("1.1", "1.2", "1.3", "1.4", "1.5", *POST_NORM, "2.4", "3.1")
N_TRANSLATED = 100  # dev sentences, translated in batches of two sizes and in two precisions
SEED = 0


def measure(output: Path, count: int, train: Path, dev: Path) -> int:
    """Measures the intact model and `count` faults, spread evenly over each task's; returns the exit status.

    Args:
        output: rows of JSON, one a line; it is added to.
        count: faults to measure in all.
        train: `source|||target` lines.
        dev: likewise.
    """
    done = {row["fault"] for row in read_rows(output)}
    wanted = [f"{INTACT} post-norm", f"{INTACT} pre-norm", *(fault.id for fault in choose(count))]
    for name in tqdm([name for name in wanted if name not in done], "faults"):
        command = [sys.executable, "-m", "benchmarks.seriousness", name, str(train), str(dev)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own module
        row = (
            json.loads(ran.stdout.splitlines()[-1])
            if ran.returncode == 0
            else {"fault": name, "error": ran.stderr[-300:]}
        )
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("a") as rows:
            rows.write(json.dumps(row) + "\n")
    return 0


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Reads the rows of a file; none where it does not exist."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def choose(count: int) -> list[Fault]:
    """Chooses faults, of each task as large a share as of all, evenly spaced in the catalogue."""
    faults = [one for one in faults_of(read_assignment()) if one.task in TASKS and one.severity != "conditional"]
    step = len(faults) / min(count, len(faults))
    return [faults[int(number * step)] for number in range(min(count, len(faults)))]


def measure_one(name: str, train: Path, dev: Path) -> dict[str, Any]:
    """Trains and judges one model: {"fault", "task", "points", "of", "bleu", "loss", "batch", "float32"}.

    `batch` and `float32` are the shares of dev sentences whose translation depends on the batch or on the precision;
    what cannot be trained or translated has a `failure` in place of figures.
    """
    assignment = read_assignment()
    fault = next((one for one in faults_of(assignment) if one.id == name), None)
    row: dict[str, Any] = {"fault": name}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / PACKAGE
        folder.mkdir()
        sources = {path.stem: (str(path), path.read_text()) for path in REFERENCE.glob("*.py")}
        for path, text in (apply(fault, sources) if fault else sources).values():
            (folder / Path(path).name).write_text(text)
        if fault:
            task = next(task for task in assignment.tasks if task.number == fault.task)
            row |= {
                "task": fault.task,
                "severity": fault.severity,
                "points": points_of(folder, task),
                "of": task.points,
            }
        sys.path.insert(0, scratch)
        is_post_norm = fault.task in POST_NORM if fault else name.endswith("post-norm")
        try:
            row |= train_model(train, dev, is_post_norm)
        except Exception as error:
            row["failure"] = f"{type(error).__name__}: {error}"[:200]
    return row


def points_of(folder: Path, task: Task) -> float:
    """Returns what the tests of a task give for a package, as a student's own run says."""
    tests = ["-c", "autograder/assignment/tests/pytest.ini", "--rootdir", ".", "--submission", str(folder)]
    command = [sys.executable, "-m", "pytest", *tests, "--seed", str(SEED), "-q", "-m", task.marker]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = re.search(rf"^{re.escape(task.number)} .*: ([\d.]+) of {task.points:g} points", said, re.MULTILINE)
    return float(found[1]) if found else 0.0


def train_model(train: Path, dev: Path, is_post_norm: bool) -> dict[str, Any]:
    """Trains the faulty package, and measures how it translates."""
    import torch

    from given import package
    from given.config import PRESETS
    from given.decoding import translate
    from given.experiment import Experiment

    package.use(PACKAGE)
    settings: dict[str, Any] = {"fused": False, "cached": False, "precision": "float32", "seed": SEED}
    if is_post_norm:
        settings |= {"norm_first": False, "learning_rate": 1.5e-3}
    config = replace(PRESETS["quick"], **settings)
    pairs, dev_pairs = (package.data.read_pairs(path) for path in (train, dev))
    run = Experiment(config, pairs, dev_pairs)
    run.run_epoch(progress=False)
    report = run.history[-1]
    figures = {
        "bleu": report["dev_bleu"],
        "loss": report["train_loss"] if math.isfinite(report["train_loss"]) else None,
    }
    model, sources = run.model.eval(), [source for source, _ in dev_pairs[:N_TRANSLATED]]
    vocabularies = run.src_vocab, run.tgt_vocab
    together = translate(model, sources, *vocabularies, config)
    alone = [translate(model, [source], *vocabularies, config)[0] for source in sources]
    precise = translate(model.to(torch.float64), sources, *vocabularies, config)
    return figures | {"batch": share_of_others(together, alone), "float32": share_of_others(together, precise)}


def share_of_others(one: list[str], other: list[str]) -> float:
    """Returns the share of lines that differ."""
    return sum(a != b for a, b in zip(one, other, strict=True)) / len(one)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps(measure_one(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
