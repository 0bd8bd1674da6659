"""What a class costs besides its grading: the queue, the database, and two Dask workers against one.

A stub takes the place of the grader. In the measurement of the database it answers at once, with as many tests as the
true one; each submission is still read and graded in a forked child, whose events the parent folds into a record and
stores, as in `grade-class`. On the cluster it takes so much time for each submission as grading does.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, cast

import psutil
from tqdm import tqdm

from autograder.classroom.entries import Entry
from autograder.classroom.grading import grade_all, grade_all_on_cluster
from autograder.classroom.staleness import Conditions
from autograder.classroom.store import Database, Owner, Received, Results, url_of
from autograder.grading.events import Contained, Event, Finished, TasksJudged
from autograder.grading.grader_version import grader_version
from autograder.grading.marks import Outcome, judge_task
from autograder.grading.record import Record
from autograder.grading.seeds import Seeds
from autograder.grading.states import State
from autograder.intake import Intake
from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.places import SKELETON

from .output import print_table
from .processes import MIB, run, waited_for

if TYPE_CHECKING:  # needs PyTorch
    from autograder.grading.judging import Grader

TESTS_A_TASK = 12
MESSAGE = "expected 0.25, got 0.5 at position (0, 1); look at the mask"
EARLY = 0.1
"""The share of the class after which memory is measured for the first time."""
FEWEST = round(1 / EARLY)
"""Submissions, so that this share is one."""
SECONDS = 1.0
"""For each submission on the cluster, as grading one in a class takes."""
OPENER, WAITING_OPENER = f"{__name__}:open_stub", f"{__name__}:open_waiting_stub"
SEEDS = Seeds(b"benchmark")


def outcomes_of(task: Task, fails: bool) -> list[Outcome]:
    """As many tests as a task has, of which the first may fail."""
    first = Outcome(f"{task.name} 0", State.FAILED if fails else State.PASSED, MESSAGE * fails, nodeid="test.py::0")
    rest = (Outcome(f"{task.name} {n}", State.PASSED, "", nodeid=f"test.py::{n}") for n in range(1, TESTS_A_TASK))
    return [first, *rest]


class Stub:
    """In the place of a grader: waits or computes for some seconds, and gives all points, or to half of the class."""

    def __init__(
        self, assignment: Assignment, waiting: float = 0, computing: float = 0, half_fail: bool = False
    ) -> None:
        """Prepares the answers."""
        self._waiting, self._computing = waiting, computing
        self._answers = [
            TasksJudged(tuple(judge_task(task, outcomes_of(task, fails), "share") for task in assignment.tasks))
            for fails in (False, half_fail)
        ]

    def prepare(self) -> None:
        """Nothing has to be prepared."""

    def renew(self) -> bool:
        """Nothing has to be renewed."""
        return False

    def judge(self, submission: Intake, seed: int, **_: object) -> Iterator[Event]:
        """Answers after some time."""
        time.sleep(self._waiting)
        end = time.process_time() + self._computing
        while time.process_time() < end:
            sum(range(1000))
        yield Contained(("seccomp",), "")
        yield self._answers[seed % 2]
        yield Finished()


@contextmanager
def open_stub(assignment: Assignment, references: Path, level: str) -> Iterator[Stub]:
    """Opens one that uses a core, as `open_grader` would the true one."""
    yield Stub(assignment, computing=SECONDS)


@contextmanager
def open_waiting_stub(assignment: Assignment, references: Path, level: str) -> Iterator[Stub]:
    """Opens one that takes the same time without using a core."""
    yield Stub(assignment, waiting=SECONDS)


@dataclass
class Costs:
    """What was measured of the queue and the database; times are seconds in all."""

    count: int
    wall: float = 0.0
    store_wall: float = 0.0
    store_cpu: float = 0.0
    queue_cpu: float = 0.0  # for everything else in the parent
    child_cpu: float = 0.0  # of all children, which read the submission and answer
    memory: list[float] = field(default_factory=list)  # resident MiB of the parent, early and at the end
    disk: int = 0  # bytes of the database


def measure_store(count: int, store: str | None) -> int:
    """Prints what the queue and the database cost for each submission, and whether memory stays flat.

    Args:
        count: submissions, at least `FEWEST`.
        store: a database's URL; None = SQLite in a temporary folder.

    Raises:
        StoreError: where the database cannot be used.
    """
    with tempfile.TemporaryDirectory() as folder, Database(url_of(store, Path(folder)), read_assignment().name):
        pass  # it can be opened
    # in a process of its own, which has no PyTorch loaded
    code = "import sys; from benchmarks.stub_class import print_costs; print_costs(int(sys.argv[1]), *sys.argv[2:])"
    costs = Costs(**json.loads(run("-c", code, count, *([store] if store else [])).output))
    ms = 1000 / count
    store_row = ["store", f"{costs.store_wall * ms:.2f}", f"{costs.store_cpu * ms:.2f}"]
    queue_row = ["queue", f"{(costs.wall - costs.store_wall) * ms:.2f}", f"{costs.queue_cpu * ms:.2f}"]
    child_row = ["child", "", f"{costs.child_cpu * ms:.2f}"]
    print_table([f"ms each, of {count} submissions", "wall", "CPU"], [store_row, queue_row, child_row])
    early, late = costs.memory
    print(f"memory: {early:.0f} MiB after {int(count * EARLY)}, {late:.0f} MiB at the end")
    if costs.disk:
        print(f"database: {costs.disk / count / 1000:.1f} kB each")
    return 0


def print_costs(count: int, url: str | None = None) -> None:
    """Prints the costs as JSON."""
    print(json.dumps(asdict(cost_of(count, url))))


def cost_of(count: int, url: str | None = None) -> Costs:
    """Grades a class of copies of one submission with a stub."""
    assignment, costs = read_assignment(), Costs(count)
    with tempfile.TemporaryDirectory(prefix="store-") as name:
        output, entries = Path(name, "marks"), entries_in(Path(name), count)
        output.mkdir()
        received = {one.key: Received(one.key, one.key, (Owner(one.key, one.key),)) for one in entries}
        with Database(url_of(url, output), assignment.name) as database:
            results = Results(database, SEEDS)
            results.enrol(received.values())
            n_stored = 0

            def store(entry: Entry, record: Record) -> None:
                nonlocal n_stored
                wall, cpu = time.perf_counter(), time.process_time()
                results.add(received[entry.key], record)
                costs.store_wall += time.perf_counter() - wall
                costs.store_cpu += time.process_time() - cpu
                n_stored += 1
                if n_stored in (int(count * EARLY), count):
                    costs.memory.append(psutil.Process().memory_info().rss / MIB)

            conditions = Conditions(assignment, SKELETON, Path(name), "0" * 16, SEEDS)
            wall, cpu, of_children = time.perf_counter(), time.process_time(), waited_for()
            tqdm.monitor_interval = 0
            grade_all(entries, conditions, cast("Grader", Stub(assignment, half_fail=True)), store)
            costs.wall, costs.child_cpu = time.perf_counter() - wall, waited_for() - of_children
            costs.queue_cpu = time.process_time() - cpu - costs.store_cpu
        costs.disk = sum(path.stat().st_size for path in output.glob("*.db"))
    return costs


def entries_in(folder: Path, count: int) -> list[Entry]:
    """A class of copies of one submission."""
    submission = folder / "submission"
    submission.mkdir()
    (submission / "layers.py").write_text("# nothing\n")
    keys = [f"student-{number}" for number in range(count)]
    return [Entry(key, key, submission, folder / "marks" / f"{key}.json") for key in keys]


def measure_cluster(count: int, rounds: int, waiting: bool) -> int:
    """Prints how much sooner a class is graded with two Dask workers on this machine than with one.

    Rounds with one worker and with two take turns. On a machine whose cores have other work, `waiting` tells whether
    the cluster keeps two workers busy.

    Args:
        count: submissions.
        rounds: with each number of workers.
        waiting: submissions take time, but no core.
    """
    opener = WAITING_OPENER if waiting else OPENER
    seconds: dict[int, list[float]] = {1: [], 2: []}
    before = os.getloadavg()[0]
    with on_this_machine(1) as one, on_this_machine(2) as two:
        clusters = {1: one, 2: two}
        for n_workers, address in clusters.items():
            seconds_on(address, 2 * n_workers, opener)  # so that all have started their graders
        for _ in range(rounds):
            for n_workers, address in clusters.items():
                seconds[n_workers].append(seconds_on(address, count, opener))
    rows = [[n, *(f"{choose(found):.1f}" for choose in (median, min))] for n, found in seconds.items()]
    print_table(["Dask workers", "wall s, median", "least"], rows)
    print(f"as fast with two: {median(seconds[1]) / median(seconds[2]):.2f} times")
    print(f"load of the machine before and after: {before:.1f}, {os.getloadavg()[0]:.1f}, on {os.cpu_count()} cores")
    return 0


@contextmanager
def on_this_machine(n_workers: int) -> Iterator[str]:
    """A cluster of workers that each grade one submission at a time; its address."""
    from distributed import LocalCluster  # here: the other measurements do without

    with LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def seconds_on(scheduler: str, count: int, opener: str) -> float:
    """Wall time of a class on a cluster, from the first job to the last record."""
    assignment = read_assignment()
    with tempfile.TemporaryDirectory(prefix="cluster-class-") as name:
        entries, references = entries_in(Path(name), count), Path(name, "none")
        conditions = Conditions(
            assignment, SKELETON, references, grader_version(assignment, SKELETON, references), SEEDS
        )
        found: list[tuple[float, Record]] = []
        began = time.perf_counter()
        grade_all_on_cluster(
            entries, conditions, scheduler, lambda _, record: found.append((time.perf_counter(), record)), opener=opener
        )
    if len(found) != count or not all(record.is_finished for _, record in found):
        raise RuntimeError("not every submission was graded")
    return found[-1][0] - began
