"""Runs commands of the kit, asks the system what processes use, and prints tables."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import TypeVar

import psutil

from foundation.command_line import INTERRUPTED, UserError
from foundation.places import ROOT
from validity.report import table_lines

T = TypeVar("T")


class CommandError(UserError):
    """A command has failed; the message has the last line of what it said."""


def run(*words: object, cwd: Path = ROOT) -> tuple[str, float]:
    """Runs `python WORDS`; returns what it prints, and the seconds of CPU that it takes with its children.

    Args:
        words: of the command line.
        cwd: the folder to run in, whose packages come before those of the repository.

    Raises:
        CommandError: if it fails.
        KeyboardInterrupt: if Ctrl-C has ended it.
    """
    before = waited_for()
    command, environment = [sys.executable, *map(str, words)], os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, errors="replace")  # noqa: S603
    if done.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
        raise CommandError(f"python {shlex.join(map(str, words[:3]))} ended with status {done.returncode}: {said}")
    return done.stdout.strip(), waited_for() - before


def waited_for() -> float:
    """CPU seconds of this process's children that were waited for."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


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
