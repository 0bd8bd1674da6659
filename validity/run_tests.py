"""Runs the component tests on many versions of a submission, each in a fork of a process that has everything loaded.

Collecting the tests and importing torch take seconds, the tests themselves half a second: so pytest collects once,
and a forked child runs each version with the collected tests.
"""

import importlib
import os
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from tqdm import tqdm

from autograder.intake.sources import Sources
from autograder.running.collection import Collection
from autograder.running.in_process import InProcessSubmission
from autograder.sandbox.worker.loading import MissingComponentError
from autograder.testing.results import CollectionError, Outcome, State
from foundation.assignment_file import Assignment
from foundation.processes import CPU, FAILED, run_forked, time_limit

SECONDS_A_TEST = 10
"""CPU time: on a busy machine, correct code must not be rejected for its neighbours."""
WAIT_SECONDS = 120
"""Wall time of a test that waits instead of computing."""
CALLS = (
    "stand_ins/models.py",
    "running/collection.py",
    "testing/subject.py",
    "torch/nn/modules/module.py",
    "torch/autograd/graph.py",
)
"""Files that call a submission: arguments that it does not take are refused there."""
SECONDS_A_SEED = 600.0
"""Wall time after which a version's process is ended, for each of its seeds; the tests take seconds."""
WARM = set[str]()
"""The markers of tasks whose tests have run in this process, which has thereby loaded what they need."""


@dataclass(frozen=True)
class Version:
    """One version of a submission, and with which seeds which tests run on it."""

    name: str
    sources: Sources
    seeds: Sequence[int]
    markers: tuple[str, ...] = ()  # of the tasks whose tests run; none = all
    until_failure: bool = False  # nothing more runs after the first test that does not pass


@dataclass
class Run:
    """One version with one seed: outcomes by task marker."""

    version: str
    seed: int
    outcomes: dict[str, list[Outcome]]

    @property
    def all_outcomes(self) -> list[Outcome]:
        """Those of all tasks."""
        return sum(self.outcomes.values(), [])


class Recorder(Collection):
    """The tests as they run on trusted code in this process."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment, self._paths = assignment, set[str]()
        super().__init__(assignment)

    def describe(self, error: BaseException) -> tuple[State, str]:
        """State and message of a test that ended with an exception in the submission's own process.

        An exception is the submission's if a part is missing, or if one of its files, a call of it, or the backward
        pass of a result of its is on the way to it. Any other is a fault of the test: in the sandbox it would be a
        grader error.
        """
        message = f"{type(error).__name__}: {error}"
        if isinstance(error, TimeoutError):
            return State.TIMEOUT, message
        frames = traceback.extract_tb(error.__traceback__)
        is_submissions = (
            isinstance(error, MissingComponentError)
            or getattr(error, "filename", None) in self._paths  # a SyntaxError has no frame of its file
            or any(frame.filename in self._paths or frame.filename.endswith(CALLS) for frame in frames)
        )
        if is_submissions:
            return State.ERROR, message
        return State.GRADER_ERROR, "".join(traceback.format_exception(error)[-4:])

    @contextmanager
    def limits(self, item: pytest.Item) -> Iterator[None]:
        """Limits the time of a test."""
        with time_limit(WAIT_SECONDS), time_limit(SECONDS_A_TEST, CPU):
            yield

    def chosen(self, version: Version) -> list[pytest.Function]:
        """The tests that run on a version."""
        return [item for item in self.items if not version.markers or set(version.markers) & set(markers_of(item))]

    def warm_up(self, sources: Sources, versions: Sequence[Version]) -> None:
        """Run the tests of these versions on a submission, so that no child pays for what torch imports late."""
        # An alarm in the middle of an import would leave half a module behind: the slowest one comes first.
        importlib.import_module("torch._dynamo")
        if cold := {marker for version in versions for marker in self.markers_for(version)} - WARM:
            list(self.run(Version("warm-up", sources, [0], tuple(sorted(cold)))))
            WARM.update(cold)

    def markers_for(self, version: Version) -> set[str]:
        """The markers of the tests that run on a version."""
        return {*version.markers} or {marker for item in self.items for marker in markers_of(item)}

    def run(self, version: Version) -> Iterator[Run]:
        """Runs the tests of a version in this process, once for each seed."""
        self._paths = {path for path, _ in version.sources.values()}
        for seed in version.seeds:  # a submission for each: what one keeps between calls, the next must not see
            submission = InProcessSubmission(dict(version.sources), self.assignment)
            try:
                with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
                    self.hand_over(submission, seed)
                    run = Run(version.name, seed, {})
                    for item in self.chosen(version):
                        self.run_items([item])
                        outcome = self.outcomes[item.nodeid]
                        for marker in markers_of(item):
                            run.outcomes.setdefault(marker, []).append(outcome)
                        if version.until_failure and outcome.state != State.PASSED:
                            break
            finally:
                submission.close()
            yield run


def markers_of(item: pytest.Item) -> list[str]:
    """The task markers of a test; "given" for tests of what the assignment gives."""
    return [mark.name for mark in item.iter_markers() if mark.name.startswith("task_") or mark.name == "given"]


def markers_of_tasks(assignment: Assignment, components: Iterable[str]) -> tuple[str, ...]:
    """The markers of the tasks that judge components."""
    return tuple(task.marker for task in assignment.tasks if set(task.components) & set(components))


def finds_fault(outcomes: Iterable[Outcome]) -> bool:
    """True if a test shows a fault; a test that broke, or that leaves it to a reader, shows nothing."""
    nothing = (State.PASSED, State.NEEDS_READER, State.GRADER_ERROR)
    return any(outcome.state not in nothing for outcome in outcomes)


def run_versions(
    versions: Sequence[Version], reference: Sources, assignment: Assignment, jobs: int = 1, bar: str = ""
) -> Iterator[Run]:
    """Runs the tests on every version, once for each of its seeds; yields results in the order in which they come.

    The reference is run once at first; `bar` names the progress on the terminal, "" = none is shown.

    Raises: CollectionError where the tests cannot be collected, or a version would pass because no test runs on it.
    """
    recorder = Recorder(assignment)
    for version in versions:
        if not recorder.chosen(version):
            raise CollectionError(f"no test is marked {' or '.join(version.markers) or 'with a task'}")
    recorder.warm_up(reference, versions)
    most_seeds = max((len(version.seeds) for version in versions), default=0)
    tqdm.monitor_interval = 0  # no thread: this process forks
    with tqdm(total=len(versions), desc=bar, unit="version", disable=None if bar else True, leave=False) as progress:
        for version, message in run_forked(versions, recorder.run, SECONDS_A_SEED * most_seeds, jobs):
            if isinstance(message, Run):
                yield message
                continue
            progress.update()
            if message.reason:
                # The version may have ended its process. It cannot have raised the exception: that ends a test.
                state = State.GRADER_ERROR if message.status == FAILED else State.ERROR
                outcome = Outcome("all tests", state, f"the tests' process was lost: {message.reason}")
                markers = recorder.markers_for(version)
                yield Run(version.name, version.seeds[0], {marker: [outcome] for marker in markers})
