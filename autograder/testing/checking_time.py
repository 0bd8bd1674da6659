"""How long trusted code may take to check what a submission returned; an odd answer could keep it busy for ever.

This is a safety net in CPU time, far above what the tests need (about six seconds together). It strikes for hostile
answers alone, and the record says so when it does. No file of tests, of one task each, can use up the time of the
others.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from foundation.watchdog import CPU, time_limit

SECONDS, SECONDS_A_FILE, SECONDS_IN_ALL, FEW_SECONDS = 8.0, 10.0, 60.0, 2.0
"""CPU time of this process for one test, for all of a file, for all files, and for one test once another test of the
same file took too long."""
MOST_STRIKES = 2
"""After this many tests of a file that took too long, its other tests are skipped."""

TOO_LONG = "checking timed out: the returned value is too large, or has too many parts, to compare"


class CheckingTimeoutError(Exception):
    """The test itself took too long, over answers that came in time."""


class CheckingTime:
    """The time that checking one submission may take.

    Attributes:
        exhausted_by: ids of the tests that took too long.
    """

    def __init__(self) -> None:
        """Starts with all of the time left."""
        self.exhausted_by: list[str] = []
        self._seconds: defaultdict[Path, float] = defaultdict(float)
        self._strikes: Counter[Path] = Counter()

    @contextlib.contextmanager
    def limit(self, file: Path, nodeid: str) -> Iterator[None]:
        """Limits the time of a block in which one test of a file runs.

        Raises:
            CheckingTimeoutError: where it takes too long, or others of the file have.
        """
        strikes, used = self._strikes[file], self._seconds[file]
        left = SECONDS_IN_ALL - sum(self._seconds.values())
        seconds = min(FEW_SECONDS if strikes else SECONDS, SECONDS_A_FILE - used, left - used)
        if strikes >= MOST_STRIKES or seconds <= 0:
            raise CheckingTimeoutError(TOO_LONG)
        began = time.process_time()
        struck: list[float] = []
        try:
            with time_limit(seconds, CPU) as struck:
                yield
        finally:
            self._seconds[file] += time.process_time() - began
            if struck:
                self._strikes[file] += 1
                self.exhausted_by.append(nodeid)
                raise CheckingTimeoutError(TOO_LONG)
