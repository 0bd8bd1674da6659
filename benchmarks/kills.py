"""Whether marks survive processes that die: a class is graded while its processes are killed at random moments.

One of four is killed at a time, by KILL or TERM: the process of the class, one of its graders, the zygote that workers
are forked from, or a worker. The command is started again until it has finished, and its records are compared with
those of an undisturbed run, and its database is searched for results that are missing or there twice.
"""

import contextlib
import ctypes
import json
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
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Never

from tqdm import tqdm

from autograder.classroom.records import RECORDS
from autograder.classroom.store import FILE
from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.grading.record import read_record
from autograder.intake.python_source import read_modules
from foundation.places import REFERENCE, ROOT

from .processes import children_of, command_of, family, parent_of

FAULTS = (
    "embedding-not-scaled",
    "attention-mask-of-first-sentence",
    "layer-norm-sample-variance",
    "decoder-layer-two-norms",
)
CRASHES = "        centred = x - x.mean", "        __import__('os')._exit(3)\n        centred = x - x.mean"
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
    """What became of the marks.

    Attributes:
        kills: how many processes were killed, by kind and signal.
        wrong: names of records that differ from the undisturbed ones.
        lost: names of submissions without a finished record.
        doubled: files that should not be there.
        left: processes that were still there some time after the class's process was killed.
        runs: how often the command was started.
    """

    kills: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    runs: int = 0

    @property
    def is_good(self) -> bool:
        """Whether nothing was bent, lost, doubled or left behind."""
        return not (self.wrong or self.lost or self.doubled or self.left)


class Victim:
    """The command that grades a class, and the processes below it."""

    def __init__(self, folder: Path, output: Path, seed: int) -> None:
        """Starts it."""
        options = ["--output", str(output), "--seed", str(seed), "--jobs", "2"]
        self.process = subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "-m", "autograder", "grade-class", str(folder), *options],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def ends_within(self, seconds: float) -> bool:
        """Whether the command ends within some seconds, or has ended."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def pids(self, kind: str) -> list[int]:
        """Its processes of one kind."""
        if kind == "class":
            return [self.process.pid]
        below = children_of(self.process.pid)
        graders = [pid for pid in below if "grade-class" in command_of(pid)]
        if kind == "grader":
            return graders
        zygotes = [one.pid for root in below if root not in graders for one in family(root) if is_python(one.pid)]
        tops = [pid for pid in zygotes if parent_of(pid) not in zygotes]
        return tops if kind == "zygote" else [pid for pid in zygotes if pid not in tops]


def measure(count: int, size: int = SMALL, seed: int | None = None) -> int:
    """Prints what became of the marks; returns 1 if anything was bent, lost, doubled or left behind."""
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    outcome = kill_at_random(count, seed, size, show_progress=True)
    killed = ", ".join(f"{kind} {number}" for kind, number in sorted(outcome.kills.items()))
    print(f"{outcome.kills.total()} kills ({killed}), {outcome.runs} runs of the command, class of {size}, seed {seed}")
    for what in ("wrong", "lost", "doubled", "left"):
        found = getattr(outcome, what)
        print(f"  {what:<8}{len(found)}" + (f": {', '.join(found)}" if found else ""))
    return int(not outcome.is_good)


def kill_at_random(count: int, seed: int, size: int = SMALL, show_progress: bool = False) -> Outcome:
    """Grades a class until `count` processes have been killed, and once more to the end.

    Args:
        count: of kills; they are spread over a large class.
        seed: of the moments and the victims; the machine's own timing decides as well.
        size: of the class.
        show_progress: shows a progress bar.
    """
    others = living_below(os.getpid())  # the caller's own
    chance, outcome = random.Random(seed), Outcome()  # noqa: S311  moments, no secrets
    with (
        adopted_orphans(),
        tempfile.TemporaryDirectory(prefix="kills-") as name,
        tqdm(desc="kills", unit="kill", total=count, disable=not show_progress, leave=False) as bar,
    ):
        folder, quiet, output = (Path(name, part) for part in ("class", "quiet", "marks"))
        write_class(folder, size)
        run = Victim(folder, quiet, seed)
        if status := run.process.wait():
            raise RuntimeError(f"the undisturbed run failed with status {status}")
        expected = judgements(quiet)
        while outcome.kills.total() < count:
            shutil.rmtree(output, ignore_errors=True)
            failures = 0
            while failures < MOST_FAILURES:
                outcome.runs += 1
                before = outcome.kills.total()
                victim = Victim(folder, output, seed)
                disturb(victim, chance, outcome, count, max(LONGEST_WAIT, 2 * size / count), bar, others)
                if victim.process.wait() == 0:
                    break
                failures += outcome.kills.total() == before
            compare(expected, output, outcome)
    return outcome


def disturb(
    victim: Victim,
    chance: random.Random,
    outcome: Outcome,
    count: int,
    wait: float,
    bar: "tqdm[Never]",
    others: Collection[int],
) -> None:
    """Kills processes of one run at random moments, `wait` seconds apart at most, until it ends or there were enough.

    Never `others`.
    """
    while outcome.kills.total() < count:
        kind, number = chance.choice(KINDS), chance.choice(SIGNALS)
        if victim.ends_within(chance.uniform(0, wait)):
            break
        while not victim.pids(kind) and not victim.ends_within(0.02):
            pass
        if victim.ends_within(chance.uniform(0, LONGEST_AIM)):
            break
        pids = victim.pids(kind)
        if not pids:
            continue
        try:
            os.kill(chance.choice(pids), number)
        except ProcessLookupError:
            continue
        outcome.kills[f"{kind} {number.name}"] += 1
        bar.update()
        if kind == "class":
            victim.process.wait()
            outcome.left += orphans_after(GONE_SECONDS, others)
            break


def compare(expected: dict[str, object], output: Path, outcome: Outcome) -> None:
    """Adds to the outcome what differs from the undisturbed run."""
    found = judgements(output)
    outcome.lost += sorted(expected.keys() - found.keys())
    outcome.doubled += sorted(found.keys() - expected.keys())
    outcome.doubled += [str(path.relative_to(output)) for path in output.rglob(".*")]
    kept = results_kept(output)
    outcome.lost += [f"{name}, in the database" for name in sorted(expected.keys() - kept.keys())]
    outcome.doubled += [f"{name}, in the database" for name, number in kept.items() if number != 1]
    outcome.wrong += [name for name, judgement in found.items() if expected.get(name, judgement) != judgement]


def results_kept(output: Path) -> dict[str, int]:
    """How many results the database has of each submission that has one that counts."""
    with closing(sqlite3.connect(output / FILE)) as connection:
        rows = connection.execute(
            "SELECT s.entry, count(*) FROM submissions s JOIN kept k ON k.submission_id = s.id "
            "JOIN attempts a ON a.submission_id = s.id JOIN results r ON r.attempt_id = a.id GROUP BY s.entry"
        )
        return {str(entry): int(number) for entry, number in rows}


def judgements(output: Path) -> dict[str, object]:
    """The finished judgements of a class, by the record's name."""
    records = {path.stem: read_record(path) for path in sorted((output / RECORDS).glob("*"))}
    return {
        name: json.loads(record.judgement.model_dump_json())
        for name, record in records.items()
        if record is not None and record.is_finished
    }


def write_class(folder: Path, size: int = SMALL) -> None:
    """Writes a class of the reference, some faulty versions of it, and one that ends its own process, in turn."""
    sources = {name: source for name, source in read_modules(REFERENCE).items() if "." not in name}
    catalogue = {fault.id: fault for fault in read_catalogue()}
    submissions = {"right": sources, **{name: apply(catalogue[name], sources) for name in FAULTS}}
    path, text = sources["layers"]
    submissions["crashes"] = {**sources, "layers": (path, text.replace(*CRASHES))}
    for number, (name, modules) in enumerate(islice(cycle(submissions.items()), size)):
        own = folder / f"{name}-{number}"
        own.mkdir(parents=True)
        for module, (_, text) in modules.items():
            (own / f"{module}.py").write_text(text, encoding="utf-8")


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
    while (left := [pid for pid in living_below(os.getpid()) if pid not in others]) and time.monotonic() < deadline:
        time.sleep(0.02)
    found = [command_of(pid)[:60] for pid in left]
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


def living_below(pid: int) -> list[int]:
    """The descendants of a process; those that have ended are waited for."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return [process.pid for process in family(pid)[1:]]


def is_python(pid: int) -> bool:
    """Whether a process is this interpreter, and not the program that separates it from the system."""
    return command_of(pid).startswith(sys.executable)
