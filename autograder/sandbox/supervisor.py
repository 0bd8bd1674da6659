"""Keeps a submission's worker alive and within its budgets.

There is one total of wall time, one of CPU time, and a count of failures per component, so that a fault costs only its
own component and an endless loop costs little. Nor may one component use up the time of the others by calls that each
stay within their limit: it gets no more than its failures would cost, and never more than it leaves to the rest.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Container
from typing import Any, Self

from autograder.sources import Locate, Sources, in_module
from foundation.assignment_file import Assignment

from .errors import (
    SandboxUnavailableError,
    SubmissionDiedError,
    SubmissionError,
    SubmissionOutOfMemoryError,
    SubmissionTimeoutError,
    WorkerKilledError,
)
from .imports import defuse
from .session import Output, Session
from .worker.messages import Decoder, Encoder
from .zygote import Zygote

CPU_GRAIN = 0.1
"""Seconds. With less than this left no new worker is started, since its limit counts whole seconds."""


class Supervisor:
    """Starts sessions, sends them requests, and accounts for them.

    The values of the limits are in `[limits]` of `assignment.toml`.

    Args:
        sources: module name -> path, source text; the submission's merged with the release's.
        assignment: its contract and its limits.
        zygote: to fork from.
        locate: where the student finds a line, from module and number: "work.ipynb, cell 7, line 3".
        killed_before: components during whose calls a worker was killed from outside in an earlier attempt.

    Attributes:
        failure: why the sandbox itself has failed, after which it does nothing more; None = it has not.
    """

    def __init__(
        self,
        sources: Sources,
        assignment: Assignment,
        *,
        zygote: Zygote,
        locate: Locate = in_module,
        killed_before: Container[str] = (),
    ) -> None:
        self.sources, self.contract = sources, assignment.contract
        self.failure: SandboxUnavailableError | None = None
        self._is_fair = True
        self._killed_before = killed_before
        self._sources, self._assignment, self._limits = sources, assignment, assignment.limits
        self._zygote, self._locate = zygote, locate
        self._session: Session | None = None
        self._failures: Counter[str] = Counter()
        self._seconds_of: defaultdict[str, float] = defaultdict(float)
        self._timeouts: set[str] = set()
        self._cpu_of_ended = 0.0
        self._layers: tuple[str, ...] | None = None
        self._output = Output(self._limits.output_kb << 10)

    def session(self, component: str) -> Session:
        """A living session for a call on behalf of `component`.

        If it must be started, all modules are imported first: that time is no component's.
        """
        self._check(component)
        try:
            if self._session is None or not self._session.is_alive:
                self._sources = defuse(self._sources, self._end_of_import)
            return self._session_with(self._sources)
        except SandboxUnavailableError as error:
            self.failure = error
            raise

    def _session_with(self, sources: Sources) -> Session:
        """A living session with these sources: the current one, or a new one in its place."""
        if self._session is None or not self._session.is_alive or self._session.sources != sources:
            self.restart()
            cpu_left = self._limits.cpu_seconds - self._cpu_of_ended
            self._session = Session(self._zygote, sources, self._assignment, self._output, cpu_left, self._locate)
            layers = self._session.layers
            if self._layers not in (None, layers):
                raise SandboxUnavailableError(f"the layers of the sandbox fell from {self._layers} to {layers}")
            self._layers = layers
        return self._session

    def _end_of_import(self, sources: Sources, module: str) -> str:
        """Imports a module; returns why the worker ended, or ""."""
        component = f"import of {module}"
        try:
            self._check(component)
            self.request(self._session_with(sources), component, "import", {"module": module}, Encoder())
        except (SubmissionTimeoutError, SubmissionDiedError) as error:
            if self.seconds >= self._limits.total_seconds:  # which is not this module's fault alone
                raise
            return error.message
        except SubmissionError:
            return ""  # the loader keeps the error and raises it when one of the module's components is requested
        return ""

    def request(
        self, session: Session, component: str, verb: str, content: dict[str, Any], encoder: Encoder
    ) -> tuple[int, object, Decoder]:
        """`Session.request` within the budgets; `component` is blamed if the worker ends."""
        if session.is_alive:
            self._check(component)
        left = self._limits.total_seconds - self.seconds
        started = time.monotonic()
        was_alive = session.is_alive
        try:
            return session.request(verb, content, encoder, min(self._limits.call_seconds, left))
        except WorkerKilledError as error:
            if component in self._killed_before:
                raise SubmissionOutOfMemoryError(error.reason) from None
            self.failure = WorkerKilledError(component, error.reason)
            raise self.failure from None
        except SandboxUnavailableError as error:
            self.failure = error
            raise
        finally:
            self._seconds_of[component] += time.monotonic() - started
            if was_alive and not session.is_alive:
                self.note_failure(component, session)

    def note_failure(self, component: str, session: Session) -> None:
        """Counts a worker that was lost through this component."""
        self._failures[component] += 1
        if session.has_timed_out:
            self._timeouts.add(component)

    def _check(self, component: str) -> None:
        """Refuses a call that the budgets do not cover."""
        self.check()
        if self.seconds >= self._limits.total_seconds:
            raise SubmissionTimeoutError(f"the submission's total of {self._limits.total_seconds:.3g} s is used up")
        if self._cpu_of_ended > self._limits.cpu_seconds - CPU_GRAIN:
            raise SubmissionTimeoutError(f"the submission's CPU time of {self._limits.cpu_seconds} s is used up")
        if self._left_for(component) <= 0:
            raise SubmissionTimeoutError(f"{component} was skipped after {self._seconds_of[component]:.3g} s in all")
        if self._failures[component] >= self._limits.failures_a_component:
            reason = f"{component} was skipped after {self._failures[component]} timeouts or crashes"
            raise (SubmissionTimeoutError if component in self._timeouts else SubmissionDiedError)(reason)

    def _left_for(self, component: str) -> float:
        """Seconds that calls of a component may have taken when the next one begins."""
        used = self._seconds_of[component]
        left = self._limits.total_seconds - self.seconds
        if not self._is_fair:
            return left
        return min(left, self._limits.call_seconds * self._limits.failures_a_component - used, left - used)

    def grant_the_rest(self) -> None:
        """From now on any component may use all the time that is left: they are judged, and what follows is one run."""
        self._is_fair = False

    def check(self) -> None:
        """Raises SandboxUnavailableError where the sandbox has failed: what was found since then says nothing."""
        if self.failure is not None:
            raise self.failure

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of containment that were reached; starts a worker to find out."""
        return self.session("").layers if self._layers is None else self._layers

    @property
    def output(self) -> str:
        """The submission's output so far, cleaned and cut."""
        return self._output.text()

    @property
    def seconds(self) -> float:
        """Wall time spent waiting for submitted code."""
        return sum(self._seconds_of.values())

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all workers that have ended."""
        return self._cpu_of_ended + (self._session.cpu if self._session else 0.0)

    def restart(self) -> None:
        """Ends the worker; the next call gets a fresh one. All objects are gone."""
        if self._session is not None:
            self._session.end("it was restarted or closed")
            self._cpu_of_ended += self._session.cpu
            self._session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.restart()
