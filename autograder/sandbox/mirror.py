"""What a worker holds, as tests see it: ordinary `nn.Module`s with real parameters, results with gradients."""

from __future__ import annotations

import hashlib
import itertools
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from foundation.texts import clean

from .replies import Answer, ObjectReply, read_call, read_gradients
from .session import Session
from .worker.messages import Encoder, ProtocolError

_numbers = itertools.count(1)
Asked = Callable[[Sequence[Tensor | None]], list[Tensor | None]]
"""From the gradients of a call's outputs to those of its inputs."""


def call(
    session: Session,
    component: str,
    target: dict[str, Any],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    module: RemoteModule | None = None,
) -> object:
    """Sends what has changed, calls, and connects the result with what it was computed from.

    `component` answers for what happens; `target` is the function or the method of `module`, and the stand-in that is
    called with it, if any, as `worker.service` reads it.
    """
    encoder = Encoder()
    content = {"target": target, "args": encoder.encode(args), "kwargs": encoder.encode(kwargs), "seed": draw_seed()}
    content |= {"grad": torch.is_grad_enabled(), "inference": torch.is_inference_mode_enabled()}
    arguments = [*encoder.tensors]
    inputs: list[Tensor] = []
    own: list[tuple[int, nn.Parameter]] = []
    for tensor, record in zip(encoder.tensors, encoder.records, strict=True):
        record["object"] = number_of(tensor)
    if torch.is_grad_enabled():
        for tensor, record in zip(encoder.tensors, encoder.records, strict=True):
            if tensor.requires_grad:
                record["grad"] = "leaf" if tensor.is_leaf else "branch"
                inputs.append(tensor)
        own = [(i, p) for i, p in enumerate(module.mirrored) if p.requires_grad] if module else []
        inputs += [parameter for _, parameter in own]
    content["parameters"] = [index for index, _ in own]
    if module is not None:
        changed = [[index, encoder.add(parameter)] for index, parameter in module.changed_parameters()]
        content |= {"changed": changed, "training": module.training}

    def read(answer: Answer) -> object:
        reply = read_call(answer, arguments)
        if reply.graph:
            connect(session, component, answer, inputs)
        session.rewrite(reply.rewritten, answer)
        for index in {*reply.changed}:
            spoil(arguments[index], session.quote(*reply.place) if reply.place else "")
        session.keep_result(answer)
        return answer.decoder.decode(reply.value)

    return session.request(component, "call", content, encoder, read)


def number_of(tensor: Tensor) -> int:
    """The number by which the worker knows a tensor again, whatever its contents are then."""
    if not hasattr(tensor, "number_when_sent"):
        tensor.number_when_sent = next(_numbers)  # type: ignore[attr-defined]  # tensors take attributes
    return int(vars(tensor)["number_when_sent"])


def connect(session: Session, component: str, answer: Answer, inputs: list[Tensor]) -> None:
    """Replaces the outputs that depend on the inputs by nodes of this process's graph.

    The worker keeps its graph as long as something here may ask for its backward pass.
    """
    number, decoder = answer.number, answer.decoder
    indices = [i for i, record in enumerate(decoder.records) if record.get("grad") is True]
    outputs = tuple(decoder.tensors[index] for index in indices)
    if not inputs or not outputs or not all(output.is_floating_point() for output in outputs):
        raise ProtocolError("a graph without inputs or without outputs")
    kinds = [(tensor.shape, tensor.dtype) for tensor in inputs]

    def ask(seeds: Sequence[Tensor | None]) -> list[Tensor | None]:  # must not hold the outputs, which hold it
        encoder = Encoder()
        given = [[index, encoder.add(seed)] for index, seed in zip(indices, seeds, strict=True) if seed is not None]
        content = {"graph": number, "seeds": given}
        return session.request(component, "backward", content, encoder, partial(read_gradients, inputs=kinds))

    weakref.finalize(ask, session.release, number).atexit = False
    connected = RemoteCall.apply(ask, outputs, *inputs)  # type: ignore[no-untyped-call]  # PyTorch's
    for index, output in zip(indices, connected, strict=True):
        decoder.tensors[index] = output


class RemoteCall(torch.autograd.Function):
    """Forward: the outputs that the worker sent. Backward: the worker is asked; there are no second derivatives."""

    @staticmethod
    def forward(ctx: Any, ask: Asked, outputs: tuple[Tensor, ...], *inputs: Tensor) -> tuple[Tensor, ...]:
        """Connects `outputs`, which the worker has computed, with the `inputs` they depend on."""
        ctx.ask, ctx.count = ask, len(inputs)
        ctx.set_materialize_grads(False)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *seeds: Tensor | None) -> tuple[Tensor | None, ...]:
        """Gradients of the inputs for those of the outputs."""
        has_any = any(seed is not None for seed in seeds)
        return (None, None, *(ctx.ask(seeds) if has_any else [None] * ctx.count))


class RemoteModule(nn.Module):
    """A module in the worker. Its parameters are on both sides; changes on this side are sent before a call.

    Parameters are named by number, p0, p1, ... in the module's own order; `parameter_names` holds the names that
    the submission gave them, as data. The contract's methods can be called beside `forward`.
    """

    def __init__(self, session: Session, component: str, answer: Answer, reply: ObjectReply) -> None:
        super().__init__()
        self._session, self._component, self.number = session, component, answer.number
        for index, (value, record) in enumerate(zip(answer.decoder.tensors, answer.decoder.records, strict=True)):
            needs = record.get("grad") is True
            self.register_parameter(f"p{index}", nn.Parameter(value.contiguous(), requires_grad=needs))
        self.parameter_names = [clean(name, 200) for name in reply.names]
        self.training = reply.training
        self.mirrored = [*self.parameters()]
        self._sent = [_state(parameter) for parameter in self.mirrored]
        weakref.finalize(self, session.release, self.number).atexit = False

    def changed_parameters(self) -> list[tuple[int, nn.Parameter]]:
        """The parameters whose values here are not those last sent or received, by number; they are to be sent."""
        changed = []
        for index, parameter in enumerate(self.mirrored):
            version, copy = self._sent[index]
            if parameter._version != version or not torch.equal(parameter, copy):
                changed.append((index, parameter))
                self._sent[index] = _state(parameter)
        return changed

    def call(
        self, method: str, args: tuple[object, ...], kwargs: dict[str, object], stand_in: str | None = None
    ) -> object:
        """Calls a method of the object, or a stand-in with the object."""
        target = {"object": self.number, "method": method, "stand_in": stand_in}
        return call(self._session, self._component, target, args, kwargs, self)

    def forward(self, *args: object, **kwargs: object) -> object:
        """The forward pass, in the worker."""
        return self.call("forward", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if "_session" in vars(self) and name in self._session.contract.methods:
            return lambda *args, **kwargs: self.call(name, args, kwargs)
        return super().__getattr__(name)

    def _apply(self, *args: object, **kwargs: object) -> RemoteModule:
        raise TypeError("a module of a submission is converted when it is built: build(..., dtype=torch.float64)")


def _state(parameter: nn.Parameter) -> tuple[int, Tensor]:
    return parameter._version, parameter.detach().clone()


def spoil(tensor: Tensor, place: str) -> None:
    """Makes a change that the submission has made to an argument visible in the caller's tensor.

    Its own values are not written there: a test that computes what it expects from the same tensor after the call
    would then compute it from the submission's choice. Floats become NaN, other values some that differ somewhere and
    stay within the range that was there. It gets an attribute `changed_at`, the line that made the change.
    """
    with torch.no_grad():
        if tensor.is_floating_point():
            tensor.fill_(torch.nan)
        elif tensor.dtype == torch.bool:
            tensor.logical_not_()
        else:
            mirrored = tensor.min() + tensor.max() - tensor
            tensor.copy_(torch.where(tensor > 0, tensor - 1, tensor + 1) if torch.equal(mirrored, tensor) else mirrored)
    tensor.changed_at = place  # type: ignore[attr-defined]  # tensors take attributes


def draw_seed() -> int:
    """A seed for one call, from torch's global generator, hashed so that it does not tell the generator's state."""
    drawn = int(torch.randint(2**62, ()))
    return int.from_bytes(hashlib.blake2b(drawn.to_bytes(8, "little"), digest_size=6).digest(), "little")
