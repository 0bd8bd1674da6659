"""A training split as a memory-mapped Arrow file: 4.5 million pairs take no more memory than a few.

`data prepare --arrow` writes such a file and `train --train FILE.arrow` reads it; the run is the same, to the last bit,
as with the `source|||target` lines that the file was made from. It has a row per pair, with the tokens of `source` and
`target` separated by spaces; the library `datasets` opens it too.
Only instructors have this module.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from .. import package

CENSUS = b"census"  # key of the schema's metadata
ROWS = 10_000  # pairs that are written together


def write_arrow(lines: Path, path: Path) -> None:
    """Converts a file of `source|||target` lines, which has been checked already; reads it twice."""
    import pyarrow as pa

    described = {CENSUS: json.dumps(vars(count_lines(lines)))}
    schema = pa.schema([("source", pa.string()), ("target", pa.string())], described)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        pairs = read_lines(lines)
        while rows := list(islice(pairs, ROWS)):
            columns = [pa.array([" ".join(pair[side]) for pair in rows]) for side in (0, 1)]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def count_lines(path: Path) -> package.data.Census:
    """Takes the census of a file of lines, one line at a time."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    longest = [0, 0]
    mark = hashlib.sha256(b"[")
    for index, pair in enumerate(read_lines(path)):
        for side, tokens in enumerate(pair):
            counts[side].update(tokens)
            longest[side] = max(longest[side], len(tokens))
        mark.update((", " * bool(index) + json.dumps(pair)).encode())
    mark.update(b"]")
    return package.data.Census(counts, (longest[0], longest[1]), mark.hexdigest())


def read_lines(path: Path) -> Iterator[package.data.Pair]:
    """Reads pairs one at a time."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            source, _, target = line.partition(package.data.SEPARATOR)
            yield source.split(), target.split()


class ArrowPairs(Sequence[package.data.Pair]):
    """The pairs of an Arrow file; each is read from the disk when it is asked for.

    Attributes:
        census: what is known of all pairs without reading them.
    """

    def __init__(self, path: Path, most_tokens: int | None = None) -> None:
        """Maps the file into memory. Raises: DataError if it cannot be read, is something else, or has longer pairs.

        Args:
            path: of the file.
            most_tokens: the most on a side that the run takes; None = as many as the model can read.
        """
        import pyarrow as pa

        try:
            table = pa.ipc.open_stream(pa.memory_map(str(path))).read_all()  # nothing is copied
            described: dict[str, Any] = json.loads(table.schema.metadata[CENSUS])
        except (pa.ArrowException, OSError, LookupError, TypeError, ValueError):
            raise package.data.DataError(f"{path}: no file that `data prepare --arrow` wrote") from None
        self._columns = [table.column(side) for side in ("source", "target")]
        source, target = (Counter[str](counts) for counts in described["counts"])
        longest: list[int] = described["longest"]
        self.census = package.data.Census((source, target), (longest[0], longest[1]), described["fingerprint"])
        allowed = min(most_tokens or package.data.LONGEST["target"], package.data.LONGEST["target"])
        if max(longest) > allowed:
            what = f"a side of {max(longest)} tokens, expected at most {allowed}"
            raise package.data.DataError(f"{path}: {what}; prepare it again with --most-tokens {allowed}")

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, index: int) -> package.data.Pair:  # type: ignore[override]  # nobody slices
        """Reads a pair."""
        source, target = (column[index].as_py().split(" ") for column in self._columns)
        return source, target
