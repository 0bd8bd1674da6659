"""From the results of single runs to tables: mean and spread over seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from reference.vocab import join_subwords
from validity.markdown import table as markdown_table

from .columns import REPORTED_TRAIN, TITLES, Column
from .mask import Difference, compare, verdict
from .one_run import SPLITS, Corpus, Result, find_result


@dataclass(frozen=True)
class Row:
    """One model of a table with all of its finished runs, by seed."""

    column: Column
    results: tuple[Result, ...]

    def bleu(self, split: str) -> list[float]:
        """Returns the BLEU of each run."""
        return [result.bleu[split] for result in self.results if split in result.bleu]


@dataclass(frozen=True)
class Table:
    """A table of the report; `masks` has the effect of the diagonal mask for each size and split."""

    number: int
    rows: tuple[Row, ...]
    masks: dict[str, dict[str, Difference]]

    def as_json(self) -> dict[str, Any]:
        """Returns everything but the translations."""
        rows = [
            {
                "name": row.column.name,
                "settings": row.column.config.to_dict(),
                "bleu": {split: row.bleu(split) for split in SPLITS},
                "parameters": row.results[0].n_parameters if row.results else None,
                "cpu_seconds": [result.cpu_seconds for result in row.results],
            }
            for row in self.rows
        ]
        masks = {
            size: {split: vars(found) for split, found in by_split.items()} for size, by_split in self.masks.items()
        }
        return {"table": self.number, "rows": rows, "diagonal_mask": masks}


def summarise(number: int, columns: Sequence[Column], seeds: int, corpus: Corpus, output: Path) -> Table:
    """Collects what is finished of one table."""
    found = [[find_result(column.with_seed(seed), corpus, output) for seed in range(seeds)] for column in columns]
    rows = [Row(column, tuple(filter(None, results))) for column, results in zip(columns, found, strict=True)]
    masks: dict[str, dict[str, Difference]] = {}
    by_name = dict(zip((column.name for column in columns), found, strict=True))
    for name, masked in by_name.items():
        size, _, mask = name.partition(", ")
        if mask != "diagonal mask" or f"{size}, no mask" not in by_name:
            continue
        pairs = [(a, b) for a, b in zip(by_name[f"{size}, no mask"], masked, strict=True) if a and b]
        if pairs:
            masks[size] = {
                split: compare(
                    [a.translations[split] for a, _ in pairs],
                    [b.translations[split] for _, b in pairs],
                    [join_subwords(tgt) for _, tgt in corpus.measured[split]],
                )
                for split in corpus.measured
            }
    return Table(number, tuple(rows), masks)


def as_markdown(tables: Sequence[Table]) -> str:
    """Formats tables; a cell has the mean over seeds and, with more than one, the standard deviation."""
    return "\n\n".join(part for table in tables for part in _parts(table))


def _parts(table: Table) -> list[str]:
    has_train = any(row.column.name in REPORTED_TRAIN for row in table.rows)
    splits = [split for split in SPLITS if any(row.bleu(split) for row in table.rows)] or ["dev"]
    head = ["model", "parameters", "seeds", *(f"{split} BLEU" for split in splits), "minutes of CPU a run"]
    head.append("the report: " + ("train, dev, test" if has_train else "dev, test"))
    rows = []
    for row in table.rows:
        reported = [*([REPORTED_TRAIN[row.column.name]] if has_train else []), *row.column.reported]
        size = f"{row.results[0].n_parameters:,}" if row.results else "–"
        minutes = f"{mean(result.cpu_seconds for result in row.results) / 60:.1f}" if row.results else "–"
        cells = [mean_and_spread(row.bleu(split)) for split in splits]
        shown = ", ".join(f"{value:.2f}" for value in reported)
        rows.append([row.column.name, size, len(row.results) or "not run", *cells, minutes, shown])
    parts = [f"### {TITLES[table.number]}", markdown_table(head, rows)]
    if table.masks:
        head = ["size", "split", "seeds", "with the mask minus without", "95% over seeds", "95% over sentences", ""]
        effects = [
            [
                size,
                split,
                len(found.by_seed),
                f"{found.mean:+.3f}",
                as_interval(found.over_seeds),
                as_interval(found.over_sentences),
                verdict(found),
            ]
            for size, by_split in table.masks.items()
            for split, found in by_split.items()
        ]
        parts.append(markdown_table(head, effects))
    return parts


def mean_and_spread(values: Sequence[float]) -> str:
    """Formats the mean and, of several values, the standard deviation."""
    if not values:
        return "–"
    return f"{mean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")


def as_interval(ends: tuple[float, float] | None) -> str:
    """Formats the ends of an interval."""
    return "–" if ends is None else f"{ends[0]:+.3f} to {ends[1]:+.3f}"
