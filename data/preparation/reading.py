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
    for number, (one, other) in enumerate(zip_longest(_read_lines(source), _read_lines(target)), start=1):
        if one is None or other is None:
            path = source if one is None else target
            what = "line n of one must translate line n of the other"
            raise CorpusError(f"{path} ends after {number - 1:,} lines, before the other file; {what}")
        yield one, other


def read_columns(path: Path, columns: tuple[int, int], separator: str = "\t") -> Iterator[TextPair]:
    """Reads pairs of columns of a file with a pair a line (UTF-8, `.gz` or not); empty lines are left out.

    Args:
        path: such as Tatoeba's `English<tab>French<tab>attribution`.
        columns: numbers of source and target, from 1.
        separator: of the columns.

    Raises:
        CorpusError: if it is missing, is not text, or a line has too few columns.
    """
    for number, line in enumerate(_read_lines(path), start=1):
        cells = line.split(separator)
        if line.strip() and len(cells) < max(columns):
            what = f"{len(cells)} columns, separated by {separator!r}; expected at least {max(columns)}"
            raise CorpusError(f"{path}:{number}: {what} (--columns names source and target)")
        if line.strip():
            yield cells[columns[0] - 1], cells[columns[1] - 1]


def _read_lines(path: Path) -> Iterator[str]:
    r"""Reads line by line; only "\n" ends one, as everywhere in the kit: line n must stay line n."""
    number = 1
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                yield line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n")
    except (OSError, EOFError, zlib.error) as problem:
        raise CorpusError(f"{path}: {getattr(problem, 'strerror', None) or problem}") from None
    except UnicodeDecodeError:
        raise CorpusError(f"{path}:{number}: not UTF-8 text") from None


def read_dataset(name: str, config: str | None, languages: TextPair) -> dict[str, Iterator[TextPair]]:
    """Returns the splits of a dataset whose rows have a text per language: in a field `translation` or as columns.

    Args:
        name: on the hub, or a folder of data files.
        config: such as `de-en`; None if the dataset has only one.
        languages: of source and target, such as `("de", "en")`.

    Raises:
        CorpusError: if the dataset cannot be loaded, or has no such languages.
    """
    import datasets  # takes seconds to load

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
