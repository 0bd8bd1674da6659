"""Limits the time of trusted code that submitted or faulty code may have led astray.

Windows lacks the timers. Students may test their own code there: nothing limits its time then.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

AGAIN_SECONDS = 1.0
"""The exception is raised again at this interval, in case the block caught it, or a finalizer in which it is lost."""

HAS_TIMERS = hasattr(signal, "setitimer")
WALL, CPU = (
    ((signal.ITIMER_REAL, signal.SIGALRM), (signal.ITIMER_PROF, signal.SIGPROF)) if HAS_TIMERS else ((0, 0), (1, 1))
)


def check_main_thread() -> None:
    """Raises RuntimeError outside the main thread, where Python delivers no signals and so no limit can be kept."""
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("time limits work only in a process's main thread; run this in a process of its own")


@contextlib.contextmanager
def time_limit(seconds: float, clock: tuple[int, int] = WALL) -> Iterator[list[float]]:
    """Raises TimeoutError inside the block when the time is up.

    Limits on the same clock may be nested: the inner one never extends the outer one, which resumes afterwards.

    Args:
        seconds: the limit.
        clock: WALL, or CPU for the CPU time of this process.

    Yields:
        A list that stays empty until the limit is reached, for callers whose block may catch exceptions.

    Raises:
        RuntimeError: outside the main thread.
        TimeoutError: when the block takes longer.
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
