"""The cost of grading a submission in CPU seconds: the reference, correct variants, faults of the catalogue."""

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Annotated

import psutil
from tqdm import tqdm

from autograder.course.catalogue import apply, read_catalogue
from autograder.grading.judging import Grader
from autograder.grading.record import new_record
from autograder.grading.seeds import Seeds
from autograder.grading.submission import grade_submission, open_grader
from autograder.intake.sources import read_sources
from autograder.intake.submission import take_in
from foundation.assignment_file import read_assignment
from foundation.command_line import positive
from foundation.places import REFERENCE, SKELETON
from foundation.processes import Ended, run_forked
from validity.console import option, print_table
from validity.variants import read_variants

REFERENCE_ALONE = "the reference, in a class"
RIGHT, WRONG = "correct variants, in a class", "faulty submissions with their diagnosis, in a class"
MOST_SECONDS = 600


def measure(count: Annotated[int, option("submissions of each kind in the class", type=positive)] = 30) -> int:
    """Measure the CPU time of grading a submission in a class: the reference, correct variants, faulty submissions."""
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        for kind, cost in in_a_class([*submissions_of(count, Path(folder))]):
            seconds.setdefault(kind, []).append(cost)
    figures = ([kind, *(f"{choose(costs):.2f}" for choose in (median, min, max))] for kind, costs in seconds.items())
    print_table(["CPU seconds", "median", "least", "most"], figures)
    return 0


def submissions_of(count: int, folder: Path) -> Iterator[tuple[str, Path]]:
    """So many of each kind, in turn, so that all meet the same neighbours on a shared machine; by their kinds."""
    chance = random.Random(0)  # noqa: S311  a sample for a measurement
    assignment, reference = read_assignment(), read_sources(REFERENCE, SKELETON)
    variants = read_variants(assignment, reference)
    right, wrong = [variant.sources for variant in variants], [apply(fault, reference) for fault in read_catalogue()]
    for number in range(count):
        yield REFERENCE_ALONE, REFERENCE
        for kind, known in ((RIGHT, right), (WRONG, wrong)):
            place = folder / f"{number}-{kind.partition(' ')[0]}"
            place.mkdir()
            for module, (_, text) in chance.choice(known).items():
                if module != "__init__" and "." not in module:
                    (place / f"{module}.py").write_text(text, encoding="utf-8")
            yield kind, place


def in_a_class(submissions: Sequence[tuple[str, Path]]) -> Iterator[tuple[str, float]]:
    """The CPU seconds of each submission, by its kind; a forked grader grades each, as in `grade-class`."""
    with tempfile.NamedTemporaryFile() as references, open_grader(read_assignment(), Path(references.name)) as grader:

        def work(submission: Path) -> Iterator[tuple[float, float]]:
            points = points_of(grader, submission)
            yield time.process_time(), points

        full = points_of(grader, REFERENCE)  # so that the first is like the others
        for kind, submission in tqdm(submissions, desc="class", leave=False):
            before = cpu_of(grader.zygote._process.pid)
            (_, result), *_ = run_forked([submission], work, MOST_SECONDS)
            if isinstance(result, Ended) or (kind != WRONG and result[1] != full):
                raise RuntimeError(f"{submission} did not get all points: {result}")
            yield kind, result[0] + cpu_of(grader.zygote._process.pid) - before


def points_of(grader: Grader, submission: Path) -> float:
    """Grade a submission; return its points in regular tasks: answers about its own code (E.6) go with that code."""
    intake = take_in(submission, SKELETON, grader.assignment)
    record = new_record(intake.name, grader.assignment, "0" * 16)
    *_, record = grade_submission(intake, record, Seeds(b"benchmark"), grader)
    regular = {task.number for task in grader.assignment.tasks if not task.extension}
    return sum(part.score or 0.0 for part in record.judgement.parts if part.number in regular)


def cpu_of(pid: int) -> float:
    """CPU seconds of a process and of all below it, living or waited for."""
    seconds = 0.0
    for process in [top := psutil.Process(pid), *top.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # it has just ended
            seconds += sum(process.cpu_times()[:4])
    return seconds
