"""The worker's loop: one request in, one reply out, until the pipe closes.

Every request carries an id, which the reply repeats; the object or the graph that it makes has the same number. `drop`
has the numbers of those that the other side no longer holds. Of the object that a call is about, `changed` has the
parameters that were written there or converted, and `training` the mode. A reply has where a call writes into what an
earlier one has returned (`rewritten`): the other side has copies. Everything that is raised becomes an error reply;
what a submission does to this process beyond that costs the process.
"""

import contextlib
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

from .messages import DTYPES, REQUEST_LIMITS, Decoder, Encoder, pack, read_frame
from .mirror import KEPT_RESULTS
from .running import Kept, has_changed, keep, parameters_of, undisturbed, version_of

Content = dict[str, Any]
"""JSON of a request or of a reply's result."""
MAX_NAME = 200


@dataclass
class Held:
    """An object that the other side knows by its number."""

    value: nn.Module
    target: Content  # the class that it was made of
    parameters: list[nn.Parameter]
    training: bool  # the mode that it was last set to


class Service:
    """Has objects and functions for another process."""

    find: Callable[..., Any]
    """The object that is held, or the class or function that a target names, ready to be called."""
    describe: Callable[[BaseException], object]
    """The part of an error that the other side gets to know."""

    repeats_changes, keeps_layout, limits = True, False, REQUEST_LIMITS
    """True if calls that write into arguments are made again, without that; if results keep their strides."""

    def __init__(self, stand_ins: object = None) -> None:
        """Takes the module of stand-ins."""
        self._stand_ins = stand_ins
        self.next: Callable[[], None] | None = None  # to be done once the answer is on its way
        self._objects: dict[int, Held] = {}
        self._graphs: dict[int, tuple[dict[int, torch.Tensor], list[torch.Tensor]]] = {}  # outputs by index, and inputs
        self._arguments: dict[int, torch.Tensor] = {}  # of the last call, by the number of the caller's tensor
        self._results: deque[tuple[int, Kept]] = deque(maxlen=KEPT_RESULTS)

    def serve(self, requests: int, replies: int) -> None:
        """Answers until the pipe of requests is closed."""
        self._replies = replies
        with open(requests, "rb") as source, open(replies, "wb", buffering=0) as sink, contextlib.suppress(EOFError):
            while True:
                unsent = memoryview(self.answer(*read_frame(source.read, self.limits)))
                while unsent:  # without a buffer, in which a notice of `audit` could end up
                    unsent = unsent[sink.write(unsent) :]
                if self.next is not None:
                    self.next()
                    self.next = None

    def answer(self, request: Content, body: bytes) -> bytes:
        """The reply frame of one request."""
        encoder = Encoder(self.keeps_layout)
        try:
            if torch.get_default_dtype() != DTYPES[request["default"]]:
                torch.set_default_dtype(DTYPES[request["default"]])
            for number in request["drop"]:
                self._objects.pop(number, None)
                self._graphs.pop(number, None)
            decoder = Decoder(request["tensors"], body, is_trusted=True)
            result = getattr(self, "do_" + request["verb"])(request, decoder, encoder)
            frame = pack({"id": request["id"], "result": result, "tensors": encoder.records}, encoder.body())
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: a submission may raise them
            frame = pack({"id": request["id"], "error": self.describe(error)})
            error.__traceback__ = None
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        return frame

    def do_build(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Makes an object of a class."""
        make = self.find(request["target"])
        self._seed(request)
        value = make(*decoder.decode(request["args"]), **decoder.decode(request["kwargs"]))
        if not isinstance(value, nn.Module):
            raise TypeError("it is not an nn.Module: its class must derive from it")
        if request["dtype"]:
            value = value.to(DTYPES[request["dtype"]])
        return self._hold(value, request["target"], request["id"], encoder)

    def do_copy(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Makes an object that is a copy of another one."""
        held = self._objects[request["target"]["object"]]
        return self._hold(deepcopy(held.value), held.target, request["id"], encoder)

    def _hold(self, value: nn.Module, target: Content, number: int, encoder: Encoder) -> Content:
        """Keeps an object under a number, and describes it."""
        named = parameters_of(value)
        self._objects[number] = Held(value, target, [*named.values()], bool(value.training))
        for parameter in named.values():
            encoder.add(parameter, grad=parameter.requires_grad)
        return {"training": bool(value.training), "names": [name[:MAX_NAME] for name in named]}

    def do_call(self, request: Content, decoder: Decoder, encoder: Encoder) -> Content:
        """Calls a function, a method of an object, or a stand-in that is a function of one of these.

        That a component writes into its arguments costs an item of its own. Other items are judged as if it did not.
        """
        held = self._catch_up(request, decoder)
        self._recognise(decoder)
        inputs = self._connect(decoder)
        before = keep(decoder.tensors)
        value = self._call(request, decoder)
        changed = [index for index, state in enumerate(before) if has_changed(*state)]
        if changed and self.repeats_changes and not request["target"]["stand_in"]:
            decoder.tensors[:] = [copy for _, _, copy in before]
            inputs = self._connect(decoder)
            with undisturbed():
                value = self._call(request, decoder)
        result = {"value": encoder.encode(value), "changed": changed}
        inputs += [held.parameters[index] for index in request["parameters"]] if held else []
        outputs = {i: tensor for i, tensor in enumerate(encoder.tensors) if tensor.requires_grad}
        result["rewritten"] = self._rewritten()
        if not (request["grad"] or request.get("inference")):  # as tests of side effects call; the copies cost time
            self._results.append((request["id"], keep(encoder.tensors)))
        result["graph"] = bool(request["grad"] and inputs and outputs)
        if result["graph"]:
            self._graphs[request["id"]] = outputs, inputs
            for index in outputs:
                encoder.records[index]["grad"] = True
        return result

    def do_backward(self, request: Content, decoder: Decoder, encoder: Encoder) -> list[int | None]:
        """Gradients of what went into a call, for those of what came out of it; the graph stays usable.

        A sum of products in place of `grad_outputs=`: the gradients are the same, and `grad_outputs` imports sympy.
        `backward` in place of `grad`, which PyTorch's reentrant checkpoints refuse.
        """
        outputs, inputs = self._graphs[request["graph"]]
        kept = [tensor.grad for tensor in inputs]
        for tensor in inputs:
            tensor.grad = None
        try:
            total = sum((outputs[index] * decoder.tensors[place]).sum() for index, place in request["seeds"])
            total.backward(retain_graph=True)
            return [None if tensor.grad is None else encoder.add(tensor.grad.to_dense()) for tensor in inputs]
        finally:
            for tensor, grad in zip(inputs, kept, strict=True):
                tensor.grad = grad

    def _catch_up(self, request: Content, decoder: Decoder) -> Held | None:
        """The object that a call is about, with parameters and mode as they are on the other side."""
        held = self._objects.get(request["target"].get("object"))
        if held is not None:
            for index, place in request["changed"]:
                value = decoder.tensors[place]
                if value.dtype != held.parameters[index].dtype:  # the whole module was converted
                    held.value.to(value.dtype)
                held.parameters[index].data.copy_(value)
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

    def _rewritten(self) -> list[tuple[int, int]]:
        """Results of earlier calls that have other contents now: the number of the call, and that of the tensor."""
        rewritten = []
        for number, kept in self._results:
            for index, (tensor, _, copy) in enumerate(kept):
                if has_changed(tensor, version_of(tensor), copy):
                    rewritten.append((number, index))
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
        args, kwargs, target = decoder.decode(request["args"]), decoder.decode(request["kwargs"]), request["target"]
        function = self.find(target, self._objects[target["object"]] if "object" in target else None)
        if target.get("method", "forward") != "forward":
            function = getattr(function, target["method"])
        if target.get("stand_in"):
            function = partial(getattr(self._stand_ins, target["stand_in"]), function)
        with torch.inference_mode() if request.get("inference") else torch.set_grad_enabled(request["grad"]):
            self._seed(request)
            return function(*args, **kwargs)
