"""The worker's loop: one request in, one reply out, until the pipe closes.

Verbs: load, import, build, copy, call, backward, prove; `peers.py` has those for students' own tests. Every request
carries an id, which the reply repeats; the object or the graph that it makes has the same number. `drop` has the
numbers of those that the trusted side no longer holds. Of the object that a call is about, `changed` has the
parameters that were written there, `training` the mode, and `dtype` what it was converted to. A reply has where a call
writes into what an earlier one has returned (`rewritten`): the other side has copies. Everything a submission raises
becomes an error reply; what it does to this process beyond that costs the process.
"""

from __future__ import annotations

import contextlib
import importlib
import random
import sys
from collections import deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from . import shortcuts, watching
from .failures import describe
from .hardening import harden
from .loading import Package
from .messages import DTYPES, REQUEST_LIMITS, Decoder, Encoder, pack, read_frame
from .running import Kept, call_again, has_changed, keep, parameters_of, settings_kept
from .surroundings import import_quietly, write_nowhere

Content = dict[str, Any]
"""JSON of a request or of a reply's result."""
MAX_NAME, KEPT_RESULTS = 200, 4


@dataclass
class Held:
    """An object that the trusted side knows by its number."""

    value: Any
    component: str
    isolated: str | None  # the component that its calls run in isolation of; None = with the submission's own others
    parameters: list[nn.Parameter]
    training: bool  # the mode that it was last set to
    dtype: str | None = None  # that it was last converted to on the other side


@dataclass
class Graph:
    """The ends of one recorded forward pass."""

    outputs: dict[int, torch.Tensor]  # by their index in the reply
    inputs: list[torch.Tensor]  # in the request's order


class Service:
    """Answers requests about one submission."""

    repeats_changes, keeps_layout, limits = True, False, REQUEST_LIMITS
    """True if calls that write into arguments are made again, without that; if results keep their strides."""

    def __init__(self, stand_ins: object) -> None:
        """Takes the module of stand-ins."""
        self._stand_ins = stand_ins
        self.next: Callable[[], None] | None = None  # to be done once the answer is on its way
        self._forbid_shortcuts: Callable[[str], object] = str  # of a component; where nothing is, it does nothing
        self._files: frozenset[str] = frozenset()
        self._objects: dict[int, Held] = {}
        self._graphs: dict[int, Graph] = {}
        self._arguments: dict[int, torch.Tensor] = {}  # of the last call, by the number of the caller's tensor
        self._results: deque[tuple[int, Kept]] = deque(maxlen=KEPT_RESULTS)

    @property
    def is_watched(self) -> bool:
        """True if people want to know what submitted code reaches for."""
        return True

    def serve(self, requests: int, replies: int) -> None:
        """Answers until the pipe of requests is closed."""
        self._replies = replies
        with open(requests, "rb") as source, open(replies, "wb", buffering=0) as sink, contextlib.suppress(EOFError):
            while True:
                unsent = memoryview(self.answer(*read_frame(source.read, self.limits)))
                while unsent:  # without a buffer, in which a notice of `watching` could end up
                    unsent = unsent[sink.write(unsent) :]
                if self.next is not None:
                    self.next()
                    self.next = None

    def answer(self, request: Content, body: bytes) -> bytes:
        """The reply frame of one request."""
        encoder = Encoder(self.keeps_layout)
        try:
            for number in request["drop"]:
                self._objects.pop(number, None)
                self._graphs.pop(number, None)
            decoder = Decoder(request["tensors"], body, is_trusted=True)
            result = getattr(self, "do_" + request["verb"])(request, decoder, encoder)
            frame = pack({"id": request["id"], "result": result, "tensors": encoder.records}, encoder.body())
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: a submission may raise them
            frame = pack({"id": request["id"], "error": self._describe(error)})
            error.__traceback__ = None
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        return frame

    def _describe(self, error: BaseException) -> object:
        return describe(error, self._files)

    def do_load(self, request: Content, decoder: Decoder, encoder: Encoder) -> list[str]:
        """Imports what the submission will want, gives up this process's rights, and takes the submission.

        Returns the layers of containment that it has reached, before anything of the submission runs.
        """
        for name in request["imports"]:
            import_quietly(name)
        layers = harden(**request["plan"])
        write_nowhere()
        sources = {name: (path, source) for name, (path, source) in request["sources"].items()}
        self._files = frozenset(path for path, _ in sources.values())
        self._forbid_shortcuts, self._prove = shortcuts.prepare(**request["forbidden"])
        self._components = Package(sources, request["contract"], self._stand_ins, settings_kept=settings_kept)
        if self.is_watched:
            self._components.more_builtins = watching.BUILTINS
            watching.watch(self._files, request["internals"], self._replies, self._stand_ins)
        return layers

    def do_prove(self, request: Content, decoder: Decoder, encoder: Encoder) -> str:
        """Answers a question with the kernels that still refuse."""
        return self._prove(request["question"])

    def do_import(self, request: Content, decoder: Decoder, encoder: Encoder) -> None:
        """Imports a module; all are, before anything is built or called."""
        importlib.import_module(f"{self._components.name}.{request['module']}")

    def do_build(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Makes an object of a submitted class."""
        component = request["component"]
        self._forbid_shortcuts(component)  # not before: only calls are judged
        isolated = component if request["isolated"] else None
        self._components.isolate(isolated)
        factory = self._components.get(component)
        self._seed(request)
        value = factory(*decoder.decode(request["args"]), **decoder.decode(request["kwargs"]))
        if request["dtype"] and isinstance(value, nn.Module):
            value = value.to(DTYPES[request["dtype"]])
        return self._hold(value, isolated, request, encoder)

    def do_copy(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Makes an object that is a copy of another one."""
        held = self._objects[request["target"]["object"]]
        return self._hold(deepcopy(held.value), held.isolated, {**request, "component": held.component}, encoder)

    def _hold(self, value: Any, isolated: str | None, request: Content, encoder: Encoder) -> Content:
        """Keeps an object under the number of its request, and describes it."""
        named = parameters_of(value)
        is_module = isinstance(value, nn.Module)
        is_training = is_module and bool(value.training)
        self._objects[request["id"]] = Held(
            value, request.get("component", ""), isolated, [*named.values()], is_training
        )
        for parameter in named.values():
            encoder.add(parameter, grad=parameter.requires_grad)
        return {"module": is_module, "training": is_training, "names": [name[:MAX_NAME] for name in named]}

    def do_call(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Calls a function, a method of an object, or a stand-in that is a function of one of these.

        That a component writes into its arguments costs an item of its own. Other items are judged as if it did not.
        """
        held = self._catch_up(request, decoder)
        self._forbid_shortcuts(held.component if held else request["target"].get("function", ""))
        self._recognise(decoder)
        inputs = self._connect(decoder)
        before = keep(decoder.tensors)
        value = self._call(request, decoder)
        changed = [index for index, state in enumerate(before) if has_changed(*state)]
        place = None
        if changed and self.repeats_changes and not request["target"]["stand_in"]:
            decoder.tensors[:] = [copy for _, _, copy in before]
            inputs = self._connect(decoder)
            value, place = call_again(partial(self._call, request, decoder), decoder.tensors, self._files)
        result = {"value": encoder.encode(value), "changed": changed, "place": place}
        n_returned = len(encoder.tensors)
        inputs += [held.parameters[index] for index in request["parameters"]] if held else []
        outputs = {i: tensor for i, tensor in enumerate(encoder.tensors) if tensor.requires_grad}
        result["rewritten"] = self._rewritten(encoder)
        if not (request["grad"] or request.get("inference")):  # as tests of side effects call; the copies cost time
            self._results.append((request["id"], keep(encoder.tensors[:n_returned])))
        result["graph"] = bool(request["grad"] and inputs and outputs)
        if result["graph"]:
            self._graphs[request["id"]] = Graph(outputs, inputs)
            for index in outputs:
                encoder.records[index]["grad"] = True
        return result

    def do_backward(self, request: Content, decoder: Decoder, encoder: Encoder) -> list[int | None]:
        """Gradients of what went into a call, for those of what came out of it; the graph stays usable.

        A sum of products in place of `grad_outputs=`: the gradients are the same, and `grad_outputs` imports sympy.
        `backward` in place of `grad`, which PyTorch's reentrant checkpoints refuse.
        """
        graph = self._graphs[request["graph"]]
        kept = [tensor.grad for tensor in graph.inputs]
        for tensor in graph.inputs:
            tensor.grad = None
        try:
            sum((graph.outputs[index] * decoder.tensors[place]).sum() for index, place in request["seeds"]).backward(
                retain_graph=True
            )
            return [None if tensor.grad is None else encoder.add(tensor.grad.to_dense()) for tensor in graph.inputs]
        finally:
            for tensor, grad in zip(graph.inputs, kept, strict=True):
                tensor.grad = grad

    def _catch_up(self, request: Content, decoder: Decoder) -> Held | None:
        """The object that a call is about, with parameters and mode as they are on the other side."""
        held = self._objects.get(request["target"].get("object"))
        if held is not None and isinstance(held.value, nn.Module):
            if request["dtype"] != held.dtype:
                held.dtype = request["dtype"]
                held.value.to(DTYPES[held.dtype])
            for index, place in request["changed"]:
                held.parameters[index].data.copy_(decoder.tensors[place])
            if request["training"] != held.training:
                held.training = request["training"]
                held.value.train(held.training)
        return held

    def _recognise(self, decoder: Decoder) -> None:
        """Puts the new numbers of a tensor that the last call had, too, into the very tensor that stood for it then."""
        known, self._arguments = self._arguments, {}
        for index, record in enumerate(decoder.records):
            given = decoder.tensors[index]
            earlier = known.get(record.get("object", 0))
            is_alike = earlier is not None and (earlier.shape, earlier.dtype) == (given.shape, given.dtype)
            if earlier is not None and is_alike and earlier.is_contiguous() and not earlier.requires_grad:
                earlier.data.copy_(given)
                decoder.tensors[index] = earlier
            if "object" in record and "grad" not in record:
                self._arguments[record["object"]] = decoder.tensors[index]

    def _rewritten(self, encoder: Encoder) -> list[tuple[int, int, int]]:
        """Results of earlier calls that have other contents now: number of the call, of the tensor, and of the new."""
        rewritten = []
        for number, kept in self._results:
            for index, (tensor, version, copy) in enumerate(kept):
                if has_changed(tensor, version, copy) and (tensor.shape, tensor.dtype) == (copy.shape, copy.dtype):
                    rewritten.append((number, index, encoder.add(tensor)))
                    [kept[index]] = keep([tensor])
        return rewritten

    def _connect(self, decoder: Decoder) -> list[torch.Tensor]:
        """Makes arguments that need a gradient leaves, or results of a leaf, as they were on the other side."""
        leaves = []
        for index, record in enumerate(decoder.records):
            if "grad" in record:
                leaf = decoder.tensors[index].requires_grad_()
                leaves.append(leaf)
                with torch.enable_grad():
                    decoder.tensors[index] = leaf if record["grad"] == "leaf" else leaf.clone()
        return leaves

    def _seed(self, request: Content) -> None:
        torch.default_generator.manual_seed(request["seed"])  # torch.manual_seed formats the stack, for CUDA
        random.seed(request["seed"])

    def _call(self, request: Content, decoder: Decoder) -> Any:
        args, kwargs = decoder.decode(request["args"]), decoder.decode(request["kwargs"])
        function = self._find(request["target"])
        with torch.inference_mode() if request.get("inference") else torch.set_grad_enabled(request["grad"]):
            self._seed(request)
            return function(*args, **kwargs)

    def _find(self, target: Content) -> Any:
        """The function or method that is meant, with stand-ins in the place of the other components."""
        if "function" in target:
            self._components.isolate(target["function"] if target["isolated"] else None)
            function = self._components.get(target["function"])
        else:
            held = self._objects[target["object"]]
            self._components.isolate(held.isolated)
            function = held.value if target["method"] == "forward" else getattr(held.value, target["method"])
        return partial(getattr(self._stand_ins, target["stand_in"]), function) if target["stand_in"] else function
