"""BLEU of trained models: the tables of the course's report again (models.toml).

A run's folder is named after the settings that differ from the defaults, and its seed; the result is a file there, so
that an interrupted command goes on where it stopped. Where two columns have the same settings (the report trained its
defaults three times), one run serves them all. Two models with the same seed begin with the same weights and see the
same batches, so the effect of the diagonal mask is the mean of the differences between such pairs.
"""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated

from tqdm import tqdm

from foundation.command_line import positive
from foundation.whole_files import make_folder, write_whole
from given.config import ConfigError
from given.decoding import bleu, translate
from given.package import Package
from given.run_folder import Checkpoint
from reference.data import read_pairs
from reference.vocab import join_subwords
from validity.console import option, run_python, table

from . import DEV, TRAIN, Pairs

MODELS = tomllib.loads((Path(__file__).parent / "models.toml").read_text(encoding="utf-8"))
MASK, NO_MASK = "diagonal mask", "no mask"
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""The 97.5% quantiles of Student's t with 1, 2, … degrees of freedom; with more than 9 the last one, a little wide."""
RUNS = Path("runs/tables")
Files = tuple[Path, Path, Path | None]
"""Pairs to train on, of dev, and of test."""
Result = dict[str, float]
"""Of one model: train and dev BLEU after the last epoch, test BLEU of the best model where test pairs are given, the
number of parameters, and minutes."""
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

    def train(self, seed: int, folder: Path, files: Files) -> None:
        """Train a model, or go on where an earlier run was interrupted, and measure it."""
        train, dev, test = files
        lines = folder / "translations.txt"
        flags: list[object] = ["--test-file", test.resolve(), "--out-file", lines.resolve()] if test else []
        if (folder / "last.pt").is_file():
            flags += ["--resume"]
        else:
            flags += ["--preset", "course", "--seed", seed]
            for name, value in self.changes.items():
                flags += [f"--{name.replace('_', '-')}", value]
        history = train_reference(folder, train, dev, *flags)
        result = {"dev": history[-1]["dev_bleu"], "minutes": round(sum(line["seconds"] for line in history) / 60, 2)}
        result |= about_training(folder / "last.pt", read_pairs(train)[:N_TRAINED])
        if test:
            references = [join_subwords(tgt) for _, tgt in read_pairs(test)]
            result["test"] = round(bleu(lines.read_text(encoding="utf-8").split("\n")[:-1], references), 4)
        content = {"files": [*map(str, files)], "result": result}
        write_whole(folder / "result.json", json.dumps(content) + "\n")


Rows = dict[Column, list[Result | None]]
"""By column the result with each seed, as far as there is one."""


def train_reference(folder: Path, train: Path, dev: Path, *flags: object) -> list[Result]:
    """Train once into `folder`, in a process of its own; the run's history."""
    files = ["--train", train.resolve(), "--dev", dev.resolve(), "--output", folder.resolve(), "--samples", 0]
    run_python("-m", "reference", "train", *files, *flags)
    lines = (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def about_training(path: Path, pairs: Sequence[tuple[list[str], list[str]]]) -> Result:
    """BLEU on training pairs, and the number of parameters, of the last model of a run."""
    saved = Checkpoint.load(Package("reference"), path)
    saved.load_weights(model := saved.build_model(), path)
    translations = [join_subwords(line) for line in translate(model, [source for source, _ in pairs], saved)]
    train_bleu = bleu(translations, [join_subwords(target) for _, target in pairs])
    return {"train": round(train_bleu, 4), "parameters": sum(each.numel() for each in model.parameters())}


def find_result(folder: Path, files: Files) -> Result | None:
    """The result of a run with these files of pairs if it is there."""
    path = folder / "result.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return dict(known["result"]) if known.get("files") == [*map(str, files)] else None


def measure(
    tables: Annotated[Sequence[int], option("default: all", type=int, nargs="+", choices=(1, 2, 3))] = (1, 2, 3),
    only: Annotated[Sequence[str] | None, option("only columns with such a text", nargs="+", metavar="TEXT")] = None,
    seeds: Annotated[int, option("runs of each column", type=positive)] = 3,
    train: Pairs = TRAIN,
    dev: Pairs = DEV,
    test: Annotated[Path | None, option("likewise; without it the tables have no test BLEU", type=Path)] = None,
    output: Annotated[Path, option("folder for runs and tables; what is there is not done again", type=Path)] = RUNS,
    show: Annotated[bool, option("train nothing: write tables of what is finished", action="store_true")] = False,
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
        raise ConfigError(f"--only {' '.join(only or ())}: no column of these tables is named like that")
    make_folder(output)
    places = {column.place(n, output): (column, n) for n in range(seeds) for column in chain(*columns.values())}
    missing = [] if show else [folder for folder in places if find_result(folder, files) is None]
    for folder in tqdm(missing, unit="run", disable=None):
        column, seed = places[folder]
        column.train(seed, folder, files)
    parts = []
    for number, several in columns.items():
        results = {column: [find_result(column.place(n, output), files) for n in range(seeds)] for column in several}
        if results:
            parts += [
                f"### {MODELS['tables'][str(number)]['title']}",
                models(results, test is not None),
                masks(results),
            ]
    text = "\n\n".join(filter(None, parts))
    write_whole(output / "tables.md", text + "\n")
    print(text)
    return 0


def models(rows: Rows, has_test: bool) -> str:
    """All models of one of the report's tables."""
    tests = {"test": "test BLEU"} if has_test else {}
    figures = {"train": "train BLEU", "dev": "dev BLEU", **tests, "minutes": "minutes of CPU a run"}
    cells = []
    for column, results in rows.items():
        done = [result for result in results if result]
        measured = [mean_and_spread([result[name] for result in done if name in result]) for name in figures]
        sizes = {f"{result['parameters']:,}" for result in done if "parameters" in result}
        reported = ", ".join(f"{value:.2f}" for value in column.reported)
        cells.append([column.name, *(sizes or {"–"}), len(done) or "not run", *measured, reported])
    names = ", ".join(("train", "dev", "test")[-len(next(iter(rows)).reported) :])
    return table(["model", "parameters", "seeds", *figures.values(), f"the report: {names}"], cells)


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


def mean_and_spread(values: Sequence[float]) -> str:
    """The mean and, of several values, the standard deviation."""
    if not values:
        return "–"
    return f"{mean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")
