"""The life of one worker: it is started, loads the submission, answers requests and is ended for a reason."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Limits
from foundation.places import ROOT
from foundation.texts import clean, with_comment

from ..sources import Locate, Sources, file_of
from .errors import (
    SandboxUnavailableError,
    SubmissionDiedError,
    SubmissionError,
    SubmissionTimeoutError,
    WorkerKilledError,
    submission_error,
)
from .imports import wanted_imports
from .replies import BreachError, Failure, read_reply
from .worker.messages import REPLY_LIMITS, Decoder, Encoder, FrameError, FrameReader, pack
from .zygote import Ending, Worker, Zygote

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


def exchange(worker: Worker, output: Output, request: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
    """Sends a request and returns the reply's header and body; collects the output meanwhile.

    After any exception from here the worker must be ended.

    Args:
        worker: that answers.
        output: of its submission.
        request: a frame; b"" to wait for a frame without a request.
        seconds: wall time for the whole exchange.

    Raises:
        DeadlineError: where there is no complete reply in time.
        EOFError: where the worker has closed its pipe, usually because it has ended.
        FrameError: for bytes that are not a frame, too large a frame, or a reply before the request.
    """
    deadline = time.monotonic() + seconds
    reader = FrameReader(REPLY_LIMITS)
    if request and _receive(worker, 1):
        raise FrameError("the worker wrote before it was asked")
    unsent = _send(worker, memoryview(request))
    poll = select.poll()
    poll.register(worker.replies, select.POLLIN)
    poll.register(worker.output, select.POLLIN)
    if unsent:
        poll.register(worker.requests, select.POLLOUT)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise DeadlineError
        ready = dict(poll.poll(left * 1000 + 1))
        if worker.output in ready:
            output.collect(worker.output)
            if ready[worker.output] == select.POLLHUP:  # closed: it would always be ready
                poll.unregister(worker.output)
        if worker.requests in ready:
            unsent = _send(worker, unsent)
            if not unsent:
                poll.unregister(worker.requests)
        while worker.replies in ready and (piece := _receive(worker, min(reader.wanted, 1 << 20))):
            frame = reader.feed(piece)
            if frame is not None:
                output.collect(worker.output)
                return frame


def _send(worker: Worker, unsent: memoryview) -> memoryview:
    """Sends what the pipe takes; returns the rest."""
    try:
        return unsent[os.write(worker.requests, unsent) :] if unsent else unsent
    except BlockingIOError:
        return unsent
    except BrokenPipeError as error:
        raise EOFError from error


def _receive(worker: Worker, size: int) -> bytes:
    """Up to so many bytes of the reply pipe; b"" if there are none now."""
    try:
        piece = os.read(worker.replies, size)
    except BlockingIOError:
        return b""
    if not piece:
        raise EOFError
    return piece


class Session:
    """One worker with one submission loaded.

    Attributes:
        sources: the submission's modules.
        layers: of containment that this worker reached.
        is_alive: False once it has ended; then its objects are gone.
        has_timed_out: whether it was ended because its time was up.
        cpu: CPU seconds that it used; known when it has ended.
    """

    def __init__(
        self,
        zygote: Zygote,
        sources: Sources,
        assignment: Assignment,
        output: Output,
        cpu_left: float,
        locate: Locate,
    ) -> None:
        self.sources, self._locate, self._output = sources, locate, output
        self._cpu_left = cpu_left
        self._last = 0
        self._released: list[int] = []
        self.is_alive = True
        self.has_timed_out = False
        self.cpu = 0.0
        self.ended_because = "the worker was closed"
        try:
            layers = self._start(zygote, assignment.limits, wanted_imports(sources))
        except SandboxUnavailableError:  # the machine may be innocent: an import may have left something behind
            layers = self._start(zygote, assignment.limits, [])
        try:
            self.layers = zygote.containment.in_force(layers)
            named = {name: (file_of(name, path), text) for name, (path, text) in sources.items()}
            # Lines as Python counts them: splitlines() also splits at form feeds.
            self._lines = {file: (name, text.split("\n")) for name, (file, text) in named.items()}
            contract = assignment.contract
            forbidden = {"kernels": contract.forbidden.kernels, "python": contract.forbidden.python}
            content = {"sources": named, "contract": contract.modules, "forbidden": forbidden}
            self.request("load", content, Encoder(), START_SECONDS)
        except SubmissionError as error:
            raise SandboxUnavailableError(f"the worker could not load the submission: {error.message}") from error
        except BaseException:
            self.end("the worker did not start")
            raise

    def _start(self, zygote: Zygote, limits: Limits, imports: list[str]) -> list[str]:
        """Forks a worker; returns the layers that it has reached before it has seen any submitted code.

        Leaves nothing behind where that fails.
        """
        self._worker = zygote.fork(limits, imports, self._cpu_left)
        try:
            header, _ = exchange(self._worker, self._output, b"", START_SECONDS)
            if "layers" not in header:
                raise SandboxUnavailableError(f"this machine lacks a required layer: {header.get('missing')}")
            layers: list[str] = header["layers"]
            return layers
        except BaseException as error:
            self._worker.kill()
            if isinstance(error, (DeadlineError, EOFError, FrameError)):
                raise SandboxUnavailableError(f"a worker did not start ({type(error).__name__})") from error
            raise

    def release(self, number: int) -> None:
        """Lets the worker forget an object or a graph, with the next request."""
        self._released.append(number)

    def request(
        self, verb: str, content: dict[str, Any], encoder: Encoder, seconds: float
    ) -> tuple[int, object, Decoder]:
        """Sends a request; returns its number, which what it makes has too, the result, and what decodes its tensors.

        Raises:
            SubmissionTimeoutError: where there is no reply in time; the worker has ended.
            SubmissionDiedError: where the worker has ended or broken the protocol.
            SubmissionError: the submission's own exception; the worker lives.
            SandboxUnavailableError: where the zygote has ended, or something outside has killed the worker.
        """
        if not self.is_alive:
            raise SubmissionDiedError(f"the process of this object has ended: {self.ended_because}")
        self._last += 1
        self._output.seeds.add(str(content.get("seed")))
        released, self._released = self._released, []
        header = {"id": self._last, "verb": verb, "tensors": encoder.records, "drop": released, **content}
        try:
            reply = exchange(self._worker, self._output, pack(header, encoder.body()), seconds)
            answer = read_reply(*reply, self._last)
        except DeadlineError:
            reason = f"no answer within {seconds:.3g} s"
            self.end(reason)
            self.has_timed_out = True
            raise SubmissionTimeoutError(reason) from None
        except EOFError:
            raise self._die() from None
        except (FrameError, BreachError) as error:
            raise self.breach(str(error)) from None
        if isinstance(answer, Failure):
            message = self._with_todo(answer) if answer.kind == "NotImplementedError" else answer.message
            raise submission_error(answer.kind, self._output.scrub(message), self._quote(answer.frames))
        return self._last, *answer

    def breach(self, reason: str) -> SubmissionDiedError:
        """Ends the worker for breaking the protocol; returns the exception to raise."""
        reason = f"the worker's answer was not valid ({reason})"
        self.end(reason)
        return SubmissionDiedError(reason)

    def _die(self) -> Exception:
        """Finds out why the worker has gone; returns the exception to raise."""
        time.sleep(ENDING_SECONDS)
        ending = self.end("")
        if ending is None:  # so the worker went with it, for no reason of its own
            self.ended_because = "the process that workers are forked from has ended"
            return SandboxUnavailableError(self.ended_because)
        self.ended_because = reason = self._explain(ending)
        if self.has_timed_out:
            return SubmissionTimeoutError(reason)
        if ending.had_ended and os.WIFSIGNALED(ending.status) and os.WTERMSIG(ending.status) not in OWN_SIGNALS:
            return WorkerKilledError("", reason)
        return SubmissionDiedError(reason)

    def end(self, reason: str) -> Ending | None:
        """Ends the worker, if it has not ended; None where nobody can tell how."""
        if not self.is_alive:
            return None
        self.is_alive = False
        self.ended_because = reason
        self._output.collect(self._worker.output)
        ending = self._worker.kill()
        self.cpu = ending.cpu if ending else 0.0
        return ending

    def _explain(self, ending: Ending) -> str:
        if os.WIFEXITED(ending.status):
            return f"the process ended itself with status {os.WEXITSTATUS(ending.status)}"
        number = os.WTERMSIG(ending.status)
        if number == signal.SIGXCPU or ending.cpu >= self._cpu_left:
            self.has_timed_out = True
            self.cpu = max(self.cpu, self._cpu_left)
            return f"the submission's CPU time of {self._cpu_left:.0f} s is used up"
        if not ending.had_ended:
            return "the process closed the pipe for its answers"
        if number == signal.SIGKILL:
            return "the process was ended by the system, most likely for its memory"
        return f"the process crashed ({signal.Signals(number).name})"

    def _with_todo(self, failure: Failure) -> str:
        """The message of a TODO that is still there, with the text of its comment."""
        file, number, _ = failure.frames[-1] if failure.frames else ("", 0, "")
        _, lines = self._lines.get(file, ("", [""]))
        return with_comment(failure.message, lines, number)

    def _quote(self, frames: list[tuple[str, int, str]]) -> str:
        """A traceback made from our own copy of the sources; the worker only sends line numbers."""
        lines = []
        for file, number, function in frames:
            if (found := self._find(file, number)) is not None:
                name = function if function.isidentifier() or function in ("<module>", "<lambda>") else "?"
                lines.append(f"{found[0]}, in {name}\n    {found[1]}")
        return "\n".join(lines)

    def quote(self, file: str, number: int) -> str:
        """A line of the submission, with its place; "" if there is none."""
        return ": ".join(self._find(file, number) or ())

    def _find(self, file: str, number: int) -> tuple[str, str] | None:
        """The place of a line, and the line; None where the submission has no such file."""
        if file not in self._lines:
            return None
        name, lines = self._lines[file]
        return self._locate(name, number), lines[number - 1].strip()[:200] if 1 <= number <= len(lines) else ""
