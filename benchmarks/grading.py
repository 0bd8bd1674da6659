"""What grading costs in CPU seconds: one submission alone, one in a class, and the same tests without a sandbox."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
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

SUBMISSION, RELEASE = Path("reference"), Path("student")
COLD = "from benchmarks.grading import cold; cold()"


def cpu_of(zygote: Zygote) -> float:
    """Returns the CPU seconds of a zygote and of all its workers, living or ended."""
    return sum(asked(partial(cpu_seconds, one), 0.0) for one in family(zygote._process.pid))


def points_of(grader: Grader) -> float:
    """Grades the submission; returns its points."""
    intake = take_in(SUBMISSION, RELEASE, grader.assignment)
    recorder = Recorder(intake.name, grader.assignment, "0" * 16)
    return recorder.add_all(events_of(intake, Seeds(b"benchmark"), grader)).judgement.score


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


def in_a_class(count: int) -> tuple[list[float], list[float]]:
    """Returns the CPU seconds of each submission in a class; a forked grader grades each, as in `grade-class`.

    Every other one is graded without reports of the branches that it reaches: the second list.
    """
    found: tuple[list[float], list[float]] = ([], [])
    with tempfile.NamedTemporaryFile() as references, open_grader(read_assignment(), Path(references.name)) as grader:

        def work(is_silent: int) -> Iterator[tuple[float, float]]:
            unwatched = patch.object(judging, "find_judged_code", return_value=JudgedCode())
            with unwatched if is_silent else nullcontext():
                points = points_of(grader)
            yield time.process_time(), points

        points_of(grader)  # so that the first is like the others
        for number in tqdm(range(count), desc="class", leave=False):
            before = cpu_of(grader.zygote)
            is_silent = number % 2
            (_, told), (_, ended) = run_forked(deque([is_silent]), work, 60)
            if isinstance(told, Ended) or told[1] != 90:
                raise RuntimeError(f"the submission did not get its 90 points: {told}, {ended}")
            found[is_silent].append(told[0] + cpu_of(grader.zygote) - before)
    return found


def measure(count: int) -> int:
    """Prints the figures."""
    tests = ["-m", "pytest", "-c", "autograder/assignment/tests/pytest.ini", "--rootdir", ".", "-q"]
    bare = [fresh(*tests, "--submission", str(SUBMISSION))[0] for _ in range(3)]
    alone = [json.loads(fresh("-c", COLD)[1])[0] for _ in range(3)]
    forked: list[float] = []
    sources = read_sources(SUBMISSION, RELEASE)
    versions = [Version("", sources, [seed]) for seed in range(5)]
    run_versions(versions, sources, read_assignment(), lambda run: forked.append(run.cpu_seconds))
    together, silent = in_a_class(count)
    rows = {
        "one submission alone, both imports of torch included": alone,
        "the same tests, bare pytest, one import of torch": bare,
        f"one submission of a class of {count}": together,
        "the same without reports of branches, in turn with it": silent,
        "the same tests, bare, in a fork that has all loaded": forked,
    }
    print("CPU seconds: median, least, most")
    for name, seconds in rows.items():
        print(f"{name:<56}{median(seconds):6.2f}{min(seconds):6.2f}{max(seconds):6.2f}")
    return 0
