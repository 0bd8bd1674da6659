"""What the queue and the database of a class cost for each submission, and whether memory stays flat.

A stub takes the place of the grader: it answers at once, with as many tests as the true one. Each submission is still
read and graded in a forked child, whose events the parent folds into a record and stores, as in `grade-class`. The
process has no PyTorch loaded, as the true grader would have; what that adds to a fork is measured apart.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tqdm import tqdm

from autograder.classroom.entries import Entry
from autograder.classroom.grading import grade_all
from autograder.classroom.staleness import Conditions
from autograder.classroom.store import Database, Owner, Received, Results, url_of
from autograder.grading.events import Contained, Event, Finished, TasksJudged
from autograder.grading.marks import Outcome, judge_task
from autograder.grading.record import Record
from autograder.grading.seeds import Seeds
from autograder.grading.states import State
from autograder.intake import Intake
from foundation.assignment_file import Assignment, read_assignment
from foundation.places import ROOT, SKELETON

if TYPE_CHECKING:  # needs PyTorch
    from autograder.grading.judging import Grader

TESTS_A_TASK = 12
EARLY = 0.1
"""The share of the class after which memory is measured for the first time."""
FEWEST = round(1 / EARLY)
"""Submissions, so that this share is one."""


class Stub:
    """In the place of a grader: half of the submissions fail a test of each task."""

    def __init__(self, assignment: Assignment) -> None:
        """Prepares the answers."""
        self._answers = [
            TasksJudged(tuple(judge_task(task, _outcomes(task.name, fails), "share") for task in assignment.tasks))
            for fails in (False, True)
        ]

    def prepare(self) -> None:
        """Nothing has to be prepared."""

    def renew(self) -> bool:
        """Nothing has to be renewed."""
        return False

    def judge(self, submission: Intake, seed: int, **_: object) -> Iterator[Event]:
        """Answers at once."""
        yield Contained(("seccomp",), "")
        yield self._answers[seed % 2]
        yield Finished()


@dataclass
class Costs:
    """What was measured.

    Attributes:
        count: submissions.
        store_wall: seconds in all that storing took.
        store_cpu: likewise, of CPU.
        queue_cpu: of CPU, for everything else in the parent.
        child_cpu: of CPU, of all children, which read the submission and answer.
        wall: seconds in all.
        memory: resident MiB of the parent, early and at the end.
        disk: bytes of the database.
    """

    count: int
    store_wall: float = 0.0
    store_cpu: float = 0.0
    queue_cpu: float = 0.0
    child_cpu: float = 0.0
    wall: float = 0.0
    memory: list[float] = field(default_factory=list)
    disk: int = 0


def measure(count: int, url: str | None = None) -> int:
    """Prints the figures.

    Args:
        count: submissions, at least `FEWEST`.
        url: of a database; None = SQLite in a temporary folder.

    Raises:
        StoreError: where the database cannot be used.
    """
    with tempfile.TemporaryDirectory() as folder, Database(url_of(url, Path(folder)), read_assignment().name):
        pass  # it can be opened
    costs = cost_alone(count, url)
    each = 1000 / count
    print(f"{count} submissions with a stub grader, {TESTS_A_TASK} tests a task; ms each")
    print(f"  store   {costs.store_wall * each:6.2f} wall   {costs.store_cpu * each:6.2f} CPU")
    print(f"  queue   {(costs.wall - costs.store_wall) * each:6.2f} wall   {costs.queue_cpu * each:6.2f} CPU")
    print(f"  child   {'':>6}        {costs.child_cpu * each:6.2f} CPU")
    early, late = costs.memory
    print(f"  with PyTorch loaded, a fork costs the parent {1000 * seconds_of_fork():.2f} CPU")
    print(f"memory: {early:.0f} MiB after {int(count * EARLY)}, {late:.0f} MiB at the end")
    print(f"database: {costs.disk / count / 1000:.1f} kB each" if costs.disk else "")
    return 0


def cost_alone(count: int, url: str | None) -> Costs:
    """What `cost_of` finds in a process of its own, which has no PyTorch loaded."""
    code = "import sys; from benchmarks.store import say_cost; say_cost(int(sys.argv[1]), *sys.argv[2:])"
    command = [sys.executable, "-c", code, str(count), *([url] if url else [])]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)  # noqa: S603  our own command
    return Costs(**json.loads(done.stdout))


def say_cost(count: int, url: str | None = None) -> None:
    """Prints the costs as JSON."""
    print(json.dumps(asdict(cost_of(count, url, show_progress=sys.stderr.isatty()))))


def seconds_of_fork(count: int = 50) -> float:
    """CPU seconds that a fork takes of this process, to begin and to wait for its end."""
    before = time.process_time()
    for _ in range(count):
        if not (child := os.fork()):
            os._exit(0)
        os.waitpid(child, 0)
    return (time.process_time() - before) / count


def cost_of(count: int, url: str | None = None, show_progress: bool = False) -> Costs:
    """Grades a class of copies of one submission with a stub."""
    assignment, seeds, costs = read_assignment(), Seeds(b"benchmark"), Costs(count)
    with tempfile.TemporaryDirectory(prefix="store-") as name:
        folder, output = Path(name, "submission"), Path(name, "marks")
        folder.mkdir()
        output.mkdir()
        (folder / "layers.py").write_text("# nothing\n")
        keys = [f"student-{number}" for number in range(count)]
        entries = [Entry(key, key, folder, output / f"{key}.json") for key in keys]
        received = {key: Received(key, key, (Owner(key, key),)) for key in keys}
        with Database(url_of(url, output), assignment.name) as database:
            results = Results(database, seeds)
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
                    costs.memory.append(resident())

            conditions = Conditions(assignment, SKELETON, folder, "0" * 16, seeds, show_progress=show_progress)
            wall, cpu, of_children = time.perf_counter(), time.process_time(), children_cpu()
            tqdm.monitor_interval = 0
            grade_all(entries, conditions, cast("Grader", Stub(assignment)), store)
            costs.wall, costs.child_cpu = time.perf_counter() - wall, children_cpu() - of_children
            costs.queue_cpu = time.process_time() - cpu - costs.store_cpu
        costs.disk = sum(path.stat().st_size for path in output.glob("*.db"))
    return costs


def children_cpu() -> float:
    """CPU time of the children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def resident() -> float:
    """Memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _outcomes(task: str, fails: bool) -> list[Outcome]:
    ends = [State.FAILED if fails else State.PASSED, *[State.PASSED] * (TESTS_A_TASK - 1)]
    message = "expected 0.25, got 0.5 at position (0, 1); look at the mask"
    return [
        Outcome(
            f"{task} number {number}", state, message if state is State.FAILED else "", nodeid=f"{task}.py::{number}"
        )
        for number, state in enumerate(ends)
    ]
