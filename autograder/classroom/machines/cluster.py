"""Grades jobs on a Dask cluster, or through any other executor of `concurrent.futures`.

    dask scheduler                                         on one machine
    python -m dask worker tcp://HOST:8786 --nthreads 4     on each machine, in the kit's folder
    python -m autograder grade-class … --scheduler tcp://HOST:8786

Submissions are read here. Workers may join and die at any moment: what they were grading is graded by another.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from foundation.child_processes import Ended, ask_forked, end_with_parent, interrupts_held
from foundation.command_line import UserError
from foundation.texts import printable

from ...grading.record import Record
from ...sandbox.errors import SandboxUnavailableError
from ..staleness import INTAKE_SECONDS, Conditions
from .agreement import MismatchError, Terms, check
from .grader_process import GraderLostError, end_on_this_machine, grade_on_this_machine
from .jobs import MOST_TRIES, Job, UnreadJob, given_up, record_from

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10
LOOK_SECONDS = 2.0
"""How often the number of workers is looked up."""
AHEAD = 2
"""Jobs sent for each that can be graded at a time, so that no worker waits for us."""


class ClusterError(UserError):
    """A cluster that cannot be used, or that was lost."""


@dataclass
class Sent:
    """A job that an executor has.

    Attributes:
        origin: what the caller knows it by.
        job: read.
        tries: how often its machine or the grader there was lost.
    """

    origin: UnreadJob
    job: Job
    tries: int = 0


class Reader:
    """Reads submissions ahead, in a process of its own, which has no threads and forks a child for each."""

    def __init__(self, jobs: Sequence[UnreadJob], conditions: Conditions) -> None:
        """Starts it. As soon as nobody takes what is read, it waits."""
        context = multiprocessing.get_context("fork")
        self._jobs, self._left = jobs, len(jobs)
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_read_all, args=(jobs, sender, conditions.n_children, _own_id()))
        with interrupts_held():
            self._process.start()
        sender.close()

    def __iter__(self) -> Iterator[Sent]:
        """Each job once, in the order in which they were read."""
        while self._left:
            try:
                number, job = self._receiver.recv()
            except (EOFError, OSError):
                raise ClusterError(
                    "the process that reads the submissions was ended; start the command again"
                ) from None
            self._left -= 1
            yield Sent(self._jobs[number], job)

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()
        self._receiver.close()


def _own_id() -> int:
    return multiprocessing.current_process().pid or 0


def _read_all(jobs: Sequence[UnreadJob], sender: Connection, n_children: int, parent: int) -> None:
    end_with_parent(parent)
    for number, answer in ask_forked(range(len(jobs)), lambda number: jobs[number].read(), INTAKE_SECONDS, n_children):
        sender.send((number, jobs[number].unreadable(answer.reason) if isinstance(answer, Ended) else answer))


def grade_on(
    executor: Executor,
    jobs: Iterator[Sent],
    task: Callable[[bytes], str],
    terms: Terms,
    conditions: Conditions,
    room: Callable[[], int],
    on_mismatch: Callable[[MismatchError], None],
) -> Iterator[tuple[UnreadJob, Record]]:
    """Grades jobs through an executor.

    Args:
        executor: that runs the task, anywhere.
        jobs: to be graded; taken only as fast as there is room for them.
        task: grades what comes as bytes; see `grade_parcel`.
        terms: that go with each job.
        conditions: as asked for.
        room: how many jobs the executor should have at present.
        on_mismatch: called where a machine differs from this one; its jobs go to others.

    Yields:
        Each job with its record, once.

    Raises:
        ClusterError: where the executor gives jobs back.
        SandboxUnavailableError: where a machine cannot contain submissions as asked.
    """
    running: dict[Future[str], Sent] = {}
    again: deque[Sent] = deque()
    is_exhausted = False
    while True:
        free = room() - len(running)
        while free > 0 and (again or not is_exhausted):
            sent = again.popleft() if again else next(jobs, None)
            if sent is None:
                is_exhausted = True
                break
            running[executor.submit(task, pickle.dumps((terms, sent.job)))] = sent
            free -= 1
        if not running and not again and is_exhausted:
            return
        done, _ = wait(running, LOOK_SECONDS, FIRST_COMPLETED)
        for future in done:
            sent = running.pop(future)
            try:
                record = _result_of(future, sent, conditions)
            except MismatchError as error:
                on_mismatch(error)
                again.append(sent)
                continue
            except GraderLostError as error:
                sent.tries += 1
                if sent.tries < MOST_TRIES:
                    again.append(sent)
                    continue
                record = given_up(sent.job, conditions.assignment, conditions.grader_version, str(error))
            yield sent.origin, record


def _result_of(future: Future[str], sent: Sent, conditions: Conditions) -> Record:
    """The record that a future brings.

    Raises:
        ClusterError: where the executor gives the job back, or cannot run it at all.
        GraderLostError: where a machine was lost over it.
        MismatchError: where a machine differs from this one.
        SandboxUnavailableError: where a machine cannot contain submissions as asked.
    """
    try:
        answer = future.result()
    except (MismatchError, GraderLostError, SandboxUnavailableError):
        raise
    except CancelledError:
        raise ClusterError("the connection to the scheduler was lost; start it, and the command again") from None
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # of Dask, which is not imported here
            raise GraderLostError("several workers were lost that graded it") from None
        what = f"a worker cannot grade: {type(error).__name__}: {printable(str(error), 200)}"
        raise ClusterError(f"{what}; start workers in the kit's folder, as the instructor's guide says") from None
    try:
        return record_from(answer, sent.job, conditions.assignment, conditions.grader_version)
    except ValueError as error:
        what = f"a worker has sent {error}"
        return given_up(sent.job, conditions.assignment, conditions.grader_version, what)


class Cluster:
    """A Dask cluster; used in a with-block."""

    def __init__(self, scheduler: str, terms: Terms) -> None:
        """Connects, and compares the workers that are there with this machine.

        Args:
            scheduler: its address.
            terms: of the class.

        Raises:
            ClusterError: where Dask is not installed, or the scheduler does not answer.
            MismatchError: where a worker differs from this machine.
        """
        try:
            from distributed import Client  # here: nobody else needs Dask
        except ImportError:
            raise ClusterError("--scheduler needs Dask: install the extra `staff`") from None
        for name in logging.root.manager.loggerDict:
            if name.partition(".")[0] == "distributed":  # what is wrong, this module says
                logging.getLogger(name).setLevel(logging.CRITICAL)
        self.address, self._terms = scheduler, terms
        try:
            self._client: Client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False, name="grade-class")
        except (OSError, ValueError, TypeError) as error:
            what = str(error).strip().partition("\n")[0] or type(error).__name__
            raise ClusterError(f"--scheduler {printable(scheduler, 100)}: {printable(what, 200)}") from None
        try:
            self._compare()
        except BaseException:
            self._client.close()
            raise
        self._n_at_once, self._looked_at, self._has_complained = 0, 0.0, False

    def __enter__(self) -> Cluster:
        """Returns itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the graders of this class on all workers, and the connection."""
        with contextlib.suppress(Exception):  # the scheduler may have gone
            self._client.run(end_on_this_machine, self._terms.key, on_error="ignore")
        self._client.close()

    def grade(self, jobs: Iterator[Sent], conditions: Conditions) -> Iterator[tuple[UnreadJob, Record]]:
        """Grades jobs on all workers; see `grade_on`."""

        def task(parcel: bytes) -> str:  # in here, so that the scheduler, which may lack the kit, need not import it
            from autograder.classroom.machines.cluster import grade_parcel

            return grade_parcel(parcel)

        executor = self._client.get_executor(pure=False)
        yield from grade_on(executor, jobs, task, self._terms, conditions, self._room, self._dismiss)

    def _compare(self) -> None:
        found = self._client.run(_look, self._terms, on_error="return")
        for worker, answer in sorted(found.items()):
            if isinstance(answer, str) and answer:
                raise MismatchError(answer, worker)
            if isinstance(answer, Exception):
                what = f"{type(answer).__name__}: {printable(str(answer), 100)}"
                raise MismatchError(f"cannot run the kit ({what}); start it in the kit's folder", worker)

    def _room(self) -> int:
        if not self._n_at_once or time.monotonic() - self._looked_at > LOOK_SECONDS:
            try:
                self._n_at_once = sum(self._client.nthreads().values())
            except (OSError, RuntimeError):
                raise ClusterError(
                    "the connection to the scheduler was lost; start it, and the command again"
                ) from None
            self._looked_at = time.monotonic()
            if not self._n_at_once and not self._has_complained:
                print(f"note: {self.address} has no workers at present; waiting for one", file=sys.stderr)
            self._has_complained = not self._n_at_once
        return max(1, AHEAD * self._n_at_once)

    def _dismiss(self, error: MismatchError) -> None:
        print(f"note: {error}; it grades nothing", file=sys.stderr)
        self._client.retire_workers([error.machine], close_workers=True)


def _look(terms: Terms) -> str:
    """On a worker: how it differs; "" = not at all."""
    try:
        check(terms)
    except MismatchError as error:
        return error.text
    return ""


def grade_parcel(parcel: bytes) -> str:
    """On a worker, in one of its threads: the record of a job that comes with its terms, as JSON."""
    from distributed import get_worker

    terms, job = pickle.loads(parcel)  # noqa: S301  from the coordinator, whose code a worker runs in any case
    try:
        return grade_on_this_machine(terms, job)
    except MismatchError as error:
        raise MismatchError(error.text, get_worker().address) from None
