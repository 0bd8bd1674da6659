"""The worker's loop: one request in, one reply out, until the pipe closes.

Verbs: load, import, build, stand_in, call, backward, get_parameters. Every request carries an id, which the reply
repeats; `drop`, the numbers of objects and graphs that the trusted side no longer holds; and, to be done first,
`changed`, the parameters that were written there, and `modes`, the modules that were set to training or evaluation.
Everything a submission raises becomes an error reply; what it does to this process beyond that costs the process.
"""

from __future__ import annotations

import contextlib
import importlib
import random
import sys
from collections.abc import Callable

import torch
from torch import nn

from . import shortcuts
from .failures import describe
from .frames import REQUEST_LIMITS, pack, read_frame, write_all
from .objects import Graph, Held, Table
from .values import DTYPES, Decoder, Encoder


def has_changed(tensor: torch.Tensor, version: int, copy: torch.Tensor) -> bool:
    """Whether something was written into a tensor; what is written through `.data` leaves its version as it was."""
    if tensor._version != version or tensor.shape != copy.shape or tensor.dtype != copy.dtype:
        return True
    now = tensor.detach()
    return not bool(((now == copy) | (now != now) & (copy != copy)).all())


class Service:
    """Answers requests about one submission. `package_class` and `stand_ins` come from `loading` and `stand_ins`."""

    def __init__(self, package_class: type, stand_ins: object) -> None:
        self._package_class = package_class
        self._stand_ins = stand_ins
        self._package: object = None
        self._paths: frozenset[str] = frozenset()
        self._has_begun = False
        self._forbid_shortcuts = shortcuts.prepare()
        self._objects = Table()
        self._graphs = Table()

    def serve(self, request_pipe: int, reply_pipe: int) -> None:
        """Answer until the request pipe is closed."""
        while True:
            frame = read_frame(request_pipe, REQUEST_LIMITS)
            if frame is None:
                return
            write_all(reply_pipe, self.answer(*frame))

    def answer(self, request: dict, body: bytes) -> bytes:
        """Return the reply frame of one request."""
        self._objects.drop(request["drop"]["objects"])
        self._graphs.drop(request["drop"]["graphs"])
        encoder = Encoder()
        try:
            decoder = Decoder(request["tensors"], body, lambda number: self._objects[number].value)
            self._catch_up(request, decoder)
            result = getattr(self, "do_" + request["verb"])(request, decoder, encoder)
            reply = {"id": request["id"], "result": result, "tensors": encoder.records}
            frame = pack(reply, encoder.body())
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: a submission may raise them
            frame = pack({"id": request["id"], "error": describe(error, self._paths)})
            error.__traceback__ = None
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        return frame

    def _catch_up(self, request: dict, decoder: Decoder) -> None:
        """Bring parameters and modes up to what they are on the other side."""
        for number, index, place in request["changed"]:
            self._objects[number].parameters[index].data.copy_(decoder.tensors[place])
        for number, is_training in request["modes"]:
            self._objects[number].value.train(is_training)

    def do_load(self, request: dict, decoder: Decoder, encoder: Encoder) -> None:
        sources = {name: (path, source) for name, (path, source) in request["sources"].items()}
        self._paths = frozenset(path for path, _ in sources.values())
        self._package = self._package_class(sources)

    def do_import(self, request: dict, decoder: Decoder, encoder: Encoder) -> None:
        importlib.import_module(f"{self._package.name}.{request['module']}")

    def _begin(self) -> None:
        """PyTorch's own layers are out of bounds from the first component on, and not while modules are imported."""
        if self._has_begun:
            return
        self._has_begun = True
        for name in self._package.sources:
            if name != "__init__":
                importlib.import_module(f"{self._package.name}.{name}")
        self._forbid_shortcuts()

    def do_build(self, request: dict, decoder: Decoder, encoder: Encoder) -> dict:
        self._begin()
        component = request["component"]
        isolated = component if request["isolated"] else None
        self._package.isolate(isolated)
        factory = self._package.get(component)
        self._seed(request)
        value = factory(*decoder.decode(request["args"]), **decoder.decode(request["kwargs"]))
        if request["dtype"]:
            value = value.to(DTYPES[request["dtype"]])
        return self._introduce(Held(value, is_submitted=True, isolated=isolated), encoder)

    def do_stand_in(self, request: dict, decoder: Decoder, encoder: Encoder) -> dict:
        self._seed(request)
        factory = getattr(self._stand_ins, request["name"])
        value = factory(*decoder.decode(request["args"]), **decoder.decode(request["kwargs"]))
        return self._introduce(Held(value), encoder)

    def do_call(self, request: dict, decoder: Decoder, encoder: Encoder) -> dict:
        inputs = self._connect(decoder)
        args, kwargs = decoder.decode(request["args"]), decoder.decode(request["kwargs"])
        before = [(tensor, tensor._version, tensor.detach().clone()) for tensor in decoder.tensors]
        function = self._find(request["target"])
        with torch.set_grad_enabled(request["grad"]):
            self._seed(request)
            value = function(*args, **kwargs)
        result = {"value": encoder.encode(value)}
        inputs += [self._objects[number].parameters[index] for number, index in request["parameters"]]
        result["graph"] = self._keep_graph(inputs, encoder) if request["grad"] else None
        changed = [index for index, one in enumerate(before) if has_changed(*one)]
        return {**result, "changed": changed}

    def do_backward(self, request: dict, decoder: Decoder, encoder: Encoder) -> list:
        graph = self._graphs[request["graph"]]
        gradients = graph.gradients({index: decoder.tensors[place] for index, place in request["seeds"]})
        return [None if gradient is None else encoder.add(gradient) for gradient in gradients]

    def do_get_parameters(self, request: dict, decoder: Decoder, encoder: Encoder) -> dict:
        held = self._objects[request["object"]]
        held.list_parameters()
        return self._describe(request["object"], encoder)

    def _introduce(self, held: Held, encoder: Encoder) -> dict:
        held.list_parameters()
        return self._describe(self._objects.add(held), encoder)

    def _describe(self, number: int, encoder: Encoder) -> dict:
        held = self._objects[number]
        is_module = isinstance(held.value, nn.Module)
        for parameter in held.parameters:
            encoder.add(parameter, grad=parameter.requires_grad)
        training = is_module and bool(held.value.training)
        return {"object": number, "module": is_module, "training": training, "names": held.names}

    def _connect(self, decoder: Decoder) -> list[torch.Tensor]:
        """Make arguments that need a gradient leaves, or results of a leaf, as they were on the other side."""
        leaves = []
        for index, record in enumerate(decoder.records):
            if "grad" in record:
                leaf = decoder.tensors[index].requires_grad_()
                leaves.append(leaf)
                with torch.enable_grad():
                    decoder.tensors[index] = leaf if record["grad"] == "leaf" else leaf.clone()
        return leaves

    def _keep_graph(self, inputs: list[torch.Tensor], encoder: Encoder) -> int | None:
        outputs = {i: tensor for i, tensor in enumerate(encoder.tensors) if tensor.requires_grad}
        if not inputs or not outputs:
            return None
        for index in outputs:
            encoder.records[index]["grad"] = True
        return self._graphs.add(Graph(outputs, inputs))

    def _seed(self, request: dict) -> None:
        torch.default_generator.manual_seed(request["seed"])  # torch.manual_seed formats the stack, for CUDA
        random.seed(request["seed"])

    def _find(self, target: dict) -> Callable:
        """The function or method that is meant, with stand-ins in the place of the other components."""
        self._begin()
        if "function" in target:
            self._package.isolate(target["function"] if target["isolated"] else None)
            return self._package.get(target["function"])
        held = self._objects[target["object"]]
        if held.is_submitted:
            self._package.isolate(held.isolated)
        return held.value if target["method"] == "forward" else getattr(held.value, target["method"])
