"""Runs the component tests on many versions of a submission, each in a fork of a process that has everything loaded.

Collecting the tests and importing torch take seconds, the tests themselves half a second: so pytest collects once,
and a forked child runs each version with the collected tests.
"""

import importlib
import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, Never, cast

import pytest
from _pytest.runner import runtestprotocol
from tqdm import tqdm

from autograder.grading.marks import Outcome
from autograder.grading.states import State
from autograder.sandbox.worker.loading import MissingComponent
from autograder.testing import comparison
from autograder.testing.errors import CheckFailed
from autograder.testing.in_process import InProcessSubmission
from autograder.testing.sandboxed_outcomes import classify_sandboxed
from autograder.testing.stash import SEED, SUBMISSION
from autograder.testing.under_test import SubmissionUnderTest
from foundation.assignment_file import Assignment
from foundation.limits import Limits
from foundation.places import COMPONENT_TESTS as TESTS
from foundation.sources import Sources
from foundation.time_limit import time_limit

SECONDS_A_TEST = 10
UNHURRIED = Limits(total_seconds=600.0, cpu_seconds=600)


@dataclass(frozen=True)
class Version:
    """One version of a submission, and with which seeds which tests run on it."""

    name: str
    sources: Sources
    seeds: Sequence[int]
    markers: tuple[str, ...] = ()  # of the tasks whose tests run; none = all
    until_failure: bool = False  # nothing more runs after the first test that does not pass


@dataclass(frozen=True)
class Observation:
    """One numeric comparison: how far the result was from what was expected, and how far it might be."""

    test: str
    what: str
    error: float
    tolerance: float


@dataclass
class Run:
    """What became of one version with one seed: outcomes by task marker, and all numeric comparisons."""

    version: str
    seed: int
    outcomes: dict[str, list[Outcome]]
    observations: list[Observation]
    cpu_seconds: float


class TestRunError(RuntimeError):
    """The tests could not be run at all."""


class Recorder:
    """A pytest plugin that keeps what the tests did in this process."""

    def __init__(self, assignment: Assignment, work: Callable[["Recorder", list[pytest.Item]], None]) -> None:
        """Takes the assignment whose tests they are, and what is to be done with them once they are collected."""
        self.assignment, self.work = assignment, work
        self.current = ""
        self.paths: set[str] = set()
        self.outcomes: dict[str, list[Outcome]] = {}
        self.has_failed = False
        self.observations: list[Observation] = []
        self.classify: Callable[[BaseException | None], tuple[State, str]] = lambda error: classify(error, self.paths)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Keeps what tells the tests' conftest that this is not a student's own run."""
        self._stash = config.stash

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Does the work in the place of running all tests once."""
        self.work(self, session.items)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Limits the time of a test."""
        with time_limit(SECONDS_A_TEST):
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Notes the outcome. pytest's own report would quote the source, which takes longer than most tests."""
        error = None if call.excinfo is None else call.excinfo.value
        if call.when == "call" or error is not None:
            state, message = self.classify(error)
            self.has_failed = self.has_failed or state != "passed"
            is_core = item.get_closest_marker("core") is not None
            outcome = Outcome(item.name, state, message, is_core, round(call.duration, 4))
            for marker in markers_of(item):
                self.outcomes.setdefault(marker, []).append(outcome)
        when = "setup" if call.when == "collect" else call.when
        return pytest.TestReport(item.nodeid, item.location, {}, "failed" if error else "passed", None, when)

    def observe(self, what: str, error: float, tolerance: float) -> None:
        """Called by each numeric comparison of the tests."""
        self.observations.append(Observation(self.current, what, error, tolerance))

    def run(self, items: list[pytest.Item], version: Version, submission: SubmissionUnderTest) -> Iterator[Run]:
        """Runs the tests in this process, once for each seed."""
        self.paths = {path for path, _ in version.sources.values()}
        self._stash[SUBMISSION] = submission
        chosen = [item for item in items if not version.markers or set(version.markers) & set(markers_of(item))]
        comparison.observers.append(self.observe)
        try:
            for seed in version.seeds:
                self._stash[SEED] = seed
                self.outcomes, self.observations, self.has_failed = {}, [], False
                start = time.process_time()
                for item, following in zip(chosen, [*chosen[1:], None], strict=True):
                    self.current = f"{markers_of(item)[0]}: {item.name}"
                    runtestprotocol(item, nextitem=following, log=False)
                    if version.until_failure and self.has_failed:
                        item.session._setupstate.teardown_exact(None)
                        break
                yield Run(version.name, seed, self.outcomes, self.observations, time.process_time() - start)
        finally:
            comparison.observers.remove(self.observe)


def markers_of(item: pytest.Item) -> list[str]:
    """The task markers of a test; "given" for tests of what the assignment gives."""
    return [mark.name for mark in item.iter_markers() if mark.name.startswith("task_") or mark.name == "given"]


def classify(error: BaseException | None, paths: set[str]) -> tuple[State, str]:
    """State and message of a test that ended so, in the submission's own process.

    An exception belongs to the submission if a part is missing, or one of its files, or the backward pass of what it
    computed, is on the way to it. Any other is a fault of the test: in the sandbox it would be a grader error.
    """
    if error is None:
        return State.PASSED, ""
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, (CheckFailed, pytest.fail.Exception)):
        return State.FAILED, str(error)
    if isinstance(error, TimeoutError):
        return State.TIMEOUT, message
    if isinstance(error, NotImplementedError):
        return State.NOT_ATTEMPTED, message
    frames = traceback.extract_tb(error.__traceback__)
    is_submissions = (
        isinstance(error, MissingComponent)
        or getattr(error, "filename", None) in paths  # a SyntaxError has no frame of its file
        or any(frame.filename in paths for frame in frames)
        or frames[-1].filename.endswith("torch/autograd/graph.py")
    )
    if is_submissions:
        return State.ERROR, message
    return State.GRADER_ERROR, "".join(traceback.format_exception(error)[-4:])


def with_tests(assignment: Assignment, work: Callable[[Recorder, list[pytest.Item]], None]) -> None:
    """Collects the component tests and calls `work` with them.

    Raises:
        TestRunError: where they cannot be collected.
    """
    recorder = Recorder(assignment, work)
    arguments = [str(TESTS), "-c", str(TESTS / "pytest.ini"), "--rootdir", str(TESTS), "--import-mode=importlib"]
    arguments += ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:logging", "-p", "no:faulthandler"]
    arguments += ["-p", "no:capture"]
    raised: list[BaseException] = []

    def keep(recorder: Recorder, items: list[pytest.Item]) -> None:
        try:
            work(recorder, items)
        except BaseException as error:
            raised.append(error)

    recorder.work = keep
    status = pytest.main(arguments, plugins=[recorder])
    if raised:
        raise raised[0]
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise TestRunError(f"the component tests cannot be collected: {status!r}")


def run_versions(
    versions: Sequence[Version],
    warm_up: Sources,
    assignment: Assignment,
    on_run: Callable[[Run], None],
    jobs: int = 1,
    sandboxed: bool = False,
) -> None:
    """Runs the tests on every version, once for each of its seeds.

    Args:
        versions: what to run.
        warm_up: a submission that is run once at first, so that no child pays for what torch imports late.
        assignment: whose tests they are.
        on_run: called with each result, in the order in which they come.
        jobs: children at a time.
        sandboxed: through the grading sandbox, one version after the other, and not in forks of this process.

    Raises:
        TestRunError: where the tests cannot be collected.
    """

    def work(recorder: Recorder, items: list[pytest.Item]) -> None:
        if sandboxed:
            _run_in_sandbox(recorder, items, versions, on_run)
            return
        # An alarm in the middle of an import would leave half a module behind: the slowest one comes first.
        importlib.import_module("torch._dynamo")
        for _ in _run_here(recorder, items, Version("warm-up", warm_up, [0])):
            pass
        _run_in_forks(recorder, items, versions, on_run, jobs)

    with_tests(assignment, work)


def _run_here(recorder: Recorder, items: list[pytest.Item], version: Version) -> Iterator[Run]:
    submission = InProcessSubmission(dict(version.sources), recorder.assignment)
    try:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            yield from recorder.run(items, version, submission)
    finally:
        submission.close()


def _run_in_forks(
    recorder: Recorder, items: list[pytest.Item], versions: Sequence[Version], on_run: Callable[[Run], None], jobs: int
) -> None:
    context = multiprocessing.get_context("fork")

    def child(pipe: Connection, version: Version) -> None:
        for run in _run_here(recorder, items, version):
            pipe.send(run)
        pipe.close()

    waiting = list(reversed(versions))
    running: dict[Any, tuple[ForkProcess, Version]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            version = waiting.pop()
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=child, args=(sender, version))
            process.start()
            sender.close()
            running[receiver] = (process, version)
        ready: Any
        for ready in wait(list(running)):
            process, version = running[ready]
            try:
                on_run(ready.recv())
            except EOFError:
                process.join()
                del running[ready]
                if process.exitcode:
                    markers = version.markers or {marker for item in items for marker in markers_of(item)}
                    on_run(crashed(version, markers, process.exitcode))


def crashed(version: Version, markers: Iterable[str], status: int) -> Run:
    """What became of a version whose process ended without a result."""
    outcome = Outcome("all tests", State.ERROR, f"the tests' process ended with status {status}")
    return Run(version.name, version.seeds[0], {marker: [outcome] for marker in markers}, [], 0.0)


def _run_in_sandbox(
    recorder: Recorder, items: list[pytest.Item], versions: Sequence[Version], on_run: Callable[[Run], None]
) -> None:
    from autograder.sandbox.containment.zygote import Zygote
    from autograder.sandbox.proxy.submission import Sandbox

    zygote = Zygote()
    recorder.classify = classify_sandboxed
    try:
        for version in versions:
            with Sandbox(dict(version.sources), recorder.assignment, limits=UNHURRIED, zygote=zygote) as submission:
                for run in recorder.run(items, version, cast(SubmissionUnderTest, submission)):
                    on_run(run)
    finally:
        zygote.close()


def progress_bar(total: int, what: str) -> "tqdm[Never]":
    """A bar on a terminal, nothing elsewhere."""
    tqdm.monitor_interval = 0  # no thread: this process forks
    return tqdm(total=total, desc=what, unit="run", disable=None, leave=False)
