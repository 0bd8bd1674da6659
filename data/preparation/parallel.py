"""Reads parallel text: a pair of files, one file with columns, or a dataset of the library `datasets`."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..files import CorpusError

TextPair = tuple[str, str]


def read_files(source: Path, target: Path) -> list[TextPair]:
    """Pairs of lines of two files (UTF-8, `.gz` or not).

    Raises:
        CorpusError: if one is missing, is not text, or has more lines than the other.
    """
    sides = [_read_lines(path) for path in (source, target)]
    if len(sides[0]) != len(sides[1]):
        raise CorpusError(
            f"{source} has {len(sides[0]):,} lines, {target} {len(sides[1]):,}; line n of one must translate "
            "line n of the other"
        )
    return list(zip(*sides, strict=True))


def read_columns(path: Path, columns: tuple[int, int]) -> list[TextPair]:
    """Pairs of columns of a file whose lines are separated by tabs (UTF-8, `.gz` or not); empty lines are left out.

    Args:
        path: such as Tatoeba's `English<tab>French<tab>attribution`.
        columns: numbers of source and target, from 1.

    Raises:
        CorpusError: if it is missing, is not text, or a line has too few columns.
    """
    pairs = []
    for number, line in enumerate(_read_lines(path), start=1):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < max(columns):
            raise CorpusError(
                f"{path}:{number}: {len(cells)} columns, separated by tabs; expected at least {max(columns)} "
                "(--columns names source and target)"
            )
        pairs.append((cells[columns[0] - 1], cells[columns[1] - 1]))
    return pairs


def _read_lines(path: Path) -> list[str]:
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        return split_lines(content)
    except (OSError, EOFError, zlib.error) as problem:
        raise CorpusError(f"{path}: {getattr(problem, 'strerror', None) or problem}") from None
    except UnicodeDecodeError as problem:
        raise CorpusError(f"{path}: not UTF-8 text (byte {problem.start})") from None


def split_lines(content: bytes) -> list[str]:
    r"""Returns the lines of a UTF-8 text. Only "\n" ends one, as everywhere in the kit: line n must stay line n.

    Raises:
        UnicodeDecodeError: if it is not UTF-8.
    """
    lines = content.decode("utf-8-sig").split("\n")
    return lines if lines[-1] else lines[:-1]


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
        import datasets
    except ImportError:
        raise CorpusError("--dataset: the library datasets is not installed; pip install datasets") from None
    datasets.disable_progress_bars()
    try:
        splits = datasets.load_dataset(name, config)
    except Exception as problem:  # of a dozen libraries: no network, no such name, no such configuration
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
