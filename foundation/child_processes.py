"""Jobs in forked children of this process: what happens to one, happens to that one alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait

FAILED = 70
"""Exit status of a child whose work raised an exception."""


def run_forked(
    jobs: deque, work: Callable[[object], int], seconds: float, n_children: int = 1
) -> Iterator[tuple[object, int]]:
    """Does each job in a child of its own.

    Args:
        jobs: taken from the left; more may be added while this runs.
        work: called in the child; returns its exit status.
        seconds: wall time of one job; a child that takes longer is killed.
        n_children: at a time.

    Yields:
        A job and how its child ended: the exit status, or minus the signal that ended it.
    """
    context = multiprocessing.get_context("fork")
    running: dict[int, tuple[object, multiprocessing.process.BaseProcess, float]] = {}
    try:
        while jobs or running:
            while jobs and len(running) < n_children:
                job = jobs.popleft()
                child = context.Process(target=_child, args=(work, job))
                child.start()
                running[child.sentinel] = job, child, time.monotonic() + seconds
            next_end = min(deadline for _, _, deadline in running.values())
            ended = wait(list(running), max(0.0, next_end - time.monotonic()))
            if not ended:
                for _, child, deadline in running.values():
                    if deadline <= time.monotonic():
                        child.kill()
            for sentinel in ended:
                job, child, _ = running.pop(sentinel)
                child.join()
                yield job, child.exitcode
                child.close()
    finally:
        for _, child, _ in running.values():
            child.kill()
            child.join()


def _child(work: Callable[[object], int], job: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children itself
    status = FAILED
    try:
        status = work(job)
    finally:
        os._exit(status)  # nothing of what the parent has registered for its own exit
