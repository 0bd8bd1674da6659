"""Millions of pairs, read from the disk as training asks for them: 4.5 million take little more memory than a few.

`train` takes a large file of `source|||target` lines so; the run is the same, to the last bit, as with the pairs in
memory. Only instructors have this module.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from array import array
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..package import Package

if TYPE_CHECKING:
    from ..package import Pair


class PairsOnDisk(Sequence["Pair"]):
    """The pairs of a file; of each only its place is in memory.

    Attributes:
        census: what is known of all pairs without reading them again.
    """

    def __init__(self, package: Package, path: Path, most_tokens: int | None = None) -> None:
        """Reads the file once, to check and count; arguments and errors as for `read_pairs` of the package."""
        data = package.data
        self._separator: str = data.SEPARATOR
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._places = array("Q")
        counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        longest, number, place, mark = [0, 0], 0, 0, hashlib.sha256(b"[")
        while line := self._map.readline():
            number, first, place = number + 1, place, place + len(line)
            sides = self._sides(line)
            if len(sides) != 2 or not all(sides):
                raise data.DataError(f"{path}:{number}: expected `source{data.SEPARATOR}target`")
            if most_tokens is None:
                for side, tokens in zip(data.LONGEST, sides, strict=True):
                    data.check_length(f"{path}:{number}", side, tokens)
            elif max(map(len, sides)) > most_tokens:
                continue
            mark.update((", " * bool(self._places) + json.dumps(sides)).encode())
            self._places.append(first)
            for index, tokens in enumerate(sides):
                counts[index].update(tokens)
                longest[index] = max(longest[index], len(tokens))
        if len(self) < number:
            n_long = number - len(self)
            print(f"{path}: left out {n_long} of {number} pairs, with more than {most_tokens} tokens on a side")
        mark.update(b"]")
        self.census = data.Census(counts, (longest[0], longest[1]), mark.hexdigest())

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> Pair:  # type: ignore[override]  # nobody slices
        """Reads a pair."""
        self._map.seek(self._places[index])
        source, target = self._sides(self._map.readline())
        return source, target

    def _sides(self, line: bytes) -> list[list[str]]:
        return [side.split() for side in line.decode("utf-8-sig", "replace").split(self._separator)]
