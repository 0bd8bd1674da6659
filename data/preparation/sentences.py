"""Sentence pairs cut into words: cleaned, and kept in a file.

Memory holds numbers about the pairs only, some ten bytes each, so that millions are no trouble.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import compress
from pathlib import Path

import numpy as np

from ..files import SEPARATOR, CorpusError
from .choices import SPLITS, Choices
from .encodings import Encoding, empty_tokenizer
from .parallel import TextPair

MOST_CHARACTERS = 10_000  # longer lines are not sentences

Numbers = np.ndarray[tuple[int], np.dtype[np.uint64]]
Chosen = np.ndarray[tuple[int], np.dtype[np.bool_]]
"""Whether a pair is chosen, for each pair."""


class SentencePairs:
    """Pairs of a split: words separated by spaces."""

    def __init__(self, path: Path, chosen: Chosen) -> None:
        """Takes a file of lines `source|||target` and which of them count."""
        self.path, self.chosen = path, chosen

    def __len__(self) -> int:
        """The number of pairs."""
        return int(self.chosen.sum())

    def __iter__(self) -> Iterator[TextPair]:
        """Reads the pairs from the file."""
        with self.path.open(encoding="utf-8", newline="\n") as file:
            for line in compress(file, self.chosen.tobytes()):
                source, _, target = line.rstrip("\n").partition(SEPARATOR)
                yield source, target

    def choose(self, chosen: Chosen) -> SentencePairs:
        """Returns some of these pairs."""
        rows = self.chosen.copy()
        rows[rows] = chosen
        return SentencePairs(self.path, rows)


def split_name(name: str) -> str:
    """Returns our name for a dataset's split: `validation` is our `dev`."""
    return "dev" if name.startswith("val") else name


def clean(
    splits: Mapping[str, Iterable[TextPair]], choices: Choices, folder: Path, tick: Callable[[], object]
) -> tuple[dict[str, SentencePairs], Counter[str]]:
    """Cuts each split into words; drops pairs that are empty, too long, or in another split (test wins over training).

    A word has at least one token, so a pair with too many words can be dropped before there is an encoding.

    Args:
        splits: texts by split, `train` among them. Names that begin with `val` count as `dev`.
        choices: how text becomes a corpus.
        folder: for the files.
        tick: called once per pair.

    Returns:
        The pairs by split, and how many were dropped by reason.

    Raises:
        CorpusError: if there is no training split.
    """
    named = {split_name(name): pairs for name, pairs in splits.items()}
    if "train" not in named:
        raise CorpusError(f"it has no split 'train', only {', '.join(splits) or 'nothing'}")
    cut = Encoding(empty_tokenizer(choices.pre_tokenizer, choices.lowercase)).cut
    dropped: Counter[str] = Counter()
    marks = array("Q")  # of the sources of all pairs so far
    ends = {}
    for split in reversed([split for split in SPLITS if split in named]):
        with (folder / f"{split}.sentences").open("w", encoding="utf-8", newline="\n") as file:
            for texts in named[split]:
                tick()
                if max(map(len, texts)) > MOST_CHARACTERS:
                    dropped["too long"] += 1
                    continue
                source, target = map(cut, texts)
                if not source or not target:
                    dropped["empty"] += 1
                elif max(len(source), len(target)) > choices.most_tokens:
                    dropped["too long"] += 1
                else:
                    line = " ".join(source)
                    marks.append(int.from_bytes(hashlib.blake2b(line.encode(), digest_size=8).digest(), "big"))
                    file.write(f"{line}{SEPARATOR}{' '.join(target)}\n")
        ends[split] = len(marks)
    is_first = first_of_each(np.frombuffer(marks, np.uint64))
    if seen_before := len(marks) - int(is_first.sum()):
        dropped["source seen before"] = seen_before
    parts = np.split(is_first, list(ends.values()))
    found = {
        split: SentencePairs(folder / f"{split}.sentences", part) for split, part in zip(ends, parts, strict=False)
    }
    return found, dropped


def first_of_each(marks: Numbers) -> Chosen:
    """Tells for each number whether it has not occurred before."""
    is_first = np.zeros(len(marks), bool)
    last_bytes = marks.view(np.uint8)[::8]
    for last in range(256):  # bit by bit, since sorting all at once takes several times the memory
        places = np.flatnonzero(last_bytes == last)
        is_first[places[np.unique(marks[places], return_index=True)[1]]] = True
    return is_first
