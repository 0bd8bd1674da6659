"""The memory that preparing a corpus and training on it take: it must not grow with the number of pairs."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .processes import print_table, run

WORDS = 20_000  # of each made-up language, as frequent as Zipf's law has it
MEAN_LENGTH = 20  # words of a sentence
DEV = 200  # pairs
AT_ONCE = 10_000  # pairs that are made up together
SECONDS = 0.05  # between two looks at a process


def measure(pairs: Sequence[int], steps: int, folder: Path | None) -> int:
    """Prepares and trains for each number of pairs, and prints the peaks.

    Args:
        pairs: numbers of made-up pairs.
        steps: of training, with the preset wmt14-de-en.
        folder: for the files, some 400 MB per million pairs; None = the system's folder for temporary files.
    """
    figures = (costs(count, steps, folder) for count in pairs)
    rows = ([f"{count:,}", *(f"{figure:.1f}" for figure in row)] for count, row in zip(pairs, figures, strict=True))
    print_table(["pairs", "`data prepare`, MiB", "minutes", "`train`, MiB", "of that files mapped", "minutes"], rows)
    return 0


def costs(count: int, steps: int, folder: Path | None) -> tuple[float, ...]:
    """The figures of one row, for so many made-up pairs."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place, preset = Path(name).resolve(), ["--preset", "wmt14-de-en"]
        make_up(count, place)
        text = ["--train", place / "text.de", place / "text.en", "--dev", DEV, "--test", 0]
        prepared = run("-m", "data", "prepare", *preset, *text, "--output", place / "corpus", every=SECONDS)
        corpus = ["--train", place / "corpus/train.arrow", "--dev", place / "corpus/dev.bpe"]
        length = ["--max-steps", steps, "--report-every", steps, "--output", place / "run"]
        trained = run("-m", "reference", "train", *preset, *corpus, *length, every=SECONDS)
    return prepared.memory, prepared.wall / 60, trained.memory, trained.mapped, trained.wall / 60


def make_up(count: int, folder: Path) -> None:
    """Writes `text.de` and `text.en` with so many lines of made-up words."""
    drawing = np.random.default_rng(0)
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    for language, letters in (("de", "bd"), ("en", "kl")):
        words = np.array([spell(number, letters) for number in range(WORDS)])
        with (folder / f"text.{language}").open("w") as file:
            for start in range(0, count, AT_ONCE):
                lengths = drawing.poisson(MEAN_LENGTH, min(AT_ONCE, count - start)) + 1
                drawn = words[drawing.choice(WORDS, lengths.sum(), p=shares)]
                for sentence in np.split(drawn, np.cumsum(lengths)[:-1]):
                    file.write(" ".join(sentence) + " .\n")


def spell(number: int, letters: str) -> str:
    """A word of its own for each number: two letters for each digit."""
    return "".join(letters[int(digit) // 5] + "aeiou"[int(digit) % 5] for digit in str(number))
