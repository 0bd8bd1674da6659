"""What grading a submission costs in CPU seconds.

`class` grades 300 real submissions, good, faulty, broken and hostile ones, with the command.
"""

import random
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median

from tqdm import tqdm

from autograder.classroom.records import RECORDS
from autograder.grading.judging import Grader
from autograder.grading.record import read_record
from autograder.grading.recording import Recorder
from autograder.grading.seeds import Seeds
from autograder.grading.submission import events_of, open_grader
from autograder.intake import take_in
from foundation.assignment_file import read_assignment
from foundation.child_processes import Ended, run_forked
from foundation.places import REFERENCE, SKELETON

from .processes import cpu_of, print_table, run
from .submissions import good_or_faulty, kind_of, write, write_mixed_class

REFERENCE_ALONE = "the reference, in a class"
RIGHT, WRONG = "correct variants, in a class", "faulty submissions with their diagnosis, in a class"
MOST_SECONDS = 600


def points_of(grader: Grader, submission: Path) -> float:
    """Grades a submission; returns its points."""
    intake = take_in(submission, SKELETON, grader.assignment)
    recorder = Recorder(intake.name, grader.assignment, "0" * 16)
    return recorder.add_all(events_of(intake, Seeds(b"benchmark"), grader)).judgement.score or 0.0


def in_a_class(submissions: Sequence[tuple[str, Path]]) -> Iterator[tuple[str, float]]:
    """The CPU seconds of each submission, by what it is; a forked grader grades each, as in `grade-class`."""
    with tempfile.NamedTemporaryFile() as references, open_grader(read_assignment(), Path(references.name)) as grader:

        def work(submission: Path) -> Iterator[tuple[float, float]]:
            points = points_of(grader, submission)
            yield time.process_time(), points

        full = points_of(grader, REFERENCE)  # so that the first is like the others
        for what, submission in tqdm(submissions, desc="class", leave=False):
            before = cpu_of(grader.zygote._process.pid)
            (_, told), *_ = run_forked(deque([submission]), work, MOST_SECONDS)
            if isinstance(told, Ended) or (what != WRONG and told[1] != full):
                raise RuntimeError(f"{submission} did not get all points: {told}")
            yield what, told[0] + cpu_of(grader.zygote._process.pid) - before


def submissions_of(count: int, folder: Path) -> Iterator[tuple[str, Path]]:
    """So many of each kind, in turn, so that all meet the same neighbours on a shared machine; by what they are."""
    chance = random.Random(0)  # noqa: S311  a sample for a measurement
    everything = [*good_or_faulty()][1:]
    for number in range(count):
        yield REFERENCE_ALONE, REFERENCE
        for what, kind in ((RIGHT, "good"), (WRONG, "faulty")):
            name, sources = chance.choice([one for one in everything if kind_of(one[0]) == kind])
            write(folder / f"{number}-{name}", sources)
            yield what, folder / f"{number}-{name}"


def measure(count: int) -> int:
    """Prints the CPU seconds of so many submissions of each kind."""
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        for what, seconds in in_a_class([*submissions_of(count, Path(folder))]):
            rows.setdefault(what, []).append(seconds)
    figures = ([name, *(f"{choose(seconds):.2f}" for choose in (median, min, max))] for name, seconds in rows.items())
    print_table(["CPU seconds", "median", "least", "most"], figures)
    return 0


def measure_class(count: int, jobs: int, seed: int, keep: Path | None) -> int:
    """Grades a class with the command and prints the figures; returns 1 where a submission got no finished result.

    Args:
        count: submissions.
        jobs: graded at a time.
        seed: of the sample, and of the tests' inputs.
        keep: folder for the class and its marks; None = a temporary one.
    """
    with tempfile.TemporaryDirectory(prefix="class-") as name:
        class_, marks = ((keep or Path(name)).resolve() / part for part in ("class", "marks"))
        kinds = write_mixed_class(class_, count, seed)
        print(f"{count} submissions, {jobs} at a time: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}")
        command = ["-m", "autograder", "grade-class", class_, "--output", marks, "--seed", seed, "--jobs", jobs]
        done = run(*command)
        records = {path.stem: read_record(path) for path in sorted((marks / RECORDS).glob("*.json"))}
    print(f"{done.wall:.0f} s of wall time, {done.cpu:.0f} s of CPU, {done.memory:.0f} MiB in all processes")
    finished = {stem: record.run.seconds for stem, record in records.items() if record and record.is_finished}
    print(f"{len(finished)} finished")
    by_kind: dict[str, list[float]] = defaultdict(list)
    for stem, seconds in finished.items():
        by_kind[kind_of(stem)].append(seconds)
    rows = [[kind, f"{mean(found):.2f}", f"{max(found):.2f}"] for kind, found in sorted(by_kind.items())]
    print_table(["kind", "wall s each", "most"], rows)
    return int(len(finished) != count)
