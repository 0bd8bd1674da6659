"""The grader of one machine: a process of its own, which any thread of this process may ask.

A process that Dask runs tasks in has threads, so that nothing can be forked from it and no limit on time works there.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future
from dataclasses import replace
from multiprocessing.connection import Connection

from foundation.places import ROOT

from ...sandbox.errors import SandboxUnavailableError
from .agreement import Terms, check
from .jobs import Job

END_SECONDS = 2.0
SERVER = "autograder.classroom.machines.server"


class GraderLostError(RuntimeError):
    """The grader's process has ended while it graded: not for the submission, which its children run."""


class GraderProcess:
    """A grader server and our end of the connection to it."""

    def __init__(self, terms: Terms) -> None:
        """Starts it; it takes some seconds until it grades, and waits for no answer until then."""
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", SERVER, str(theirs.fileno()), str(os.getpid())]
            self._process = subprocess.Popen(  # noqa: S603  our own program
                command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        self._connection = Connection(ours.detach())
        self._sending, self._numbers = threading.Lock(), itertools.count()
        self._answers: dict[int, Future[str]] = {}
        self._failure: Exception | None = None
        with contextlib.suppress(OSError):  # it has ended already, as the listener will find out
            self._connection.send(terms)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._failure is None

    def grade(self, job: Job) -> str:
        """Grades a job; waits for its record, as JSON.

        Raises:
            GraderLostError: where the process has ended.
            SandboxUnavailableError: where the machine cannot contain any submission as asked.
        """
        number, answer = next(self._numbers), Future[str]()
        with self._sending:
            if self._failure is not None:
                raise self._failure
            self._answers[number] = answer
            with contextlib.suppress(OSError):  # as above
                self._connection.send(replace(job, number=number))
        return answer.result()

    def close(self) -> None:
        """Ends the process, and what it still grades."""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()

    def _listen(self) -> None:
        failure: Exception = GraderLostError("the grader's process has ended")
        try:
            while True:
                number, answer = self._connection.recv()
                if number is None:
                    failure = SandboxUnavailableError(answer)
                else:
                    self._answers.pop(number).set_result(answer)
        except (EOFError, OSError):
            pass
        with self._sending:
            self._failure = failure
        for waiting in self._answers.values():
            waiting.set_exception(failure)
        self._process.wait()
        self._connection.close()


_processes: dict[str, GraderProcess] = {}
_starting = threading.Lock()


def grade_on_this_machine(terms: Terms, job: Job) -> str:
    """Grades a job with this machine's grader, which is started where it does not run; its record, as JSON.

    Raises:
        GraderLostError: where the grader's process has ended; the next job starts another.
        MismatchError: where this machine differs from the one that asks.
        SandboxUnavailableError: where this machine cannot contain any submission as asked.
    """
    with _starting:
        process = _processes.get(terms.key)
        if process is None or not process.is_alive:
            check(terms)
            process = _processes[terms.key] = GraderProcess(terms)
    return process.grade(job)


def end_on_this_machine(key: str) -> None:
    """Ends this machine's grader of a class, if it has one."""
    with _starting:
        process = _processes.pop(key, None)
    if process is not None:
        process.close()
