"""Memory does not grow with the number of pairs: some tens of bytes for each, never the pairs themselves."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from data.preparation.choices import Choices
from data.preparation.corpus import prepare
from given.extras import arrow_corpus
from given.extras.arrow_corpus import ArrowPairs
from reference.data import BatchLoader, take_census
from reference.vocab import Vocabulary

SIZES = (500, 2000)
MOST_BYTES = 60  # a pair of these sentences takes some 5,000 as Python objects


def pairs(count: int) -> Iterator[tuple[str, str]]:
    """Made-up pairs that are all different, out of few words."""
    for number in range(count):
        words = [f"w{digit}" for digit in f"{number:06}{number * 7919:010}"]
        yield " ".join(words), " ".join(reversed(words))


def peak(work: Callable[[], object]) -> int:
    """The most bytes of Python's memory that some work takes at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["bpe", "words"])
def test_preparing_and_training(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(arrow_corpus, "ROWS", 100)
    choices = Choices(encoding=encoding, vocabulary=50, joint=True, dev=20, test=20, arrow=True)
    preparing, training = [], []
    prepare({"train": pairs(100)}, choices, made(tmp_path / "first"))  # what is loaded once counts for nobody
    list(ArrowPairs(tmp_path / "first/train.arrow"))
    for size in SIZES:
        folder = made(tmp_path / str(size))
        preparing.append(peak(lambda size=size, folder=folder: prepare({"train": pairs(size)}, choices, folder)))

        def read(folder: Path = folder) -> None:
            mapped = ArrowPairs(folder / "train.arrow")
            vocabularies = [Vocabulary.from_counts(counts) for counts in take_census(mapped).counts]
            batches = BatchLoader(mapped, *vocabularies, 8, bucketing=True).epoch(0)
            for _ in range(10):
                next(batches)

        training.append(peak(read))
    for least, most in (preparing, training):
        assert most - least < MOST_BYTES * (SIZES[1] - SIZES[0]), (least, most)


def made(folder: Path) -> Path:
    """A new folder."""
    folder.mkdir()
    return folder
