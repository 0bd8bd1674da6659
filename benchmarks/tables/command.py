"""`python -m benchmarks tables`: trains what is missing, and writes the tables with mean and spread over seeds.

Two models with the same seed begin with the same weights and see the same batches, so the effect of the diagonal mask
is the mean of the differences between such pairs. Its interval is Student's: how far it may change with other seeds.
"""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from statistics import mean, stdev

from tqdm import tqdm

from foundation.whole_files import make_folder, write_whole
from given.config import ConfigError

from ..output import table
from ..processes import CommandError
from .columns import MASK, NO_MASK, TABLES, TITLES, Column
from .runs import SPLITS, Corpus, Result, find_result, make_result, place

T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""The 97.5% quantiles of Student's t with 1, 2, … degrees of freedom; with more than 9 the last one, a little wide."""

Rows = dict[Column, list[Result | None]]
"""By column the result with each seed, as far as there is one."""


def measure(
    tables: Sequence[int],
    only: Sequence[str] | None,
    seeds: int,
    jobs: int,
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
        jobs: runs at a time.
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
    corpus = Corpus({"train": train, "dev": dev} | ({"test": test} if test else {}))
    make_folder(output)
    chosen = [] if show else [column for several in columns.values() for column in several]
    failures = train_missing(chosen, seeds, corpus, output, jobs)
    parts = []
    for number, several in columns.items():
        rows = {one: [find_result(place(one, seed, output), corpus) for seed in range(seeds)] for one in several}
        parts += [f"### {TITLES[number]}", "\n".join(models(rows)), "\n".join(masks(rows))] if rows else []
    text = "\n\n".join(filter(None, parts))
    write_whole(output / "tables.md", text + "\n")
    print(text)
    for failure in failures:
        print(f"benchmarks: {failure}", file=sys.stderr)
    return 1 if failures else 0


def train_missing(columns: Sequence[Column], seeds: int, corpus: Corpus, output: Path, jobs: int) -> list[str]:
    """Trains all columns with the first seed, then with the next, so that whoever stops early has a row of each.

    Returns:
        A line for each run that failed.

    Raises:
        CheckpointError: if the folder has results on other data.
    """
    places = {place(column, seed, output): (column, seed) for seed in range(seeds) for column in columns}
    missing = [folder for folder in places if find_result(folder, corpus) is None]
    failures = []
    with ThreadPoolExecutor(jobs) as executor, tqdm(total=len(missing), unit="run", disable=None) as bar:
        futures = {executor.submit(make_result, *places[folder], folder, corpus): folder for folder in missing}
        try:
            for future in as_completed(futures):
                if (error := future.exception()) is not None:
                    if not isinstance(error, CommandError):
                        raise error
                    failures.append(f"{futures[future].relative_to(output)}: {error}")
                bar.update()
        finally:
            executor.shutdown(cancel_futures=True)
    return failures


def models(rows: Rows) -> Iterator[str]:
    """A table of all models of one of the report's tables."""
    every = [result for results in rows.values() for result in results if result]
    splits = [split for split in SPLITS if any(split in result.bleu for result in every)] or ["dev"]
    head = [
        "model",
        "parameters",
        "seeds",
        *(f"{split} BLEU" for split in splits),
        "minutes of CPU a run",
        "the report",
    ]
    cells = []
    for column, results in rows.items():
        done = [result for result in results if result]
        size = f"{done[0].n_parameters:,}" if done else "–"
        bleu = [mean_and_spread([result.bleu[split] for result in done]) for split in splits]
        minutes = mean_and_spread([result.minutes for result in done])
        reported = ", ".join(f"{value:.2f}" for value in column.reported)
        cells.append([column.name, size, len(done) or "not run", *bleu, minutes, reported])
    return table(head, cells)


def masks(rows: Rows) -> Iterator[str]:
    """A table of the diagonal mask's effect, where there are runs with it and without."""
    by_name = {column.name: results for column, results in rows.items()}
    cells = []
    for name, masked in by_name.items():
        without = by_name.get(name.replace(MASK, NO_MASK), []) if MASK in name else []
        pairs = [(a.bleu, b.bleu) for a, b in zip(without, masked, strict=False) if a and b]
        for split in pairs[0][0] if pairs else ():
            differences = [b[split] - a[split] for a, b in pairs]
            cells.append([name.split(",")[0], split, len(pairs), f"{mean(differences):+.3f}", *verdict(differences)])
    head = ["size", "split", "seeds", "with the mask minus without", "95% over seeds", ""]
    return table(head, cells) if cells else iter(())


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
