"""A submission in a sandboxed worker, with the same methods as the one in `autograder.testing.under_test`.

Its objects are, for tests, ordinary `nn.Module`s with real parameters and gradients.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from foundation.texts import clean

from .errors import SubmissionError
from .replies import BreachError, ObjectReply, read_call, read_gradients, read_object, shaped
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
        made = RemoteModule(self, session, number, component, reply, decoder)
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
        return self.call_method(subject, "forward", args, {}, name)

    def call_method(
        self,
        module: RemoteModule,
        method: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        stand_in: str | None = None,
    ) -> object:
        """Calls a method of an object, or a stand-in with the object."""
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
            for tensor, record in zip(encoder.tensors, encoder.records, strict=True):
                if tensor.requires_grad:
                    record["grad"] = "leaf" if tensor.is_leaf else "branch"
                    inputs.append(tensor)
            own = [(i, p) for i, p in enumerate(module.parameters()) if p.requires_grad] if module else []
            numbers = [index for index, _ in own]
            inputs += [parameter for _, parameter in own]
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
        """Replaces the outputs that depend on the inputs by nodes of this process's graph.

        The worker keeps its graph as long as something here may ask for its backward pass.
        """
        indices = [i for i, record in enumerate(decoder.records) if record.get("grad") is True]
        outputs = tuple(decoder.tensors[index] for index in indices)
        if not inputs or not outputs or not all(output.is_floating_point() for output in outputs):
            raise BreachError("a graph without inputs or without outputs")
        kinds = [(tensor.shape, tensor.dtype) for tensor in inputs]
        ask = partial(self._ask_for_gradients, session, component, number, indices, kinds)
        weakref.finalize(ask, session.release, number).atexit = False
        connected = RemoteCall.apply(ask, outputs, *inputs)  # type: ignore[no-untyped-call]  # PyTorch's
        for index, output in zip(indices, connected, strict=True):
            decoder.tensors[index] = output

    def _ask_for_gradients(
        self,
        session: Session,
        component: str,
        number: int,
        indices: Sequence[int],
        kinds: Sequence[tuple[torch.Size, torch.dtype]],
        seeds: Sequence[Tensor | None],
    ) -> list[Tensor | None]:
        """Gradients of what went into a call, which are of these kinds, for those of its outputs, by index."""
        encoder = Encoder()
        given = [[index, encoder.add(seed)] for index, seed in zip(indices, seeds, strict=True) if seed is not None]
        content = {"graph": number, "seeds": given}
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


class RemoteModule(nn.Module):
    """A module in the worker. Its parameters are on both sides; changes on this side are sent before a call.

    Parameters are named by number, p0, p1, ... in the module's own order; `parameter_names` holds the names that
    the submission gave them, as data.

    Args:
        sandbox: that has built it; the contract's methods can be called beside `forward`.
        session: the worker that has it.
        number: the worker's number for it.
        component: that answers for what happens in a call.
        reply: the worker's description of it.
        decoder: holds its parameters.
    """

    def __init__(
        self, sandbox: Sandbox, session: Session, number: int, component: str, reply: ObjectReply, decoder: Decoder
    ) -> None:
        super().__init__()
        self._sandbox, self.session, self.number, self.component = sandbox, session, number, component
        for index, (value, record) in enumerate(zip(decoder.tensors, decoder.records, strict=True)):
            needs = record.get("grad") is True
            self.register_parameter(f"p{index}", nn.Parameter(value.contiguous(), requires_grad=needs))
        self.parameter_names = [clean(name, 200) for name in reply.names]
        self.training = self._sent_mode = reply.training
        self._sent = [_state(parameter) for parameter in self.parameters()]
        weakref.finalize(self, session.release, number).atexit = False

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
        return self._sandbox.call_method(self, "forward", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if "_sandbox" in vars(self) and name in self._sandbox.contract.methods:
            return lambda *args, **kwargs: self._sandbox.call_method(self, name, args, kwargs)
        return super().__getattr__(name)

    def _apply(self, *args: object, **kwargs: object) -> RemoteModule:
        raise TypeError("a module of a submission is converted when it is built: build(..., dtype=torch.float64)")


def _state(parameter: nn.Parameter) -> tuple[int, Tensor]:
    return parameter._version, parameter.detach().clone()


class RemoteCall(torch.autograd.Function):
    """Forward: the outputs that the worker sent. Backward: the worker is asked; there are no second derivatives."""

    @staticmethod
    def forward(
        ctx: Any,
        ask: Callable[[Sequence[Tensor | None]], list[Tensor | None]],
        outputs: tuple[Tensor, ...],
        *inputs: Tensor,
    ) -> tuple[Tensor, ...]:
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


def draw_seed() -> int:
    """A seed for one call, from torch's global generator, hashed so that it does not tell the generator's state."""
    drawn = int(torch.randint(2**62, ()))
    return int.from_bytes(hashlib.blake2b(drawn.to_bytes(8, "little"), digest_size=6).digest(), "little")
