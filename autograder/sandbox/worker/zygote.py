"""A process that has PyTorch loaded and nothing of ours to hide, and forks one worker for each submission.

Its standard input is a socket. Each message there asks for a fork, and has four descriptors (requests, replies, output,
warden), and those of pipes to other workers. On the warden, a socket of that worker alone, the zygote answers with the
pid, and then with the exit status once the other side writes anything or goes away. So graders that share a zygote
never wait for each other; a worker never outlives its grader, nor the zygote whoever started it.
"""

import contextlib
import gc
import importlib.util
import json
import os
import selectors
import signal
import socket
import sys
from types import ModuleType
from typing import IO

from .peers import Worker
from .running import compile_nothing
from .shortcuts import stop_copies
from .surroundings import (
    COMMON,
    PR_SET_DUMPABLE,
    PR_SET_PDEATHSIG,
    close_memory,
    collapse_memory,
    import_quietly,
    load_plots,
    prctl,
    warm_up,
)

MOST_DESCRIPTORS = 250
"""In one message; Linux takes 253."""


def main() -> None:
    """Loads everything, then serves until the control socket is closed."""
    control = socket.socket(fileno=os.dup(0))
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    for name in COMMON.split():
        import_quietly(name)
    has_stand_ins = importlib.util.find_spec("stand_ins") is not None
    stand_ins = importlib.import_module("stand_ins") if has_stand_ins else ModuleType("stand_ins")
    compile_nothing()
    os.getcwd = lambda: "/"  # the system call is denied to workers; `os.path.abspath(__file__)` is no reason to fail
    warm_up()
    stop_copies()
    close_memory()
    gc.collect()
    gc.freeze()  # what is here now is shared with the forks, and never looked at again
    collapse_memory()
    prctl(PR_SET_DUMPABLE, 0)  # no process of this user can trace it or a fork, or read its memory
    Zygote(control, stand_ins).serve()


class Zygote:
    """The loop over the control socket and the wardens."""

    def __init__(self, control: socket.socket, stand_ins: ModuleType) -> None:
        self.control, self.stand_ins = control, stand_ins
        self.workers: dict[socket.socket, int] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Forks and kills as asked; at the end kills what is left."""
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is not self.control:
                    self.kill(key.data)
                    continue
                message, descriptors, _, _ = socket.recv_fds(self.control, 16, MOST_DESCRIPTORS)
                if not message:
                    for warden in list(self.workers):
                        self.kill(warden)
                    return
                if message == b"with plots":
                    load_plots()
                self.fork(descriptors)

    def fork(self, descriptors: list[int]) -> None:
        """Starts a worker on (requests, replies, output, warden, more pipes)."""
        warden = socket.socket(fileno=descriptors.pop(3))
        try:
            pid = os.fork()
        except OSError:  # no memory or no processes left: the other side sees a closed warden
            pid = -1
        if pid == 0:
            self.become_worker(*descriptors)
        for pipe in descriptors:
            os.close(pipe)
        if pid < 0:
            warden.close()
            return
        self.workers[warden] = pid
        self.selector.register(warden, selectors.EVENT_READ, data=warden)
        report(warden, {"pid": pid})

    def kill(self, warden: socket.socket) -> None:
        """Ends a worker and reports how it ended."""
        with contextlib.suppress(OSError):
            warden.recv(16, socket.MSG_DONTWAIT)  # the request, which must be read before this end is closed
        pid = self.workers.pop(warden)
        self.selector.unregister(warden)
        had_ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        os.kill(pid, signal.SIGKILL)  # not yet waited for, so the number is still this worker's
        _, status, usage = os.wait4(pid, 0)
        cpu = usage.ru_utime + usage.ru_stime
        report(warden, {"status": status, "cpu": cpu, "had_ended": had_ended})
        warden.close()

    def become_worker(self, requests: int, replies: int, output: int, *more: int) -> None:
        """In the fork: keeps nothing but its own pipes, serves, exits. Never returns."""
        try:
            for warden in self.workers:
                warden.detach()
            self.selector.close()
            self.control.detach()
            for target in (1, 2):
                os.dup2(output, target)
            kept = sorted({requests, replies, *more})
            for low, high in zip([2, *kept], [*kept, 4096], strict=True):
                os.closerange(low + 1, high)
            sys.stdin, sys.stdout, sys.stderr = open_text(0, "r"), open_text(1), open_text(2)
            Worker(self.stand_ins, more).serve(requests, replies)
        except BaseException as error:  # whatever it is, it must not reach the zygote's own loop
            with contextlib.suppress(BaseException):
                os.write(2, f"worker: {type(error).__name__}: {error}\n".encode())
            os._exit(70)
        os._exit(0)


def open_text(descriptor: int, mode: str = "w") -> IO[str]:
    """A stream on a descriptor that takes any text and writes line by line."""
    return open(descriptor, mode, 1, encoding="utf-8", errors="backslashreplace", closefd=False)


def report(warden: socket.socket, message: dict[str, float]) -> None:
    """Sends without waiting; a grader that went away is not an error."""
    with contextlib.suppress(OSError):
        warden.send(json.dumps(message).encode(), socket.MSG_DONTWAIT)
