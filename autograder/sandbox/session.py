"""The life of one worker: it is started, loads the submission, answers requests and is ended for a reason."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import sysconfig
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from foundation.assignment_file import Assignment
from foundation.places import ROOT
from foundation.texts import clean, with_comment

from ..sources import KIT, Locate, Sources, file_of
from .budget import Budget
from .errors import (
    SandboxUnavailableError,
    SubmissionDiedError,
    SubmissionError,
    SubmissionOutOfMemoryError,
    SubmissionTimeoutError,
    WorkerKilledError,
    submission_error,
)
from .imports import wanted_imports
from .replies import Answer, Failure, read_reply
from .worker.messages import REPLY_LIMITS, Encoder, ProtocolError, pack, read_frame
from .zygote import Ending, Zygote

Made = TypeVar("Made")
Content = dict[str, Any]
"""JSON of a request."""

START_SECONDS = 60.0
ENDING_SECONDS = 0.02
"""A process closes its pipes a little before it has ended."""
OWN_SIGNALS = {getattr(signal, f"SIG{name}") for name in ("SEGV", "ABRT", "ILL", "BUS", "FPE", "SYS", "TRAP")}
"""How a process can crash by itself; the filter lets it send no signals."""
PIECE = 1 << 16
_FOLDERS = {str(ROOT), str(Path.home()), sys.prefix, sys.base_prefix, *map(sysconfig.get_path, ("stdlib", "purelib"))}
_LONGEST_FIRST = sorted((folder for folder in _FOLDERS if len(folder) > 1), key=len, reverse=True)
OUR_FOLDERS = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, _LONGEST_FIRST))})(?![\w.])")
"""The folders of the grader, of Python and of the packages, as they begin a path."""


class Output:
    """A submission's output: the first `limit` bytes are kept, the rest is counted."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.seeds: set[str] = set()
        self._seen = 0
        self._kept = bytearray()

    def scrub(self, text: str) -> str:
        """Text of the submission without what is the grader's own: where its files are, and the seeds of calls."""
        return re.sub(r"\d{6,}", lambda one: "…" if one[0] in self.seeds else one[0], OUR_FOLDERS.sub("…", text))

    def collect(self, descriptor: int) -> None:
        """Reads a pipe without waiting, up to a bound."""
        for _ in range(16):
            try:
                data = os.read(descriptor, PIECE)
            except BlockingIOError:
                return
            if not data:
                return
            self._kept += data[: max(0, self.limit - self._seen)]
            self._seen += len(data)

    def text(self) -> str:
        """The kept output, cleaned, with a note where some was cut."""
        text = clean(self.scrub(self._kept.decode("utf-8", "replace")), self.limit)
        over = self._seen - self.limit
        return f"{text}\n[cut: {over} more bytes were printed]" if over > 0 else text


class DeadlineError(Exception):
    """There was no complete reply in time; a TimeoutError is what `time_limit` raises, for another reason."""


class Session:
    """One worker with one submission loaded: every request is charged to the budget.

    Attributes:
        layers: of containment that this worker reached.
        is_alive: False once it has ended; then its objects are gone.
    """

    def __init__(
        self, zygote: Zygote, sources: Sources, assignment: Assignment, budget: Budget, output: Output, locate: Locate
    ) -> None:
        self.sources, self.contract = sources, assignment.contract
        self._budget, self._output, self._locate = budget, output, locate
        self._cpu_left = budget.cpu_left
        self.ended_because = ""
        self._last = 0
        self._released: list[int] = []
        named = {name: (file_of(name, path), text) for name, (path, text) in sources.items()}
        # Lines as Python counts them: splitlines() also splits at form feeds.
        self._lines = {file: (name, text.split("\n")) for name, (file, text) in named.items()}
        names = "kernels", "python", "components", "always"
        forbidden = {name: getattr(self.contract.forbidden, name) for name in names}
        limits = {"memory_bytes": assignment.limits.memory_mb << 20, "cpu_seconds": max(1, round(self._cpu_left))}
        plan = {**zygote.containment.plan(), **limits}
        content = {"sources": named, "contract": self.contract.modules, "forbidden": forbidden, "plan": plan}
        try:
            self.layers = self._start(zygote, content, wanted_imports(sources))
        except SandboxUnavailableError:  # the machine may be innocent: an import may have left something behind
            self.layers = self._start(zygote, content, [])

    def _start(self, zygote: Zygote, content: Content, imports: list[str]) -> tuple[str, ...]:
        """Forks a worker, which loads the submission; returns the layers that it reached before it ran any of that."""
        self._worker = zygote.fork(with_plots=any(name.partition(".")[0] == "matplotlib" for name in imports))
        self.is_alive = True
        try:
            content = {**content, "imports": imports}
            reached = self._ask("", "load", content, Encoder(), lambda answer: answer.result, START_SECONDS)
            return zygote.containment.in_force(reached)
        except BaseException as error:
            self.end("the worker did not start")
            if isinstance(error, SubmissionError):
                raise SandboxUnavailableError(f"a worker could not be started: {error.message}") from error
            raise

    def release(self, number: int) -> None:
        """Lets the worker forget an object or a graph, with the next request."""
        self._released.append(number)

    def request(
        self, component: str, verb: str, content: Content, encoder: Encoder, read: Callable[[Answer], Made]
    ) -> Made:
        """Sends a request within the budget; returns what `read` makes of the answer.

        The component answers for what happens, also for a ProtocolError of `read`; `worker.service` has the verbs.

        Raises:
            SubmissionTimeoutError: there was no reply in time, or no time is left.
            SubmissionDiedError: the worker has ended or broken the protocol.
            SubmissionError: the submission's own exception; the worker lives.
            SandboxUnavailableError: the zygote has ended, or something outside has killed the worker.
        """
        if not self.is_alive:
            raise SubmissionDiedError(f"the process of this object has ended: {self.ended_because}")
        with self._budget.spent_by(component) as seconds:
            return self._ask(component, verb, content, encoder, read, seconds)

    def _ask(
        self,
        component: str,
        verb: str,
        content: Content,
        encoder: Encoder,
        read: Callable[[Answer], Made],
        seconds: float,
    ) -> Made:
        """`request` within so many seconds."""
        self._last += 1
        self._output.seeds.add(str(content.get("seed")))
        released, self._released = self._released, []
        header = {"id": self._last, "verb": verb, "tensors": encoder.records, "drop": released, **content}
        try:
            answer = read_reply(*self._exchange(pack(header, encoder.body()), seconds), self._last)
            if isinstance(answer, Answer):
                return read(answer)
        except DeadlineError:
            self.end(f"no answer within {seconds:.3g} s")
            raise SubmissionTimeoutError(self.ended_because) from None
        except (EOFError, BrokenPipeError):
            raise self._died(component) from None
        except ProtocolError as error:
            self.end(f"the worker's answer was not valid ({error})")
            raise SubmissionDiedError(self.ended_because) from None
        message = self._with_todo(answer) if answer.kind == "NotImplementedError" else answer.message
        raise submission_error(answer.kind, self._output.scrub(message), self._quote(answer.frames))

    def _exchange(self, request: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Sends a request and returns the reply's header and body. After any exception the worker must be ended."""
        deadline, worker = time.monotonic() + seconds, self._worker
        with suppress(BlockingIOError):
            if os.read(worker.replies, 1):
                raise ProtocolError("the worker wrote before it was asked")
        unsent = memoryview(request)
        while unsent:
            try:
                unsent = unsent[os.write(worker.requests, unsent) :]
            except BlockingIOError:
                self._wait(worker.requests, select.POLLOUT, deadline)

        def read(size: int) -> bytes:
            data = bytearray()
            while len(data) < size:
                try:
                    piece = os.read(worker.replies, min(size - len(data), 1 << 20))
                except BlockingIOError:
                    self._wait(worker.replies, select.POLLIN, deadline)
                    continue
                if not piece:
                    raise EOFError
                data += piece
            return bytes(data)

        frame = read_frame(read, REPLY_LIMITS)
        self._output.collect(worker.output)
        return frame

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        """Waits until a pipe is ready, and collects output meanwhile."""
        poll = select.poll()
        poll.register(descriptor, event)
        poll.register(self._worker.output, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            ready = dict(poll.poll(left * 1000 + 1))
            if self._worker.output in ready:
                self._output.collect(self._worker.output)
                if ready[self._worker.output] == select.POLLHUP:  # closed: it would always be ready
                    poll.unregister(self._worker.output)
            if descriptor in ready:
                return
        raise DeadlineError

    def _died(self, component: str) -> Exception:
        """Finds out why the worker has gone; returns the exception to raise."""
        time.sleep(ENDING_SECONDS)
        ending = self.end("the process that workers are forked from has ended")
        if ending is None:  # so the worker went with it, for no reason of its own
            return SandboxUnavailableError(self.ended_because)
        kind: type[SubmissionError] = SubmissionDiedError
        number = os.WTERMSIG(ending.status)
        if os.WIFEXITED(ending.status):
            reason = f"the process ended itself with status {os.WEXITSTATUS(ending.status)}"
        elif number == signal.SIGXCPU or ending.cpu >= self._cpu_left:
            kind, reason = SubmissionTimeoutError, f"the submission's CPU time of {self._cpu_left:.0f} s is used up"
            self._budget.cpu_seconds += max(0.0, self._cpu_left - ending.cpu)
        elif not ending.had_ended:
            reason = "the process closed the pipe for its answers"
        elif number in OWN_SIGNALS:
            reason = f"the process crashed ({signal.Signals(number).name})"
        else:
            kind, reason = SubmissionOutOfMemoryError, "the process was ended by the system, most likely for its memory"
        self.ended_because = reason
        if kind is SubmissionOutOfMemoryError and component not in self._budget.killed_before:
            return WorkerKilledError(component, reason)
        return kind(reason)

    def end(self, reason: str) -> Ending | None:
        """Ends the worker, if it has not ended; None where nobody can tell how."""
        if not self.is_alive:
            return None
        self.is_alive = False
        self.ended_because = reason
        self._output.collect(self._worker.output)
        ending = self._worker.kill()
        self._budget.cpu_seconds += ending.cpu if ending else 0.0
        return ending

    def _with_todo(self, failure: Failure) -> str:
        """The message of a TODO that is still there, with the text of its comment."""
        file, number, _ = failure.frames[-1] if failure.frames else ("", 0, "")
        _, lines = self._lines.get(file, ("", [""]))
        return with_comment(failure.message, lines, number)

    def _quote(self, frames: list[tuple[str, int, str]]) -> str:
        """A traceback made from our own copy of the sources; the worker only sends line numbers."""
        lines = []
        for file, number, function in frames:
            name = function if function.isidentifier() or function in ("<module>", "<lambda>") else "?"
            lines.append(self.quote(file, number, f", in {name}\n    "))
        return "\n".join(filter(None, lines))

    def quote(self, file: str, number: int, between: str = ": ") -> str:
        """The place of a line, and the line; "" where the submission has no such file, or it is the kit's."""
        if file not in self._lines or file.startswith(KIT):
            return ""
        name, lines = self._lines[file]
        line = lines[number - 1].strip()[:200] if 1 <= number <= len(lines) else ""
        return f"{self._locate(name, number)}{between}{line}"
