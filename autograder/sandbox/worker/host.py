"""The worker that holds implementations, and answers what students' own tests, in another worker, ask of them.

Anything may have made up what it is asked. So a `Host` has few verbs: build an object, copy one, call, and the backward
pass. It says of an exception of which kind it is, and no more: what leaves it is results, and nothing that could tell
how an implementation is written.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import CodeType
from typing import Any

import torch

from .failures import KINDS
from .messages import DTYPES, REPLY_LIMITS, Decoder, Encoder
from .peer import Peer
from .service import Content, Service

IMPLEMENTATION = "implementation"
"""The name that an implementation's text sets."""
VERBS = ("build", "copy", "call", "backward")
MOST_REQUESTS = 100_000


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

    def do_copy(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Makes an object that is a copy of another one."""
        return self._hold(copy.deepcopy(self._find(request["target"])), None, request, encoder)

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
    """What every worker is: it answers about one submission, or has a part in trying students' own tests."""

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
            verdicts.append([not why for why in try_test(tests, name, make, seeds)])
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
