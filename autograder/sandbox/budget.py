"""The account of a submission: what it has used of its limits, and whether they cover another call.

There is one total of wall time, one of CPU time, and a count of failures per component, so that a fault costs only its
own component and an endless loop costs little. Nor may one component use up the time of the others by calls that each
stay within their limit: it gets no more than its failures would cost, and never more than it leaves to the rest.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from contextlib import contextmanager

from foundation.assignment_tables import Limits

from .errors import SandboxUnavailableError, SubmissionDiedError, SubmissionTimeoutError

CPU_GRAIN = 0.1
"""Seconds. With less than this left no new worker is started, since its limit counts whole seconds."""


class Budget:
    """The account of one submission; `Sandbox` describes what it is made from."""

    def __init__(self, limits: Limits, is_fair: bool, killed_before: Container[str]) -> None:
        self.killed_before = killed_before
        self.cpu_seconds = 0.0  # of all workers that have ended
        self.failure: SandboxUnavailableError | None = None  # of the sandbox itself, after which nothing more is done
        self._limits, self._is_fair = limits, is_fair
        self._seconds_of: defaultdict[str, float] = defaultdict(float)
        self._failures: Counter[str] = Counter()
        self._timeouts: set[str] = set()

    @property
    def seconds(self) -> float:
        """Wall time spent waiting for submitted code."""
        return sum(self._seconds_of.values())

    @property
    def cpu_left(self) -> float:
        """CPU seconds that workers may still use."""
        return self._limits.cpu_seconds - self.cpu_seconds

    def renew_time(self) -> None:
        """Gives another total of wall time, which a busy machine uses up; CPU time and failures stay counted."""
        self._seconds_of.clear()

    def check_sandbox(self) -> None:
        """Raises SandboxUnavailableError where the sandbox has failed: no result since then counts."""
        if self.failure is not None:
            raise self.failure

    def check(self, component: str) -> None:
        """Refuses a call that the limits do not cover, or a sandbox that has failed."""
        self.check_sandbox()
        limits, used = self._limits, self._seconds_of[component]
        left = limits.total_seconds - self.seconds
        if left <= 0:
            raise SubmissionTimeoutError(f"the submission's total of {limits.total_seconds:.3g} s is used up")
        if self.cpu_left < CPU_GRAIN:
            raise SubmissionTimeoutError(f"the submission's CPU time of {limits.cpu_seconds} s is used up")
        if self._is_fair and used >= min(left, limits.call_seconds * limits.failures_a_component):
            raise SubmissionTimeoutError(f"{component} was skipped after {used:.3g} s in all")
        if self._failures[component] >= limits.failures_a_component:
            reason = f"{component} was skipped after {self._failures[component]} timeouts or crashes"
            raise (SubmissionTimeoutError if component in self._timeouts else SubmissionDiedError)(reason)

    @contextmanager
    def spent_by(self, component: str) -> Iterator[float]:
        """A block in which code of a component runs, for so many seconds at most; failures in it are counted."""
        self.check(component)
        started = time.monotonic()
        try:
            yield min(self._limits.call_seconds, self._limits.total_seconds - self.seconds)
        except (SubmissionTimeoutError, SubmissionDiedError) as error:
            self._failures[component] += 1
            if isinstance(error, SubmissionTimeoutError):
                self._timeouts.add(component)
            raise
        except SandboxUnavailableError as error:
            self.failure = error
            raise
        finally:
            self._seconds_of[component] += time.monotonic() - started
