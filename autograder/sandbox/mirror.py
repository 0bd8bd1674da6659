"""The trusted side of objects in the worker: for tests, ordinary `nn.Module`s with real parameters and gradients."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from foundation.texts import clean

from .errors import SubmissionDiedError
from .replies import ObjectReply
from .session import Session
from .worker.messages import Decoder, Encoder

Call = Callable[..., object]
"""`Sandbox._call`."""


class Handle:
    """Names an object of a worker, the component it counts for, and the objects that it was made from."""

    def __init__(self, call: Call, session: Session, number: int, component: str, parts: list[Handle]) -> None:
        self._call = call
        self.session, self.number, self.component, self.parts = session, number, component, parts
        self.mirror: weakref.ref[RemoteModule] | None = None
        weakref.finalize(self, session.release, number).atexit = False

    def call(self, method: str, *args: object, **kwargs: object) -> object:
        """Calls a method of the object."""
        target = {"object": self.number, "method": method}
        return self._call(self.session, self.component, target, [self], args, kwargs)


class RemoteObject:
    """An object in the worker that is not a module; any public name is taken for a method."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Calls the object itself, in the worker."""
        return self._handle.call("forward", *args, **kwargs)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self._handle.call, name)


class RemoteModule(nn.Module):
    """A module in the worker. Its parameters are on both sides; changes on this side are sent before a call.

    Parameters are named by number, p0, p1, ... in the module's own order; `parameter_names` holds the names that
    the submission gave them, as data.

    Args:
        handle: names the object.
        reply: the worker's description of it.
        decoder: holds its parameters.
        methods: what may be called on it besides `forward`.
    """

    def __init__(self, handle: Handle, reply: ObjectReply, decoder: Decoder, methods: Sequence[str] = ()) -> None:
        super().__init__()
        self._handle, self._methods = handle, frozenset(methods)
        handle.mirror = weakref.ref(self)
        self.adopt(reply, decoder)

    def adopt(self, reply: ObjectReply, decoder: Decoder) -> None:
        """Takes over the worker's values; parameters that exist already stay the same objects."""
        values = decoder.tensors
        mine = self._mirrored()
        if [p.shape for p in mine] != [v.shape for v in values] or [p.dtype for p in mine] != [v.dtype for v in values]:
            self._parameters.clear()
            for index, (value, record) in enumerate(zip(values, decoder.records, strict=True)):
                needs = record.get("grad") is True
                self.register_parameter(f"p{index}", nn.Parameter(value.contiguous(), requires_grad=needs))
        else:
            with torch.no_grad():
                for parameter, value in zip(mine, values, strict=True):
                    parameter.copy_(value)
        self.training = reply.training
        self.parameter_names = [clean(name, 200) for name in reply.names]
        self._sent = [_state(parameter) for parameter in self._mirrored()]

    @property
    def number(self) -> int:
        """The worker's number for this module."""
        return self._handle.number

    def trainable_parameters(self) -> list[tuple[int, nn.Parameter]]:
        """The parameters that need a gradient, by number."""
        return [(i, p) for i, p in enumerate(self._mirrored()) if p.requires_grad]

    def changed_parameters(self) -> list[tuple[int, nn.Parameter]]:
        """The parameters whose values here are not those last sent or received, by number."""
        changed = []
        for index, parameter in enumerate(self._mirrored()):
            version, copy = self._sent[index]
            if parameter._version != version or not torch.equal(parameter, copy):
                changed.append((index, parameter))
        return changed

    def note_sent(self, index: int) -> None:
        """Notes that the worker has this parameter's present value."""
        self._sent[index] = _state(self._mirrored()[index])

    def train(self, mode: bool = True) -> RemoteModule:
        """Switches to training or evaluation, on both sides."""
        self._handle.session.set_mode(self.number, bool(mode))
        self.training = bool(mode)
        return self

    def forward(self, *args: object, **kwargs: object) -> object:
        """The forward pass, in the worker."""
        return self._handle.call("forward", *args, **kwargs)

    def _mirrored(self) -> list[nn.Parameter]:
        return [parameter for parameter in self._parameters.values() if parameter is not None]

    def __getattr__(self, name: str) -> Any:
        if name in vars(self).get("_methods", ()):
            return partial(self._handle.call, name)
        return super().__getattr__(name)

    def _apply(self, *args: object, **kwargs: object) -> RemoteModule:
        raise TypeError("a module of a submission is converted when it is built: build(..., dtype=torch.float64)")

    def __deepcopy__(self, memo: dict[int, object]) -> RemoteModule:
        raise TypeError("a module of a submission cannot be copied; build another one")


def _state(parameter: nn.Parameter) -> tuple[int, Tensor]:
    return parameter._version, parameter.detach().clone()


def number_of(value: object, session: Session, parts: list[Handle]) -> int | None:
    """The worker's number for a mirror, whose handle is added to `parts`; None for other values."""
    if not isinstance(value, (RemoteModule, RemoteObject)):
        return None
    handle = value._handle
    if handle.session is not session:
        raise SubmissionDiedError(f"the process of this object has ended: {handle.session.ended_because}")
    parts.append(handle)
    return handle.number


def modules_of(handles: list[Handle]) -> list[RemoteModule]:
    """The mirrored modules among the handles and among all that these were made from, each once."""
    found: dict[int, RemoteModule] = {}
    waiting = list(handles)
    while waiting:
        handle = waiting.pop(0)
        waiting += handle.parts
        mirror = handle.mirror() if handle.mirror is not None else None
        if mirror is not None:
            found[handle.number] = mirror
    return list(found.values())


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


def can_be_changed(tensor: Tensor) -> bool:
    """Whether something can be written into a tensor: it has elements, and no two of them share memory."""
    return tensor.numel() > 0 and all(s > 0 or n == 1 for s, n in zip(tensor.stride(), tensor.shape, strict=True))


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
