"""The life of one worker: it is started, loads the submission, answers requests and is ended for a reason."""

from __future__ import annotations

import hashlib
import os
import secrets
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from ..intake.meanings import wanted_imports
from ..intake.sources import Sources, file_of
from .errors import (
    SandboxUnavailableError,
    SubmissionDiedError,
    SubmissionError,
    SubmissionTimeoutError,
    submission_error,
)
from .kept import MOST_NOTICES, Lines, scrubbed
from .replies import CallReply, read_call, read_gradients, read_object, read_reply
from .worker.messages import REPLY_LIMITS, VERBS, Answer, Encoder, ProtocolError, pack, read_frame
from .worker.mirror import KEPT_RESULTS, Link
from .zygote import Ending, Zygote, has_hung_up

if TYPE_CHECKING:
    from .submission import Sandbox

Made = TypeVar("Made")
Content = dict[str, Any]
"""JSON of a request."""

START_SECONDS = 60.0
ENDING_SECONDS = 0.02
"""A process closes its pipes a little before it has ended."""
OWN_SIGNALS = {getattr(signal, f"SIG{name}") for name in ("SEGV", "ABRT", "ILL", "BUS", "FPE", "SYS", "TRAP")}
"""How a process can crash by itself; the filter lets it send no signals."""


class DeadlineError(Exception):
    """There was no complete reply in time; a TimeoutError is what `time_limit` raises, for another reason."""


class Session(Link):
    """One worker with one submission loaded; its objects are gone once it is not alive."""

    read_object = staticmethod(read_object)
    read_call, read_gradients = staticmethod(read_call), staticmethod(read_gradients)

    def __init__(self, sandbox: Sandbox, sources: Sources, descriptors: Sequence[int], *, is_strict: bool) -> None:
        """Takes the sandbox that it is of; the worker gets the descriptors, which are closed here.

        Where it is strict, `refuse` is for components that may use nothing that is forbidden.
        """
        super().__init__()
        zygote, limits, budget = sandbox.zygote, sandbox.assignment.limits, sandbox.budget
        self.sources, self.contract, self.methods = sources, sandbox.contract, sandbox.contract.methods
        self._budget, self._output, self._notices = budget, sandbox.printed, sandbox.notices
        self._key, self._user, self._module, self._n_notices = secrets.token_hex(16), "", "", 0
        self._question = self._heard = ""  # the last one for the worker, and for the hook in it
        self._cpu_left = budget.cpu_left
        self.ended_because = ""
        self._results: deque[tuple[int, list[torch.Tensor]]] = deque(maxlen=KEPT_RESULTS)
        named = {name: (file_of(name, path), text) for name, (path, text) in sources.items()}
        self._lines = Lines(named, sandbox.locate)
        self._descriptors = descriptors
        rules = self.contract.forbidden
        python = (*rules.python, *rules.always) if is_strict else rules.always
        self._forbidden = {"kernels": rules.kernels if is_strict else "", "python": python, "key": self._key}
        bounds = {"memory_bytes": limits.memory_mb << 20, "cpu_seconds": max(1, round(self._cpu_left))}
        content = {
            "sources": named,
            "contract": self.contract.modules,
            "internals": rules.listed,
            "operations": rules.operations,
            "plan": {**zygote.containment.plan(), **bounds},
        }
        try:
            self.layers = self._start(zygote, content, wanted_imports(sources))
        except SandboxUnavailableError:  # the machine may be innocent: an import may have left something behind
            self.layers = self._start(zygote, content, [])

    def _start(self, zygote: Zygote, content: Content, imports: list[str]) -> tuple[str, ...]:
        """Forks a worker, which loads the submission; returns the layers that it reached before it ran any of that."""
        with_plots = any(name.partition(".")[0] == "matplotlib" for name in imports)
        self._worker = zygote.fork(with_plots, self._descriptors)
        self.is_alive = True
        try:
            content = {**content, "imports": imports}
            reached = self._ask("load", content, Encoder(), lambda answer: answer.result, START_SECONDS)
        except SubmissionError as error:
            self.end("the worker did not start")
            raise SandboxUnavailableError(f"a worker could not be started: {error.message}") from error
        return zygote.containment.in_force(reached)

    def draw_seed(self) -> int:
        """A seed for one call, from torch's global generator, hashed so that it does not show the generator's state."""
        drawn = int(torch.randint(2**62, ()))
        return int.from_bytes(hashlib.blake2b(drawn.to_bytes(8, "little"), digest_size=6).digest(), "little")

    def show_changes(self, reply: CallReply, answer: Answer, arguments: Sequence[Tensor]) -> None:
        """Spoil the arguments that a call has changed, and the earlier results into which it has written."""
        earlier = dict(self._results)
        changed = [(arguments, index) for index in {*reply.changed}]
        changed += [(earlier.get(number, []), index) for number, index in {*reply.rewritten}]
        for tensors, index in changed:
            with suppress(LookupError, RuntimeError):  # a worker may name some that are not there, or share memory
                spoil(tensors[index])
        if not (torch.is_grad_enabled() or torch.is_inference_mode_enabled()):  # those that the worker watches
            self._results.append((answer.number, answer.decoder.tensors))

    @property
    def has_ended(self) -> bool:
        """True if the worker has closed its pipe for answers, which it does when it ends."""
        return not self.is_alive or has_hung_up(self._worker.replies)

    def request(
        self, component: str, verb: str, content: Content, encoder: Encoder, read: Callable[[Answer], Made]
    ) -> Made:
        """Sends a request, for which a component answers, within the budget; returns what `read` makes of the answer.

        Raises:
            SubmissionTimeoutError: there was no reply in time, or no time is left.
            SubmissionDiedError: the worker has ended or broken the protocol.
            SubmissionError: the submission's own exception; the worker lives.
            SandboxUnavailableError: the zygote has ended, or something outside has killed the worker.
        """
        if not self.is_alive:
            raise SubmissionDiedError(f"the process of this object has ended: {self.ended_because}")
        if component != self._user:
            self.check_refusals()
        self._user = component if verb in VERBS else ""
        self._module = component.rpartition(" ")[2].partition(".")[0]  # of "import of layers", too
        with self._budget.spent_by(component) as seconds:
            return self._ask(verb, content, encoder, read, seconds)

    def refuse(self) -> None:
        """Has what is forbidden refuse from now on."""
        self.request("", "refuse", {"forbidden": self._forbidden}, Encoder(), lambda answer: None)

    def check_refusals(self) -> None:
        """Notes the component that was called last if what it may not use no longer refuses, or the worker changed."""
        if not (self.is_alive and self._user and self.contract.forbidden.kernels):
            return
        component, self._user, self._question = self._user, "", secrets.token_hex(16)
        expected, proof = hashlib.blake2b(self._question.encode(), key=self._key.encode()).hexdigest(), ""
        with suppress(SubmissionError):
            proof = self._ask(
                "prove", {"question": self._question}, Encoder(), lambda answer: answer.result, START_SECONDS
            )
        is_proven = (proof, self._heard) == (expected, self._question)
        has_time = self._budget.cpu_left > 0  # else the limit has ended the worker
        if not is_proven and has_time and component not in self._notices.unguarded:
            self._notices.unguarded.append(component)

    def _ask(
        self, verb: str, content: Content, encoder: Encoder, read: Callable[[Answer], Made], seconds: float
    ) -> Made:
        """`request` within so many seconds."""
        request = pack(self.header(verb, encoder, content), encoder.body())
        try:
            answer = read_reply(*self._exchange(request, seconds), self.last)
            if isinstance(answer, Answer):
                return read(answer)
        except DeadlineError:
            self.end(f"no answer within {seconds:.3g} s")
            raise SubmissionTimeoutError(self.ended_because) from None
        except (EOFError, BrokenPipeError):
            raise self._died() from None
        except ProtocolError as error:
            self.end(f"the worker's answer was not valid ({error})")
            raise SubmissionDiedError(self.ended_because) from None
        message = self._lines.with_todo(answer) if answer.kind == "NotImplementedError" else answer.message
        raise submission_error(answer.kind, scrubbed(message), self._lines.traceback(answer.frames))

    def _exchange(self, request: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Sends a request and returns the reply's header and body. After any exception the worker must be ended."""
        deadline, worker, unsent = time.monotonic() + seconds, self._worker, memoryview(request)
        while unsent:
            try:
                unsent = unsent[os.write(worker.requests, unsent) :]
            except BlockingIOError:
                self._wait(worker.requests, select.POLLOUT, deadline)

        read = partial(self._read, deadline)
        while self._notes((frame := read_frame(read, REPLY_LIMITS))[0]):
            continue
        self._output.collect(worker.output)
        return frame

    def _read(self, deadline: float, size: int) -> bytes:
        """So many bytes of the replies."""
        data = bytearray()
        while len(data) < size:
            try:
                piece = os.read(self._worker.replies, min(size - len(data), 1 << 20))
            except BlockingIOError:
                self._wait(self._worker.replies, select.POLLIN, deadline)
                continue
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def _notes(self, header: dict[str, Any]) -> bool:
        """Keeps the content of a notice. Returns False for a frame that is a reply."""
        match header:
            case {"notice": [str(file), int(line), str(name)], **others} if not others and file in self._lines.modules:
                if name == self._question:
                    self._heard = name
                    return True
                self._n_notices += 1
                if self._n_notices > MOST_NOTICES:  # a worker of ours sends fewer
                    raise ProtocolError("too many notices")
                module = self._lines.modules[file]
                if line == 0 and self._module in self.sources:  # no line of it was running, but of what it calls
                    module = self._module
                self._notices.add(module, line or 1, name)
                return True
        return False

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

    def _died(self) -> Exception:
        """Finds out why the worker has gone; returns the exception to raise."""
        time.sleep(ENDING_SECONDS)
        ending = self.end("the process that workers are forked from has ended")
        if ending is None:  # so the worker went with it, for no reason of its own
            return SandboxUnavailableError(self.ended_because)
        kind: type[SubmissionError] = SubmissionDiedError
        number = os.WTERMSIG(ending.status)
        if os.WIFEXITED(ending.status):
            self.ended_because = f"the process ended itself with status {os.WEXITSTATUS(ending.status)}"
        elif number == signal.SIGXCPU or ending.cpu >= self._cpu_left:
            kind = SubmissionTimeoutError
            self.ended_because = f"the submission's CPU time of {self._cpu_left:.0f} s is used up"
            self._budget.cpu_seconds += max(0.0, self._cpu_left - ending.cpu)
        elif not ending.had_ended:
            self.ended_because = "the process closed the pipe for its answers"
        elif number in OWN_SIGNALS:
            self.ended_because = f"the process crashed ({signal.Signals(number).name})"
        else:
            return SandboxUnavailableError(
                "something outside has ended a worker: has the machine `memory_mb` of memory for each?"
            )
        return kind(self.ended_because)

    def end(self, reason: str) -> Ending | None:
        """Ends the worker, if it has not ended; None where nobody knows how."""
        if not self.is_alive:
            return None
        self.is_alive = False
        self.ended_because = reason
        self._output.collect(self._worker.output)
        with suppress(EOFError, ProtocolError, DeadlineError):
            while self._notes(read_frame(partial(self._read, time.monotonic()), REPLY_LIMITS)[0]):
                continue
        ending = self._worker.kill()
        self._budget.cpu_seconds += ending.cpu if ending else 0.0
        return ending


def spoil(tensor: Tensor) -> None:
    """Makes visible that the submission has written into an argument, or into an earlier result.

    Its own values are not written there: a test that computes what it expects from the same tensor after the call
    would then compute it from the submission's choice.
    """
    with torch.no_grad():
        tensor.copy_(torch.full_like(tensor, torch.nan) if tensor.is_floating_point() else tensor == 0)
    tensor.is_spoiled = True  # type: ignore[attr-defined]  # the worker has made the call again, with copies
