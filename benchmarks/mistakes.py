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
from typing import TYPE_CHECKING, Any

import torch
from tqdm import tqdm

from autograder.course.catalogue import Edit, Fault, apply, faults_of
from autograder.intake.sources import read_modules
from autograder.own_work.boxes import FIGURES, MISTAKES, read_mistakes
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE
from foundation.whole_files import write_whole
from validity.processes import run

if TYPE_CHECKING:
    from given.experiment import Experiment

PACKAGE = "faulty"
SEED = 0
N_TRANSLATED = 100  # dev sentences, each alone and in a batch
TOGETHER = 4  # sentences of a batch
N_POINTS = 50  # of a curve
SAMPLES = (8, 9, 12)  # places in dev
WATCHED, LONGER = 4, 8  # likewise: whose attention is noted, and what is before it in the batch
Row = dict[str, Any]


def measure(train: Path, dev: Path) -> int:
    """Train what the file of figures lacks, and take out what no mistake needs any more; return the exit status."""
    assignment = read_assignment()
    path = assignment.folder / FIGURES
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    known = {row["fault"]: row for row in map(json.loads, lines)}
    rows: list[Row] = [known.get(name, {"fault": name}) for name in ("", *faults_in(assignment))]

    def write() -> None:
        write_whole(path, "".join(json.dumps(row) + "\n" for row in rows if "loss" in row))

    for row in tqdm([row for row in rows if "loss" not in row], "training"):
        output = run("-m", "benchmarks.mistakes", row["fault"], train.resolve(), dev.resolve())
        row |= json.loads(output.splitlines()[-1])
        write()
    write()
    return 0


def faults_in(assignment: Assignment) -> dict[str, Fault]:
    """The mistakes as faults, by id. Raises: UserError where one is not in the catalogue."""
    catalogue = {fault.id: fault for fault in faults_of(assignment)}
    faults = {}
    for table in read_mistakes(assignment.folder / MISTAKES):
        name = table["id"]
        if "find" in table:  # in code that students are given, which has no misconceptions
            edit = Edit(table["find"], table["replace"], table["component"])
            faults[name] = Fault(name, table["component"], "", "", "", "", (edit,), MISTAKES)
        elif name in catalogue:
            faults[name] = catalogue[name]
        else:
            raise UserError(f"{MISTAKES}: there is no fault {name!r}")
    return faults


def train_one(name: str, train: Path, dev: Path) -> Row:
    """Train the reference with a fault, without one where none has this name, in a process of its own.

    Returns:
        loss: means of so many batches each, `every`; None where it is not finite.
        bleu: of dev.
        samples: translations.
        batch: the share of sentences whose translation changes in a batch of four; `example`: the first of them, with
            its translation alone and there.
        attention: the last layer's weights, (target, source), of a sentence with padding, the mean over heads.
        tokens: beside its rows and columns.
    """
    from given import package
    from given.config import PRESETS
    from given.experiment import Experiment

    assignment, sources = read_assignment(), read_modules(REFERENCE)
    fault = faults_in(assignment).get(name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, PACKAGE)
        folder.mkdir()
        for path, text in (apply(fault, sources) if fault else sources).values():
            (folder / Path(path).name).write_text(text)
        sys.path.insert(0, scratch)
        package.use(PACKAGE)
        config = replace(PRESETS["quick"], fused=False, cached=False, precision="float32", seed=SEED)
        experiment = Experiment(config, package.data.read_pairs(train), package.data.read_pairs(dev))
        losses: list[float] = []
        note = experiment.criterion.register_forward_hook(lambda _module, _inputs, loss: losses.append(loss.item()))
        experiment.run_epoch(progress=False)
        note.remove()
        bleu, alone, together = experiment.history[-1]["dev_bleu"], *translations(experiment)
        changed = [place for place, (one, other) in enumerate(zip(alone, together, strict=True)) if one != other]
        n_batches = config.epochs * len(experiment.loader)  # the losses on dev follow
        every = math.ceil(n_batches / N_POINTS)
        means = [sum(losses[first : first + every]) / every for first in range(0, n_batches - every + 1, every)]
        words = [[package.vocab.join_subwords(side) for side in pair] for pair in experiment.dev_pairs[:N_TRANSLATED]]
        return {
            "every": every,
            "loss": [_short(mean, 3) for mean in means],
            "bleu": bleu,
            "samples": [[*words[place], together[place]] for place in SAMPLES],
            "batch": len(changed) / len(alone),
            "example": [[words[place][0], alone[place], together[place]] for place in changed[:1]],
            **attention_in(experiment),
        }


def translations(run: Experiment) -> tuple[list[str], list[str]]:
    """Of some sentences of dev, each alone and in a batch."""
    from given import package
    from given.decoding import translate

    model, sources = run.model.eval(), [source for source, _ in run.dev_pairs[:N_TRANSLATED]]

    def in_batches(size: int) -> list[str]:
        several = [sources[first : first + size] for first in range(0, len(sources), size)]
        found = [translate(model, some, run.src_vocab, run.tgt_vocab, run.config) for some in several]
        return [package.vocab.join_subwords(tokens) for some in found for tokens in some]

    return in_batches(1), in_batches(TOGETHER)


def attention_in(run: Experiment) -> Row:
    """Where the last layer looks in one sentence of dev that is padded to the length of another."""
    from given import package
    from given.decoding import forced_decode

    pairs = [run.dev_pairs[LONGER], run.dev_pairs[WATCHED]]
    src, tgt = [run.src_vocab.encode(pair[0]) for pair in pairs], [run.tgt_vocab.encode(pair[1]) for pair in pairs]
    batch = package.data.Batch.from_ids(src, tgt)
    weights = forced_decode(run.model.eval(), batch)[1]["cross"][-1][1].mean(dim=0)
    queries = [package.vocab.BOS, *pairs[1][1]]
    keys = [*pairs[1][0], *[package.vocab.PAD] * (weights.size(1) - len(pairs[1][0]))]
    rows = [[_short(weight, 2) for weight in row] for row in weights[: len(queries)].tolist()]
    return {"attention": rows, "tokens": [queries, keys]}


def _short(number: float, digits: int) -> float | None:
    return round(number, digits) if math.isfinite(number) else None


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(train_one(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])), ensure_ascii=False))
