"""Calls into the worker: sends what has changed, and connects results with what they were computed from."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..replies import BreachError, read_call, read_gradients, read_object, read_value
from ..session import Session
from ..supervisor import Supervisor
from ..worker.values import Decoder, Encoder
from .mirror import Handle, RemoteModule, RemoteObject, modules_of, number_of

Content = dict[str, Any]
"""JSON of a request."""


class Caller:
    """Makes objects in the worker and calls them; `component` is blamed if the worker dies."""

    def __init__(self, supervisor: Supervisor, methods: Sequence[str]) -> None:
        self._supervisor, self._methods = supervisor, methods

    def make(
        self, verb: str, component: str, content: Content, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> RemoteModule | RemoteObject:
        """Makes an object, as `verb` and `content` say."""
        session = self._supervisor.session(component)
        parts: list[Handle] = []
        encoder = Encoder(lambda value: number_of(value, session, parts))
        content |= {"args": encoder.encode(args), "kwargs": encoder.encode(kwargs), "seed": draw_seed()}
        result, decoder = self._ask(session, component, verb, content, encoder, modules_of(parts))
        try:
            reply = read_object(result, decoder)
            handle = Handle(self.call, session, reply.number, component, parts)
            return RemoteModule(handle, reply, decoder, self._methods) if reply.is_module else RemoteObject(handle)
        except BreachError as error:
            raise self._breach(session, component, error) from None

    def call(
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
        modules = modules_of(parts)
        arguments = len(encoder.tensors)
        inputs: list[Tensor] = []
        parameters: list[tuple[int, int]] = []
        if torch.is_grad_enabled():
            inputs = mark_gradients(encoder)
            for module in modules:
                for index, parameter in module.trainable_parameters():
                    inputs.append(parameter)
                    parameters.append((module.number, index))
        content |= {"inference": torch.is_inference_mode_enabled()}
        content |= {"grad": torch.is_grad_enabled(), "parameters": parameters, "seed": draw_seed()}
        result, decoder = self._ask(session, component, "call", content, encoder, modules)
        try:
            reply = read_call(result, decoder, arguments)
            if reply.graph is not None:
                self._connect(session, component, reply.graph, decoder, inputs)
            changed = [encoder.tensors[index] for index in reply.changed]
            if not all(map(can_be_changed, changed)):
                raise BreachError("a change to a tensor that cannot be changed")
            if changed:
                spoil(changed, session.quote(*reply.place) if reply.place else "")
            return read_value(reply.value, decoder)
        except BreachError as error:
            raise self._breach(session, component, error) from None

    def refresh(self, module: RemoteModule) -> None:
        """Fetches a module's parameters again."""
        handle = module._handle
        content = {"object": handle.number}
        result, decoder = self._ask(handle.session, handle.component, "get_parameters", content, Encoder(), [module])
        try:
            module.adopt(read_object(result, decoder), decoder)
        except BreachError as error:
            raise self._breach(handle.session, handle.component, error) from None

    def _connect(self, session: Session, component: str, number: int, decoder: Decoder, inputs: list[Tensor]) -> None:
        """Replaces the outputs that depend on the inputs by nodes of this process's graph."""
        indices = [i for i, record in enumerate(decoder.records) if record.get("grad") is True]
        outputs = tuple(decoder.tensors[index] for index in indices)
        if not inputs or not outputs or not all(output.is_floating_point() for output in outputs):
            raise BreachError("a graph without inputs or without outputs")
        shapes = [(tensor.shape, tensor.dtype) for tensor in inputs]

        def backward(seeds: dict[int, Tensor]) -> list[Tensor | None]:
            encoder = Encoder()
            content = {
                "graph": number,
                "seeds": [[index, encoder.add(seed)] for index, seed in seeds.items()],
            }
            result, gradients = self._supervisor.request(session, component, "backward", content, encoder)
            try:
                return read_gradients(result, gradients, shapes)
            except BreachError as error:
                raise self._breach(session, component, error) from None

        graph = RemoteGraph(indices, backward, lambda: session.release("graphs", number))
        connected = RemoteCall.apply(graph, outputs, *inputs)  # type: ignore[no-untyped-call]  # PyTorch's
        for index, output in zip(indices, connected, strict=True):
            decoder.tensors[index] = output

    def _ask(
        self,
        session: Session,
        component: str,
        verb: str,
        content: Content,
        encoder: Encoder,
        modules: list[RemoteModule],
    ) -> tuple[object, Decoder]:
        """Asks, and sends along the parameters that were changed on this side."""
        changed = [(module, index, p) for module in modules for index, p in module.changed_parameters()]
        places = [[module.number, index, encoder.add(parameter)] for module, index, parameter in changed]
        try:
            return self._supervisor.request(session, component, verb, {**content, "changed": places}, encoder)
        finally:  # the worker has them even if the submission raised an exception
            for module, index, _ in changed:
                module.note_sent(index)

    def _breach(self, session: Session, component: str, error: Exception) -> Exception:
        raised = session.breach(str(error))
        self._supervisor.note_failure(component, session)
        return raised


def mark_gradients(encoder: Encoder) -> list[Tensor]:
    """Notes in the records which tensors need a gradient; returns these tensors, in order."""
    inputs = []
    for tensor, record in zip(encoder.tensors, encoder.records, strict=True):
        if tensor.requires_grad:
            record["grad"] = "leaf" if tensor.is_leaf else "branch"
            inputs.append(tensor)
    return inputs


class RemoteGraph:
    """A recorded forward pass in the worker, kept as long as something here may ask for its backward pass.

    Args:
        outputs: the index in the reply of each output.
        ask: asks the worker: gradients of outputs, by index -> gradients of the inputs, in order.
        release: tells the worker that the graph is not needed any more.
    """

    def __init__(
        self,
        outputs: list[int],
        ask: Callable[[dict[int, Tensor]], list[Tensor | None]],
        release: Callable[[], None],
    ) -> None:
        self.outputs = outputs
        self._ask = ask
        weakref.finalize(self, release).atexit = False

    def gradients(self, seeds: tuple[Tensor | None, ...]) -> list[Tensor | None]:
        """Gradients of the inputs for the given gradients of the outputs."""
        given = {index: seed for index, seed in zip(self.outputs, seeds, strict=True) if seed is not None}
        return self._ask(given)


class RemoteCall(torch.autograd.Function):
    """Forward: the outputs that the worker sent. Backward: the worker is asked."""

    @staticmethod
    def forward(ctx: Any, graph: RemoteGraph, outputs: tuple[Tensor, ...], *inputs: Tensor) -> tuple[Tensor, ...]:
        """Connects `outputs`, which the worker has computed, with the `inputs` they depend on."""
        ctx.graph = graph
        ctx.count = len(inputs)
        ctx.set_materialize_grads(False)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *seeds: Tensor | None) -> tuple[Tensor | None, ...]:
        """Asks the worker; there are no second derivatives."""
        if all(seed is None for seed in seeds):
            return (None, None, *[None] * ctx.count)
        return (None, None, *ctx.graph.gradients(seeds))


def draw_seed() -> int:
    """A seed for one call, from torch's global generator, hashed so that it does not tell the generator's state."""
    drawn = int(torch.randint(2**62, ()))
    return int.from_bytes(hashlib.blake2b(drawn.to_bytes(8, "little"), digest_size=6).digest(), "little")


def can_be_changed(tensor: Tensor) -> bool:
    """Whether something can be written into a tensor: it has elements, and no two of them share memory."""
    return tensor.numel() > 0 and all(s > 0 or n == 1 for s, n in zip(tensor.stride(), tensor.shape, strict=True))


def spoil(tensors: Iterable[Tensor], place: str) -> None:
    """Makes a change that the submission has made to its arguments visible in the caller's tensors.

    Its own values are not written there: a test that computes what it expects from the same tensor after the call
    would then compute it from the submission's choice. Floats become NaN, other values random ones that differ
    somewhere and stay within the range that was there. They get an attribute `changed_at`, the line that made
    the change.
    """
    generator = torch.Generator().manual_seed(draw_seed())
    for tensor in tensors:
        with torch.no_grad():
            tensor.copy_(_other_values(tensor, generator))
        tensor.changed_at = place  # type: ignore[attr-defined]  # tensors take attributes


def _other_values(tensor: Tensor, generator: torch.Generator) -> Tensor:
    if tensor.is_floating_point():
        return torch.full_like(tensor, float("nan"))
    whole = tensor.to(torch.int64)
    low, high = (0, 1) if tensor.dtype == torch.bool else (int(whole.min()), int(whole.max()))
    other = torch.randint(low, high + 1, tensor.shape, generator=generator)
    if torch.equal(other, whole):
        other = low + high - whole
    if torch.equal(other, whole):
        other = torch.where(whole > 0, whole - 1, whole + 1)
    return other.to(tensor.dtype)
