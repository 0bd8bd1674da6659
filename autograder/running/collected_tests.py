"""Component tests, collected once, and run on one sandboxed submission after the other.

Trusted code compares what a submission has returned, and an odd answer could keep it busy for ever. So its time has
limits.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest
from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.processes import CPU, time_limit

from ..sandbox.errors import SubmissionError, SubmissionRefusedError
from ..sandbox.submission import Sandbox
from ..testing.results import CollectionError, Outcome, State
from .collection import Collection, item_of

FRESH_WORKERS = 4
"""In each of so many workers a test must pass that failed in one that other components have used."""
SECONDS_A_FILE, SECONDS_BESIDE = 12.0, 30.0
"""CPU time of this process for all tests of a file, and what all files share beside: a search for what many parameters
mean takes as long on a slow machine.
"""

TOO_LONG = "checking timed out: the returned value is too large, or has too many parts, to compare"


STATES: dict[type, State] = {  # the first that fits: a MemoryError of a submission is a SubmissionError, too
    TimeoutError: State.TIMEOUT,
    MemoryError: State.OUT_OF_MEMORY,
    SubmissionRefusedError: State.REFUSED,
    SubmissionError: State.ERROR,
}


class CollectedTests(Collection):
    """The tests of some tasks, as they run on a sandboxed submission, within limits of time."""

    def __init__(self, assignment: Assignment) -> None:
        """Collects the tests of an assignment. Raises: CollectionError where that cannot be done."""
        self.exhausted_by: list[str] = []  # ids of the tests that took too long on the last submission
        self._used: Counter[Path] = Counter()  # CPU time by file
        self._is_fresh = True
        super().__init__(assignment)
        for test in self.items:
            if not any(mark.name == "given" or mark.name.startswith("task_") for mark in test.iter_markers()):
                where = f"{test.path.name}:{(test.location[1] or 0) + 1}: {test.name}"
                raise CollectionError(f"{where}: no task's mark; remove the test, or mark it, such as task_1_2")
        self._of_task: dict[str, list[pytest.Function]] = {}
        for task in (task for task in assignment.tasks if task.has_component_tests):
            self._of_task[task.marker] = [test for test in self.items if test.get_closest_marker(task.marker)]
            for name in {item.name for item in task.items} - {*map(item_of, self._of_task[task.marker])}:
                fault = f"assignment.toml: task {task.number}: no test names the item {name!r}"
                raise CollectionError(f"{fault}; expected one marked {task.marker} and item({name!r})")

    def describe(self, error: BaseException) -> tuple[State, str]:
        """State and message of a test that ended with an exception: the submission's, or the grader's own."""
        message = str(error)
        state = next((state for kind, state in STATES.items() if isinstance(error, kind)), State.GRADER_ERROR)
        if state == State.ERROR:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            message = f"{kinds[0]}: {message}" if kinds and kinds[0] != "Exception" else message
            if isinstance(error, SyntaxError):
                place = getattr(error, "student_traceback", "").partition(", in ")[0]
                message = f"{message}; {place}; you are graded by Python {'.'.join(map(str, sys.version_info[:2]))}"
        elif state == State.GRADER_ERROR:
            message = f"the grader failed, please tell your instructor: {type(error).__name__}: {message}"
        return state, message

    @contextmanager
    def limits(self, item: pytest.Item) -> Iterator[None]:
        """Limits the time that trusted code takes."""
        others = sum(max(0.0, used - SECONDS_A_FILE) for path, used in self._used.items() if path != item.path)
        left = SECONDS_A_FILE + max(0.0, SECONDS_BESIDE - others) - self._used[item.path]
        if left <= 0:
            raise TimeoutError(TOO_LONG)
        began = time.process_time()
        struck: list[float] = []
        try:
            with time_limit(left, CPU) as struck:
                yield
        finally:
            self._used[item.path] += time.process_time() - began  # type: ignore[assignment]  # any number will do
            if struck:
                self.exhausted_by.append(item.nodeid)
                if isinstance(self.submission, Sandbox):
                    self.submission.restart()  # it may have been in the middle of an answer
                raise TimeoutError(TOO_LONG)

    def run(
        self, submission: Sandbox, seed: int, show_progress: bool = False, only: str = ""
    ) -> Iterator[dict[str, list[Outcome]]]:
        """Runs the tests, file by file, with a seed for the random inputs; of the task `only`, by its marker, "" = all.

        One worker serves as long as all is well. What submitted code does to its process costs no other task: a test
        that does not pass is forgiven where it passes, with the same inputs, in each of several workers that no other
        component has touched. Code that only sometimes works is not forgiven.

        Yields after each file the outcomes by task marker, for the tasks whose tests have all run.
        """
        self.outcomes, self.exhausted_by, self._is_fresh = {}, [], True
        self._used.clear()
        self.hand_over(submission, seed)
        of_task = {only: self._of_task[only]} if only else self._of_task
        wanted = {item for items in of_task.values() for item in items}
        chosen = [item for item in self.items if item in wanted]
        with tqdm(desc="tests", unit="test", total=len(chosen), disable=not show_progress, leave=False) as bar:
            for _, group in groupby(chosen, key=lambda item: item.path):
                of_file = list(group)
                self._run_file(of_file, submission)
                bar.update(len(of_file))
                yield {
                    marker: [self.outcomes[item.nodeid] for item in items]
                    for marker, items in of_task.items()
                    if items and all(item.nodeid in self.outcomes for item in items)
                }

    def _run_file(self, items: Sequence[pytest.Function], submission: Sandbox) -> None:
        """Runs the tests of one file; a worker in which something went wrong serves no further file."""
        self.run_items(items)
        missed = [item for item in items if self.outcomes[item.nodeid].is_missed]
        if missed and not self._is_fresh:
            self.try_again(missed, submission)
        self._is_fresh = any(self.outcomes[item.nodeid].is_missed for item in items)
        if self._is_fresh:
            submission.restart()

    def try_again(self, items: Iterable[pytest.Function], submission: Sandbox) -> None:
        """Lets tests pass that pass in each of some fresh workers; the others keep what failed them there."""
        hopeful = [item for item in items if self.outcomes[item.nodeid].message != TOO_LONG]
        for _ in range(FRESH_WORKERS):
            if hopeful:
                submission.restart()
                self.run_items(hopeful)
                hopeful = [item for item in hopeful if not self.outcomes[item.nodeid].is_missed]
