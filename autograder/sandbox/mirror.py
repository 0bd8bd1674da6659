"""The trusted side of objects in the worker: for tests, ordinary `nn.Module`s with real parameters and gradients."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from foundation.texts import clean

from .replies import ObjectReply
from .session import Session
from .worker.messages import Decoder, Encoder

Call = Callable[..., object]
"""`Sandbox._call`."""


class RemoteModule(nn.Module):
    """A module in the worker. Its parameters are on both sides; changes on this side are sent before a call.

    Parameters are named by number, p0, p1, ... in the module's own order; `parameter_names` holds the names that
    the submission gave them, as data.

    Args:
        call: makes a call of one of its methods.
        session: the worker that has it.
        number: the worker's number for it.
        component: that answers for what happens in a call.
        reply: the worker's description of it.
        decoder: holds its parameters.
        methods: what may be called on it besides `forward`.
    """

    def __init__(
        self,
        call: Call,
        session: Session,
        number: int,
        component: str,
        reply: ObjectReply,
        decoder: Decoder,
        methods: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._call, self._methods = call, frozenset(methods)
        self.session, self.number, self.component = session, number, component
        for index, (value, record) in enumerate(zip(decoder.tensors, decoder.records, strict=True)):
            needs = record.get("grad") is True
            self.register_parameter(f"p{index}", nn.Parameter(value.contiguous(), requires_grad=needs))
        self.parameter_names = [clean(name, 200) for name in reply.names]
        self.training = self._sent_mode = reply.training
        self._sent = [_state(parameter) for parameter in self.parameters()]
        weakref.finalize(self, session.release, number).atexit = False

    def trainable_parameters(self) -> list[tuple[int, nn.Parameter]]:
        """The parameters that need a gradient, by number."""
        return [(i, p) for i, p in enumerate(self.parameters()) if p.requires_grad]

    def changed_parameters(self) -> list[tuple[int, nn.Parameter]]:
        """The parameters whose values here are not those last sent or received, by number; they are to be sent."""
        changed = []
        for index, parameter in enumerate(self.parameters()):
            version, copy = self._sent[index]
            if parameter._version != version or not torch.equal(parameter, copy):
                changed.append((index, parameter))
                self._sent[index] = _state(parameter)
        return changed

    def changed_mode(self) -> bool | None:
        """The mode, where it was switched since it was last sent; it is to be sent."""
        if self.training == self._sent_mode:
            return None
        self._sent_mode = self.training
        return self.training

    def forward(self, *args: object, **kwargs: object) -> object:
        """The forward pass, in the worker."""
        return self._call(self, "forward", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in vars(self).get("_methods", ()):
            return lambda *args, **kwargs: self._call(self, name, args, kwargs)
        return super().__getattr__(name)

    def _apply(self, *args: object, **kwargs: object) -> RemoteModule:
        raise TypeError("a module of a submission is converted when it is built: build(..., dtype=torch.float64)")

    def __deepcopy__(self, memo: dict[int, object]) -> RemoteModule:
        raise TypeError("a module of a submission cannot be copied; build another one")


def _state(parameter: nn.Parameter) -> tuple[int, Tensor]:
    return parameter._version, parameter.detach().clone()


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
