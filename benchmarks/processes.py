"""The processes below a process, and what they use; one that has ended has no children, no command and uses nothing."""

from collections.abc import Callable
from typing import TypeVar

import psutil

T = TypeVar("T")


def family(pid: int) -> list[psutil.Process]:
    """Returns a process and all below it."""
    return asked(lambda: [one := psutil.Process(pid), *one.children(recursive=True)], [])


def children_of(pid: int) -> list[int]:
    """Returns the ids of a process's children."""
    return asked(lambda: [child.pid for child in psutil.Process(pid).children()], [])


def parent_of(pid: int) -> int:
    """Returns the id of a process's parent, or 0."""
    return asked(lambda: psutil.Process(pid).ppid(), 0)


def command_of(pid: int) -> str:
    """Returns the command line of a process."""
    return asked(lambda: " ".join(psutil.Process(pid).cmdline()), "")


def cpu_seconds(process: psutil.Process) -> float:
    """Returns the CPU seconds of a process and of its children that have ended."""
    return float(sum(process.cpu_times()[:4]))


def asked(what: Callable[[], T], otherwise: T) -> T:
    """Returns what a process says, or something else where it has ended."""
    try:
        return what()
    except psutil.NoSuchProcess:  # ZombieProcess is one of them
        return otherwise
