"""`python -m benchmarks tables`: trains what is missing, and writes the tables."""

import argparse
import json
import math
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from foundation.child_processes import Ended, run_forked
from foundation.command_line import positive
from foundation.whole_files import make_folder, write_whole
from given.config import Config, ConfigError

from .columns import TABLES, Column
from .one_run import Corpus, find_result, make_results, place
from .plots import draw
from .summary import Table, as_markdown, summarise

CORPUS = Path("data/corpus")


def add_flags(sub: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    sub.add_argument("--tables", type=int, nargs="+", choices=TABLES, default=[*TABLES], help="default: all three")
    sub.add_argument("--only", nargs="+", metavar="TEXT", help="only columns whose name contains one of these texts")
    sub.add_argument("--seeds", type=positive, default=3, help="runs of each column (default: 3)")
    sub.add_argument(
        "--jobs", type=positive, default=1, help="runs at a time, each in a process of its own (default: 1)"
    )
    sub.add_argument("--train", type=Path, default=CORPUS / "fren.train.bpe", help="`source|||target` lines")
    sub.add_argument("--dev", type=Path, default=CORPUS / "fren.dev.bpe", help="likewise")
    sub.add_argument("--test", type=Path, help="likewise; without it the tables have no test BLEU")
    text = "folder for runs and tables (default: runs/tables); what is finished is not done again"
    sub.add_argument("--output", type=Path, default=Path("runs/tables"), help=text)
    sub.add_argument("--show", action="store_true", help="train nothing: write the tables of what is finished")
    sub.add_argument("--json", action="store_true", help="print the tables as JSON instead of Markdown")


def run(options: argparse.Namespace) -> int:
    """Trains what is missing, writes tables.md, tables.json and a picture for each table; returns the exit status."""
    columns = {number: choose_columns(number, options.only) for number in options.tables}
    if not any(columns.values()):
        raise ConfigError(f"--only {' '.join(options.only)}: no column of these tables is named like that")
    corpus = Corpus.read(options.train, options.dev, options.test)
    make_folder(options.output)
    failures: list[str] = []
    if not options.show:
        chosen = [column for number in options.tables for column in columns[number]]
        failures = train_missing(chosen, options.seeds, corpus, options.output, options.jobs)
    tables = [
        summarise(number, columns[number], options.seeds, corpus, options.output)
        for number in options.tables
        if columns[number]
    ]
    write_tables(tables, options.output)
    print(json.dumps([table.as_json() for table in tables], indent=1) if options.json else as_markdown(tables))
    for failure in failures:
        print(f"benchmarks: {failure}", file=sys.stderr)
    return 1 if failures else 0


def choose_columns(number: int, only: list[str] | None) -> list[Column]:
    """Returns the columns of a table whose name contains one of the texts; None = all columns."""
    return [column for column in TABLES[number] if only is None or any(text in column.name for text in only)]


def write_tables(tables: list[Table], output: Path) -> None:
    """Writes the tables as Markdown, as JSON and as pictures."""
    write_whole(output / "tables.md", as_markdown(tables) + "\n")
    write_whole(output / "tables.json", json.dumps([table.as_json() for table in tables], indent=1) + "\n")
    for table in tables:
        draw(table, output / f"table-{table.number}.png")


def train_missing(columns: list[Column], seeds: int, corpus: Corpus, output: Path, jobs: int) -> list[str]:
    """Trains all columns with the first seed, then with the next, so that whoever stops early has a row of each.

    Returns:
        A line for each run that failed.

    Raises:
        CheckpointError: if the folder has results on other data.
    """
    runs: dict[Path, dict[int, Config]] = {}  # runs that differ in their length only are one training
    for seed in range(seeds):
        for column in columns:
            config = column.with_seed(seed)
            if find_result(config, corpus, output) is None:
                runs.setdefault(place(config, output), {})[config.epochs] = config

    def work(folder: Path) -> Iterator[int]:
        return make_results([*runs[folder].values()], corpus, output)

    failures = []
    with tqdm(total=sum(max(lengths) for lengths in runs.values()), unit="epoch", disable=None) as bar:
        for folder, message in run_forked(deque(runs), work, math.inf, jobs):
            if not isinstance(message, Ended):
                bar.update(message)
            elif message.reason:
                failures.append(f"{folder.relative_to(output)}: {message.reason}")
            else:
                bar.write(f"finished: {folder.relative_to(output)}", file=sys.stderr)
    return failures
