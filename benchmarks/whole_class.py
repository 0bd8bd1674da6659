"""How long a class of 300 real submissions takes, and whether the memory of the command that grades it stays flat."""

import os
import sqlite3
import tempfile
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from statistics import mean

from autograder.classroom.records import RECORDS
from autograder.classroom.store import FILE
from autograder.grading.record import read_record

from .output import print_table
from .processes import MIB, asked, cpu_of, family, has_ended, start
from .submissions import kind_of, write_mixed_class

SLOWEST = 10
EARLY = 0.1
"""The share of the class after which memory is measured for the first time."""
EVERY_SECONDS = 1.0


def measure(count: int, jobs: int, seed: int, keep: Path | None) -> int:
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
        grade("-m", "autograder", "grade-class", class_, "--output", marks, "--seed", seed, "--jobs", jobs, marks=marks)
        records = {path.stem: read_record(path) for path in sorted((marks / RECORDS).glob("*.json"))}
    finished = {stem: record.run.seconds for stem, record in records.items() if record and record.is_finished}
    print(f"{len(finished)} finished")
    by_kind: dict[str, list[float]] = defaultdict(list)
    for stem, seconds in finished.items():
        by_kind[kind_of(stem)].append(seconds)
    rows = [[kind, f"{mean(found):.2f}", f"{max(found):.2f}"] for kind, found in sorted(by_kind.items())]
    print_table(["kind", "wall s each", "most"], rows)
    slowest = sorted(finished, key=finished.__getitem__, reverse=True)[:SLOWEST]
    print("slowest: " + ", ".join(f"{stem} {finished[stem]:.0f} s" for stem in slowest))
    return int(len(finished) != count)


def grade(*words: object, marks: Path) -> None:
    """Runs the command and prints its time, the load of the machine, and the command's memory, early and at the end."""
    load, began, cpu = os.getloadavg()[0], time.perf_counter(), 0.0
    memory: dict[int, float] = {}  # resident, in MiB, when so many results were stored
    command = start(*words)
    while not has_ended(command, EVERY_SECONDS):
        cpu = max(cpu, cpu_of(command.pid))
        for process in family(command.pid)[:1]:
            resident = asked(lambda one=process: one.memory_info().rss, 0)  # type: ignore[misc]
            if resident and (n_stored := stored(marks)):
                memory.setdefault(n_stored, resident / MIB)  # later, the pages are written
    print(f"{time.perf_counter() - began:.0f} s of wall time, {cpu:.0f} s of CPU, as far as the system tells")
    print(f"load of the machine before and after: {load:.1f}, {os.getloadavg()[0]:.1f}")
    if memory:
        early = next((n for n in sorted(memory) if n >= EARLY * max(memory)), max(memory))
        print(f"memory of the command: {memory[early]:.0f} MiB after {early}, {memory[max(memory)]:.0f} at the end")
    print(f"exit status {command.returncode}")


def stored(marks: Path) -> int:
    """How many results a class's database has; 0 where there is none yet."""
    if not (marks / FILE).is_file():
        return 0
    with closing(sqlite3.connect(f"file:{marks / FILE}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
