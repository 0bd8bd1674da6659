"""Objects of another process, as tests see them: `nn.Module`s with real parameters, results with gradients.

Used on the trusted side, whose tests call a worker, and in a worker, where students' own tests call another one.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .messages import DTYPE_NAMES, Answer, Encoder, ProtocolError
from .running import has_changed, keep

_numbers = itertools.count(1)
Kind = tuple[torch.Size, torch.dtype]
"""Of a tensor."""
Args = tuple[object, ...]
Kwargs = dict[str, Any]
KEPT_RESULTS = 4
"""Results of so many calls without gradients are watched: a later call may write into them."""


class Link:
    """The way to the process that holds the objects: the trusted side's `Session`, or a worker's `Peer`.

    Of a call, `component` answers for what happens; `target` is the function, or the method of a module, and the
    stand-in that is called with it, if any, as `worker.service` reads it.
    """

    shows_names = False  # whether parameters have the names that they have there
    methods: Sequence[str] = ()  # that objects have beside `forward`
    request: Callable[..., Any]  # returns what `read` makes of the answer
    draw_seed: Callable[[], int]  # for each call
    read_object: Callable[..., Any]
    read_call: Callable[..., Any]
    read_gradients: Callable[..., Any]
    show_changes: Callable[..., None]  # of arguments and earlier results, by a call

    def __init__(self) -> None:
        self.last, self.released = 0, list[int]()

    def release(self, number: int) -> None:
        """Lets the other process forget an object or a graph, with the next request."""
        self.released.append(number)

    def header(self, verb: str, encoder: Encoder, content: dict[str, Any]) -> dict[str, Any]:
        """The header of the next request. The default dtype goes along: it is the same on both sides."""
        self.last += 1
        released, self.released = self.released, []
        request = {"id": self.last, "verb": verb, "tensors": encoder.records, "drop": released}
        return {**request, "default": DTYPE_NAMES[torch.get_default_dtype()], **content}

    def call(
        self, component: str, target: Kwargs, args: Args, kwargs: Kwargs, module: RemoteModule | None = None
    ) -> Any:
        """Sends what has changed, calls, and connects the result with what it was computed from."""
        encoder = Encoder()
        content = {"target": target, "args": encoder.encode(args), "kwargs": encoder.encode(kwargs)}
        content |= {"seed": self.draw_seed(), "grad": torch.is_grad_enabled()}
        content["inference"] = torch.is_inference_mode_enabled()
        arguments = [*encoder.tensors]
        inputs: list[Tensor] = []
        own: list[int] = []
        for tensor, record in zip(encoder.tensors, encoder.records, strict=True):
            if not hasattr(
                tensor, "number_when_sent"
            ):  # by which the worker knows a tensor again, whatever is in it then
                tensor.number_when_sent = next(_numbers)  # type: ignore[attr-defined]  # tensors take attributes
            record["object"] = int(vars(tensor)["number_when_sent"])
            if torch.is_grad_enabled() and tensor.requires_grad:
                record["grad"] = "leaf" if tensor.is_leaf else "branch"
                inputs.append(tensor)
        if module is not None:
            changed = [[index, encoder.add(parameter)] for index, parameter in module.changed_parameters()]
            content |= {"changed": changed, "training": module.training}
            if torch.is_grad_enabled():
                own = [index for index, parameter in enumerate(module.mirrored) if parameter.requires_grad]
                inputs += [module.mirrored[index] for index in own]
        content["parameters"] = own

        def read(answer: Answer) -> object:
            reply = self.read_call(answer)
            if reply.graph:
                self._connect(component, answer, inputs)
            self.show_changes(reply, answer, arguments)
            return answer.decoder.decode(reply.value)

        return self.request(component, "call", content, encoder, read)

    def build(
        self, component: str, target: Kwargs, args: Args, kwargs: Kwargs, dtype: str | None = None
    ) -> RemoteModule:
        """Makes an object of a class, and converts it to a dtype."""
        encoder = Encoder()
        content = {"target": target, "args": encoder.encode(args), "kwargs": encoder.encode(kwargs)}
        return self.make(component, "build", {**content, "dtype": dtype, "seed": self.draw_seed()}, encoder)

    def make(self, component: str, verb: str, content: dict[str, Any], encoder: Encoder) -> RemoteModule:
        """Sends a request that makes an object."""

        def read(answer: Answer) -> RemoteModule:
            reply = self.read_object(answer)
            return RemoteModule(self, component, answer, reply.names, reply.training)

        made: RemoteModule = self.request(component, verb, content, encoder, read)
        return made

    def _connect(self, component: str, answer: Answer, inputs: list[Tensor]) -> None:
        """Replaces the outputs that depend on the inputs by nodes of this process's graph.

        The worker keeps its graph as long as something here may ask for its backward pass.
        """
        number, decoder = answer.number, answer.decoder
        indices = [i for i, record in enumerate(decoder.records) if record.get("grad") is True]
        outputs = tuple(decoder.tensors[index] for index in indices)
        if not inputs or not outputs or not all(output.is_floating_point() for output in outputs):
            raise ProtocolError("a graph without inputs or without outputs")
        kinds = [(tensor.shape, tensor.dtype) for tensor in inputs]

        def ask(seeds: Sequence[Tensor | None]) -> Any:  # must not hold the outputs, which hold it
            encoder = Encoder()
            given = [[index, encoder.add(seed)] for index, seed in zip(indices, seeds, strict=True) if seed is not None]
            read = partial(self.read_gradients, inputs=kinds)
            return self.request(component, "backward", {"graph": number, "seeds": given}, encoder, read)

        weakref.finalize(ask, self.release, number).atexit = False
        connected = RemoteCall.apply(ask, outputs, *inputs)  # type: ignore[no-untyped-call]  # PyTorch's
        for index, output in zip(indices, connected, strict=True):
            decoder.tensors[index] = output


class RemoteCall(torch.autograd.Function):
    """Forward: the outputs that the worker sent. Backward: the worker is asked; there are no second derivatives."""

    @staticmethod
    def forward(ctx: Any, ask: Callable[..., Any], outputs: tuple[Tensor, ...], *inputs: Tensor) -> tuple[Tensor, ...]:
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
    """A module in the other process. Its parameters are on both sides; changes on this side are sent before a call.

    A submission's parameters are named by number, p0, p1, ... in the module's own order; `parameter_names` holds the
    names that they have there, as data. The contract's methods can be called beside `forward`.
    """

    def __init__(self, session: Link, component: str, answer: Answer, names: list[str], training: bool) -> None:
        super().__init__()
        self._session, self._component, self.number = session, component, answer.number
        for index, (value, record) in enumerate(zip(answer.decoder.tensors, answer.decoder.records, strict=True)):
            needs = record.get("grad") is True
            name = names[index] if session.shows_names and "." not in names[index] else f"p{index}"
            self.register_parameter(name, nn.Parameter(value.contiguous(), requires_grad=needs))
        self.parameter_names, self.training = names, training
        self._sent = keep(self.mirrored)
        weakref.finalize(self, session.release, self.number).atexit = False

    @property
    def mirrored(self) -> list[nn.Parameter]:
        """The parameters, in the module's own order."""
        return [parameter for parameter in self._parameters.values() if parameter is not None]

    def changed_parameters(self) -> list[tuple[int, nn.Parameter]]:
        """The parameters whose values here are not those last sent or received, by number; they are to be sent."""
        states = enumerate(zip(self.mirrored, self._sent, strict=True))
        changed = [(index, now) for index, (now, (_, version, copy)) in states if has_changed(now, version, copy)]
        for index, parameter in changed:
            [self._sent[index]] = keep([parameter])
        return changed

    def call(self, method: str, args: Args, kwargs: Kwargs, stand_in: str | None = None) -> object:
        """Calls a method of the object, or a stand-in with the object."""
        target = {"object": self.number, "method": method, "stand_in": stand_in}
        return self._session.call(self._component, target, args, kwargs, self)

    def forward(self, *args: object, **kwargs: object) -> object:
        """The forward pass, in the worker."""
        return self.call("forward", args, kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> RemoteModule:
        copied = self._session.make(self._component, "copy", {"target": {"object": self.number}}, Encoder())
        copied.training = self.training
        with torch.no_grad():
            for parameter, own in zip(copied.mirrored, self.mirrored, strict=False):  # a worker may send others
                parameter.data = own.detach().clone()
        return copied

    def __getattr__(self, name: str) -> Any:
        if "_session" in vars(self) and name in self._session.methods:
            return lambda *args, **kwargs: self.call(name, args, kwargs)
        return super().__getattr__(name)
