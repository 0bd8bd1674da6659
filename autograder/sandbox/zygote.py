"""Starts the zygote, and workers from it. It does not import torch, so that it can run before that import."""

import contextlib
import json
import os
import select
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from foundation.assignment_file import Assignment

from .errors import SandboxUnavailableError
from .layers import choose_containment

START_SECONDS = 180.0
KILL_SECONDS = 20.0
WORKER_PACKAGE = Path(__file__).resolve().parent / "worker"


class Ending(NamedTuple):
    """How a worker ended: wait status, CPU seconds, and whether it ended by itself."""

    status: int
    cpu: float
    had_ended: bool


class Worker:
    """Our ends of one worker's pipes, and its warden."""

    def __init__(self, requests: int, replies: int, output: int, warden: socket.socket) -> None:
        """Waits until the zygote has forked; without a pid it has not, or is gone."""
        self.requests, self.replies, self.output = requests, replies, output
        self._warden = warden
        self.pid = int(receive(warden, START_SECONDS).get("pid", 0))

    def kill(self) -> Ending | None:
        """Ends the worker, whatever its state; None where the zygote cannot report how, since it has ended itself."""
        answer: dict[str, Any] = {}
        with contextlib.suppress(OSError):
            self._warden.send(b"kill")
            answer = receive(self._warden, KILL_SECONDS)
        for descriptor in (self.requests, self.replies, self.output):
            os.close(descriptor)
        self._warden.close()
        return Ending(**answer) if "status" in answer else None


class Zygote(contextlib.AbstractContextManager["Zygote"]):
    """A contained process with torch loaded. Start it early; several graders may share one, also after a fork."""

    def __init__(self, assignment: Assignment, level: str = "auto") -> None:
        """Takes the assignment whose stand-ins workers have, and one of `layers.LEVELS`.

        Raises: SandboxUnavailableError where the machine lacks a required layer.
        """
        packages = packages_for(assignment)
        self.containment = choose_containment(level, packages)
        self._control, theirs = socket_pair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  `close` closes it
        self._owner = os.getpid()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  the command is ours
                self.containment.command(packages),
                stdin=theirs.fileno(),
                stdout=self._errors.fileno(),
                stderr=self._errors.fileno(),
                env=self.containment.environment(),
                cwd="/",
                start_new_session=True,
            )

    def fork(self, with_plots: bool = False, descriptors: Sequence[int] = ()) -> Worker:
        """Starts a worker, with matplotlib if needed, that waits for a request; it gets the descriptors."""
        (their_requests, requests), (replies, their_replies), (output, their_output) = (os.pipe() for _ in range(3))
        warden, their_warden = socket_pair()
        theirs = [their_requests, their_replies, their_output, their_warden.detach(), *descriptors]
        with contextlib.suppress(OSError):  # reported below, since no fork follows
            socket.send_fds(self._control, [b"with plots" if with_plots else b"plain"], theirs)
        for descriptor in theirs:
            os.close(descriptor)
        for descriptor in (requests, replies, output):
            os.set_blocking(descriptor, False)
        worker = Worker(requests, replies, output, warden)
        if not worker.pid:
            worker.kill()
            raise SandboxUnavailableError(f"the zygote did not start a worker{self._last_words()}")
        return worker

    @property
    def has_ended(self) -> bool:
        """True if it is gone, which whoever shares it can see."""
        return has_hung_up(self._control.fileno())

    @property
    def is_ours(self) -> bool:
        """True if this process has started it, and is not a fork of the one that has."""
        return os.getpid() == self._owner

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read(20_000).decode("utf-8", "replace").strip().splitlines()
        return ": " + lines[-1][:300] if lines else ""

    def close(self) -> None:
        """Ends the zygote and with it all its workers."""
        self._control.close()
        if self.is_ours:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(KILL_SECONDS)
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def __exit__(self, *details: object) -> None:
        self.close()


def packages_for(assignment: Assignment) -> dict[str, Path]:
    """The packages that a zygote loads, by name: its own, and the assignment's stand-ins if there are any."""
    stand_ins = assignment.folder / "stand_ins"
    return {"worker": WORKER_PACKAGE, **({"stand_ins": stand_ins} if stand_ins.is_dir() else {})}


def has_hung_up(descriptor: int) -> bool:
    """True if nobody has the other end of a pipe or a socket any more."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return bool(poll.poll(0))


def receive(channel: socket.socket, seconds: float) -> dict[str, Any]:
    """The next message on a socket; {} if there is none in time."""
    message: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        channel.settimeout(seconds)
        message = json.loads(channel.recv(4096))
    return message


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """A pair of sockets that keeps message boundaries."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
