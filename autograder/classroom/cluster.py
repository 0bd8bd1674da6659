"""Grades jobs on a Dask cluster: `docs/how-to/several-machines.md`.

Submissions are read here, and travel in parcels of a few, with one seed: no path, no secret. A worker gives each parcel
to a process of its own, since Dask runs tasks in threads, where nothing can be forked and no limit on time works. Its
answer is JSON: the records, which are checked, sealed and stored here, or why there are none. Workers may join and die
at any moment: what they were grading is graded by another.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from foundation.assignment_file import AssignmentError, read_assignment
from foundation.child_processes import Ended, ask_forked
from foundation.command_line import UserError
from foundation.places import ROOT
from foundation.texts import printable

from ..grading.grader_version import PACKAGES, facts_of, weighting_of
from ..grading.record import Record
from ..grading.recording import GivenUp, Recorder, TakenIn
from ..grading.submission import open_grader
from ..intake import Intake
from ..sandbox.errors import SandboxUnavailableError
from ..testing.results import CollectionError
from .grading import MOST_TRIES, Job, grade_here
from .regrading import INTAKE_SECONDS, Conditions

if TYPE_CHECKING:
    from distributed import Client

PROGRAM = """
from sys import argv
from foundation.child_processes import end_with_parent
end_with_parent(int(argv[1]))  # before anything is loaded, for seconds
from autograder.classroom.cluster import main
main()
"""
CONNECT_SECONDS = 10
LOOK_SECONDS = 2.0
"""How often the number of workers is looked up where no parcel comes back."""
LOST = "the connection to the scheduler was lost; start it, and the command again"
AHEAD = 2
"""Parcels sent for each that can be graded at a time, so that no worker waits for us."""
MOST_IN_A_PARCEL = 8
"""Submissions that share the seconds in which a process loads PyTorch and the tests."""
SAME_VERSION = "install the same version on each machine"
SAME_KIT = "bring the kit to the same commit on each machine"

Answer = dict[str, Any]
"""Of a worker: `records`, JSON in the order of the jobs; or a text, `differs`, `unavailable` or `lost`; `machine`."""


class ClusterError(UserError):
    """A cluster that cannot be used, or that was lost."""


@dataclass(frozen=True)
class Terms:
    """What a machine is told about a class."""

    assignment: str  # its file, relative to the kit if it lies in it
    references: bytes | None  # the content of the file of references; None where there is none
    grader_version: str  # for the records
    level: str  # of containment
    facts: dict[str, str] = field(repr=False)  # what has to be alike; see `facts_of`


def terms_of(conditions: Conditions) -> Terms:
    """What machines are told about a class that is graded under these conditions."""
    path = conditions.assignment.path.resolve()
    file = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    references = conditions.references.read_bytes() if conditions.references.is_file() else None
    facts = {**facts_of(conditions.assignment), "points": weighting_of(conditions.assignment)}
    return Terms(file.as_posix(), references, conditions.grader_version, conditions.level, facts)


def difference(terms: Terms) -> str:
    """The first difference of this machine from the one that asks; "" = none."""
    try:
        assignment = read_assignment(ROOT / terms.assignment)
    except (AssignmentError, OSError) as error:
        return f"{terms.assignment} cannot be read there: {error}; {SAME_KIT}"
    ours, asked = {**facts_of(assignment), "points": weighting_of(assignment)}, terms.facts
    for name in [*asked, *ours]:
        if ours.get(name) == asked.get(name):
            continue
        if name in (*PACKAGES, "Python"):
            return f"{name} is {ours.get(name, 'missing')} there and {asked.get(name)} here; {SAME_VERSION}"
        if name in ours and name in asked:
            return f"{name} differs from the one here; {SAME_KIT}"
        return f"{name} is {'there, but not here' if name in ours else 'here, but not there'}; {SAME_KIT}"
    return ""


# On this machine, which asks


@dataclass
class Parcel:
    """Submissions that travel together, and how often the process that graded them was lost."""

    jobs: Sequence[tuple[Job, Path]]  # each with the file that holds it as it was read
    tries: int = 0


def grade_on_cluster(scheduler: str, jobs: Sequence[Job], conditions: Conditions) -> Iterator[tuple[Job, Record]]:
    """Grades jobs on the workers of a Dask scheduler.

    Yields:
        Each job with its record, once.

    Raises:
        ClusterError: where the cluster cannot be used, or is lost.
        SandboxUnavailableError: where a machine cannot contain submissions as asked.
    """

    def task(parcel: bytes) -> Answer:  # in here, so that the scheduler, which may lack the kit, need not import it
        from autograder.classroom.cluster import grade_parcel

        return grade_parcel(parcel)

    terms = terms_of(conditions)
    with tempfile.TemporaryDirectory() as folder:
        read = read_all(jobs, Path(folder), conditions.n_children)  # before Dask starts threads
        with connected(scheduler, terms) as client:

            def room() -> int:
                try:
                    return max(1, AHEAD * int(sum(client.nthreads().values())))
                except (OSError, RuntimeError):
                    raise ClusterError(LOST) from None

            size = min(MOST_IN_A_PARCEL, max(1, len(read) // room()))
            parcels = iter([Parcel(read[start : start + size]) for start in range(0, len(read), size)])
            yield from grade_on(client.get_executor(pure=False), parcels, task, terms, conditions, room)


def read_all(jobs: Sequence[Job], folder: Path, n_children: int) -> list[tuple[Job, Path]]:
    """Reads submissions in children, each into a file of its own."""
    found: list[tuple[Job, Path]] = []
    for job, given in ask_forked(jobs, Job.read, INTAKE_SECONDS, n_children):
        if isinstance(given, Ended):
            given = (GivenUp(f"the process that reads it failed: {given.reason}"),)
        file = folder / str(len(found))
        file.write_bytes(pickle.dumps(replace(job, given=given)))
        found.append((job, file))
    return found


@contextmanager
def connected(scheduler: str, terms: Terms) -> Iterator[Client]:
    """A connection to a scheduler whose present workers are like this machine.

    Raises:
        ClusterError: where Dask is not installed, the scheduler does not answer, or a worker differs.
    """
    try:
        from distributed import Client  # here: nobody else needs Dask
    except ImportError:
        raise ClusterError("--scheduler needs Dask: install the extra `staff`") from None
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] == "distributed":  # what is wrong, this module says
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False, name="grade-class")
    except (OSError, ValueError, TypeError) as error:
        what = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ClusterError(f"--scheduler {printable(scheduler, 100)}: {printable(what, 200)}") from None
    with client:
        answers = client.run(difference, terms, on_error="return")
        for worker, answer in sorted(answers.items()):
            if isinstance(answer, Exception):
                what = f"{type(answer).__name__}: {printable(str(answer), 100)}"
                answer = f"cannot run the kit ({what}); start it in the kit's folder"
            if answer:
                raise ClusterError(f"worker {worker}: {answer}")
        if not answers:
            print(f"note: {scheduler} has no workers at present; waiting for one", file=sys.stderr)
        yield client


def grade_on(
    executor: Executor,
    parcels: Iterator[Parcel],
    task: Callable[[bytes], Answer],
    terms: Terms,
    conditions: Conditions,
    room: Callable[[], int],
) -> Iterator[tuple[Job, Record]]:
    """Grades jobs through any executor.

    Args:
        executor: that runs the task, anywhere.
        parcels: to be graded; taken only as fast as there is room for them.
        task: grades a parcel; see `grade_parcel`.
        terms: that go with each parcel.
        conditions: as asked for.
        room: how many parcels the executor should have at present.

    Yields:
        Each job with its record, once.

    Raises:
        ClusterError: where the executor gives jobs back, or a machine that has joined differs.
        SandboxUnavailableError: where a machine cannot contain submissions as asked.
    """
    running: dict[Future[Answer], Parcel] = {}
    again: deque[Parcel] = deque()
    while True:
        while len(running) < room() and (parcel := again.popleft() if again else next(parcels, None)):
            packed = pickle.dumps((terms, [file.read_bytes() for _, file in parcel.jobs]))
            running[executor.submit(task, packed)] = parcel
        if not running:
            return
        for future in wait(running, LOOK_SECONDS, FIRST_COMPLETED).done:
            parcel, answer = running.pop(future), answer_of(future)
            if "unavailable" in answer:
                raise SandboxUnavailableError(answer["unavailable"])
            if "differs" in answer:
                raise ClusterError(f"worker {answer['machine']}: {answer['differs']}")
            if "lost" in answer and len(parcel.jobs) > 1:  # one of them may be to blame
                again.extend(Parcel([one]) for one in parcel.jobs)
            elif "lost" in answer and parcel.tries + 1 < MOST_TRIES:
                again.append(Parcel(parcel.jobs, parcel.tries + 1))
            else:
                for place, (origin, file) in enumerate(parcel.jobs):
                    job: Job = pickle.loads(file.read_bytes())  # noqa: S301  that was written here
                    try:
                        if "lost" in answer:
                            raise ValueError(answer["lost"])
                        record = record_from(answer["records"][place], job, conditions)
                    except ValueError as error:
                        recorder = Recorder(job.name, conditions.assignment, conditions.grader_version, job.notes)
                        record = recorder.add(GivenUp(str(error)))
                    yield origin, record


def answer_of(future: Future[Answer]) -> Answer:
    """What a future brings. Raises: ClusterError where the executor gives the parcel back, or cannot run it at all."""
    try:
        return future.result()
    except CancelledError:
        raise ClusterError(LOST) from None
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # of Dask, which is not imported here
            return {"lost": "several workers were lost that graded it"}
        what = f"a worker cannot grade: {type(error).__name__}: {printable(str(error), 200)}"
        raise ClusterError(f"{what}; start workers in the kit's folder, as the instructor's guide says") from None


def record_from(text: str, job: Job, conditions: Conditions) -> Record:
    """The record that a machine sends back as JSON, once it fits the job.

    Raises:
        ValueError: where it is not a record, or one of something else; the message says what.
    """
    try:
        record = Record.model_validate_json(text)
    except ValidationError as error:
        raise ValueError(f"a worker has sent what is not a record: {error.errors()[0]['msg']}") from None
    expected = Recorder(job.name, conditions.assignment, conditions.grader_version)
    same = ["grader_version", "weighting"]
    if isinstance(job.given, Intake) and record.judgement.files:  # none where the grader has failed before it began
        expected.add(TakenIn(job.given.hashes, job.seed_id))
        same += ["content_hash", "seed_id"]
    ours = expected.record
    if record.submission != ours.submission or any(
        getattr(record.judgement, name) != getattr(ours.judgement, name) for name in same
    ):
        raise ValueError("a worker has sent a record of something else")
    return record


# On a worker


def grade_parcel(parcel: bytes) -> Answer:
    """On a worker, in one of its threads: grades a parcel in a process of its own."""
    from distributed import get_worker

    command = [sys.executable, "-c", PROGRAM, str(os.getpid())]
    done = subprocess.run(command, cwd=ROOT, input=parcel, stdout=subprocess.PIPE, check=False)  # noqa: S603  our own
    lines = done.stdout.splitlines()
    answer: Answer = {"lost": f"the grader's process has ended with status {done.returncode}"}
    return {**(json.loads(lines[-1]) if done.returncode == 0 and lines else answer), "machine": get_worker().address}


def grade_jobs(terms: Terms, jobs: Sequence[Job]) -> Answer:
    """In that process: the records, in the order of the jobs, or why there are none."""
    if differs := difference(terms):
        return {"differs": differs}
    assignment = read_assignment(ROOT / terms.assignment)
    try:
        with references_of(terms) as references, open_grader(assignment, references, terms.level) as grader:
            graded = dict(grade_here(deque(jobs), assignment, terms.grader_version, grader))
    except (CollectionError, SandboxUnavailableError) as error:
        return {"unavailable": str(error)}
    return {"records": [graded[job].model_dump_json() for job in jobs]}


@contextmanager
def references_of(terms: Terms) -> Iterator[Path]:
    """A path for the references, in this process and those forked from it; the file has no name on the disk.

    Where no references came, nothing is there.
    """
    with tempfile.TemporaryFile() as file:
        file.write(terms.references or b"")
        file.flush()
        yield ROOT / "no-references-came" if terms.references is None else Path(f"/dev/fd/{file.fileno()}")


def main() -> None:
    """Grades the parcel on standard input."""
    terms, packed = pickle.load(sys.stdin.buffer)  # noqa: S301  from the coordinator, whose code a worker runs anyway
    print(json.dumps(grade_jobs(terms, [pickle.loads(one) for one in packed])), flush=True)  # noqa: S301  likewise
