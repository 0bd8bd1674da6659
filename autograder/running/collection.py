"""Component tests, collected with pytest once and run later.

pytest collects and is done. A test is then called with its parameters, `submission` and `case`. Other fixtures would
need pytest's own protocol, which takes as long as a tenth of a whole grading.
"""

import inspect
import io
import re
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, redirect_stderr, redirect_stdout
from typing import Any

import pytest
import torch
from torch import Tensor

from foundation.assignment_file import Assignment, Task
from foundation.texts import with_its_comment

from ..course.assignment_code import where_to_collect
from ..testing import contrast
from ..testing.case import Case, SubmissionUnderTest, default_dtype
from ..testing.results import CheckFailed, CollectionError, Outcome, State, UnreadableError
from .in_process import InProcessSubmission, own_lines

UNUSED = "terminal", "cacheprovider", "logging", "faulthandler", "capture", "unraisableexception", "threadexception"
"""Plugins of pytest that report, or look after what happens in its own process."""

MAX_MESSAGE = 4000

MAY_BE_OF_STAND_INS = AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError
"""What a component raises that expects more of another one than a stand-in has."""

IS_COLLECTED = pytest.StashKey[bool]()
"""In pytest's stash where the tests are only collected, and run later."""


class AmongOwnParts:
    """A submission whose components run among its own others, in the place of stand-ins; see `SubmissionUnderTest`."""

    def __init__(self, submission: SubmissionUnderTest) -> None:
        self.sources, self.locate = submission.sources, submission.locate

        def among_own(method: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *given, **options: method(*given, **{**options, "isolated": False})

        self.build, self.call = among_own(submission.build), among_own(submission.call)
        self.apply = among_own(submission.apply)


def call_test(item: pytest.Function, submission: SubmissionUnderTest, seed: int, beyond: dict[str, bool]) -> None:
    """Call a test. One that a component's exception ended may pass among the submission's own other components.

    A component may use more of them than the contract promises, such as the name of a parameter. Then all rows of the
    test raise among stand-ins; `beyond` keeps whether they do.
    """

    def call(row: pytest.Function, submission: SubmissionUnderTest = submission) -> None:
        contrast.begin()
        known = {"submission": submission, "case": case_of(row, seed), **row_of(row)}
        row.function(**{name: known[name] for name in inspect.signature(row.function).parameters})

    def raises(row: pytest.Function) -> bool:
        try:
            call(row)
        except Exception as error:
            return is_raised(error)
        return False

    try:
        call(item)
    except MAY_BE_OF_STAND_INS as error:
        if not is_raised(error):
            raise
        group = group_of(item)
        if group not in beyond:
            rows = [row for row in item.session.items if isinstance(row, pytest.Function) and group_of(row) == group]
            beyond[group] = all(raises(row) for row in rows if row is not item)
        if not beyond[group]:
            raise
        try:
            call(item, AmongOwnParts(submission))
        except Exception as other:
            beyond[group] = False
            if not isinstance(other, CheckFailed):
                raise error from None
            words = "so it is among your own components; among others that keep the contract, your code raises"
            other.add_note(f"{words} {type(error).__name__}: {error}")
            raise


def is_raised(error: BaseException) -> bool:
    """True if an exception is a submission's own, and no finding of a test."""
    return isinstance(error, MAY_BE_OF_STAND_INS) and classify(error, lambda _: (State.ERROR, ""))[0] is State.ERROR


def group_of(item: pytest.Function) -> str:
    """A name of the rows of a test function that are about one component."""
    tasks = sorted(mark.name for mark in item.iter_markers() if mark.name.startswith("task_"))
    return " ".join([item.nodeid.partition("[")[0], str(row_of(item).get("kind")), *tasks])


class Collection:
    """A pytest plugin: keeps the tests that were collected, and notes the outcome of each test that runs."""

    def __init__(self, assignment: Assignment) -> None:
        """Collects all tests of an assignment. Raises: CollectionError where they cannot be collected."""
        self.items: list[pytest.Function] = []
        self.outcomes: dict[str, Outcome] = {}  # by node id
        self.compared: dict[str, tuple[Tensor, Tensor]] = {}  # what failed comparisons were of, by node id
        self.submission: SubmissionUnderTest  # from `hand_over` on
        self.seed = 0
        self._problems: list[str] = []
        self._beyond: dict[str, bool] = {}  # see `call_test`
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
        """State and message of a test that ended with an exception; the sandbox and the proof have their own."""
        frames = traceback.extract_tb(error.__traceback__)
        lines = [] if isinstance(error, SyntaxError) else own_lines(frames)  # that one names its own place
        return State.ERROR, "\n  ".join([f"{type(error).__name__}: {error}", *lines])

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Keeps a student's own run from beginning; each run hands over its submission."""
        config.stash[IS_COLLECTED] = True

    def hand_over(self, submission: SubmissionUnderTest, seed: int) -> None:
        """The tests that run from now on get this submission and this seed."""
        self.submission, self.seed = submission, seed
        self._observed.clear()
        self._beyond.clear()

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
            with self.limits(item), warnings.catch_warnings(action="ignore"), default_dtype(dtype_of(item)):
                try:
                    call_test(item, self.submission, self.seed, self._beyond)
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
        return nullcontext()


def classify(error: BaseException | None, describe: Callable[[BaseException], tuple[State, str]]) -> tuple[State, str]:
    """Return state and message of a test that ended with this exception, or with none; others are described."""
    if error is None:
        return State.PASSED, ""
    if isinstance(error, UnreadableError):
        return State.NEEDS_READER, str(error)
    if isinstance(error, CheckFailed):
        return State.FAILED, "\n".join([str(error), *getattr(error, "__notes__", ())])
    if isinstance(error, pytest.fail.Exception):  # pytest.raises saw no exception
        return State.FAILED, f"an exception was expected: {error}"
    if isinstance(error, NotImplementedError):
        return State.NOT_ATTEMPTED, with_its_comment(error) or "not implemented yet"
    state, message = describe(error)
    return state, "\n".join([message, *getattr(error, "__notes__", ())])


def dtype_of(item: pytest.Function) -> torch.dtype:
    """The dtype of a test's inputs: its parameter, or that of random inputs."""
    ordinary = torch.float64 if "case" in inspect.signature(item.function).parameters else torch.float32
    return row_of(item).get("dtype", ordinary)  # type: ignore[return-value]


def row_of(item: pytest.Function) -> dict[str, object]:
    """The values of a test's parameters in this row of its table, by name."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def run_in_process(tests: Collection, submission: InProcessSubmission, task: Task, seed: int) -> str:
    """Runs a task's tests on code in this process, which is closed afterwards; returns what it has printed."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            tests.hand_over(submission, seed)
            tests.run_items([item for item in tests.items if item.get_closest_marker(task.marker)])
    except KeyboardInterrupt as stop:  # says where, such as in a loop without end
        raise KeyboardInterrupt(*own_lines(traceback.extract_tb(stop.__traceback__))[-1:]) from None
    finally:
        submission.close()
    return printed.getvalue()


def item_of(item: pytest.Item) -> str:
    """The rubric item that a test names; "" where it names none."""
    marks = [mark for mark in item.own_markers if mark.name == "item" and mark.args]  # a row's come last
    return str(marks[-1].args[0]) if marks else ""


def case_of(item: pytest.Item, seed: int) -> Case:
    """Random inputs, different for each test and seed; tests of the same name in two files share none."""
    return Case(seed, f"{item.path.name}::{item.name}")
