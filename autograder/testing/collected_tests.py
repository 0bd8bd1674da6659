"""Collects the component tests once, and runs them against one sandboxed submission after the other."""

import contextlib
import io
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from itertools import groupby

import pytest
from _pytest.runner import runtestprotocol
from tqdm import tqdm

from foundation.places import COMPONENT_TESTS as TESTS
from foundation.time_limit import CPU, time_limit

from ..grading.marks import Outcome
from ..sandbox import (
    Sandbox,
    SubmissionDiedError,
    SubmissionError,
    SubmissionRefusedError,
    SubmissionTimeoutError,
)
from ..sandbox.errors import SubmissionOutOfMemoryError
from .errors import CheckFailed, CollectionError
from .stash import SEED, SUBMISSION

MAX_MESSAGE = 4000
SECONDS, SECONDS_IN_ALL, FEW_SECONDS = 20.0, 40.0, 2.0
"""CPU time that this process, not the submission, may take for one test, for all of them, and for one when all of it
is used up or another test of the file took too long. All tests together need about six."""
MOST_STRIKES = 2
"""So many tests of a file that took too long, and its others are not tried."""
UNUSED = "terminal cacheprovider logging faulthandler capture unraisableexception threadexception"
"""Plugins of pytest that report, or look after what happens in its own process."""

TOO_LONG = "judging this took too long: what came is so large, or of so many parts, that it could not be compared"


class TookTooLong(Exception):
    """The test itself took too long, over answers that came in time."""


STATE_OF_ERROR = (  # the first that fits
    ((SubmissionTimeoutError, TookTooLong), "timeout"),
    (SubmissionOutOfMemoryError, "out of memory"),
    (SubmissionDiedError, "error"),
    (SubmissionRefusedError, "refused"),
    (NotImplementedError, "not attempted"),
    (MemoryError, "out of memory"),
    (SubmissionError, "error"),
    (CheckFailed, "failed"),
)


class Tests:
    """The tests of the tasks that are judged, collected. A pytest plugin: it notes what becomes of each test."""

    def __init__(self, markers: list[str], work: Callable[["Tests"], None]) -> None:
        """Takes the markers of the tasks, and what is to be done once all is collected."""
        self.markers = markers
        self._work = work
        self._items: list[pytest.Item] = []
        self._outcomes: dict[str, Outcome] = {}
        self._seconds, self._strikes = 0.0, Counter()
        self.raised: BaseException | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self._stash = config.stash
        self._stash[SUBMISSION], self._stash[SEED] = None, 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = [item for item in session.items if self._markers_of(item)]
        try:
            self._work(self)
        except BaseException as error:  # pytest would make an exit status of it
            self.raised = error
        return True

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self._stash[SUBMISSION].tape is not None:
            self._stash[SUBMISSION].tape.begin(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Limits the time that trusted code takes; an odd answer may keep it busy for ever."""
        strikes = self._strikes[item.path]
        if strikes >= MOST_STRIKES:
            raise TookTooLong(TOO_LONG)
        began = time.process_time()
        patience = FEW_SECONDS if strikes or self._seconds > SECONDS_IN_ALL else SECONDS
        struck: list[float] = []
        try:
            with time_limit(patience, CPU) as struck:
                return (yield)
        finally:
            self._seconds += time.process_time() - began
            if struck:
                self._strikes[item.path] += 1
                self._stash[SUBMISSION].restart()  # it may have been in the middle of an answer
                raise TookTooLong(TOO_LONG)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> pytest.TestReport:
        """Notes the outcome. pytest's own report would quote our source and our inputs, at length."""
        error = None if call.excinfo is None else call.excinfo.value
        if call.when == "call" or error is not None:
            state, message = classify(error)
            is_core = item.get_closest_marker("core") is not None
            frames = getattr(error, "student_traceback", "")
            self._outcomes[item.nodeid] = Outcome(
                item.name, state, message, is_core, round(call.duration, 3), frames, item.nodeid
            )
        outcome = "passed" if error is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    def run(self, submission: Sandbox, seed: int, progress: bool = False) -> Iterator[dict[str, list[Outcome]]]:
        """Runs the tests, file by file.

        One worker serves as long as all is well. A test that does not pass is run again, with the same inputs, in a
        worker that no other component has touched: what submitted code does to its process costs no other task.

        Args:
            submission: with the methods of `in_process.InProcessSubmission`.
            seed: of the random inputs; whoever knows it knows the inputs.
            progress: shows a progress bar.

        Yields:
            After each file the outcomes by task marker, for the tasks whose tests have all run.
        """
        self._stash[SUBMISSION], self._stash[SEED] = submission, seed
        self._outcomes = {}
        self._seconds, self._strikes = 0.0, Counter()
        waiting = Counter(marker for item in self._items for marker in self._markers_of(item))
        done: dict[str, list[Outcome]] = {}
        self._is_fresh = True
        with tqdm(desc="tests", unit="test", total=len(self._items), disable=not progress, leave=False) as bar:
            for _, group in groupby(self._items, key=lambda item: item.path):
                items = list(group)
                self._run(items)
                missed = [item for item in items if self._outcomes[item.nodeid].is_missed]
                if missed and not self._is_fresh:
                    submission.restart()
                    self._run([item for item in missed if self._outcomes[item.nodeid].message != TOO_LONG])
                self._is_fresh = bool(missed)
                if self._is_fresh:
                    submission.restart()
                for item in items:
                    for marker in self._markers_of(item):
                        done.setdefault(marker, []).append(self._outcomes[item.nodeid])
                        waiting[marker] -= 1
                bar.update(len(items))
                yield {marker: outcomes for marker, outcomes in done.items() if not waiting[marker]}

    def run_again(self, nodeid: str) -> Outcome | None:
        """The outcome of one test, by its node id, when it runs once more on the same submission."""
        item = next((item for item in self._items if item.nodeid == nodeid and nodeid in self._outcomes), None)
        if item is None:
            return None
        self._is_fresh = False
        self._run([item])
        return self._outcomes[nodeid]

    def _run(self, items: list[pytest.Item]) -> None:
        for item, following in zip(items, [*items[1:], None], strict=True):
            runtestprotocol(item, log=False, nextitem=following)

    def _markers_of(self, item: pytest.Item) -> list[str]:
        return [marker for marker in self.markers if item.get_closest_marker(marker)]


def classify(error: BaseException | None) -> tuple[str, str]:
    """State and message of a test that ended so."""
    if error is None:
        return "passed", ""
    state = next((state for kind, state in STATE_OF_ERROR if isinstance(error, kind)), "grader error")
    message = str(error)
    if isinstance(error, pytest.fail.Exception):  # pytest.raises saw no exception
        state, message = "failed", f"an exception was expected: {message}"
    elif state == "error":
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        message = f"{kinds[0]}: {message}" if kinds and kinds[0] != "Exception" else message
    elif state == "not attempted":
        message = message or "not implemented yet"
    elif state == "grader error":
        message = f"the grader failed, please tell your instructor: {type(error).__name__}: {message}"
    return state, message[:MAX_MESSAGE]


def with_tests(markers: list[str], work: Callable[[Tests], None]) -> None:
    """Collects the tests with one of these markers and calls `work` with them.

    Raises:
        CollectionError: where they cannot be collected.
    """
    tests = Tests(markers, work)
    # Nothing of pytest's own report is wanted, and no configuration and no plugins but ours.
    arguments = [str(TESTS), "-c", str(TESTS / "pytest.ini"), "--rootdir", str(TESTS), "--import-mode=importlib"]
    arguments += ["--disable-plugin-autoload", *(f"-pno:{name}" for name in UNUSED.split())]
    printed = io.StringIO()
    with without_environment("PYTEST_ADDOPTS", "PYTEST_PLUGINS"), contextlib.redirect_stdout(printed):
        status = pytest.main(arguments, plugins=[tests])
    if tests.raised is not None:
        raise tests.raised
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise CollectionError(f"the component tests could not be collected ({status!r}): {printed.getvalue()[-500:]}")


@contextlib.contextmanager
def without_environment(*names: str) -> Iterator[None]:
    """These variables are not set for the length of a with-block."""
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(before)
