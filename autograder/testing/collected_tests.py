"""Component tests, collected once, and run on one sandboxed submission after the other.

    tests = CollectedTests(["task_1_1", "task_1_2"])
    for outcomes in tests.run(submission, seed):
        ...

pytest collects and is done; later each test runs by pytest's protocol for single items, in a plain function. So
nothing of pytest surrounds the caller: neither its loop nor its streams.
"""

import contextlib
import os
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from itertools import groupby
from typing import cast

import pytest
from _pytest.runner import runtestprotocol
from tqdm import tqdm

from foundation.places import COMPONENT_TESTS as TESTS

from ..grading.marks import Outcome
from ..sandbox.proxy.submission import Sandbox
from .errors import CollectionError
from .patience import TOO_LONG, Patience
from .sandboxed_outcomes import classify_sandboxed
from .stash import SEED, SUBMISSION
from .under_test import SubmissionUnderTest

UNUSED = (
    "terminal",
    "cacheprovider",
    "logging",
    "faulthandler",
    "capture",
    "unraisableexception",
    "threadexception",
)
"""Plugins of pytest that report, or look after what happens in its own process."""


class Observer:
    """A pytest plugin: keeps what was collected, and notes what becomes of each test.

    Attributes:
        items: the tests.
        problems: of collecting them.
        submission: that is judged at present.
        patience: with the checks of its answers.
        outcomes: of its tests, by id.
    """

    def __init__(self) -> None:
        """Starts with nothing collected."""
        self.items: list[pytest.Item] = []
        self.problems: list[str] = []
        self.submission: Sandbox | None = None
        self.patience = Patience()
        self.outcomes: dict[str, Outcome] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Notes why a file cannot be collected."""
        if report.failed:
            self.problems.append(str(report.longrepr))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Keeps the tests, and runs none yet."""
        self.items = list(session.items)
        return True

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begins a new episode of the tape."""
        if self.submission is not None and self.submission.tape is not None:
            self.submission.tape.begin(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Limits the time that trusted code takes."""
        before = len(self.patience.exhausted_by)
        try:
            with self.patience.limit(item.path, item.nodeid):
                return (yield)
        finally:
            if len(self.patience.exhausted_by) > before and self.submission is not None:
                self.submission.restart()  # it may have been in the middle of an answer

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Notes the outcome. pytest's own report would quote our source and our inputs, at length."""
        error = None if call.excinfo is None else call.excinfo.value
        when = call.when if call.when != "collect" else "setup"
        if when == "call" or error is not None:
            state, message = classify_sandboxed(error)
            is_core = item.get_closest_marker("core") is not None
            frames = getattr(error, "student_traceback", "")
            seconds = round(call.duration, 3)
            self.outcomes[item.nodeid] = Outcome(item.name, state, message, is_core, seconds, frames, item.nodeid)
        return pytest.TestReport(item.nodeid, item.location, {}, "failed" if error else "passed", None, when)


class CollectedTests:
    """The tests of some tasks.

    Attributes:
        markers: of the tasks.
    """

    def __init__(self, markers: Sequence[str]) -> None:
        """Collects the tests that have one of these markers.

        Raises:
            CollectionError: where they cannot be collected.
        """
        self.markers = list(markers)
        self._observer = Observer()
        self._is_fresh = True
        # Nothing of pytest's own report is wanted, and no configuration and no plugins but ours.
        arguments = [str(TESTS), "-c", str(TESTS / "pytest.ini"), "--rootdir", str(TESTS), "--import-mode=importlib"]
        arguments += ["--disable-plugin-autoload", *(f"-pno:{name}" for name in UNUSED)]
        with _without_environment("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            status = pytest.main(arguments, plugins=[self._observer])
        if self._observer.problems or status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            why = "\n".join(self._observer.problems)[-500:]
            raise CollectionError(f"the component tests could not be collected ({status!r}): {why}")
        self._items = [item for item in self._observer.items if self._markers_of(item)]

    @property
    def exhausted_by(self) -> Sequence[str]:
        """Ids of the tests, of the submission judged last, whose checks took too long and were stopped."""
        return tuple(self._observer.patience.exhausted_by)

    def run(self, submission: Sandbox, seed: int, show_progress: bool = False) -> Iterator[dict[str, list[Outcome]]]:
        """Runs the tests, file by file.

        One worker serves as long as all is well. A test that does not pass is run again, with the same inputs, in a
        worker that no other component has touched: what submitted code does to its process costs no other task.

        Args:
            submission: in the sandbox.
            seed: of the random inputs; whoever knows it knows the inputs.
            show_progress: shows a progress bar.

        Yields:
            After each file the outcomes by task marker, for the tasks whose tests have all run.
        """
        observer = self._observer
        observer.submission, observer.patience, observer.outcomes = submission, Patience(), {}
        waiting = Counter(marker for item in self._items for marker in self._markers_of(item))
        done: dict[str, list[Outcome]] = {}
        self._is_fresh = True
        if self._items:
            stash = self._items[0].config.stash
            stash[SUBMISSION] = cast(SubmissionUnderTest, submission)  # its objects fail tests if they are not modules
            stash[SEED] = seed
        with tqdm(desc="tests", unit="test", total=len(self._items), disable=not show_progress, leave=False) as bar:
            for _, group in groupby(self._items, key=lambda item: item.path):
                items = list(group)
                self._run_file(items, submission)
                for item in items:
                    for marker in self._markers_of(item):
                        done.setdefault(marker, []).append(observer.outcomes[item.nodeid])
                        waiting[marker] -= 1
                bar.update(len(items))
                yield {marker: outcomes for marker, outcomes in done.items() if not waiting[marker]}

    def run_again(self, nodeid: str) -> Outcome | None:
        """The outcome of one test, by its node id, when it runs once more on the same submission."""
        outcomes = self._observer.outcomes
        item = next((item for item in self._items if item.nodeid == nodeid and nodeid in outcomes), None)
        if item is None:
            return None
        self._is_fresh = False
        _run([item])
        return outcomes[nodeid]

    def _run_file(self, items: list[pytest.Item], submission: Sandbox) -> None:
        """Runs the tests of one file; a worker in which something went wrong serves no further file."""
        outcomes = self._observer.outcomes
        _run(items)
        missed = [item for item in items if outcomes[item.nodeid].is_missed]
        if missed and not self._is_fresh:
            submission.restart()
            _run([item for item in missed if outcomes[item.nodeid].message != TOO_LONG])
        self._is_fresh = bool(missed)
        if self._is_fresh:
            submission.restart()

    def _markers_of(self, item: pytest.Item) -> list[str]:
        return [marker for marker in self.markers if item.get_closest_marker(marker)]


def _run(items: Sequence[pytest.Item]) -> None:
    for item, following in zip(items, [*items[1:], None], strict=True):
        runtestprotocol(item, log=False, nextitem=following)


@contextlib.contextmanager
def _without_environment(*names: str) -> Iterator[None]:
    """These variables are not set for the length of a with-block."""
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(before)
