"""What faults do to a trained model: beside the points that they cost, and as users of the model see it in bug hunts.

A fault is put into the reference, and a model with it is trained with the preset `quick`. Results are rows of a file;
what stands there already is not done again.

A hunt with `shows` in `hunts.toml` has what was measured of such a model, trained with the settings in `shows`, and of
the intact one. For faults of post-norm layers, points are compared with what they do to a post-norm model.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tqdm import tqdm

from autograder.catalogue import Fault, apply, faults_of
from autograder.grading.made_code import SYMPTOMS, hunted_faults, trained
from autograder.sources import Sources, read_modules, read_sources
from autograder.testing.results import judge_task
from foundation.assignment_file import Task, read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON
from foundation.whole_files import write_whole
from validity.run_tests import Version, run_versions

from .processes import CommandError, run

if TYPE_CHECKING:
    from given.experiment import Experiment

ROWS = ROOT / "docs/proof/seriousness.jsonl"
INTACT = "intact"
PACKAGE = "faulty"
POST_NORM = ("2.1", "2.2", "2.3")  # tasks whose faults a pre-norm model does not have
POST: dict[str, Any] = {"norm_first": False, "learning_rate": 1.5e-3}
TASKS = ("1.1", "1.2", "1.3", "1.4", "1.5", "1.6", *POST_NORM, "2.4", "3.1")
SEED = 0
N_TRANSLATED = 100  # dev sentences, each alone and in a batch
TOGETHER = 4  # sentences of a batch
N_POINTS = 50  # of a curve
SAMPLES = (8, 9, 12)  # places in dev
WATCHED, LONGER = 4, 8  # likewise: whose attention is noted, and what is before it in the batch
RUINED, AS_GOOD = 0.5, 0.95  # of the intact BLEU
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

Row = dict[str, Any]


def measure_seriousness(count: int, train: Path, dev: Path) -> int:
    """Trains the intact model and faults until there are `count`, spread evenly over the catalogue.

    Every time, the tests of today say what each fault costs. Returns 1 where a mark fits no longer, unless that is an
    exception.

    Args:
        count: faults in all.
        train: `source|||target` lines.
        dev: likewise.
    """
    assignment = read_assignment()
    faults = {one.id: one for one in faults_of(assignment) if one.task in TASKS and one.severity != "conditional"}
    rows = [row for row in read_rows(ROWS) if row["fault"] in faults or row["fault"].startswith(INTACT)]
    done = {row["fault"] for row in rows}
    wanted = [name for name in (f"{INTACT} post-norm", f"{INTACT} pre-norm") if name not in done]
    others = [name for name in faults if name not in done]
    missing = max(0, min(count - (len(faults) - len(others)), len(others)))
    wanted += [others[number * len(others) // missing] for number in range(missing)]
    for name in tqdm(wanted, "training"):
        row: Row = {"fault": name} | ({"task": faults[name].task} if name in faults else {})
        is_post_norm = row["task"] in POST_NORM if name in faults else name.endswith("post-norm")
        try:
            row |= train_alone(name, POST if is_post_norm else {}, False, train, dev)
        except CommandError as error:
            row["failure"] = str(error)[-200:]
        rows.append(row)
        write_rows(ROWS, rows)
    lost = missing_items([faults[row["fault"]] for row in rows if row["fault"] in faults])
    rows = [row | ({"missing": lost[row["fault"]]} if row["fault"] in lost else {}) for row in rows]
    write_rows(ROWS, rows)
    for row in outside(rows):
        print(f"{row['fault']}: {EXCEPTIONS.get(row['fault'], 'NOT an exception yet')}")
    return int(any(row["fault"] not in EXCEPTIONS for row in outside(rows)))


def measure_symptoms(train: Path, dev: Path) -> int:
    """Trains what the file of symptoms lacks, and takes out what no hunt shows any more; returns the exit status."""
    assignment = read_assignment()
    path = assignment.folder / SYMPTOMS
    known = {(row["fault"], json.dumps(row["settings"])): row for row in read_rows(path)}
    rows = [
        known.get((name, json.dumps(settings)), {"fault": name, "settings": settings})
        for name, settings in trained(assignment)
    ]
    for row in tqdm([row for row in rows if "loss" not in row], "training"):
        row |= train_alone(row["fault"], row["settings"], True, train, dev)
        write_rows(path, [row for row in rows if "loss" in row])
    write_rows(path, rows)
    return 0


def read_rows(path: Path) -> list[Row]:
    """Reads the rows of a file; none where it does not exist."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def write_rows(path: Path, rows: list[Row]) -> None:
    """Writes the rows, whole or not at all."""
    write_whole(path, "".join(json.dumps(row) + "\n" for row in rows))


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


def outside(rows: Sequence[Row]) -> list[Row]:
    """Returns the faults whose mark does not fit what they do to a model.

    A fault that ruins it (less than half of the intact model's dev BLEU, or translations that depend on the batch) may
    keep at most half of the points; one that leaves it as good as intact may lose at most 60%. A model that cannot be
    trained or translate has no BLEU.
    """
    intact = {row["fault"]: row["bleu"] for row in rows if row["fault"].startswith(INTACT)}
    tasks, found = {task.number: task for task in read_assignment().tasks}, []
    for row in rows:
        if "missing" not in row:
            continue
        bleu = row.get("bleu", 0.0) / intact[f"{INTACT} {'post' if row['task'] in POST_NORM else 'pre'}-norm"]
        weights = {item.name: item.weight for item in tasks[row["task"]].items}
        kept = 1 - sum(weights[name] for name in row["missing"]) / sum(weights.values())
        is_ruined = bleu < RUINED or row.get("batch", 0.0) > FEW
        if (is_ruined and kept > 0.5) or (not is_ruined and bleu >= AS_GOOD and kept < 0.4 - 1e-9):
            found.append(row)
    return found


def train_alone(name: str, settings: Row, shows: bool, train: Path, dev: Path) -> Row:
    """Trains one model in a process of its own, which a fault may crash; as `train_one`. Raises: CommandError."""
    what = json.dumps([name, settings, shows])
    output, _ = run("-m", "benchmarks.faulty_models", what, train.resolve(), dev.resolve())
    return dict(json.loads(output.splitlines()[-1]))


def train_one(name: str, settings: Row, shows: bool, train: Path, dev: Path) -> Row:
    """Trains the reference with a fault, without one where none has this name.

    Returns:
        bleu: of dev.
        batch: the share of sentences whose translation changes in a batch of four.
        With `shows` also:
        loss: means of so many batches each, `every`; None where it is not finite.
        samples: translations.
        example: the first sentence that changes in a batch, with its translation alone and there.
        attention: the last layer's weights, (target, source), of a sentence with padding, the mean over heads.
        tokens: beside its rows and columns.
    """
    from given import package
    from given.config import PRESETS
    from given.experiment import Experiment

    assignment, sources = read_assignment(), read_modules(REFERENCE)
    fault = next((one for one in [*hunted_faults(assignment), *faults_of(assignment)] if one.id == name), None)
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
        if not shows:
            return {"bleu": bleu, "batch": len(changed) / len(alone)}
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
    from given.decoding import translate

    model, sources = run.model.eval(), [source for source, _ in run.dev_pairs[:N_TRANSLATED]]

    def in_batches(size: int) -> list[str]:
        several = [sources[first : first + size] for first in range(0, len(sources), size)]
        return [line for some in several for line in translate(model, some, run.src_vocab, run.tgt_vocab, run.config)]

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
    name, settings, shows = json.loads(sys.argv[1])
    print(json.dumps(train_one(name, settings, shows, Path(sys.argv[2]), Path(sys.argv[3])), ensure_ascii=False))
