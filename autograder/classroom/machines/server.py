"""One machine's grader, a process of its own: `python -m autograder.classroom.machines.server DESCRIPTOR PARENT`.

It speaks with the process that has started it through a socket: the terms come first, then numbered jobs; numbered
records go back. It ends as soon as the other end is closed, and with it all that it has started.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from foundation.assignment_file import Assignment, read_assignment
from foundation.places import ROOT

from ...sandbox.errors import SandboxUnavailableError
from ...testing.results import CollectionError
from .agreement import Terms, references_of
from .jobs import Job, grade_here

if TYPE_CHECKING:  # needs PyTorch, which the launcher imports
    from ...grading.judging import Grader

Opener: TypeAlias = "Callable[[Assignment, Path, str], AbstractContextManager[Grader]]"

MOST_CHILDREN = 256
"""At a time; whoever asks decides how many there are."""
LOOK_SECONDS = 0.2


def serve(connection: Connection) -> None:
    """Grades what comes through a connection until its other end is closed."""
    terms: Terms = connection.recv()
    assignment = read_assignment(ROOT / terms.assignment)
    module, _, name = terms.opener.partition(":")
    opener = cast(Opener, getattr(import_module(module), name))
    try:
        with references_of(terms) as references, opener(assignment, references, terms.level) as grader:
            grader.prepare()
            signal.setitimer(signal.ITIMER_REAL, 0)
            jobs: deque[Job] = deque()
            graded = grade_here(jobs, assignment, terms.grader_version, grader, MOST_CHILDREN, connection)
            for job, record in graded:
                connection.send((job.number, record.model_dump_json()))
            os._exit(0)  # at once, and with it the zygote, which would else be waited for
    except (CollectionError, SandboxUnavailableError) as error:
        connection.send((None, str(error)))


def end_with(parent: int) -> None:
    """Until the timer is stopped, ends this process soon after its parent; loading PyTorch takes seconds."""

    def look(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK_SECONDS, LOOK_SECONDS)


def main() -> int:
    """Serves the process that has started this one."""
    descriptor, parent = map(int, sys.argv[1:])
    os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever has started us ends us
    end_with(parent)
    with contextlib.suppress(EOFError, OSError):
        serve(Connection(descriptor))
    return 0


if __name__ == "__main__":
    sys.exit(main())
