"""Component tests, collected once, and run on one sandboxed submission after the other.

    tests = CollectedTests(assignment)
    for outcomes in tests.run(submission, seed):
        ...

Trusted code compares what a submission has returned, and an odd answer could keep it busy for ever. So it gets some
CPU time: far more than all tests need together, about six seconds. The limit strikes for hostile answers alone, and the
record says so when it does. No file of tests, of one task each, can use up the time of the others.
"""

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import cast

import pytest
from tqdm import tqdm

from foundation.assignment_file import Assignment, Task
from foundation.watchdog import CPU, time_limit

from ..sandbox.errors import (
    SubmissionDiedError,
    SubmissionError,
    SubmissionOutOfMemoryError,
    SubmissionRefusedError,
    SubmissionTimeoutError,
)
from ..sandbox.submission import Sandbox
from .collection import Collection, run_items
from .results import Outcome, State
from .under_test import SubmissionUnderTest

FRESH_WORKERS = 4
"""In each of so many workers a test must pass that failed in one that other components have used."""
MAX_MESSAGE = 4000
SECONDS, SECONDS_A_FILE, SECONDS_IN_ALL = 8.0, 10.0, 60.0
"""CPU time of this process for one test, for all tests of a file, and for all files."""

TOO_LONG = "checking timed out: the returned value is too large, or has too many parts, to compare"


class CheckingTimeoutError(Exception):
    """The test itself took too long, over answers that came in time."""


STATES: tuple[tuple[type[BaseException], State], ...] = (
    # The first that fits.
    (SubmissionTimeoutError, State.TIMEOUT),
    (CheckingTimeoutError, State.TIMEOUT),
    (SubmissionOutOfMemoryError, State.OUT_OF_MEMORY),
    (SubmissionDiedError, State.ERROR),
    (SubmissionRefusedError, State.REFUSED),
    (MemoryError, State.OUT_OF_MEMORY),
    (SubmissionError, State.ERROR),
)


class CheckingTime:
    """The time that checking one submission may take.

    Attributes:
        exhausted_by: ids of the tests that took too long.
    """

    def __init__(self) -> None:
        """Starts with all of the time left."""
        self.exhausted_by: list[str] = []
        self._used: defaultdict[Path, float] = defaultdict(float)

    @contextlib.contextmanager
    def limit(self, file: Path, nodeid: str) -> Iterator[None]:
        """Limits the time of a block in which one test of a file runs.

        Raises:
            CheckingTimeoutError: where it takes too long, or others have left no time.
        """
        seconds = min(SECONDS, SECONDS_A_FILE - self._used[file], SECONDS_IN_ALL - sum(self._used.values()))
        if seconds <= 0:
            raise CheckingTimeoutError(TOO_LONG)
        began = time.process_time()
        struck: list[float] = []
        try:
            with time_limit(seconds, CPU) as struck:
                yield
        finally:
            self._used[file] += time.process_time() - began
            if struck:
                self.exhausted_by.append(nodeid)
                raise CheckingTimeoutError(TOO_LONG)


class CollectedTests(Collection):
    """The tests of some tasks, as they run on a sandboxed submission, within limits of time.

    Attributes:
        checking_time: of the submission that was judged last.
    """

    def __init__(self, assignment: Assignment, tasks: Iterable[Task] | None = None) -> None:
        """Collects the tests.

        Args:
            assignment: whose tests they are.
            tasks: those whose tests are collected; None = all that have components.

        Raises:
            CollectionError: where they cannot be collected.
        """
        chosen = assignment.tasks if tasks is None else tasks
        self._markers = [task.marker for task in chosen if task.components and not task.tests_of]
        self._submission: Sandbox | None = None
        self._is_fresh = True
        self.checking_time = CheckingTime()
        super().__init__(assignment)

    def classify(self, error: BaseException | None) -> tuple[State, str]:
        """State and message of a test."""
        state, message = super().classify(error)
        return state, message[:MAX_MESSAGE]

    def describe(self, error: BaseException) -> tuple[State, str]:
        """State and message of a test that ended with an exception: the submission's, or the grader's own."""
        message = str(error)
        state = next((state for kind, state in STATES if isinstance(error, kind)), State.GRADER_ERROR)
        if state == State.ERROR:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            message = f"{kinds[0]}: {message}" if kinds and kinds[0] != "Exception" else message
        elif state == State.GRADER_ERROR:
            message = f"the grader failed, please tell your instructor: {type(error).__name__}: {message}"
        return state, message

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Limits the time that trusted code takes."""
        before = len(self.checking_time.exhausted_by)
        try:
            with self.checking_time.limit(item.path, item.nodeid):
                return (yield)
        finally:
            if len(self.checking_time.exhausted_by) > before and self._submission is not None:
                self._submission.restart()  # it may have been in the middle of an answer

    def run(
        self, submission: Sandbox, seed: int, show_progress: bool = False, only: str = ""
    ) -> Iterator[dict[str, list[Outcome]]]:
        """Runs the tests, file by file.

        One worker serves as long as all is well. What submitted code does to its process costs no other task: a test
        that does not pass is forgiven where it passes, with the same inputs, in each of several workers that no other
        component has touched. Code that only sometimes works is not forgiven.

        Args:
            submission: in the sandbox.
            seed: of the random inputs; whoever knows it knows the inputs.
            show_progress: shows a progress bar.
            only: the marker of the one task whose tests run; "" = all.

        Yields:
            After each file the outcomes by task marker, for the tasks whose tests have all run.
        """
        self._submission, self.checking_time, self.outcomes = submission, CheckingTime(), {}
        self.hand_over(cast(SubmissionUnderTest, submission), seed)
        markers = {only} if only else {*self._markers}
        marked = [(item, markers & {mark.name for mark in item.iter_markers()}) for item in self.items]
        marked = [(item, own) for item, own in marked if own]
        waiting = Counter(marker for _, own in marked for marker in own)
        done: dict[str, list[Outcome]] = {}
        self._is_fresh = True
        with tqdm(desc="tests", unit="test", total=len(marked), disable=not show_progress, leave=False) as bar:
            for _, group in groupby(marked, key=lambda one: one[0].path):
                of_file = list(group)
                self._run_file([item for item, _ in of_file], submission)
                for item, own in of_file:
                    for marker in own:
                        done.setdefault(marker, []).append(self.outcomes[item.nodeid])
                        waiting[marker] -= 1
                bar.update(len(of_file))
                yield {marker: outcomes for marker, outcomes in done.items() if not waiting[marker]}

    def _run_file(self, items: Sequence[pytest.Item], submission: Sandbox) -> None:
        """Runs the tests of one file; a worker in which something went wrong serves no further file."""
        run_items(items)
        missed = [item for item in items if self.outcomes[item.nodeid].is_missed]
        if missed and not self._is_fresh:
            try_again(missed, submission, self.outcomes)
        self._is_fresh = any(self.outcomes[item.nodeid].is_missed for item in items)
        if self._is_fresh:
            submission.restart()


def try_again(items: Sequence[pytest.Item], submission: Sandbox, outcomes: Mapping[str, Outcome]) -> None:
    """Lets tests pass that pass in each of some fresh workers; the others keep what failed them there.

    Args:
        items: tests that did not pass.
        submission: on which they run again.
        outcomes: by node id, as each run of a test renews them.
    """
    hopeful = [item for item in items if outcomes[item.nodeid].message != TOO_LONG]
    for _ in range(FRESH_WORKERS):
        if hopeful:
            submission.restart()
            run_items(hopeful)
            hopeful = [item for item in hopeful if not outcomes[item.nodeid].is_missed]
