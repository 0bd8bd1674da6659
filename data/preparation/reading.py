"""Reads parallel text: a pair of files, one file with columns, or a dataset of the library `datasets`."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from ..files import CorpusError

TextPair = tuple[str, str]


def read_files(source: Path, target: Path) -> Iterator[TextPair]:
    """Reads pairs of lines of two files (UTF-8, `.gz` or not).

    Raises:
        CorpusError: if one is missing, is not text, or has more lines than the other.
    """
    counts = [0, 0]
    for texts in zip_longest(_read_lines(source), _read_lines(target)):
        for side, text in enumerate(texts):
            counts[side] += text is not None
        if None not in texts:
            yield texts[0], texts[1]
    if counts[0] != counts[1]:
        raise CorpusError(
            f"{source} has {counts[0]:,} lines, {target} {counts[1]:,}; line n of one must translate "
            "line n of the other"
        )


def read_columns(path: Path, columns: tuple[int, int], separator: str = "\t") -> Iterator[TextPair]:
    """Reads pairs of columns of a file with a pair a line (UTF-8, `.gz` or not); empty lines are left out.

    Args:
        path: such as Tatoeba's `English<tab>French<tab>attribution`.
        columns: numbers of source and target, from 1.
        separator: of the columns.

    Raises:
        CorpusError: if it is missing, is not text, or a line has too few columns.
    """
    name = "tabs" if separator == "\t" else separator
    for number, line in enumerate(_read_lines(path), start=1):
        if not line.strip():
            continue
        cells = line.split(separator)
        if len(cells) < max(columns):
            found = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            raise CorpusError(
                f"{path}:{number}: {found}, separated by {name}; expected at least {max(columns)} "
                "(--columns names source and target)"
            )
        yield cells[columns[0] - 1], cells[columns[1] - 1]


def _read_lines(path: Path) -> Iterator[str]:
    r"""Reads line by line; only "\n" ends one, as everywhere in the kit: line n must stay line n."""
    place = 0
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            for line in file:
                yield line.decode("utf-8-sig" if place == 0 else "utf-8").removesuffix("\n")
                place += len(line)
    except (OSError, EOFError, zlib.error) as problem:
        raise CorpusError(f"{path}: {getattr(problem, 'strerror', None) or problem}") from None
    except UnicodeDecodeError as problem:
        raise CorpusError(f"{path}: not UTF-8 text (byte {place + problem.start})") from None


def read_dataset(name: str, config: str | None, languages: TextPair) -> dict[str, Iterator[TextPair]]:
    """Returns the splits of a dataset whose rows have a text per language: in a field `translation` or as columns.

    Args:
        name: on the hub, or a folder of data files.
        config: such as `de-en`; None if the dataset has only one.
        languages: of source and target, such as `("de", "en")`.

    Raises:
        CorpusError: if the library is missing, or the dataset has no such languages.
    """
    try:
        import datasets  # takes seconds to load
    except ImportError:
        raise CorpusError("--dataset: the library datasets is not installed; pip install datasets") from None
    datasets.disable_progress_bars()
    try:
        splits = datasets.load_dataset(name, config)
    except Exception as problem:  # of a dozen libraries: no such name, no such configuration, a damaged file
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise CorpusError(f"--dataset {name}: it cannot be loaded: {first}") from None

    def rows(split: str) -> Iterator[TextPair]:
        for row in splits[split]:
            found = row["translation"] if isinstance(row.get("translation"), dict) else row
            # An empty cell of a table is None.
            if not all(side in found and isinstance(found[side] or "", str) for side in languages):
                known, expected = ", ".join(map(str, found)), " and ".join(languages)
                raise CorpusError(f"--dataset {name}: a row has {known}; expected texts in {expected}")
            yield found[languages[0]] or "", found[languages[1]] or ""

    return {split: rows(split) for split in splits}
