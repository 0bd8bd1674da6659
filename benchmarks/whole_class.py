"""How long a class of 300 real submissions takes, and whether the memory of the command that grades it stays flat."""

import os
import sqlite3
import tempfile
import time
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from tqdm import tqdm

from autograder.classroom.records import RECORDS
from autograder.classroom.store import FILE
from autograder.grading.record import read_record

from .output import print_table
from .processes import asked, cpu_of, family, has_ended, start
from .submissions import kind_of, write_mixed_class

SLOWEST = 10
EARLY = 0.1
"""The share of the class after which memory is measured for the first time."""
EVERY_SECONDS = 1.0


@dataclass
class Costs:
    """What was measured.

    Attributes:
        wall: seconds.
        cpu: seconds of the command and of all below it, as far as the system tells.
        memory: resident MiB of the command, by the number of results stored.
        status: of the command.
        loads: of the machine, before and after.
    """

    wall: float = 0.0
    cpu: float = 0.0
    memory: dict[int, float] = field(default_factory=dict)
    status: int = 0
    loads: list[float] = field(default_factory=list)


def measure(count: int, jobs: int, seed: int, keep: Path | None) -> int:
    """Grades a class with the command and prints the figures; returns 1 where a submission got no finished result.

    Args:
        count: submissions.
        jobs: graded at a time.
        seed: of the sample, and of the tests' inputs.
        keep: folder for the class and its marks; None = a temporary one.
    """
    with tempfile.TemporaryDirectory(prefix="class-") as name:
        class_, marks = (keep or Path(name)).resolve() / "class", (keep or Path(name)).resolve() / "marks"
        kinds = write_mixed_class(class_, count, seed)
        costs = cost_of(class_, marks, jobs, seed)
        records = {path.stem: read_record(path) for path in sorted((marks / RECORDS).glob("*.json"))}
    finished = {stem: record.run.seconds for stem, record in records.items() if record and record.is_finished}
    print(f"{count} submissions, {jobs} at a time: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}")
    print(f"{costs.wall:.0f} s of wall time, {costs.cpu:.0f} s of CPU; load {costs.loads[0]:.1f}, {costs.loads[1]:.1f}")
    if numbers := sorted(costs.memory):
        early = next((n for n in numbers if n >= EARLY * count), numbers[-1])
        at = ", ".join(f"{costs.memory[n]:.0f} MiB after {n}" for n in (early, numbers[-1]))
        print(f"memory of the command: {at}")
    print(f"exit status {costs.status}, {len(finished)} finished")
    by_kind: dict[str, list[float]] = defaultdict(list)
    for stem, seconds in finished.items():
        by_kind[kind_of(stem)].append(seconds)
    rows = [[kind, f"{mean(found):.2f}", f"{max(found):.2f}"] for kind, found in sorted(by_kind.items())]
    print_table(["kind", "wall s each", "most"], rows)
    slowest = sorted(finished, key=finished.__getitem__, reverse=True)[:SLOWEST]
    print("slowest: " + ", ".join(f"{stem} {finished[stem]:.0f} s" for stem in slowest))
    return int(len(finished) != count)


def cost_of(folder: Path, output: Path, jobs: int, seed: int) -> Costs:
    """Grades a class with the command; what that takes."""
    costs, began = Costs(loads=[os.getloadavg()[0]]), time.perf_counter()
    options = ["--output", output, "--seed", seed, "--jobs", jobs]
    command = start("-m", "autograder", "grade-class", folder, *options)
    with tqdm(desc="class", unit="s", leave=False) as bar:
        while not has_ended(command, EVERY_SECONDS):
            bar.update()
            costs.cpu = max(costs.cpu, cpu_of(command.pid))
            for process in family(command.pid)[:1]:
                memory = asked(process.memory_info, None)
                if memory and (n_stored := stored(output)):
                    costs.memory.setdefault(n_stored, memory.rss / 2**20)  # later, the pages are written
    costs.wall, costs.status = time.perf_counter() - began, command.returncode
    costs.loads.append(os.getloadavg()[0])
    return costs


def stored(output: Path) -> int:
    """How many results a class's database has; 0 where there is none yet."""
    if not (output / FILE).is_file():
        return 0
    with closing(sqlite3.connect(f"file:{output / FILE}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
