"""Component tests, collected once, and run on one sandboxed submission after the other.

tests = CollectedTests(assignment)
for outcomes in tests.run(submission, seed):
    ...
"""

import copy
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import cast

import pytest
from tqdm import tqdm

from foundation.assignment_file import Assignment, Task

from ..sandbox.errors import (
    SubmissionDiedError,
    SubmissionError,
    SubmissionOutOfMemoryError,
    SubmissionRefusedError,
    SubmissionTimeoutError,
)
from ..sandbox.proxy.submission import Sandbox
from .checking_time import TOO_LONG, CheckingTime, CheckingTimeoutError
from .collection import Collection, classify, run_items
from .results import Outcome, State
from .under_test import SubmissionUnderTest

FRESH_WORKERS = 4
"""In each of so many workers a test must pass that failed in one that other components have used."""
MAX_MESSAGE = 4000

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


class SandboxedCollection(Collection):
    """The tests as they run on a sandboxed submission: recorded on its tape, and within limits of time.

    Attributes:
        submission: that is judged at present.
        checking_time: of its answers.
    """

    def __init__(self, assignment: Assignment) -> None:
        """Collects all tests."""
        self.submission: Sandbox | None = None
        self.checking_time = CheckingTime()
        super().__init__(assignment)

    def classify(self, error: BaseException | None) -> tuple[State, str]:
        """State and message of a test, as grading has them."""
        return classify_sandboxed(error)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begins a new episode of the tape."""
        if self.submission is not None and self.submission.tape is not None:
            self.submission.tape.begin(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Limits the time that trusted code takes."""
        before = len(self.checking_time.exhausted_by)
        try:
            with self.checking_time.limit(item.path, item.nodeid):
                return (yield)
        finally:
            if len(self.checking_time.exhausted_by) > before and self.submission is not None:
                self.submission.restart()  # it may have been in the middle of an answer


class CollectedTests:
    """The tests of some tasks.

    Attributes:
        markers: of the tasks.
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
        self.markers = [task.marker for task in chosen if task.components and not task.tests_of]
        self._collection = SandboxedCollection(assignment)
        self._is_fresh = True
        self._items = [item for item in self._collection.items if self._markers_of(item)]

    def only(self, marker: str) -> "CollectedTests":
        """The same tests, of which only those of one task run."""
        other = copy.copy(self)
        other.markers = [marker]
        other._items = [item for item in self._items if item.get_closest_marker(marker)]
        return other

    @property
    def exhausted_by(self) -> Sequence[str]:
        """Ids of the tests, of the submission judged last, whose checks took too long and were stopped."""
        return tuple(self._collection.checking_time.exhausted_by)

    def run(self, submission: Sandbox, seed: int, show_progress: bool = False) -> Iterator[dict[str, list[Outcome]]]:
        """Runs the tests, file by file.

        One worker serves as long as all is well. What submitted code does to its process costs no other task: a test
        that does not pass is forgiven where it passes, with the same inputs, in each of several workers that no other
        component has touched. Code that only sometimes works is not forgiven.

        Args:
            submission: in the sandbox.
            seed: of the random inputs; whoever knows it knows the inputs.
            show_progress: shows a progress bar.

        Yields:
            After each file the outcomes by task marker, for the tasks whose tests have all run.
        """
        collection = self._collection
        collection.submission, collection.checking_time, collection.outcomes = submission, CheckingTime(), {}
        collection.hand_over(cast(SubmissionUnderTest, submission), seed)
        waiting = Counter(marker for item in self._items for marker in self._markers_of(item))
        done: dict[str, list[Outcome]] = {}
        self._is_fresh = True
        with tqdm(desc="tests", unit="test", total=len(self._items), disable=not show_progress, leave=False) as bar:
            for _, group in groupby(self._items, key=lambda item: item.path):
                items = list(group)
                self._run_file(items, submission)
                for item in items:
                    for marker in self._markers_of(item):
                        done.setdefault(marker, []).append(collection.outcomes[item.nodeid])
                        waiting[marker] -= 1
                bar.update(len(items))
                yield {marker: outcomes for marker, outcomes in done.items() if not waiting[marker]}

    def _run_file(self, items: list[pytest.Item], submission: Sandbox) -> None:
        """Runs the tests of one file; a worker in which something went wrong serves no further file."""
        run_items(items)
        missed = self._missed(items)
        if missed and not self._is_fresh:
            try_again(missed, submission, self._collection.outcomes)
        self._is_fresh = bool(self._missed(items))
        if self._is_fresh:
            submission.restart()

    def _missed(self, items: list[pytest.Item]) -> list[pytest.Item]:
        return [item for item in items if self._collection.outcomes[item.nodeid].is_missed]

    def _markers_of(self, item: pytest.Item) -> list[str]:
        own = {mark.name for mark in item.iter_markers()}
        return [marker for marker in self.markers if marker in own]


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


def classify_sandboxed(error: BaseException | None) -> tuple[State, str]:
    """State and message of a test that ended with this exception, or with none."""
    state, message = classify(error, _classify_other)
    return state, message[:MAX_MESSAGE]


def _classify_other(error: BaseException) -> tuple[State, str]:
    message = str(error)
    state = next((state for kind, state in STATES if isinstance(error, kind)), State.GRADER_ERROR)
    if state == State.ERROR:
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        message = f"{kinds[0]}: {message}" if kinds and kinds[0] != "Exception" else message
    elif state == State.GRADER_ERROR:
        message = f"the grader failed, please tell your instructor: {type(error).__name__}: {message}"
    return state, message
