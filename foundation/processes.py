"""Jobs in forked children of this process, and limits on the time of trusted code.

What happens to one child happens to that job alone. No child outlives its parent, even where that is killed.

A time limit is for code of ours that submitted or faulty code may have led astray. Windows lacks the timers: where
students test their own code there, nothing limits its time.
"""

import ctypes
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from types import FrameType
from typing import Generic, TypeVar

Job = TypeVar("Job")
Message = TypeVar("Message")
Item = TypeVar("Item")
Answer = TypeVar("Answer")

FAILED = 70  # exit status of a child whose work raised an exception
PR_SET_PDEATHSIG = 1
AGAIN_SECONDS = 1.0
"""The exception is raised again at this interval, in case the block caught it, or a finalizer in which it is lost."""

HAS_TIMERS = hasattr(signal, "setitimer")
WALL = (signal.ITIMER_REAL, signal.SIGALRM) if HAS_TIMERS else (0, 0)
CPU = (signal.ITIMER_PROF, signal.SIGPROF) if HAS_TIMERS else (1, 1)


@dataclass(frozen=True)
class Ended:
    """The end of a job: the child's exit status, or minus the signal that ended it; why it was not completed, or ""."""

    status: int
    reason: str = ""


@dataclass
class _Running(Generic[Job]):
    job: Job
    process: ForkProcess
    deadline: float
    reason: str = ""


def run_forked(
    jobs: Iterable[Job], work: Callable[[Job], Iterable[Message]], seconds: float, n_children: int = 1
) -> Iterator[tuple[Job, Message | Ended]]:
    """Does each job in a child of its own, so many at a time; one that takes more seconds of wall time is killed.

    What `work` yields in the child is pickled and sent here. Yields a job with each message of its child, and at last
    with how the child ended.
    """
    context = multiprocessing.get_context("fork")
    waiting, running = deque(jobs), dict[Connection, _Running[Job]]()
    try:
        while waiting or running:
            while waiting and len(running) < n_children:
                job = waiting.popleft()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_child, args=(work, job, sender, os.getpid()))
                process.start()
                sender.close()  # so that the pipe ends with the child
                running[receiver] = _Running(job, process, time.monotonic() + seconds)
            left = min(child.deadline for child in running.values()) - time.monotonic()
            ready = wait([*running], max(0.0, left))
            for receiver, child in [(receiver, running[receiver]) for receiver in running if receiver in ready]:
                try:
                    message = receiver.recv()
                except (EOFError, OSError, pickle.UnpicklingError):  # also in the middle of a message
                    del running[receiver]
                    receiver.close()
                    yield child.job, _end(child)
                    continue
                if isinstance(message, Ended):  # the exception that its work raised
                    child.reason = message.reason
                else:
                    yield child.job, message
            for child in running.values():
                if child.deadline <= time.monotonic():
                    child.process.kill()
                    child.reason = f"it took longer than {seconds:g} s"
                    child.deadline += 1
    finally:
        for receiver, child in running.items():
            child.process.kill()
            child.process.join()
            receiver.close()


def ask_forked(
    items: Sequence[Item], answer: Callable[[Item], Answer], seconds: float, n_children: int = 1
) -> Iterator[tuple[Item, Answer | Ended]]:
    """Each item once, with the answer from a child of its own, or with how that ended without one; as above."""
    answered = set()
    for number, message in run_forked(range(len(items)), lambda number: [answer(items[number])], seconds, n_children):
        if not isinstance(message, Ended) or number not in answered:
            yield items[number], message
        answered.add(number)


def _end(child: _Running[Job]) -> Ended:
    child.process.join()
    status = child.process.exitcode or 0
    child.process.close()
    ended = f"ended {'with status' if status > 0 else 'by signal'} {abs(status)}"
    return Ended(status, (child.reason or ended) if status else "")


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent(parent: int) -> None:
    """Lets the system kill this process as soon as its parent ends; exits where that has happened already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(FAILED)


def _child(work: Callable[[Job], Iterable[Message]], job: Job, sender: Connection, parent: int) -> None:
    end_with_parent(parent)
    gc.freeze()  # or the collector would look at all that is shared with the parent, and so copy it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children itself
    status = FAILED
    try:
        for message in work(job):
            sender.send(message)
        status = 0
    except BaseException as error:
        traceback.print_exc()
        sender.send(Ended(FAILED, f"{type(error).__name__}: {error}"))
    finally:
        sys.stderr.flush()
        os._exit(status)  # nothing that the parent has registered for its own exit may run here


def check_main_thread() -> None:
    """Raises RuntimeError outside the main thread, where Python delivers no signals and so no limit can be kept."""
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("time limits work only in a process's main thread; run this in a process of its own")


@contextmanager
def time_limit(seconds: float, clock: tuple[int, int] = WALL) -> Iterator[list[float]]:
    """Raises TimeoutError inside the block when the time is up, on the clock WALL or CPU, that of this process.

    Limits on the same clock may be nested: the inner one never extends the outer one, which resumes afterwards. Yields
    a list that stays empty until the limit is reached, for callers whose block may catch exceptions.

    Raises: RuntimeError outside the main thread.
    """
    check_main_thread()
    struck: list[float] = []
    if not HAS_TIMERS:
        yield struck
        return

    def stop(_: int, frame: FrameType | None) -> None:
        struck.append(seconds)
        raise TimeoutError(f"the test took longer than {seconds} s")

    timer, number = clock
    now = time.process_time if clock == CPU else time.monotonic
    before, began = signal.signal(number, stop), now()
    left, interval = signal.setitimer(timer, seconds, AGAIN_SECONDS)
    if 0 < left < seconds:
        signal.setitimer(timer, left, AGAIN_SECONDS)
    try:
        yield struck
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
        if left:
            signal.setitimer(timer, max(left - (now() - began), 1e-3), interval)
