"""Students' own tests and what they test, in two workers: two pipes between them carry tensors and plain values.

The worker with the tests has a `Peer`, through which an implementation looks as it would in the same process. What is
at the other end is in `host.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from .failures import KINDS
from .messages import DTYPE_NAMES, REPLY_LIMITS, Answer, Decoder, Encoder, pack, read_frame
from .mirror import Kind, RemoteModule, call

Content = dict[str, Any]
RAISED = "the code under test has raised this"


class Peer:
    """The way from tests to the worker that has implementations."""

    methods: Sequence[str] = ()
    shows_names = True

    def __init__(self, requests: int, replies: int) -> None:
        """Takes the ends of the two pipes."""
        self._sink, self._source = open(requests, "wb"), open(replies, "rb")  # noqa: SIM115  open as long as the worker
        self._last, self._made, self._released = 0, 0, list[int]()

    def implementation(self, component: str) -> Callable[..., Any]:
        """Return an implementation of a component that is made anew: a function, or what builds objects of a class."""
        self._made += 1
        target = {"component": component, "made": self._made}
        use = build if component.rpartition(".")[2][0].isupper() else call

        def implementation(*args: object, **kwargs: object) -> object:
            return use(self, component, target, args, kwargs)

        return implementation

    def request(
        self, component: str, verb: str, content: Content, encoder: Encoder, read: Callable[[Answer], Any]
    ) -> Any:
        """Return what `read` makes of the answer; raise an exception of the same kind as the implementation."""
        self._last += 1
        released, self._released = self._released, []
        default = DTYPE_NAMES[torch.get_default_dtype()]
        header = {"id": self._last, "verb": verb, "tensors": encoder.records, "drop": released, "default": default}
        self._sink.write(pack({**header, **content}, encoder.body()))
        self._sink.flush()
        reply, body = read_frame(self._source.read, REPLY_LIMITS)
        if "error" in reply:
            raise next((kind for kind in KINDS if kind.__name__ == reply["error"]), RuntimeError)(RAISED)
        return read(Answer(self._last, reply["result"], Decoder(reply["tensors"], body, is_trusted=True)))

    def release(self, number: int) -> None:
        """Let the host forget an object or a graph, with the next request."""
        self._released.append(number)

    def draw_seed(self) -> int:
        """A number for each call; torch's generator is the test's, and stays as it is."""
        return self._last

    def read_call(self, answer: Answer, arguments: Sequence[Tensor]) -> Any:
        """The reply to a call."""
        return SimpleNamespace(**answer.result)

    def read_gradients(self, answer: Answer, inputs: Sequence[Kind]) -> list[Tensor | None]:
        """The reply to a backward pass."""
        return [None if index is None else answer.decoder.tensors[index] for index in answer.result]

    def show_changes(self, reply: Any, answer: Answer, arguments: Sequence[Tensor]) -> None:
        """Write into the test's own tensors what the implementation has written into its arguments."""
        with torch.no_grad():
            for index, place in zip(reply.changed, reply.written, strict=True):
                arguments[index].copy_(answer.decoder.tensors[place])


def build(peer: Peer, component: str, target: Content, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Build an object of a class that is an implementation."""
    encoder = Encoder()
    content = {"target": target, "args": encoder.encode(args), "kwargs": encoder.encode(kwargs)}
    content["seed"] = peer.draw_seed()

    def read(answer: Answer) -> RemoteModule:
        return RemoteModule(peer, component, answer, answer.result["names"], answer.result["training"])

    return peer.request(component, "build", content, encoder, read)
