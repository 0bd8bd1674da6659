"""What grading costs in CPU seconds: one submission alone, one in a class, and the same tests without a sandbox."""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from unittest.mock import patch

from tqdm import tqdm

from autograder.grading import judging
from autograder.grading.judging import Grader
from autograder.grading.launcher import open_grader
from autograder.grading.recording import Recorder
from autograder.grading.seeds import Seeds
from autograder.grading.submission import events_of
from autograder.intake import take_in
from autograder.rules import JudgedCode
from autograder.sandbox.containment.zygote import Zygote
from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment
from foundation.child_processes import Ended, run_forked
from validity.run_tests import Version, run_versions

from .processes import asked, cpu_seconds, family
from .whole_class import good_or_faulty, kind_of, write

SUBMISSION, RELEASE = Path("reference"), Path("student")
ALL_POINTS = 90
REFERENCE_ALONE = "the reference, in a class"
UNWATCHED = "the same without reports of branches"
RIGHT, WRONG = "correct variants, in a class", "faulty submissions with their diagnosis, in a class"
BARE = "the same tests, bare, in a fork that has all loaded"
KINDS = {RIGHT: ("good",), WRONG: ("faulty", "sometimes")}
COLD = "from benchmarks.grading import cold; cold()"


@dataclass(frozen=True)
class Task:
    """One submission to grade.

    Attributes:
        submission: its folder.
        is_right: whether it deserves all points.
        is_watched: whether its branches report that they were reached.
    """

    submission: Path
    is_right: bool = True
    is_watched: bool = True


def cpu_of(zygote: Zygote) -> float:
    """Returns the CPU seconds of a zygote and of all its workers, living or ended."""
    return sum(asked(partial(cpu_seconds, one), 0.0) for one in family(zygote._process.pid))


def points_of(grader: Grader, submission: Path = SUBMISSION) -> float:
    """Grades a submission; returns its points."""
    intake = take_in(submission, RELEASE, grader.assignment)
    recorder = Recorder(intake.name, grader.assignment, "0" * 16)
    return recorder.add_all(events_of(intake, Seeds(b"benchmark"), grader)).judgement.score or 0.0


def cold() -> None:
    """In a fresh process: prints the CPU seconds of grading one submission, and its points."""
    with tempfile.NamedTemporaryFile() as references, open_grader(read_assignment(), Path(references.name)) as grader:
        points = points_of(grader)
        print(json.dumps([time.process_time() + cpu_of(grader.zygote), points]))


def fresh(*command: str) -> tuple[float, str]:
    """Runs Python with arguments; returns its CPU seconds and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True)  # noqa: S603  # our own commands
    if done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(command)} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def in_a_class(tasks: Sequence[Task]) -> list[float]:
    """Returns the CPU seconds of each submission of a class; a forked grader grades each, as in `grade-class`."""
    found = []
    with tempfile.NamedTemporaryFile() as references, open_grader(read_assignment(), Path(references.name)) as grader:

        def work(task: Task) -> Iterator[tuple[float, float]]:
            unwatched = patch.object(judging, "find_judged_code", new=lambda *_: JudgedCode())
            with nullcontext() if task.is_watched else unwatched:
                points = points_of(grader, task.submission)
            yield time.process_time(), points

        grader.prepare()
        points_of(grader)  # so that the first is like the others
        for task in tqdm(tasks, desc="class", leave=False):
            before = cpu_of(grader.zygote)
            (_, told), (_, ended) = run_forked(deque([task]), work, 60)
            if isinstance(told, Ended) or (task.is_right and told[1] != ALL_POINTS):
                raise RuntimeError(f"{task.submission} did not get all points: {told}, {ended}")
            found.append(told[0] + cpu_of(grader.zygote) - before)
    return found


def tasks_of(count: int, folder: Path) -> Iterator[tuple[str, Task]]:
    """So many of each kind, in turn, so that all meet the same neighbours on a shared machine; by what they are."""
    chance = random.Random(0)  # noqa: S311  a sample for a measurement
    everything = [*good_or_faulty()][1:]
    for number in range(count):
        yield REFERENCE_ALONE, Task(SUBMISSION)
        yield UNWATCHED, Task(SUBMISSION, is_watched=False)
        for what, kinds in KINDS.items():
            name, sources = chance.choice([one for one in everything if kind_of(one[0]) in kinds])
            write(folder / f"{number}-{name}", sources)
            yield what, Task(folder / f"{number}-{name}", is_right=what == RIGHT)


def warm(count: int) -> dict[str, list[float]]:
    """CPU seconds of so many submissions of each kind in a class, and of the tests alone; by what they are."""
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        names, tasks = zip(*tasks_of(count, Path(folder)), strict=True)
        for name, one in zip(names, in_a_class(tasks), strict=True):
            rows.setdefault(name, []).append(one)
    sources = read_sources(SUBMISSION, RELEASE)
    versions = [Version("", sources, [seed]) for seed in range(5)]
    bare = rows[BARE] = []
    run_versions(versions, sources, read_assignment(), lambda run: bare.append(run.cpu_seconds))
    return rows


def measure(count: int) -> int:
    """Prints the figures."""
    tests = ["-m", "pytest", "-c", "autograder/assignment/tests/pytest.ini", "--rootdir", ".", "-q"]
    rows = {
        "one submission alone, both imports of torch included": [json.loads(fresh("-c", COLD)[1])[0] for _ in range(3)],
        "the same tests, bare pytest, one import of torch": [
            fresh(*tests, "--submission", str(SUBMISSION))[0] for _ in range(3)
        ],
        **warm(count),
    }
    print("CPU seconds: median, least, most")
    for name, seconds in rows.items():
        print(f"{name:<56}{median(seconds):6.2f}{min(seconds):6.2f}{max(seconds):6.2f}")
    return 0
