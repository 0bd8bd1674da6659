"""A limit on the time of trusted code that submitted or faulty code may have led astray."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

AGAIN_SECONDS = 1.0
"""An exception that somebody caught is raised again after this time."""

WALL, CPU = (signal.ITIMER_REAL, signal.SIGALRM), (signal.ITIMER_PROF, signal.SIGPROF)


@contextlib.contextmanager
def time_limit(seconds: float, clock: tuple[int, int] = WALL) -> Iterator[list[float]]:
    """Raises TimeoutError in the block that takes longer; only the main thread can have a limit.

    Args:
        seconds: the limit.
        clock: WALL, or CPU for the time of this process.

    Yields:
        A list that is empty as long as the limit has not been reached: whoever runs code that catches exceptions
        can look there.
    """
    struck: list[float] = []
    if threading.current_thread() is not threading.main_thread():
        yield struck
        return

    def stop(*_: object) -> None:
        struck.append(seconds)
        raise TimeoutError(f"the test took longer than {seconds} s")

    timer, number = clock
    before = signal.signal(number, stop)
    signal.setitimer(timer, seconds, AGAIN_SECONDS)
    try:
        yield struck
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
