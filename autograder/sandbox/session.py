"""The life of one worker: it is started, loads the submission, answers requests and is ended for a reason."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Limits
from foundation.texts import with_comment

from ..sources import Locate, Sources, file_of
from .connection import Connection, DeadlineError, Output, WorkerGoneError, scrub
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
from .worker.messages import Decoder, Encoder, FrameError, pack
from .zygote import Ending, Zygote

START_SECONDS = 60.0
HELLO = 0
ENDING_SECONDS = 0.02
"""A process closes its pipes a little before it has ended."""
OWN_SIGNALS = {getattr(signal, f"SIG{name}") for name in ("SEGV", "ABRT", "ILL", "BUS", "FPE", "SYS", "TRAP")}
"""How a process can crash by itself; the filter lets it send no signals."""


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
        self._last = HELLO
        self._released: list[int] = []
        self.is_alive = True
        self.has_timed_out = False
        self.cpu = 0.0
        self.ended_because = "the worker was closed"
        try:
            layers = self._start(zygote, assignment.limits, output, wanted_imports(sources))
        except SandboxUnavailableError:  # the machine may be innocent: an import may have left something behind
            layers = self._start(zygote, assignment.limits, output, [])
        try:
            self.layers = zygote.containment.in_force(layers)
            named = {name: (file_of(name, path), text) for name, (path, text) in sources.items()}
            contract = assignment.contract
            forbidden = {"kernels": contract.forbidden.kernels, "python": contract.forbidden.python}
            content = {"sources": named, "contract": contract.modules, "forbidden": forbidden}
            self.request("load", content, Encoder(), START_SECONDS)
        except SubmissionError as error:
            raise SandboxUnavailableError(f"the worker could not load the submission: {error.message}") from error
        except BaseException:
            self.end("the worker did not start")
            raise

    def _start(self, zygote: Zygote, limits: Limits, output: Output, imports: list[str]) -> list[str]:
        """Forks a worker; returns the layers that it reached. Leaves nothing behind where that fails."""
        self._worker = zygote.fork(limits, imports, self._cpu_left)
        self._connection = Connection(self._worker, output)
        try:
            return self._read_hello()
        except BaseException:
            self._worker.kill()
            raise

    def _read_hello(self) -> list[str]:
        """The layers that the worker reports before it has seen any submitted code."""
        try:
            header, _ = self._connection.exchange(b"", START_SECONDS)
        except (DeadlineError, WorkerGoneError, FrameError) as error:
            raise SandboxUnavailableError(f"a worker did not start ({type(error).__name__})") from error
        if "layers" not in header:
            raise SandboxUnavailableError(f"this machine lacks a required layer: {header.get('missing')}")
        layers: list[str] = header["layers"]
        return layers

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
        released, self._released = self._released, []
        header = {"id": self._last, "verb": verb, "tensors": encoder.records, "drop": released, **content}
        try:
            body = encoder.body()
            reply = self._connection.exchange(pack(header, body), seconds)
            answer = read_reply(*reply, self._last)
        except DeadlineError:
            raise self.time_out(f"no answer within {seconds:.3g} s") from None
        except WorkerGoneError:
            raise self.die() from None
        except (FrameError, BreachError) as error:
            raise self.breach(str(error)) from None
        if isinstance(answer, Failure):
            message = self._with_todo(answer) if answer.kind == "NotImplementedError" else answer.message
            raise submission_error(answer.kind, scrub(message), self._quote(answer.frames))
        return self._last, *answer

    def time_out(self, reason: str) -> SubmissionTimeoutError:
        """Ends the worker; returns the exception to raise."""
        self.end(reason)
        self.has_timed_out = True
        return SubmissionTimeoutError(reason)

    def breach(self, reason: str) -> SubmissionDiedError:
        """Ends the worker for breaking the protocol; returns the exception to raise."""
        reason = f"the worker's answer was not valid ({reason})"
        self.end(reason)
        return SubmissionDiedError(reason)

    def die(self) -> Exception:
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
        self._connection.collect_output()
        ending = self._worker.kill()
        self.cpu = ending.cpu if ending else 0.0
        return ending

    def cpu_seconds(self) -> float:
        """CPU time used so far, or in total once the worker has ended."""
        return self._worker.cpu_seconds() if self.is_alive else self.cpu

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
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        return f"the process crashed ({name})"

    def _with_todo(self, failure: Failure) -> str:
        """The message of a TODO that is still there, with the text of its comment."""
        file, number, _ = failure.frames[-1] if failure.frames else ("", 0, "")
        _, text = self.sources.get(file.removesuffix(".py"), ("", ""))
        return with_comment(failure.message, text.split("\n"), number)

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
        for name, (path, text) in self.sources.items():
            if file_of(name, path) == file:
                lines = text.split("\n")  # as Python counts; splitlines() also splits at form feeds
                line = lines[number - 1].strip()[:200] if 1 <= number <= len(lines) else ""
                return self._locate(name, number), line
        return None
