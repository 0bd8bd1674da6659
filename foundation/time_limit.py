"""A limit on the time of trusted code that submitted or faulty code may have led astray."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

AGAIN_SECONDS = 1.0
"""An exception that somebody caught is raised again after this time."""

WALL, CPU = (signal.ITIMER_REAL, signal.SIGALRM), (signal.ITIMER_PROF, signal.SIGPROF)


@contextlib.contextmanager
def time_limit(seconds: float, clock: tuple[int, int] = WALL) -> Iterator[list[float]]:
    """Raises TimeoutError in the block that takes longer; only the main thread can have a limit.

    A limit inside another one of the same clock ends with that one, which goes on afterwards.

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
