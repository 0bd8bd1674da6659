"""How much sooner a class is graded with two Dask workers on this machine than with one.

A stub takes the place of the grader: each submission takes so much CPU time in its child, as grading does, while the
sandbox's share is left out. Rounds with one worker and with two take turns; all else is as in `grade-class`. On a
machine whose cores have other work, `--waiting` tells whether the cluster keeps two workers busy: there each submission
takes the same time, but no core.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from autograder.classroom.entries import Entry
from autograder.classroom.grading import grade_all_on_cluster
from autograder.classroom.staleness import Conditions
from autograder.grading.events import Event, Finished, TasksJudged
from autograder.grading.grader_version import grader_version
from autograder.grading.marks import TaskResult
from autograder.grading.record import Record
from autograder.grading.seeds import Seeds
from autograder.grading.states import State
from autograder.intake import Intake
from foundation.assignment_file import Assignment, read_assignment
from foundation.places import SKELETON

from .loopback_cluster import LoopbackCluster

OPENER, WAITING_OPENER = "benchmarks.cluster:open_stub", "benchmarks.cluster:open_waiting_stub"
SECONDS = 1.0
"""Of CPU for each submission, as grading one in a class takes."""


@dataclass
class BusyStub:
    """In the place of a grader: takes some time, and gives every point."""

    assignment: Assignment
    is_waiting: bool = False

    def prepare(self) -> None:
        """Nothing has to be prepared."""

    def renew(self) -> bool:
        """Nothing has to be renewed."""
        return False

    def judge(self, submission: Intake, seed: int, **_: object) -> Iterator[Event]:
        """Answers after some time."""
        if self.is_waiting:
            time.sleep(SECONDS)
        end = time.process_time() + SECONDS * (not self.is_waiting)
        while time.process_time() < end:
            sum(range(1000))
        yield TasksJudged(tuple(TaskResult(task, State.PASSED, task.points, "") for task in self.assignment.tasks))
        yield Finished()


@contextmanager
def open_stub(assignment: Assignment, references: Path, level: str) -> Iterator[BusyStub]:
    """Opens it, as `open_grader` would the true one."""
    yield BusyStub(assignment)


@contextmanager
def open_waiting_stub(assignment: Assignment, references: Path, level: str) -> Iterator[BusyStub]:
    """Opens one that takes the same time without using a core."""
    yield BusyStub(assignment, is_waiting=True)


def measure(count: int, rounds: int, is_waiting: bool = False) -> int:
    """Prints the figures.

    Args:
        count: submissions.
        rounds: with each number of workers.
        is_waiting: whether submissions take time, but no core.
    """
    opener = WAITING_OPENER if is_waiting else OPENER
    seconds: dict[int, list[float]] = {1: [], 2: []}
    loads = [os.getloadavg()[0]]
    with LoopbackCluster(1) as one, LoopbackCluster(2) as two:
        for n_workers, cluster in ((1, one), (2, two)):
            seconds_of(cluster.address, 2 * n_workers, opener)  # so that all have started their graders
        for _ in range(rounds):
            for n_workers, cluster in ((1, one), (2, two)):
                seconds[n_workers].append(seconds_of(cluster.address, count, opener))
        loads.append(os.getloadavg()[0])
    what = "waiting" if is_waiting else "CPU"
    print(f"{count} submissions of {SECONDS:g} s of {what} each, {rounds} rounds in turn; wall time")
    for n_workers, found in seconds.items():
        print(
            f"  {n_workers} Dask worker{'s' * (n_workers > 1)}: median {median(found):.1f} s, least {min(found):.1f} s"
        )
    print(f"  as fast with two: {median(seconds[1]) / median(seconds[2]):.2f} times")
    print(f"  load of the machine before and after: {loads[0]:.1f}, {loads[1]:.1f}, on {os.cpu_count()} cores")
    return 0


def seconds_of(scheduler: str, count: int, opener: str = OPENER) -> float:
    """Wall time of a class of copies of one submission, from the first job to the last record."""
    assignment = read_assignment()
    with tempfile.TemporaryDirectory(prefix="cluster-class-") as name:
        folder = Path(name, "submission")
        folder.mkdir()
        (folder / "layers.py").write_text("# nothing\n")
        entries = [Entry(f"{n}", f"{n}", folder, Path(name, f"{n}.json")) for n in range(count)]
        version = grader_version(assignment, SKELETON, folder / "none")
        conditions = Conditions(assignment, SKELETON, folder / "none", version, Seeds(b"benchmark"))
        found: list[tuple[float, Record]] = []
        began = time.perf_counter()
        grade_all_on_cluster(
            entries, conditions, scheduler, lambda _, record: found.append((time.perf_counter(), record)), opener=opener
        )
        if len(found) != count or not all(record.is_finished for _, record in found):
            raise RuntimeError("not every submission was graded")
        return found[-1][0] - began
