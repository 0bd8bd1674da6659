"""A submission in a sandboxed worker, with the same methods as the one in `autograder.testing.under_test`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .errors import SubmissionError
from .mirror import RemoteCall, RemoteGraph, RemoteModule, can_be_changed, mark_gradients, spoil
from .replies import BreachError, read_call, read_gradients, read_object, shaped
from .session import Session
from .supervisor import Supervisor
from .worker.messages import DTYPE_NAMES, Decoder, Encoder

Content = dict[str, Any]
"""JSON of a request."""


class Sandbox(Supervisor):
    """A submission in another process, with the methods that tests use.

    A worker is started when it is first needed, and again after one has died; objects of a dead worker raise
    SubmissionDiedError. `Supervisor` says what it is made from, and which budgets it keeps.
    """

    def build(
        self,
        component: str,
        *args: object,
        dtype: torch.dtype | None = None,
        isolated: bool = True,
        **kwargs: object,
    ) -> RemoteModule:
        """Makes an object of the submission's class "module.Name".

        Args:
            component: a class of the contract, derived from `nn.Module`.
            *args: for its constructor.
            dtype: of its parameters and buffers; None = as made.
            isolated: every other component is replaced by its stand-in, now and in later calls.
            **kwargs: for its constructor.

        Raises:
            SubmissionError: what the constructor raised, or why there was no answer.
        """
        session, encoder = self.session(component), Encoder()
        content = {"component": component, "isolated": isolated, "dtype": dtype and DTYPE_NAMES[dtype]}
        content |= {"args": encoder.encode(args), "kwargs": encoder.encode(kwargs), "seed": draw_seed()}
        number, result, decoder = self.request(session, component, "build", content, encoder)
        with self._ended_by_breaches(session, component):
            reply = read_object(result, decoder)
        if not reply.module:
            raise SubmissionError(f"{component} is not an nn.Module: its class must derive from it")
        made = RemoteModule(self._call_method, session, number, component, reply, decoder, self.contract.methods)
        if dtype and any(parameter.dtype != dtype for parameter in made.parameters()):
            raise SubmissionError(f"{component}: not all of its parameters follow .to({dtype})")
        return made

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Calls the submission's function "module.name"."""
        target = {"function": component, "isolated": isolated, "stand_in": None}
        return self._call(self.session(component), component, target, args, kwargs)

    def apply(self, name: str, subject: RemoteModule | str, *args: object, isolated: bool = True) -> object:
        """Calls a stand-in that is a function, with an object or a component "module.name" of the submission.

        The component of `subject` is blamed if the worker dies.
        """
        if isinstance(subject, str):
            target = {"function": subject, "isolated": isolated, "stand_in": name}
            return self._call(self.session(subject), subject, target, args, {})
        return self._call_method(subject, "forward", args, {}, name)

    def _call_method(
        self,
        module: RemoteModule,
        method: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        stand_in: str | None = None,
    ) -> object:
        target = {"object": module.number, "method": method, "stand_in": stand_in}
        return self._call(module.session, module.component, target, args, kwargs, module)

    def _call(
        self,
        session: Session,
        component: str,
        target: Content,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        module: RemoteModule | None = None,
    ) -> object:
        """Sends what has changed, calls, and connects the result with what it was computed from."""
        encoder = Encoder()
        content = {"target": target, "args": encoder.encode(args), "kwargs": encoder.encode(kwargs)}
        arguments = [*encoder.tensors]
        inputs: list[Tensor] = []
        numbers: list[int] = []
        if torch.is_grad_enabled():
            inputs = mark_gradients(encoder)
            for index, parameter in module.trainable_parameters() if module else ():
                inputs.append(parameter)
                numbers.append(index)
        content |= {"grad": torch.is_grad_enabled(), "inference": torch.is_inference_mode_enabled()}
        content |= {"parameters": numbers, "seed": draw_seed()}
        if module is not None:
            changed = [[index, encoder.add(parameter)] for index, parameter in module.changed_parameters()]
            content |= {"changed": changed, "training": module.changed_mode()}
        number, result, decoder = self.request(session, component, "call", content, encoder)
        with self._ended_by_breaches(session, component):
            reply = read_call(result, len(arguments))
            if reply.graph:
                self._connect(session, component, number, decoder, inputs)
            written = [arguments[index] for index in {*reply.changed}]
            if not all(map(can_be_changed, written)):
                raise BreachError("a change to a tensor that cannot be changed")
            for tensor in written:
                spoil(tensor, session.quote(*reply.place) if reply.place else "")
            return shaped(decoder.decode, reply.value)

    def _connect(self, session: Session, component: str, number: int, decoder: Decoder, inputs: list[Tensor]) -> None:
        """Replaces the outputs that depend on the inputs by nodes of this process's graph."""
        indices = [i for i, record in enumerate(decoder.records) if record.get("grad") is True]
        outputs = tuple(decoder.tensors[index] for index in indices)
        if not inputs or not outputs or not all(output.is_floating_point() for output in outputs):
            raise BreachError("a graph without inputs or without outputs")
        kinds = [(tensor.shape, tensor.dtype) for tensor in inputs]
        ask = partial(self._ask_for_gradients, session, component, number, kinds)
        graph = RemoteGraph(indices, ask, partial(session.release, number))
        connected = RemoteCall.apply(graph, outputs, *inputs)  # type: ignore[no-untyped-call]  # PyTorch's
        for index, output in zip(indices, connected, strict=True):
            decoder.tensors[index] = output

    def _ask_for_gradients(
        self,
        session: Session,
        component: str,
        number: int,
        kinds: Sequence[tuple[torch.Size, torch.dtype]],
        seeds: dict[int, Tensor],
    ) -> list[Tensor | None]:
        """Gradients of what went into a call, of these kinds, for gradients of its outputs, by index."""
        encoder = Encoder()
        content = {"graph": number, "seeds": [[index, encoder.add(seed)] for index, seed in seeds.items()]}
        _, result, gradients = self.request(session, component, "backward", content, encoder)
        with self._ended_by_breaches(session, component):
            return read_gradients(result, gradients, kinds)

    @contextmanager
    def _ended_by_breaches(self, session: Session, component: str) -> Iterator[None]:
        """A block in which a breach of the protocol ends the worker, for which `component` is blamed."""
        try:
            yield
        except BreachError as error:
            raised = session.breach(str(error))
            self.note_failure(component, session)
            raise raised from None


def draw_seed() -> int:
    """A seed for one call, from torch's global generator, hashed so that it does not tell the generator's state."""
    drawn = int(torch.randint(2**62, ()))
    return int.from_bytes(hashlib.blake2b(drawn.to_bytes(8, "little"), digest_size=6).digest(), "little")
