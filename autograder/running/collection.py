"""Collects the component tests with pytest once, and runs any of them later, in a plain function.

pytest collects and is done. A test is then called with what it asks for: its parameters, `submission`, `case`. Other
fixtures would need pytest's own protocol, which takes as long as a tenth of a whole grading.
"""

from __future__ import annotations

import inspect
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, redirect_stderr, redirect_stdout
from typing import TextIO

import pytest
from torch import Tensor

from foundation.assignment_file import Assignment, Task
from foundation.texts import told_by

from ..course.assignment_code import where_to_collect
from ..testing import contrast
from ..testing.results import CheckFailed, CollectionError, Outcome, State, UnreadableError
from ..testing.submission import SubmissionUnderTest
from .under_test import IS_COLLECTED, InProcessSubmission, case_of, item_of, quoted_lines, telling_if_long

UNUSED = "terminal", "cacheprovider", "logging", "faulthandler", "capture", "unraisableexception", "threadexception"
"""Plugins of pytest that report, or look after what happens in its own process."""

MAX_MESSAGE = 4000


class Collection:
    """A pytest plugin: keeps the tests that were collected, and notes the outcome of each test that runs."""

    def __init__(self, assignment: Assignment) -> None:
        """Collects all tests of an assignment. Raises: CollectionError where they cannot be collected."""
        self.items: list[pytest.Function] = []
        self.outcomes: dict[str, Outcome] = {}  # by node id
        self.compared: dict[str, tuple[Tensor, Tensor]] = {}  # what failed comparisons were of, by node id
        self.submission: SubmissionUnderTest | None = None  # until `hand_over`
        self.seed = 0
        self.screen: TextIO | None = None  # of a person who is waiting
        self._problems: list[str] = []
        self._observed: dict[str, tuple[str, str]] = {}  # by test function, since `hand_over`: a node id, what was seen
        # Nothing of pytest's own report is wanted, and no configuration and no plugins but ours.
        arguments = [*where_to_collect(assignment), "--disable-plugin-autoload", *(f"-pno:{name}" for name in UNUSED)]
        with pytest.MonkeyPatch.context() as environment:
            for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
                environment.delenv(name, raising=False)
            status = pytest.main(arguments, plugins=[self])
        if self._problems or status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            why = f"; {self._problems[0]}" if self._problems else f" (pytest: {status!r})"
            raise CollectionError(f"the component tests could not be collected{why}")

    def describe(self, error: BaseException) -> tuple[State, str]:
        """State and message of a test that ended with an exception, but no failed check and no TODO.

        What it means differs between the sandbox, the proof, and this: a student's own process.
        """
        lines = [] if isinstance(error, SyntaxError) else quoted_lines(error)  # that one names its own place
        return State.ERROR, "\n  ".join([f"{type(error).__name__}: {error}", *lines])

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Keeps a student's own run from beginning; each run hands over its submission."""
        config.stash[IS_COLLECTED] = True

    def hand_over(self, submission: SubmissionUnderTest, seed: int) -> None:
        """The tests that run from now on get this submission and this seed."""
        self.submission, self.seed = submission, seed
        self._observed.clear()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Notes why a file cannot be collected."""
        if report.failed:
            marked = re.findall(r"^E +(.*)", str(report.longrepr), re.MULTILINE)
            self._problems.append(f"{report.nodeid}: {' '.join(marked)[-500:]}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Keeps the tests, and runs none yet."""
        self.items = [item for item in session.items if isinstance(item, pytest.Function)]
        for item in self.items:
            for name in inspect.signature(item.function).parameters.keys() - {"submission", "case", *row_of(item)}:
                self._problems.append(f"{item.nodeid} takes {name}: expected submission, case or a parameter")
        return True

    def run_items(self, items: Iterable[pytest.Function]) -> None:
        """Runs tests and notes their outcomes. What a test warns of is nobody's mistake."""
        for item in items:
            contrast.begin()
            error = self._error_of(item)
            if isinstance(error, CheckFailed) and error.compared is not None:
                self.compared[item.nodeid] = error.compared
            state, message = classify(error, self.describe)
            shown, frames = message[:MAX_MESSAGE], getattr(error, "student_traceback", "")
            calls = contrast.noted()
            self.outcomes[item.nodeid] = Outcome(item.name, state, shown, item_of(item), frames, item.nodeid, calls)

    def _error_of(self, item: pytest.Function) -> BaseException | None:
        """Runs one test; returns the exception that ended it."""
        try:
            with self.limits(item), warnings.catch_warnings(action="ignore"):
                known = {"submission": self.submission, "case": case_of(item, self.seed), **row_of(item)}
                try:
                    item.function(**{name: known[name] for name in inspect.signature(item.function).parameters})
                except CheckFailed as error:
                    self._look_closer(item, error)
                    raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit of a submission, and what pytest's own outcomes are
            return error
        return None

    def _look_closer(self, item: pytest.Function, error: CheckFailed) -> None:
        """Lets the first failure of a test function make its experiments: that of a plain input, if that fails."""
        function = item.originalname
        if function not in self._observed:
            error.look_closer()
            self._observed[function] = item.nodeid, error.observed
        elif self._observed[function][0] == item.nodeid:  # it has run before, in another worker
            error.observed = self._observed[function][1]

    def limits(self, item: pytest.Item) -> AbstractContextManager[object]:
        """A block in which a test runs."""
        return telling_if_long(item.name, self.screen) if self.screen else nullcontext()


def classify(error: BaseException | None, describe: Callable[[BaseException], tuple[State, str]]) -> tuple[State, str]:
    """Return state and message of a test that ended with this exception, or with none; others are described."""
    if error is None:
        return State.PASSED, ""
    if isinstance(error, UnreadableError):
        return State.NEEDS_READER, str(error)
    if isinstance(error, CheckFailed):
        return State.FAILED, str(error)
    if isinstance(error, pytest.fail.Exception):  # pytest.raises saw no exception
        return State.FAILED, f"an exception was expected: {error}"
    if isinstance(error, NotImplementedError):
        return State.NOT_ATTEMPTED, told_by(error) or "not implemented yet"
    state, message = describe(error)
    return state, "\n".join([message, *getattr(error, "__notes__", ())])


def row_of(item: pytest.Function) -> dict[str, object]:
    """The values of a test's parameters in this row of its table, by name."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def run_in_process(tests: Collection, submission: InProcessSubmission, task: Task, seed: int) -> str:
    """Runs a task's tests on code in this process, which is closed afterwards; returns what it has printed."""
    printed = io.StringIO()
    tests.screen = sys.stderr
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            tests.hand_over(submission, seed)
            tests.run_items([item for item in tests.items if item.get_closest_marker(task.marker)])
    finally:
        submission.close()
    return printed.getvalue()
