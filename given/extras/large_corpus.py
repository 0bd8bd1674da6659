"""Millions of pairs, read from the disk as training asks for them: 4.5 million take little more memory than a few.

`train` takes a large file of `source|||target` lines so; the run is the same, to the last bit, as with the pairs in
memory. Only instructors have this module.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..package import Package

if TYPE_CHECKING:
    from ..package import Pair


class PairsOnDisk(Sequence["Pair"]):
    """The pairs of a file; of each only its place is in memory."""

    def __init__(self, package: Package, path: Path, most_tokens: int | None = None) -> None:
        """Reads the file once, to check it; arguments and errors as for `read_pairs` of the package."""
        self._separator: str = package.data.SEPARATOR
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._places = array("Q")
        number, place = 0, 0
        for number, line in enumerate(iter(self._map.readline, b""), start=1):
            if package.data.parse_pair(decoded(line), f"{path}:{number}", most_tokens):
                self._places.append(place)
            place += len(line)
        package.data.note_left_out(path, number - len(self), number, most_tokens)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> Pair:  # type: ignore[override]  # nobody slices
        """Reads a pair. Raises: IndexError behind the last, which ends a loop."""
        self._map.seek(self._places[index])
        source, target = decoded(self._map.readline()).split(self._separator)
        return source.split(), target.split()


def decoded(line: bytes) -> str:
    """Returns the text of a line."""
    return line.decode("utf-8-sig", "replace")
