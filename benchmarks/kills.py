"""Whether marks survive processes that die: a class is graded while its processes are killed at random moments.

One of four is killed at a time, by KILL or TERM: the process of the class, one of its graders, the zygote that workers
are forked from, or a worker. The command is started again until it has finished. Its records are then compared with
those of an undisturbed run, and its database is searched for results that are missing or there twice.
"""

import contextlib
import ctypes
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from tqdm import tqdm

from autograder.classroom.records import RECORDS
from autograder.classroom.store import FILE
from autograder.grading.record import Judgement, read_record

from .output import print_table
from .processes import asked, family, has_ended, start
from .submissions import write_small_class

KINDS = ("class", "grader", "zygote", "worker")
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
LONGEST_WAIT, LONGEST_AIM = 2.0, 0.5
"""Seconds at most between two kills in a small class, and from the choice of a process to its end."""
GONE_SECONDS = 1.0
"""After this time nothing may be left of a class whose process was killed."""
SMALL = 6
"""Submissions of a small class: one of each kind."""
MOST_FAILURES = 2
"""So often the command may fail although nothing was killed."""
SET_CHILD_SUBREAPER = 36


@dataclass
class Outcome:
    """What became of the marks."""

    kills: Counter[str] = field(default_factory=Counter)  # by kind and signal
    wrong: list[str] = field(default_factory=list)  # records that differ from the undisturbed ones
    lost: list[str] = field(default_factory=list)  # submissions without a finished record
    doubled: list[str] = field(default_factory=list)  # files that should not be there
    left: list[str] = field(default_factory=list)  # processes that outlived the class's own
    runs: int = 0  # of the command

    @property
    def is_good(self) -> bool:
        """Whether nothing was bent, lost, doubled or left behind."""
        return not (self.wrong or self.lost or self.doubled or self.left)


def measure(count: int, size: int, seed: int | None) -> int:
    """Prints what became of the marks; returns 1 if anything was bent, lost, doubled or left behind."""
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    outcome = kill_at_random(count, seed, size, show_progress=True)
    killed = ", ".join(f"{kind} {number}" for kind, number in sorted(outcome.kills.items()))
    print(f"{outcome.kills.total()} kills ({killed}), {outcome.runs} runs of the command, class of {size}, seed {seed}")
    found = {what: getattr(outcome, what) for what in ("wrong", "lost", "doubled", "left")}
    print_table(["what", "how many", "which"], [[what, len(names), ", ".join(names)] for what, names in found.items()])
    return int(not outcome.is_good)


def kill_at_random(count: int, seed: int, size: int = SMALL, show_progress: bool = False) -> Outcome:
    """Grades a class until `count` processes have been killed, and once more to the end.

    Args:
        count: of kills; they are spread over a large class.
        seed: of the moments and the victims; the machine's own timing decides as well.
        size: of the class.
        show_progress: shows a progress bar.
    """
    others = living_below()  # the caller's own, which are spared
    chance, outcome = random.Random(seed), Outcome()  # noqa: S311  moments, no secrets
    with (
        adopted_orphans(),
        tempfile.TemporaryDirectory(prefix="kills-") as name,
        tqdm(desc="kills", unit="kill", total=count, disable=not show_progress, leave=False) as bar,
    ):
        folder, quiet, output = (Path(name, part) for part in ("class", "quiet", "marks"))
        write_small_class(folder, size)
        grade = ["-m", "autograder", "grade-class", folder, "--seed", seed, "--jobs", 2, "--output"]
        if status := start(*grade, quiet).wait():
            raise RuntimeError(f"the undisturbed run failed with status {status}")
        expected = judgements(quiet)
        while outcome.kills.total() < count:
            shutil.rmtree(output, ignore_errors=True)
            failures = 0
            while failures < MOST_FAILURES:
                outcome.runs += 1
                command, before = start(*grade, output), outcome.kills.total()
                for kill in killed_in(command, chance, max(LONGEST_WAIT, 2 * size / count)):
                    outcome.kills[kill] += 1
                    bar.update()
                    if command.returncode is not None:
                        outcome.left += orphans_after(GONE_SECONDS, others)
                    if outcome.kills.total() == count:
                        break
                if command.wait() == 0:
                    break
                failures += outcome.kills.total() == before
            compare(expected, output, outcome)
    return outcome


def killed_in(command: "subprocess.Popen[bytes]", chance: random.Random, wait: float) -> Iterator[str]:
    """Kills processes of a command at random moments, `wait` seconds apart at most, until it ends; yields each kill."""
    while command.returncode is None:
        kind, number = chance.choice(KINDS), chance.choice(SIGNALS)
        if has_ended(command, chance.uniform(0, wait)):
            return
        while not victims(command.pid, kind) and not has_ended(command, 0.02):
            pass
        if has_ended(command, chance.uniform(0, LONGEST_AIM)) or not (pids := victims(command.pid, kind)):
            continue
        try:
            os.kill(chance.choice(pids), number)
        except ProcessLookupError:
            continue
        if kind == "class":
            command.wait()
        yield f"{kind} {number.name}"


def victims(pid: int, kind: str) -> list[int]:
    """The processes of one kind below the command, or itself."""
    if kind == "class":
        return [pid]
    below = [child for one in family(pid)[:1] for child in asked(one.children, list[psutil.Process]())]
    graders = [one.pid for one in below if "grade-class" in command_of(one)]
    if kind == "grader":
        return graders
    # below the program that separates them from the system are Python's processes: the zygote, and its workers
    inside = [two for one in below if one.pid not in graders for two in family(one.pid) if is_python(two)]
    pids = {one.pid for one in inside}
    return [one.pid for one in inside if (asked(one.ppid, 0) not in pids) == (kind == "zygote")]


def command_of(process: psutil.Process) -> str:
    """The command line of a process."""
    return asked(lambda: " ".join(process.cmdline()), "")


def is_python(process: psutil.Process) -> bool:
    """Whether a process is this interpreter."""
    return command_of(process).startswith(sys.executable)


def compare(expected: Mapping[str, Judgement], output: Path, outcome: Outcome) -> None:
    """Adds to the outcome what differs from the undisturbed run, in the records and in the database."""
    found = judgements(output)
    outcome.lost += sorted(expected.keys() - found.keys())
    outcome.doubled += sorted(found.keys() - expected.keys())
    outcome.doubled += [str(path.relative_to(output)) for path in output.rglob(".*")]
    outcome.wrong += [name for name, judgement in found.items() if expected.get(name, judgement) != judgement]
    with closing(sqlite3.connect(output / FILE)) as connection:
        kept = dict(
            connection.execute(
                "SELECT s.entry, count(*) FROM submissions s JOIN kept k ON k.submission_id = s.id "
                "JOIN attempts a ON a.submission_id = s.id JOIN results r ON r.attempt_id = a.id GROUP BY s.entry"
            )
        )
    outcome.lost += [f"{name}, in the database" for name in sorted(expected.keys() - kept.keys())]
    outcome.doubled += [f"{name}, in the database" for name, number in kept.items() if number != 1]


def judgements(output: Path) -> dict[str, Judgement]:
    """The finished judgements of a class, by the record's name."""
    records = {path.stem: read_record(path) for path in sorted((output / RECORDS).glob("*"))}
    return {name: record.judgement for name, record in records.items() if record is not None and record.is_finished}


@contextlib.contextmanager
def adopted_orphans() -> Iterator[None]:
    """Inside, descendants of this process whose parent dies become its children, where they can be counted."""
    prctl = ctypes.CDLL(None).prctl
    prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def orphans_after(seconds: float, others: Collection[int]) -> list[str]:
    """The commands of this process's descendants, but `others`, that are still there after some seconds; ends them."""
    deadline = time.monotonic() + seconds
    while (left := living_below() - set(others)) and time.monotonic() < deadline:
        time.sleep(0.02)
    found = [asked(lambda pid=pid: command_of(psutil.Process(pid))[:60], "ended") for pid in left]  # type: ignore[misc]
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


def living_below() -> set[int]:
    """The descendants of this process; those that have ended are waited for."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return {process.pid for process in family(os.getpid())[1:]}
