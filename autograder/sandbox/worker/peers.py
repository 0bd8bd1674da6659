"""Students' own tests and what they test, in two workers: two pipes between them carry tensors and plain values.

The worker with the tests has a `Peer`, through which an implementation looks as it would in the same process. The other
one has a `Host`. Anything may have made up what it is asked, so it has few verbs: build an object, copy one, call, and
the backward pass. Of an exception it reports the kind, and no more: what leaves it is results, and nothing that could
show how an implementation is written.
"""

import builtins
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import CodeType, MappingProxyType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from . import audit, instruments, shortcuts
from .failures import KINDS, describe
from .loading import Package
from .messages import REPLY_LIMITS, VERBS, Answer, Decoder, Encoder, pack, read_frame
from .mirror import Kind, Link
from .running import settings_kept
from .service import Content, Held, Service
from .surroundings import harden, import_quietly, take_out_ours, write_nowhere

IMPLEMENTATION = "implementation"
"""The name that an implementation's text sets."""
CALLED = builtins, json, json.decoder, json.encoder, json.JSONDecoder, json.JSONEncoder, Tensor
"""Of libraries, what a worker itself calls to answer: a submission that replaces any of it may lie."""
MADE_OF = torch.nn.functional, *(kind for kind in vars(torch.nn).values() if isinstance(kind, type))
"""What components are made of: whoever replaces any of it changes what others compute."""
RESERVE = 16 << 20
"""Bytes of address space that are kept for the proof that what is forbidden refuses."""
RAISED = "the code under test has raised this"


class Peer(Link):
    """The way from tests to the worker that has implementations."""

    shows_names = True

    def __init__(self, requests: int, replies: int) -> None:
        """Takes the ends of the two pipes."""
        super().__init__()
        self._sink, self._source = open(requests, "wb"), open(replies, "rb")  # noqa: SIM115  open as long as the worker
        self._made = 0

    def implementation(self, component: str) -> Callable[..., Any]:
        """Return an implementation of a component that is made anew: a function, or what builds objects of a class."""
        self._made += 1
        target = {"component": component, "made": self._made}
        use = self.build if component.rpartition(".")[2][0].isupper() else self.call

        return lambda *args, **kwargs: use(component, target, args, kwargs)

    def request(
        self, component: str, verb: str, content: Content, encoder: Encoder, read: Callable[[Answer], Any]
    ) -> Any:
        """Return what `read` makes of the answer; raise an exception of the same kind as the implementation."""
        self._sink.write(pack(self.header(verb, encoder, content), encoder.body()))
        self._sink.flush()
        reply, body = read_frame(self._source.read, REPLY_LIMITS)
        if "error" in reply:
            raise next((kind for kind in KINDS if kind.__name__ == reply["error"]), RuntimeError)(RAISED)
        return read(Answer(self.last, reply["result"], Decoder(reply["tensors"], body, is_trusted=True)))

    def draw_seed(self) -> int:
        """A number for each call; torch's generator is the test's, and stays as it is."""
        return self.last

    def read_call(self, answer: Answer) -> Any:
        """The reply to a call."""
        return SimpleNamespace(**answer.result)

    read_object = read_call

    def read_gradients(self, answer: Answer, inputs: Sequence[Kind]) -> list[Tensor | None]:
        """The reply to a backward pass."""
        return [None if index is None else answer.decoder.tensors[index] for index in answer.result]

    def show_changes(self, reply: Any, answer: Answer, arguments: Sequence[Tensor]) -> None:
        """Write into the test's own tensors what the implementation has written into its arguments."""
        with torch.no_grad():
            for index, place in zip(reply.changed, reply.written, strict=True):
                arguments[index].copy_(answer.decoder.tensors[place])


class Host(Service):
    """Answers what one worker's tests ask of one implementation of each component."""

    repeats_changes, keeps_layout, limits = False, True, REPLY_LIMITS

    def __init__(self, codes: Mapping[str, CodeType]) -> None:
        """Takes the code of an implementation by component."""
        super().__init__()
        self._codes = codes
        self._made: tuple[str, int] | None = None
        self._implementation: Any = None

    def answer(self, request: Content, body: bytes) -> bytes:
        """The reply frame of one request."""
        if request["verb"] not in VERBS:
            raise ValueError("no verb of a host")
        return super().answer(request, body)

    def describe(self, error: BaseException) -> str:
        """The kind of an error, and no more."""
        return next((kind.__name__ for kind in KINDS if isinstance(error, kind)), "")

    def do_call(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Calls a function or an object, and sends what it has written into its arguments."""
        result = super().do_call(request, decoder, encoder)
        result["written"] = [encoder.add(decoder.tensors[index].detach()) for index in result["changed"]]
        return result

    def find(self, target: Content, held: Held | None = None) -> Any:
        """An object, or an implementation; each test has one of its own, which keeps nothing of earlier tests."""
        if target.get("method", "forward") != "forward" or target.get("stand_in"):
            raise AttributeError("a host is called, and no more")
        if held is not None:
            return held.value
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
        self._files: frozenset[str] = frozenset()
        self._pipes = [*pipes]
        self._peer: Peer | None = None
        self._prove: Callable[[str], str] = str
        self._reserve = bytes(RESERVE)

    def describe(self, error: BaseException) -> object:
        """An error as the trusted side shows it."""
        return describe(error, self._files)

    def find(self, target: Content, held: Held | None = None) -> Any:
        """An object, a class or a function, with stand-ins in the place of the other components."""
        target = held.target if held else target
        self._components.isolate(target["component"] if target["isolated"] else None)
        return held.value if held else self._components.get(target["component"])

    def do_load(self, request: Content, decoder: Decoder, encoder: Encoder) -> list[str]:
        """Imports what the submission will want, gives up this process's rights, and takes the submission.

        Returns the layers of containment that it has reached, before anything of the submission runs.
        """
        for name in request["imports"]:
            import_quietly(name)
        layers = harden(**request["plan"])
        write_nowhere()
        sources = MappingProxyType({name: (path, source) for name, (path, source) in request["sources"].items()})
        self._files = frozenset(path for path, _ in sources.values())
        self._components = Package(sources, request["contract"], self._stand_ins, settings_kept=settings_kept)
        guard = [vars(owner) for owner in (self, self._components, *take_out_ours(), *CALLED, *MADE_OF)]
        self._refuse = partial(shortcuts.refuse, guard=guard, keep=partial(setattr, self, "_prove"))
        if not self._pipes:  # to students' own tests nothing is forbidden
            self._components.more_builtins, self._components.compile = instruments.BUILTINS, instruments.compile_telling
            self._components.run = audit.run_telling
            instruments.tell_of_libraries()
            listed = request["internals"], request["operations"]
            audit.watch(self._files, *listed, self._replies, self._stand_ins)
        return layers

    def do_refuse(self, request: Content, decoder: Decoder, encoder: Encoder) -> None:
        """Makes what is forbidden raise, for good."""
        self._refuse(**request["forbidden"])

    def do_prove(self, request: Content, decoder: Decoder, encoder: Encoder) -> str:
        """Answers a question if what is forbidden still refuses, and this process is as it was."""
        self._reserve = b""  # a submission may have left no memory
        try:
            return self._prove(request["question"])
        finally:
            with suppress(MemoryError):
                self._reserve = bytes(RESERVE)

    def do_import(self, request: Content, decoder: Decoder, encoder: Encoder) -> None:
        """Imports a module; all are, before anything is built or called."""
        importlib.import_module(f"{self._components.name}.{request['module']}")

    def do_try(self, request: Content, decoder: Decoder, encoder: Encoder) -> list[bool]:
        """Run a test of a submitted class with one seed after the other until it passes; return with which it did."""
        tests = self._components.get(request["tests"])
        if self._peer is None:
            self._peer = Peer(*self._pipes)
        make, try_test = partial(self._peer.implementation, request["component"]), self._stand_ins.try_test  # type: ignore[attr-defined]
        return [not reason for reason in try_test(tests, request["test"], make, request["seeds"])]

    def do_backward(self, request: Content, decoder: Decoder, encoder: Encoder) -> list[int | None]:
        """Gradients; what they were computed by is heard."""
        gradients = super().do_backward(request, decoder, encoder)
        instruments.tell_of_operations(self._graphs[request["graph"]][0].values())
        return gradients

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
