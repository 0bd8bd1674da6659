"""A submission in a sandboxed worker, with the same methods as the one in this process (`autograder.in_process`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..worker.values import DTYPE_NAMES, Decoder, Encoder, MalformedValue
from .arguments import draw_seed, mark_gradients, spoil
from .gradient import RemoteCall, RemoteGraph
from .limits import Limits
from .mirror import Handle, RemoteModule, RemoteObject, modules_of, number_of
from .replies import Breach, read_call, read_gradients, read_object
from .session import Session
from .supervisor import Supervisor
from .zygote import Zygote


class Sandbox:
    """What tests may ask of a submission that lives in another process.

    A worker is started when it is first needed, and again after one has died; objects of a dead worker raise
    SubmissionDied. A component that has cost `limits.failures_a_component` workers is not called again.

    Args:
        sources: module name -> path, source text; the submission's merged with the release's.
        limits: of this submission.
        level: of containment, where no zygote is given; see `containment.LEVELS`.
        zygote: to fork from; without it one is started, and ended with this object.

    Raises:
        SandboxUnavailable: where the machine lacks what the level requires (also later, when a worker starts).
    """

    def __init__(
        self,
        sources: dict[str, tuple[str, str]],
        limits: Limits | None = None,
        level: str = "auto",
        zygote: Zygote | None = None,
    ) -> None:
        self._own_zygote = Zygote(level) if zygote is None else None
        self._supervisor = Supervisor(sources, limits or Limits(), zygote or self._own_zygote)

    def build(
        self,
        component: str,
        *args: object,
        dtype: torch.dtype | None = None,
        isolated: bool = True,
        **kwargs: object,
    ) -> RemoteModule | RemoteObject:
        """Make an object of the submission's class "module.Name".

        Args:
            component: a class of the contract.
            dtype: of its parameters and buffers; None = as made.
            isolated: every other component is replaced by its stand-in, now and in later calls.
            args, kwargs: for its constructor.

        Raises:
            SubmissionError: what the constructor raised, or why there was no answer.
        """
        content = {"component": component, "isolated": isolated, "dtype": dtype and DTYPE_NAMES[dtype]}
        return self._make("build", component, content, args, kwargs)

    def stand_in(self, name: str, *args: object, **kwargs: object) -> RemoteModule | RemoteObject:
        """Make one of the trusted stand-ins in the worker, to be passed as an argument."""
        return self._make("stand_in", f"stand_ins.{name}", {"name": name}, args, kwargs)

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Call the submission's function "module.name"."""
        target = {"function": component, "isolated": isolated}
        return self._call(self._supervisor.session(component), component, target, [], args, kwargs)

    def parameters(self, module: RemoteModule) -> list[nn.Parameter]:
        """The parameters with their present values in the worker, which training there may have changed."""
        handle = module._handle
        self._push(handle.session, handle.component, [module])
        content = {"object": handle.number}
        result, decoder = self._supervisor.request(
            handle.session, handle.component, "get_parameters", content, Encoder()
        )
        try:
            module.adopt(read_object(result, decoder), decoder)
        except Breach as error:
            raise self._breach(handle.session, handle.component, error) from None
        return list(module.parameters())

    @property
    def level(self) -> str:
        """The containment reached, for the record."""
        return self._supervisor.level

    @property
    def output(self) -> str:
        """What the submission has printed so far, cleaned and cut."""
        return self._supervisor.output.text()

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the submission's workers so far."""
        return self._supervisor.cpu_seconds

    @property
    def seconds(self) -> float:
        """Wall time spent waiting for the submission so far."""
        return self._supervisor.seconds

    def restart(self) -> None:
        """End the worker; the next call gets a fresh one. All objects are gone."""
        self._supervisor.end("it was restarted")

    def close(self) -> None:
        """End the worker, and the zygote if it is our own."""
        self._supervisor.end("it was closed")
        if self._own_zygote is not None:
            self._own_zygote.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def call_method(self, handle: Handle, method: str, args: tuple, kwargs: dict) -> object:
        """Call a method of an object in the worker (mirrors come here)."""
        target = {"object": handle.number, "method": method}
        return self._call(handle.session, handle.component, target, [handle], args, kwargs)

    def set_mode(self, handle: Handle, is_training: bool) -> None:
        """Switch a module between training and evaluation (mirrors come here)."""
        content = {"object": handle.number, "training": is_training}
        self._supervisor.request(handle.session, handle.component, "mode", content, Encoder())

    def _make(self, verb: str, component: str, content: dict, args: tuple, kwargs: dict) -> RemoteModule | RemoteObject:
        session = self._supervisor.session(component)
        parts: list[Handle] = []
        encoder = Encoder(lambda value: number_of(value, session, parts))
        content |= {"args": encoder.encode(args), "kwargs": encoder.encode(kwargs), "seed": draw_seed()}
        self._push(session, component, modules_of(parts))
        result, decoder = self._supervisor.request(session, component, verb, content, encoder)
        try:
            reply = read_object(result, decoder)
            handle = Handle(self, session, reply.number, component, parts)
            return RemoteModule(handle, reply, decoder) if reply.is_module else RemoteObject(handle)
        except Breach as error:
            raise self._breach(session, component, error) from None

    def _call(
        self, session: Session, component: str, target: dict, parts: list[Handle], args: tuple, kwargs: dict
    ) -> object:
        """Send what has changed, call, and connect the result with what it was computed from."""
        encoder = Encoder(lambda value: number_of(value, session, parts))
        content = {"target": target, "args": encoder.encode(args), "kwargs": encoder.encode(kwargs)}
        modules = modules_of(parts)
        self._push(session, component, modules)
        inputs: list[Tensor] = []
        numbers: list[list[int]] = []
        if torch.is_grad_enabled():
            inputs = mark_gradients(encoder)
            for module in modules:
                for index, parameter in enumerate(module.parameters()):
                    if parameter.requires_grad:
                        inputs.append(parameter)
                        numbers.append([module._handle.number, index])
        content |= {"grad": torch.is_grad_enabled(), "parameters": numbers, "seed": draw_seed()}
        result, decoder = self._supervisor.request(session, component, "call", content, encoder)
        try:
            reply = read_call(result, decoder, len(encoder.tensors))
            if reply.graph is not None:
                self._connect(session, component, reply.graph, decoder, inputs)
            spoil([encoder.tensors[index] for index in reply.changed])
            return decoder.decode(reply.value)
        except (Breach, MalformedValue) as error:
            raise self._breach(session, component, error) from None

    def _connect(self, session: Session, component: str, number: int, decoder: Decoder, inputs: list[Tensor]) -> None:
        """Replace those outputs that depend on the inputs by nodes of this process's graph."""
        indices = [i for i, record in enumerate(decoder.records) if record.get("grad") is True]
        outputs = tuple(decoder.tensors[index] for index in indices)
        if not inputs or not outputs or not all(output.is_floating_point() for output in outputs):
            raise Breach("a graph without inputs or without outputs")
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
            except Breach as error:
                raise self._breach(session, component, error) from None

        graph = RemoteGraph(indices, backward, lambda: session.release("graphs", number))
        for index, output in zip(indices, RemoteCall.apply(graph, outputs, *inputs), strict=True):
            decoder.tensors[index] = output

    def _push(self, session: Session, component: str, modules: list[RemoteModule]) -> None:
        """Send the parameters that were changed on this side."""
        encoder, numbers, sent = Encoder(), [], []
        for module in modules:
            for index, parameter in module.changed_parameters():
                encoder.add(parameter)
                numbers.append([module._handle.number, index])
                sent.append((module, index))
        if numbers:
            self._supervisor.request(session, component, "set_parameters", {"parameters": numbers}, encoder)
            for module, index in sent:
                module.note_sent(index)

    def _breach(self, session: Session, component: str, error: Exception) -> Exception:
        raised = session.breach(str(error))
        self._supervisor.note_failure(component, session)
        return raised
