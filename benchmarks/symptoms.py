"""What a user of the whole model sees of the faults of bug hunts, made by running them.

A hunt with `shows` in `hunts.toml` has what was measured of a model with its fault, trained with the preset `quick` but
for the settings in `shows`, and of the intact one. Results are rows of a file; what stands there already is not done
again.
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

from autograder.catalogue import apply
from autograder.grading.made_code import HUNTS, SYMPTOMS, hunted_faults, read_table
from autograder.sources import read_modules
from foundation.assignment_file import Assignment, read_assignment
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


def trained(assignment: Assignment) -> list[tuple[str, Row]]:
    """The models that symptoms are taken from: the faults, "" for none, each with the settings that differ."""
    tables = [table for table in read_table(assignment, HUNTS)["hunt"] if "shows" in table]
    found = [(name, table["shows"]) for table in tables for name in ("", table["id"])]
    return [one for place, one in enumerate(found) if one not in found[:place]]


def measure(train: Path, dev: Path) -> int:
    """Trains what the file of symptoms lacks, and takes out what no hunt shows any more; returns the exit status."""
    assignment = read_assignment()
    path = assignment.folder / SYMPTOMS
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    known = {(row["fault"], json.dumps(row["settings"])): row for row in map(json.loads, lines)}
    wanted: list[Row] = [{"fault": name, "settings": settings} for name, settings in trained(assignment)]
    rows = [known.get((row["fault"], json.dumps(row["settings"])), row) for row in wanted]

    def write() -> None:
        write_whole(path, "".join(json.dumps(row) + "\n" for row in rows if "loss" in row))

    for row in tqdm([row for row in rows if "loss" not in row], "training"):
        what = json.dumps([row["fault"], row["settings"]])
        output = run("-m", "benchmarks.symptoms", what, train.resolve(), dev.resolve())
        row |= json.loads(output.splitlines()[-1])
        write()
    write()
    return 0


def train_one(name: str, settings: Row, train: Path, dev: Path) -> Row:
    """Trains the reference with a fault, without one where none has this name, in a process of its own.

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
    fault = next((one for one in hunted_faults(assignment) if one.id == name), None)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, PACKAGE)
        folder.mkdir()
        for path, text in (apply(fault, sources) if fault else sources).values():
            (folder / Path(path).name).write_text(text)
        sys.path.insert(0, scratch)
        package.use(PACKAGE)
        config = replace(PRESETS["quick"], fused=False, cached=False, precision="float32", seed=SEED, **settings)
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
    name, settings = json.loads(sys.argv[1])
    print(json.dumps(train_one(name, settings, Path(sys.argv[2]), Path(sys.argv[3])), ensure_ascii=False))
