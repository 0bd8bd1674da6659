"""The processes below a process, and what they use; one that has ended has no children, no command and uses nothing."""

from collections.abc import Callable
from typing import TypeVar

import psutil

T = TypeVar("T")


def family(pid: int) -> list[psutil.Process]:
    """Returns a process and all below it."""
    return asked(pid, lambda one: [one, *one.children(recursive=True)], [])


def children_of(pid: int) -> list[int]:
    """Returns the ids of a process's children."""
    return asked(pid, lambda one: [child.pid for child in one.children()], [])


def parent_of(pid: int) -> int:
    """Returns the id of a process's parent, or 0."""
    return asked(pid, lambda one: one.ppid(), 0)


def command_of(pid: int) -> str:
    """Returns the command line of a process."""
    return asked(pid, lambda one: " ".join(one.cmdline()), "")


def asked(pid: int, what: Callable[[psutil.Process], T], otherwise: T) -> T:
    """Returns what a process says, or something else where it has ended."""
    try:
        return what(psutil.Process(pid))
    except psutil.NoSuchProcess:  # ZombieProcess is one of them
        return otherwise
