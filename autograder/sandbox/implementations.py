"""A worker with implementations, which workers with a student's own tests call: the trusted side's part in it.

Each worker with tests gets the ends of two pipes of its own. The one with implementations has the other ends of many
such pairs, and serves one pair after the other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract

from .errors import SubmissionError, SubmissionTimeoutError
from .submission import Sandbox
from .worker.messages import Encoder
from .zygote import Zygote

PAIRS = 60
MOST_STARTS = 6


class Implementations:
    """A worker that is started when it is first needed."""

    def __init__(self, assignment: Assignment, zygote: Zygote) -> None:
        self._zygote = zygote
        self._assignment = replace(assignment, contract=Contract({}))
        self._sandbox: Sandbox | None = None
        self._ends: list[tuple[int, int]] = []
        self._starts = 0

    def offer(self, texts: Mapping[str, str]) -> tuple[int, int]:
        """Have implementations served, by component; return the pipes for the worker that is to call them.

        Each text sets the name `implementation`.

        Raises: SubmissionTimeoutError if what was asked before has ended too many of these workers.
        """
        while True:
            if self._sandbox is None or not self._ends or self.has_ended:
                self._sandbox = self._start()
            try:
                self._sandbox.session("").request("", "serve", {"texts": texts}, Encoder(), lambda answer: None)
                return self._ends.pop(0)
            except SubmissionError:  # it is busy, or has ended, because of what the tests before have asked
                self.close()

    @property
    def has_ended(self) -> bool:
        """True if the worker has ended: no test brings that about by usual calls."""
        return self._sandbox is None or self._sandbox.session("").has_ended

    def _start(self) -> Sandbox:
        self.close()
        self._starts += 1
        if self._starts > MOST_STARTS:
            raise SubmissionTimeoutError("what the tests ask for takes too long, or too much memory")
        theirs = []
        for _ in range(PAIRS):
            (their_requests, requests), (replies, their_replies) = os.pipe(), os.pipe()
            theirs += [their_requests, their_replies]
            self._ends.append((requests, replies))
        sources = {"__init__": ("__init__.py", "")}
        return Sandbox(sources, self._assignment, zygote=self._zygote, is_fair=False, descriptors=theirs)

    def close(self) -> None:
        """End the worker."""
        for descriptor in chain(*self._ends):
            os.close(descriptor)
        self._ends = []
        if self._sandbox is not None:
            self._sandbox.restart()
            self._sandbox = None

    def __enter__(self) -> Implementations:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()
