"""The memory that preparing a corpus and training on it take: it must not grow with the number of pairs."""

import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from reference.data import DataError

from .processes import asked, family

WORDS = 20_000  # of each made-up language, as frequent as Zipf's law has it
MEAN_LENGTH = 20  # words of a sentence
DEV = 200  # pairs
AT_ONCE = 10_000  # pairs that are made up together
SECONDS = 0.05  # between two looks at a process
MIB = 2**20


def measure(sizes: list[int], steps: int, folder: Path | None) -> int:
    """Prepares and trains for each number of pairs, and prints a table of peaks.

    Args:
        sizes: numbers of made-up pairs.
        steps: of training, with the preset wmt14-de-en.
        folder: for the files, some 400 MB per million pairs; None = the system's folder for temporary files.
    """
    print("| pairs | `data prepare`, MiB | minutes | `train`, MiB | of that files mapped | minutes |")
    print("|---|---|---|---|---|---|")
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            place = Path(name)
            make_up(size, place)
            text = ["--train", place / "text.de", place / "text.en", "--dev", DEV, "--test", 0]
            preset = ["--preset", "wmt14-de-en"]
            prepared = peak("data", "prepare", *preset, *text, "--output", place / "corpus")
            corpus = ["--train", place / "corpus/train.arrow", "--dev", place / "corpus/dev.bpe"]
            length = ["--max-steps", steps, "--report-every", steps]
            trained = peak("reference", "train", *preset, *corpus, *length, "--output", place / "run")
        (rss, _, minutes), (train_rss, mapped, train_minutes) = prepared, trained
        print(
            f"| {size:,} | {rss:.0f} | {minutes:.1f} | {train_rss:.0f} | {mapped:.0f} | {train_minutes:.1f} |",
            flush=True,
        )
    return 0


def make_up(count: int, folder: Path) -> None:
    """Writes `text.de` and `text.en` with so many lines of made-up words."""
    drawing = np.random.default_rng(0)
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    for language in ("de", "en"):
        words = np.array([_spell(number, language) for number in range(WORDS)])
        with (folder / f"text.{language}").open("w") as file:
            for start in range(0, count, AT_ONCE):
                lengths = drawing.poisson(MEAN_LENGTH, min(AT_ONCE, count - start)) + 1
                drawn = words[drawing.choice(WORDS, lengths.sum(), p=shares)]
                for sentence in np.split(drawn, np.cumsum(lengths)[:-1]):
                    file.write(" ".join(sentence) + " .\n")


def _spell(number: int, language: str) -> str:
    """A word of its own for each number: two letters instead of a digit."""
    letters = "bd" if language == "de" else "kl"
    return "".join(letters[int(digit) // 5] + "aeiou"[int(digit) % 5] for digit in str(number))


def peak(*words: object) -> tuple[float, float, float]:
    """Runs `python -m` with these words and watches its memory.

    Returns:
        The peak of the process with its children and the part of it that is mapped files, which the system takes
        back when it needs the memory (both in MiB), and the minutes.

    Raises:
        DataError: if the process fails; with the last line of what it said.
    """
    start = time.perf_counter()
    command = [sys.executable, "-m", *map(str, words)]
    most = [0, 0]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)  # noqa: S603  # our own words
        while process.poll() is None:
            now = [sum(sizes) for sizes in zip(*map(resident, family(process.pid)), strict=True)]
            most = max(most, now)
            time.sleep(SECONDS)
        if process.returncode:
            output.seek(0)
            said = output.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise DataError(f"{shlex.join(command[1:])} ended with status {process.returncode}: {said}")
    return most[0] / MIB, most[1] / MIB, (time.perf_counter() - start) / 60


def resident(process: psutil.Process) -> tuple[int, int]:
    """Returns the bytes of memory that a process occupies now, and how many of them are files."""
    memory = asked(process.memory_info, None)
    return (0, 0) if memory is None else (memory.rss, memory.shared)
