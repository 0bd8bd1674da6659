"""Figures of models that were trained with a mistake, for `python -m student hunt`.

A model with each mistake of `own_work/trained_mistakes.toml`, and an intact one, is trained with the preset `quick`.
Results are rows of a file; what stands there already is not done again.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from autograder.course.catalogue import Edit, Fault, apply, faults_of
from autograder.intake.sources import read_modules
from autograder.own_work.boxes import FIGURES, MISTAKES, read_mistakes
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE
from foundation.whole_files import write_whole
from given.config import PRESETS
from given.decoding import translate
from given.experiment import Experiment
from given.package import Package
from validity.console import run_python

from . import DEV, TRAIN, Pairs

PACKAGE = "faulty"
SEED = 0
N_TRANSLATED = 100  # dev sentences, each alone and in a batch
TOGETHER = 4  # sentences of a batch
N_LAST = 17  # batches
SAMPLES = (8, 9, 12)  # places in dev
Row = dict[str, Any]


def measure(train: Pairs = TRAIN, dev: Pairs = DEV) -> int:
    """Measure models that are trained with a mistake, for `hunt`; what the file of figures has is not done again."""
    assignment = read_assignment()
    path = assignment.folder / FIGURES
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    known = {row["fault"]: row for row in map(json.loads, lines)}
    rows: list[Row] = [known.get(name, {"fault": name}) for name in ("", *faults_in(assignment))]

    def write() -> None:
        write_whole(path, "".join(json.dumps(row) + "\n" for row in rows if "loss" in row))

    for row in tqdm([row for row in rows if "loss" not in row], "training"):
        output = run_python("-m", "benchmarks.mistakes", row["fault"], train.resolve(), dev.resolve())
        row |= json.loads(output.splitlines()[-1])
        write()
    write()
    return 0


def faults_in(assignment: Assignment) -> dict[str, Fault]:
    """The mistakes as faults, by id. Raises: UserError where one is not in the catalogue."""
    faults = {fault.id: fault for fault in faults_of(assignment)}
    tables = {table["id"]: table for table in read_mistakes(assignment.folder / MISTAKES)}
    for name, table in tables.items():
        if "find" in table:  # in code that students are given, which has no misconceptions
            edit = Edit(table["find"], table["replace"], table["component"])
            faults[name] = Fault(name, table["component"], "", "", "", "subtle", (edit,), MISTAKES)
        elif name not in faults:
            raise UserError(f"{MISTAKES}: there is no fault {name!r}")
    return {name: faults[name] for name in tables}


def train_one(name: str, train: Path, dev: Path) -> Row:
    """Train the reference with a fault, without one where none has this name, in a process of its own.

    Returns:
        loss: at the end, the mean of the last N_LAST batches; None where it is not finite.
        bleu: of dev.
        samples: translations.
        batch: the share of sentences whose translation changes in a batch of four; `example`: the first of them, with
            its translation alone and there.
    """
    assignment, sources = read_assignment(), read_modules(REFERENCE)
    fault = faults_in(assignment).get(name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, PACKAGE)
        folder.mkdir()
        for path, text in (apply(fault, sources) if fault else sources).values():
            (folder / Path(path).name).write_text(text)
        sys.path.insert(0, scratch)
        package = Package(PACKAGE)
        config = replace(PRESETS["quick"], cached=False, seed=SEED)
        experiment = Experiment(package, config, package.data.read_pairs(train), package.data.read_pairs(dev))
        losses: list[float] = []

        def note(_module: object, _inputs: object, loss: torch.Tensor) -> None:
            if experiment.model.training:  # not on dev
                losses.append(loss.item())

        experiment.criterion.register_forward_hook(note)
        while not experiment.is_finished:
            experiment.run_epoch(progress=False)
        bleu = experiment.history[-1]["dev_bleu"]
        alone, together = (translations(experiment, size) for size in (1, TOGETHER))
    changed = [place for place, texts in enumerate(zip(alone, together, strict=True)) if len({*texts}) > 1]
    loss = sum(losses[-N_LAST:]) / N_LAST
    words = [[package.vocab.join_subwords(side) for side in pair] for pair in experiment.dev_pairs[:N_TRANSLATED]]
    return {
        "loss": round(loss, 3) if math.isfinite(loss) else None,
        "bleu": bleu,
        "samples": [[*words[place], together[place]] for place in SAMPLES],
        "batch": len(changed) / len(alone),
        "example": [[words[place][0], alone[place], together[place]] for place in changed[:1]],
    }


def translations(run: Experiment, size: int) -> list[str]:
    """Of some sentences of dev, in batches of a size."""
    sources = [source for source, _ in run.dev_pairs[:N_TRANSLATED]]
    batches = [sources[first : first + size] for first in range(0, len(sources), size)]
    model = run.model.eval()
    translated = [translate(model, batch, run) for batch in batches]
    return [run.package.vocab.join_subwords(tokens) for batch in translated for tokens in batch]


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(train_one(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])), ensure_ascii=False))
