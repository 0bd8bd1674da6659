"""What trained models reach: the tables of the course's report again, and models with a part missing.

The report came with the course's original code: "Creating a Transformer Assignment for Machine Translation"
(L. Falzarano, 2024), section 5 (tables 1 and 2) and section 7 (table 3). Its figures are from one run each, on 8,701
French-English pairs from Tatoeba.

A run's folder in these tables is named after the settings that differ from the defaults, and its seed; the result is a
file there, so that an interrupted command goes on where it stopped. Two models with the same seed begin with the same
weights and see the same batches, so the effect of the diagonal mask is the mean of the differences between such pairs.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev

from tqdm import tqdm

from foundation.places import REFERENCE, ROOT
from foundation.texts import counted
from foundation.whole_files import make_folder, write_whole
from given.config import ConfigError
from given.decoding import bleu
from reference.data import read_pairs
from reference.vocab import join_subwords
from validity.processes import CommandError, run
from validity.report import print_table, table

MASK, NO_MASK = "diagonal mask", "no mask"
SIZES = {
    "small": {"d_model": 64, "d_ff": 128, "n_heads": 2},
    "medium": {"d_model": 128, "d_ff": 256, "n_heads": 2, "epochs": 20},
    "large": {"d_model": 256, "d_ff": 512, "n_heads": 2, "epochs": 20},
}
DIAGONAL = {
    "diagonal_width": 2
}  # the report's own code trains with 1 and decodes with 2; here it is one width for both


@dataclass(frozen=True)
class Column:
    """One model of a table.

    Attributes:
        name: what is special about it.
        reported: BLEU on dev and on test in the report; in table 3 on train, dev and test.
        changes: settings that differ from the defaults.
    """

    name: str
    reported: tuple[float, ...]
    changes: Mapping[str, float] = field(default_factory=dict, hash=False)


TABLES = {
    1: (
        Column("10 epochs", (0.43, 0.44)),
        Column("20 epochs", (0.52, 0.51), {"epochs": 20}),
        Column("30 epochs", (0.54, 0.55), {"epochs": 30}),
        Column("40 epochs", (0.48, 0.47), {"epochs": 40}),
        Column("width 256", (0.53, 0.53), {"d_model": 256}),
        Column("width 512", (0.50, 0.54), {"d_model": 512}),
        Column("width 1024", (0.06, 0.07), {"d_model": 1024}),
        Column("feed-forward 128", (0.44, 0.44), {"d_ff": 128}),
        Column("feed-forward 512", (0.48, 0.48), {"d_ff": 512}),
        Column("feed-forward 1024", (0.46, 0.47), {"d_ff": 1024}),
        Column("feed-forward 256", (0.44, 0.44)),
    ),
    2: (
        Column("4 layers", (0.45, 0.47), {"n_layers": 4}),
        Column("8 layers", (0.45, 0.45), {"n_layers": 8}),
        Column("2 heads", (0.44, 0.44), {"n_heads": 2}),
        Column("1 head", (0.46, 0.47), {"n_heads": 1}),
        Column("8 heads", (0.47, 0.46), {"n_heads": 8}),
        Column("learning rate 0.001", (0.43, 0.44)),
        Column("learning rate 0.01", (0.00, 0.00), {"learning_rate": 0.01}),
        Column("learning rate 0.0001", (0.13, 0.13), {"learning_rate": 0.0001}),
        Column("best", (0.59, 0.58), {"d_model": 256, "d_ff": 512, "n_layers": 4, "epochs": 50}),
    ),
    3: (
        Column(f"small, {NO_MASK}", (0.36, 0.29, 0.30), SIZES["small"]),
        Column(f"small, {MASK}", (0.42, 0.33, 0.34), SIZES["small"] | DIAGONAL),
        Column(f"medium, {NO_MASK}", (0.70, 0.45, 0.49), SIZES["medium"]),
        Column(f"medium, {MASK}", (0.84, 0.56, 0.56), SIZES["medium"] | DIAGONAL),
        Column(f"large, {NO_MASK}", (0.76, 0.51, 0.53), SIZES["large"]),
        Column(f"large, {MASK}", (0.83, 0.54, 0.53), SIZES["large"] | DIAGONAL),
    ),
}
"""Where two columns have the same settings (the report trained its defaults three times), one run serves them all."""

TITLES = {
    1: "Table 1: epochs, width, feed-forward",
    2: "Table 2: layers, heads, learning rate, and the best setting",
    3: "Table 3: three sizes, without and with the diagonal mask",
}

T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""The 97.5% quantiles of Student's t with 1, 2, … degrees of freedom; with more than 9 the last one, a little wide."""


Files = tuple[Path, Path, Path | None]
"""Pairs to train on, of dev, and of test, `source|||target` lines."""
Result = dict[str, float]
"""Of one model: dev BLEU after the last epoch, test BLEU of the best model where test pairs are given, and minutes."""


def run_reference(folder: Path, train: Path, dev: Path, *flags: object, cwd: Path = ROOT) -> None:
    """Trains once into `folder`, in a process of its own, with the package `reference` in `cwd`."""
    files = ["--train", train.resolve(), "--dev", dev.resolve(), "--output", folder.resolve(), "--samples", 0]
    run("-m", "reference", "train", *files, *flags, cwd=cwd)


def place(column: Column, seed: int, output: Path) -> Path:
    """Returns the folder of a run."""
    changes = "_".join(f"{name}-{value}" for name, value in column.changes.items())
    return output / "runs" / (changes or "defaults") / f"seed-{seed}"


def find_result(folder: Path, files: Files) -> Result | None:
    """Returns the result of a run with these files of pairs if it is there."""
    path = folder / "result.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return dict(known["result"]) if known.get("files") == [*map(str, files)] else None


def make_result(column: Column, seed: int, folder: Path, files: Files) -> None:
    """Trains a model, or goes on where an earlier run was interrupted, and measures it.

    Raises:
        CommandError: if the run fails, such as for one that began with other data.
    """
    train, dev, test = files
    lines = folder / "translations.txt"
    tested = ["--test-file", test.resolve(), "--out-file", lines.resolve()] if test else []
    run_reference(folder, train, dev, *flags_of(column, seed, (folder / "last.pt").is_file()), *tested)
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    result = {"dev": history[-1]["dev_bleu"], "minutes": round(sum(line["seconds"] for line in history) / 60, 2)}
    if test:
        references = [join_subwords(tgt) for _, tgt in read_pairs(test)]
        result["test"] = round(bleu(lines.read_text(encoding="utf-8").split("\n")[:-1], references), 4)
    content = {"files": [*map(str, files)], "result": result}
    write_whole(folder / "result.json", json.dumps(content) + "\n")


def flags_of(column: Column, seed: int, is_resumed: bool) -> Sequence[object]:
    """The options of `python -m reference train`; the cache changes how long decoding takes, not what it finds."""
    if is_resumed:
        return ["--resume"]
    changes = [part for name, value in column.changes.items() for part in (f"--{name.replace('_', '-')}", value)]
    return ["--preset", "course", "--cached", "--seed", seed, *changes]


Rows = dict[Column, list[Result | None]]
"""By column the result with each seed, as far as there is one."""


def measure(
    tables: Sequence[int],
    only: Sequence[str] | None,
    seeds: int,
    train: Path,
    dev: Path,
    test: Path | None,
    output: Path,
    show: bool,
) -> int:
    """Trains what is missing, prints the tables and writes tables.md; returns the exit status.

    Args:
        tables: their numbers.
        only: texts of which a column's name must contain one; None = all columns.
        seeds: runs of each column.
        train: training pairs.
        dev: dev pairs.
        test: test pairs, or None.
        output: folder for runs and tables.
        show: train nothing.
    """
    columns = {
        number: [column for column in TABLES[number] if only is None or any(text in column.name for text in only)]
        for number in tables
    }
    if not any(columns.values()):
        raise ConfigError(f"--only {' '.join(only or ())}: no column of these tables is named like that")
    files = train, dev, test
    make_folder(output)
    failures = (
        [] if show else train_missing([one for several in columns.values() for one in several], seeds, files, output)
    )
    parts = []
    for number, several in columns.items():
        rows = {one: [find_result(place(one, seed, output), files) for seed in range(seeds)] for one in several}
        parts += [f"### {TITLES[number]}", models(rows, test is not None), masks(rows)] if rows else []
    text = "\n\n".join(filter(None, parts))
    write_whole(output / "tables.md", text + "\n")
    print(text)
    for failure in failures:
        print(f"benchmarks: {failure}", file=sys.stderr)
    return 1 if failures else 0


def train_missing(columns: Sequence[Column], seeds: int, files: Files, output: Path) -> list[str]:
    """Trains all columns with the first seed, then with the next, so that whoever stops early has a row of each.

    Returns:
        A line for each run that failed.
    """
    places = {place(column, seed, output): (column, seed) for seed in range(seeds) for column in columns}
    missing = [folder for folder in places if find_result(folder, files) is None]
    failures = []
    for folder in tqdm(missing, unit="run", disable=None):
        try:
            make_result(*places[folder], folder, files)
        except CommandError as error:
            failures.append(f"{folder.relative_to(output)}: {error}")
    return failures


def models(rows: Rows, has_test: bool) -> str:
    """A table of all models of one of the report's tables."""
    figures = ["dev", *["test"] * has_test, "minutes"]
    cells = []
    for column, results in rows.items():
        done = [result for result in results if result]
        measured = [mean_and_spread([result[name] for result in done]) for name in figures]
        reported = ", ".join(f"{value:.2f}" for value in column.reported)
        cells.append([column.name, len(done) or "not run", *measured, reported])
    heads = ["dev BLEU", *["test BLEU"] * has_test, "minutes of CPU a run"]
    return table(["model", "seeds", *heads, "the report"], cells)


def masks(rows: Rows) -> str:
    """A table of the diagonal mask's effect on dev BLEU; "" where there are no runs with it and without."""
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
    """Formats the mean and, of several values, the standard deviation."""
    if not values:
        return "–"
    return f"{mean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")


ABLATIONS = {
    "no positional encoding": ("embedding.py", "self.dropout(x + self.code[:length])", "self.dropout(x)"),
    "no cross-attention": ("layers.py", "attention(x, memory, memory", "attention(x, 0 * memory, 0 * memory"),
    "no causal mask in training": ("data.py", " & causal_mask(tgt_input.size(1))", ""),
    "attention not scaled": ("attention.py", " / math.sqrt(query.size(-1))", ""),
    "attention not masked": ("attention.py", "if mask is not None:", "if False:"),
}
"""The file of the reference, the text that goes, and what takes its place."""


def bleu_without(part: str, train: Path, dev: Path, seed: int = 0) -> float:
    """Trains the reference without a part, or, by another name, with all; dev BLEU after the last epoch."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(REFERENCE, Path(name, REFERENCE.name))
        if part in ABLATIONS:
            file, old, new = ABLATIONS[part]
            path = Path(name, REFERENCE.name, file)
            text = path.read_text(encoding="utf-8")
            if text.count(old) != 1:
                raise RuntimeError(f"{file}: expected {old!r} once")
            path.write_text(text.replace(old, new), encoding="utf-8")
        run_reference(Path(name, "run"), train, dev, "--preset", "course", "--seed", seed, cwd=Path(name))
        last = Path(name, "run", "history.jsonl").read_text(encoding="utf-8").splitlines()[-1]
        return float(json.loads(last)["dev_bleu"])


def measure_ablations(seeds: int, train: Path, dev: Path) -> int:
    """Trains all models, and prints a table, each row once it is known."""

    def row(part: str) -> list[str]:
        if part in ABLATIONS:
            return [part, f"{bleu_without(part, train, dev):.3f}"]
        found = [bleu_without(part, train, dev, seed) for seed in range(seeds)]
        return [f"intact, {counted(seeds, 'seed')}", f"{min(found):.3f} to {max(found):.3f}, mean {mean(found):.3f}"]

    print_table(["model", "dev BLEU"], map(row, ["intact", *ABLATIONS]))
    return 0
