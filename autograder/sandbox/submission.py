"""A submission in a sandboxed worker, with the same methods as the one in `autograder.testing.under_test`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from .errors import SubmissionError
from .mirror import (
    Handle,
    RemoteCall,
    RemoteGraph,
    RemoteModule,
    RemoteObject,
    can_be_changed,
    mark_gradients,
    modules_of,
    number_of,
    spoil,
)
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
    ) -> RemoteModule | RemoteObject:
        """Makes an object of the submission's class "module.Name".

        Args:
            component: a class of the contract.
            *args: for its constructor.
            dtype: of its parameters and buffers; None = as made.
            isolated: every other component is replaced by its stand-in, now and in later calls.
            **kwargs: for its constructor.

        Raises:
            SubmissionError: what the constructor raised, or why there was no answer.
        """
        content = {"component": component, "isolated": isolated, "dtype": dtype and DTYPE_NAMES[dtype]}
        made = self._make("build", component, content, args, kwargs)
        if isinstance(made, RemoteObject) and component.partition(".")[2] in self.contract.nn_modules:
            raise SubmissionError(f"{component} is not an nn.Module: its class must derive from it")
        if dtype and isinstance(made, RemoteModule) and any(p.dtype != dtype for p in made.parameters()):
            raise SubmissionError(f"{component}: not all of its parameters follow .to({dtype})")
        return made

    def stand_in(self, name: str, *args: object, **kwargs: object) -> RemoteModule | RemoteObject:
        """Makes a stand-in in the worker, to be passed as an argument."""
        return self._make("stand_in", f"stand_ins.{name}", {"name": name}, args, kwargs)

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Calls the submission's function "module.name"."""
        target = {"function": component, "isolated": isolated}
        return self._call(self.session(component), component, target, [], args, kwargs)

    def apply(
        self, name: str, subject: RemoteModule | RemoteObject | str, *args: object, isolated: bool = True
    ) -> object:
        """Calls a stand-in that is a function, with an object or a component "module.name" of the submission.

        The component of `subject` is blamed if the worker dies.
        """
        if isinstance(subject, str):
            named = {"stand_in": name, "function": subject, "isolated": isolated}
            return self._call(self.session(subject), subject, named, [], args, {})
        handle = subject._handle
        target = {"stand_in": name, "subject": handle.number}
        return self._call(handle.session, handle.component, target, [], (subject, *args), {})

    def parameters(self, module: RemoteModule) -> list[nn.Parameter]:
        """The parameters with their current values in the worker, which training there may have changed."""
        handle = module._handle
        content = {"object": handle.number}
        _, result, decoder = self._ask(handle.session, handle.component, "get_parameters", content, Encoder(), [module])
        with self._ended_by_breaches(handle.session, handle.component):
            module.adopt(read_object(result, decoder), decoder)
        return list(module.parameters())

    def _make(
        self, verb: str, component: str, content: Content, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> RemoteModule | RemoteObject:
        """Makes an object, as `verb` and `content` say; `component` is blamed if the worker dies."""
        session = self.session(component)
        parts: list[Handle] = []
        encoder = Encoder(lambda value: number_of(value, session, parts))
        content |= {"args": encoder.encode(args), "kwargs": encoder.encode(kwargs), "seed": draw_seed()}
        number, result, decoder = self._ask(session, component, verb, content, encoder, modules_of(parts))
        with self._ended_by_breaches(session, component):
            reply = read_object(result, decoder)
        handle = Handle(self._call, session, number, component, parts)
        return RemoteModule(handle, reply, decoder, self.contract.methods) if reply.module else RemoteObject(handle)

    def _call(
        self,
        session: Session,
        component: str,
        target: Content,
        parts: list[Handle],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        """Sends what has changed, calls, and connects the result with what it was computed from."""
        encoder = Encoder(lambda value: number_of(value, session, parts))
        content = {"target": target, "args": encoder.encode(args), "kwargs": encoder.encode(kwargs)}
        modules, arguments = modules_of(parts), [*encoder.tensors]
        inputs: list[Tensor] = []
        parameters: list[tuple[int, int]] = []
        if torch.is_grad_enabled():
            inputs = mark_gradients(encoder)
            for module in modules:
                for index, parameter in module.trainable_parameters():
                    inputs.append(parameter)
                    parameters.append((module.number, index))
        content |= {"grad": torch.is_grad_enabled(), "inference": torch.is_inference_mode_enabled()}
        content |= {"parameters": parameters, "seed": draw_seed()}
        number, result, decoder = self._ask(session, component, "call", content, encoder, modules)
        with self._ended_by_breaches(session, component):
            reply = read_call(result, len(arguments))
            if reply.graph:
                self._connect(session, component, number, decoder, inputs)
            changed = [arguments[index] for index in {*reply.changed}]
            if not all(map(can_be_changed, changed)):
                raise BreachError("a change to a tensor that cannot be changed")
            for tensor in changed:
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

    def _ask(
        self,
        session: Session,
        component: str,
        verb: str,
        content: Content,
        encoder: Encoder,
        modules: list[RemoteModule],
    ) -> tuple[int, object, Decoder]:
        """Asks, and sends along the parameters that were changed on this side."""
        changed = [(module, index, p) for module in modules for index, p in module.changed_parameters()]
        places = [[module.number, index, encoder.add(parameter)] for module, index, parameter in changed]
        try:
            return self.request(session, component, verb, {**content, "changed": places}, encoder)
        finally:  # the worker has them even if the submission raised an exception
            for module, index, _ in changed:
                module.note_sent(index)

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
