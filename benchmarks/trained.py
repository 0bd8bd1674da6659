"""Figures of trained models: the tables of the course's report again (models.toml), and models with a mistake.

A run of the tables has a folder named after the settings that differ from the defaults, and its seed; the result is a
file there, so that an interrupted command goes on where it stopped. Where two columns have the same settings (the
report trained its defaults three times), one run serves them all. Two models with the same seed begin with the same
weights and see the same batches, so the effect of the diagonal mask is the mean of the differences of such pairs.
"""

import json
import math
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch
from tqdm import tqdm

from autograder.course.catalogue import Edit, Fault, apply, faults_of
from autograder.intake.sources import read_modules
from autograder.own_work.boxes import FIGURES, MISTAKES, read_mistakes
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE
from foundation.whole_files import make_folder, write_whole
from given.config import PRESETS
from given.decoding import bleu, translate
from given.experiment import Experiment
from given.package import Package
from given.run_folder import Checkpoint
from reference.data import read_pairs
from reference.vocab import join_subwords
from validity.console import run_python, table

MODELS = tomllib.loads((Path(__file__).parent / "models.toml").read_text(encoding="utf-8"))
MASK, NO_MASK = "diagonal mask", "no mask"
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""The 97.5% quantiles of Student's t with 1, 2, … degrees of freedom; with more than 9 the last one, a little wide."""
Files = tuple[Path, Path, Path | None]
"""Pairs to train on, of dev, and of test."""
Row = dict[str, Any]
"""Figures of one model."""
N_TRAINED = 1000
"""Training pairs that are translated."""


@dataclass(frozen=True, eq=False)
class Column:
    """One model of a table: its name, BLEU in the report, and settings that differ from the defaults."""

    name: str
    reported: Sequence[float]
    changes: dict[str, float] = field(default_factory=dict)

    def place(self, seed: int, output: Path) -> Path:
        """The folder of a run."""
        changes = "_".join(f"{name}-{value}" for name, value in self.changes.items())
        return output / "runs" / (changes or "defaults") / f"seed-{seed}"


Rows = dict[Column, list[Row | None]]
"""By column the result with each seed, as far as there is one."""


def tables(
    tables: Sequence[int],
    only: Sequence[str] | None,
    seeds: int,
    train: Path,
    dev: Path,
    test: Path | None,
    output: Path,
    show: bool,
) -> int:
    """Make the three tables of the course's report with several seeds.

    All columns are trained with the first seed, then with the next, so that whoever stops early has a row of each.
    """
    files = train, dev, test
    columns: dict[int, list[Column]] = {}
    for number in tables:
        rows = MODELS["tables"][str(number)]["columns"]
        columns[number] = [Column(**row) for row in rows if only is None or any(text in row["name"] for text in only)]
    if not any(columns.values()):
        raise UserError(f"--only {' '.join(only or ())}: no column of these tables is named like that")
    make_folder(output)
    places = {column.place(n, output): (column, n) for n in range(seeds) for column in chain(*columns.values())}
    missing = [] if show else [folder for folder in places if find_result(folder, files) is None]
    for folder in tqdm(missing, unit="run", disable=None):
        train_column(*places[folder], folder, files)
    parts = []
    for number, several in columns.items():
        results = {column: [find_result(column.place(n, output), files) for n in range(seeds)] for column in several}
        if results:
            title = f"### {MODELS['tables'][str(number)]['title']}"
            parts += [title, models(results, test is not None), masks(results)]
    text = "\n\n".join(filter(None, parts))
    write_whole(output / "tables.md", text + "\n")
    print(text)
    return 0


def train_column(column: Column, seed: int, folder: Path, files: Files) -> None:
    """Train a model in a process of its own, or go on where an earlier run was interrupted, and write its figures.

    They are train and dev BLEU after the last epoch, test BLEU of the best model where test pairs are given, the number
    of parameters, and minutes.
    """
    train, dev, test = files
    lines = folder / "translations.txt"
    flags: list[object] = ["--train", train.resolve(), "--dev", dev.resolve(), "--output", folder.resolve()]
    if test:
        flags += ["--test-file", test.resolve(), "--out-file", lines.resolve()]
    if (folder / "last.pt").is_file():
        flags += ["--resume"]
    else:
        flags += ["--preset", "course", "--seed", seed]
        for name, value in column.changes.items():
            flags += [f"--{name.replace('_', '-')}", value]
    run_python("-m", "reference", "train", "--samples", 0, *flags)
    history = read_rows(folder / "history.jsonl")
    saved = Checkpoint.load(Package("reference"), folder / "last.pt")
    saved.load_weights(model := saved.build_model(), folder / "last.pt")
    sources, targets = zip(*read_pairs(train)[:N_TRAINED], strict=True)
    translations = map(join_subwords, translate(model, list(sources), saved))
    result = {
        "dev": history[-1]["dev_bleu"],
        "minutes": round(sum(row["seconds"] for row in history) / 60, 2),
        "train": round(bleu(list(translations), list(map(join_subwords, targets))), 4),
        "parameters": sum(each.numel() for each in model.parameters()),
    }
    if test:
        references = [join_subwords(target) for _, target in read_pairs(test)]
        result["test"] = round(bleu(lines.read_text(encoding="utf-8").split("\n")[:-1], references), 4)
    write_whole(folder / "result.json", json.dumps({"files": [*map(str, files)], "result": result}) + "\n")


def find_result(folder: Path, files: Files) -> Row | None:
    """The result of a run with these files of pairs if it is there."""
    path = folder / "result.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return dict(known["result"]) if known.get("files") == [*map(str, files)] else None


def models(rows: Rows, has_test: bool) -> str:
    """All models of one of the report's tables."""
    tests = {"test": "test BLEU"} if has_test else {}
    figures = {"train": "train BLEU", "dev": "dev BLEU", **tests, "minutes": "minutes a run"}
    cells = []
    for column, results in rows.items():
        done = [result for result in results if result]
        measured = [
            mean_and_spread([result[name] for result in done if name in result], 1 if name == "minutes" else 3)
            for name in figures
        ]
        sizes = {f"{result['parameters']:,}" for result in done if "parameters" in result}
        reported = ", ".join(f"{value:.2f}" for value in column.reported)
        cells.append([column.name, *(sizes or {"–"}), len(done) or "not run", *measured, reported])
    names = ", ".join(("train", "dev", "test")[-len(next(iter(rows)).reported) :])
    return table(["model", "parameters", "seeds", *figures.values(), f"the report: {names}"], cells)


def mean_and_spread(values: Sequence[float], digits: int) -> str:
    """The mean and, of several values, the standard deviation."""
    if not values:
        return "–"
    return f"{mean(values):.{digits}f}" + (f" ± {stdev(values):.{digits}f}" if len(values) > 1 else "")


def masks(rows: Rows) -> str:
    """The diagonal mask's effect on dev BLEU; "" where there are no runs with it and without."""
    by_name = {column.name: results for column, results in rows.items()}
    cells = []
    for name, masked in by_name.items():
        without = by_name.get(name.replace(MASK, NO_MASK), []) if MASK in name else []
        differences = [b["dev"] - a["dev"] for a, b in zip(without, masked, strict=False) if a and b]
        if differences:
            row = [name.split(",")[0], len(differences), f"{mean(differences):+.3f}", *verdict(differences)]
            cells.append(row)
    return table(["size", "seeds", "with the mask minus without", "95% over seeds", "finding"], cells) if cells else ""


def verdict(differences: Sequence[float]) -> tuple[str, str]:
    """The 95% interval of the mean of differences by seed, and what it allows to say, in words."""
    if len(differences) == 1:
        return "–", "one seed: nothing can be said"
    margin = T_975[min(len(differences) - 2, len(T_975) - 1)] * stdev(differences) / len(differences) ** 0.5
    low, high = mean(differences) - margin, mean(differences) + margin
    word = "helps" if low > 0 else "harms" if high < 0 else "no effect that these seeds can show"
    return f"{low:+.3f} to {high:+.3f}", word


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# -- models with a mistake ------------------------------------------------------------------------------

PACKAGE = "faulty"
N_TRANSLATED = 100  # dev sentences, each alone and in a batch
TOGETHER = 4  # sentences of a batch
N_LAST = 17  # batches
SAMPLES = (8, 9, 12)  # places in dev


def mistakes(train: Path, dev: Path) -> int:
    """Measure models that are trained with a mistake, for `hunt`; what the file of figures has is not done again."""
    assignment = read_assignment()
    path = assignment.folder / FIGURES
    known = {row["fault"]: row for row in (read_rows(path) if path.is_file() else [])}
    rows: list[Row] = [known.get(name, {"fault": name}) for name in ("", *faults_in(assignment))]
    for row in tqdm(rows, "training"):
        if "loss" not in row:
            output = run_python("-m", "benchmarks.trained", row["fault"], train.resolve(), dev.resolve())
            row |= json.loads(output.splitlines()[-1])
        write_whole(path, "".join(json.dumps(each) + "\n" for each in rows if "loss" in each))
    return 0


def faults_in(assignment: Assignment) -> dict[str, Fault]:
    """The mistakes as faults, by id. Raises: UserError where one is not in the catalogue."""
    catalogue = {fault.id: fault for fault in faults_of(assignment)}
    faults = {}
    for mistake in read_mistakes(assignment.folder / MISTAKES):
        name = mistake["id"]
        if "find" in mistake:  # in code that students are given, which has no misconceptions
            edit = Edit(mistake["find"], mistake["replace"], mistake["component"])
            faults[name] = Fault(name, mistake["component"], "", "", "", "subtle", (edit,), MISTAKES)
        elif name in catalogue:
            faults[name] = catalogue[name]
        else:
            raise UserError(f"{MISTAKES}: there is no fault {name!r}")
    return faults


def train_with(name: str, train: Path, dev: Path) -> Row:
    """Train the reference with a fault, without one where none has this name, in a process of its own.

    Returns:
        loss: at the end, the mean of the last N_LAST batches; None where it is not finite.
        bleu: of dev.
        samples: translations.
        batch: the share of sentences whose translation changes in a batch of four; `example`: the first of them, with
            its translation alone and there.
    """
    sources, fault = read_modules(REFERENCE), faults_in(read_assignment()).get(name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, PACKAGE)
        folder.mkdir()
        for path, text in (apply(fault, sources) if fault else sources).values():
            (folder / Path(path).name).write_text(text)
        sys.path.insert(0, scratch)
        package = Package(PACKAGE)
        config = replace(PRESETS["quick"], cached=False, seed=0)
        experiment = Experiment(package, config, package.data.read_pairs(train), package.data.read_pairs(dev))
        losses: list[float] = []

        def note(_module: object, _inputs: object, loss: torch.Tensor) -> None:
            if experiment.model.training:  # not on dev
                losses.append(loss.item())

        experiment.criterion.register_forward_hook(note)
        while not experiment.is_finished:
            experiment.run_epoch(progress=False)
        pairs = experiment.dev_pairs[:N_TRANSLATED]
        alone, together = (translations_of(experiment, [source for source, _ in pairs], size) for size in (1, TOGETHER))
    changed = [place for place, texts in enumerate(zip(alone, together, strict=True)) if len({*texts}) > 1]
    loss = sum(losses[-N_LAST:]) / N_LAST
    words = [list(map(join_subwords, pair)) for pair in pairs]
    return {
        "loss": round(loss, 3) if math.isfinite(loss) else None,
        "bleu": experiment.history[-1]["dev_bleu"],
        "samples": [[*words[place], together[place]] for place in SAMPLES],
        "batch": len(changed) / len(alone),
        "example": [[words[place][0], alone[place], together[place]] for place in changed[:1]],
    }


def translations_of(run: Experiment, sources: Sequence[list[str]], size: int) -> list[str]:
    """Translate sentences in batches of a size."""
    batches = [[*sources[first : first + size]] for first in range(0, len(sources), size)]
    return [join_subwords(tokens) for batch in batches for tokens in translate(run.model.eval(), batch, run)]


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(train_with(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])), ensure_ascii=False))
