"""Runs commands of the kit, asks the system what they and all processes below them use, and prints tables.

The memory that preparing a corpus and training on it take must not grow with the number of pairs.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import TypeVar

import numpy as np
import psutil

from foundation.command_line import INTERRUPTED, UserError
from foundation.places import ROOT
from validity.report import table_lines

T = TypeVar("T")
MIB = 2**20
WORDS = 20_000  # of each made-up language, as frequent as Zipf's law has it
MEAN_LENGTH = 20  # words of a sentence
DEV = 200  # pairs
AT_ONCE = 10_000  # pairs that are made up together
SECONDS = 0.05  # between two looks at a process


class CommandError(UserError):
    """A command has failed; the message has the last line of what it said."""


@dataclass(frozen=True)
class Run:
    """A command that has ended well."""

    wall: float  # seconds from its start to its end
    cpu: float  # seconds, with those of its children; runs side by side share theirs
    memory: float  # the most MiB that it and all processes below it occupied at a time
    mapped: float  # how many of them were mapped files, which the system takes back when it needs the memory
    output: str


def run(*words: object, every: float = 0.5, cwd: Path = ROOT) -> Run:
    """Runs `python WORDS` and looks at its memory every so many seconds.

    Args:
        words: of the command line.
        every: seconds between two looks.
        cwd: the folder to run in, whose packages come before those of the repository.

    Raises:
        CommandError: if it fails.
        KeyboardInterrupt: if Ctrl-C has ended it.
    """
    most, began, before = (0.0, 0.0), time.perf_counter(), waited_for()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        command, environment = [sys.executable, *map(str, words)], os.environ | {"PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=output, stderr=errors)  # noqa: S603
        try:
            while not has_ended(process, every):
                most = max(most, memory_of(process.pid))
        finally:
            process.kill()
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace").strip())
    if process.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if process.returncode:
        said = (texts[1] or texts[0]).rpartition("\n")[2]
        raise CommandError(f"{shlex.join(map(str, words))} ended with status {process.returncode}: {said}")
    return Run(time.perf_counter() - began, waited_for() - before, *most, texts[0])


def has_ended(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Whether a process ends within some seconds, or has ended."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def waited_for() -> float:
    """CPU seconds of this process's children that were waited for."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def memory_of(pid: int) -> tuple[float, float]:
    """MiB of memory that a process and all below it occupy now, and how many of them are mapped files."""
    sizes = [found for one in family(pid) if (found := asked(one.memory_info, None))]
    return sum(one.rss for one in sizes) / MIB, sum(one.shared for one in sizes) / MIB


def cpu_of(pid: int) -> float:
    """CPU seconds of a process and of all below it, living or waited for."""
    return sum(asked(lambda one=one: sum(one.cpu_times()[:4]), 0.0) for one in family(pid))  # type: ignore[misc]


def family(pid: int) -> list[psutil.Process]:
    """A process and all below it; nothing where it has ended."""
    return asked(lambda: [one := psutil.Process(pid), *one.children(recursive=True)], [])


def asked(what: Callable[[], T], otherwise: T) -> T:
    """What a process says, or something else where it has ended."""
    try:
        return what()
    except psutil.NoSuchProcess:  # ZombieProcess is one of them
        return otherwise


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table; rows that are measured one by one show at once."""
    for line in table_lines(head, rows):
        print(line, flush=True)


def median_ratio(values: Sequence[float], others: Sequence[float]) -> float:
    """The median of the ratios of measurements that were made in turn, so that both met the same neighbours."""
    return median(one / other for one, other in zip(values, others, strict=True))


def measure_memory(pairs: Sequence[int], steps: int, folder: Path | None) -> int:
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
