"""Students' own tests and what they test, in two workers: two pipes between them carry tensors and plain values.

The worker with the tests has a `Peer`, through which an implementation looks as it would in the same process. The other
one has a `Host`. Anything may have made up what it is asked, so it has few verbs: build an object, copy one, call, and
the backward pass. Of an exception it reports the kind, and no more: what leaves it is results, and nothing that could
show how an implementation is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import CodeType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from .failures import KINDS
from .messages import DTYPE_NAMES, DTYPES, REPLY_LIMITS, Answer, Decoder, Encoder, pack, read_frame
from .mirror import Kind, RemoteModule, call
from .service import Content, Service

IMPLEMENTATION = "implementation"
"""The name that an implementation's text sets."""
VERBS = ("build", "copy", "call", "backward")
MOST_REQUESTS = 100_000
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


class Host(Service):
    """Answers what one worker's tests ask of one implementation of each component."""

    repeats_changes, keeps_layout, limits = False, True, REPLY_LIMITS

    def __init__(self, codes: Mapping[str, CodeType]) -> None:
        """Takes the code of an implementation by component."""
        super().__init__(None)
        self._codes, self._left = codes, MOST_REQUESTS
        self._made: tuple[str, int] | None = None
        self._implementation: Any = None

    def answer(self, request: Content, body: bytes) -> bytes:
        """The reply frame of one request."""
        self._left -= 1
        if request["verb"] not in VERBS or self._left < 0:
            raise ValueError("no verb of a host, or too many requests")
        if torch.get_default_dtype() != DTYPES[request["default"]]:
            torch.set_default_dtype(DTYPES[request["default"]])
        return super().answer(request, body)

    def _describe(self, error: BaseException) -> str:
        return next((kind.__name__ for kind in KINDS if isinstance(error, kind)), "")

    def do_build(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Makes an object."""
        self._seed(request)
        value = self._find(request["target"])(*decoder.decode(request["args"]), **decoder.decode(request["kwargs"]))
        return self._hold(value, None, request, encoder)

    def do_call(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Calls a function or an object, and sends what it has written into its arguments."""
        result = super().do_call(request, decoder, encoder)
        result["written"] = [encoder.add(decoder.tensors[index].detach()) for index in result["changed"]]
        return result

    def _find(self, target: Content) -> Any:
        """An object, or an implementation; each test has one of its own, which keeps nothing of earlier tests."""
        if "object" in target:
            return self._objects[target["object"]].value
        if self._made != (target["component"], target["made"]):
            self._made, names = (target["component"], target["made"]), dict[str, Any]()
            exec(self._codes[target["component"]], names)  # noqa: S102  the kit's own
            self._implementation = names[IMPLEMENTATION]
        return self._implementation


class Worker(Service):
    """Every worker: it answers about one submission, or has a part in trying students' own tests."""

    def __init__(self, stand_ins: object, pipes: Sequence[int]) -> None:
        """Takes the module of stand-ins, and pipes to other workers."""
        super().__init__(stand_ins)
        self._pipes = [*pipes]
        self._peer: Peer | None = None

    @property
    def is_watched(self) -> bool:
        """False for own tests, to which nothing is forbidden."""
        return not self._pipes

    def do_try(self, request: Content, decoder: Decoder, encoder: Encoder) -> list[list[bool]]:
        """Run tests of a submitted class, each with one seed after the other until it passes; return which passed.

        Nothing is run after a test that has failed with all its seeds.
        """
        tests = self._components.get(request["tests"])
        if self._peer is None:
            self._peer = Peer(*self._pipes)
        make, try_test = partial(self._peer.implementation, request["component"]), self._stand_ins.try_test  # type: ignore[attr-defined]
        verdicts: list[list[bool]] = []
        for name, seeds in zip(request["names"], request["seeds"], strict=True):
            verdicts.append([not reason for reason in try_test(tests, name, make, seeds)])
            if not verdicts[-1][-1]:
                break
        return verdicts

    def do_find(self, request: Content, decoder: Decoder, encoder: Encoder) -> None:
        """Raises what is the matter where a component cannot be had."""
        self._components.get(request["tests"])

    def do_serve(self, request: Content, decoder: Decoder, encoder: Encoder) -> None:
        """Has implementations, by component, answer on the next pair of pipes, as long as somebody asks there."""
        codes = {name: compile(text, "", "exec", dont_inherit=True) for name, text in request["texts"].items()}
        requests, replies, *self._pipes = self._pipes

        def host() -> None:
            with suppress(Exception):  # no frame, or nobody left to answer
                Host(codes).serve(requests, replies)

        self.next = host
