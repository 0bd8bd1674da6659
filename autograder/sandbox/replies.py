"""What a worker may answer: the shape of each verb's reply. Anything else is a breach that ends the worker."""

from __future__ import annotations

from dataclasses import dataclass

from .worker.contract import MAX_PARAMETER_BYTES, MAX_PARAMETERS
from .worker.values import Decoder


class BreachError(Exception):
    """The worker broke the protocol."""


@dataclass(frozen=True)
class Failure:
    """An exception of the submission, as the worker describes it. The texts are not cleaned yet."""

    kind: str
    message: str
    frames: list[tuple[str, int, str]]


@dataclass(frozen=True)
class ObjectReply:
    """A new object: its number, whether it is a module in training mode, and its parameters."""

    number: int
    is_module: bool
    training: bool
    names: list[str]


@dataclass(frozen=True)
class CallReply:
    """A result (its tree), the graph that waits for a backward pass, and the arguments that were changed."""

    value: object
    graph: int | None
    changed: list[int]


def read_reply(header: dict, body: bytes, number: int) -> tuple[object, Decoder] | Failure:
    """Check the outside of a reply to request `number`."""
    if header.get("id") != number or type(header["id"]) is not int:
        raise BreachError("a reply that bears another number than the request")
    if set(header) == {"id", "error"}:
        return read_failure(header["error"])
    if set(header) != {"id", "result", "tensors"}:
        raise BreachError("a reply with other fields than it should have")
    try:
        return header["result"], Decoder(header["tensors"], body)
    except Exception as error:  # whatever it is, what was sent has caused it
        raise BreachError(f"a reply with {error}") from error


def read_failure(error: object) -> Failure:
    """Check the description of an exception."""
    fields(error, kind=str, message=str, frames=list)
    frames = []
    for frame in error["frames"][:16]:
        if not isinstance(frame, list) or [type(part) for part in frame] != [str, int, str]:
            raise BreachError("a traceback that is none")
        frames.append(tuple(frame))
    return Failure(error["kind"][:80], error["message"][:4000], frames)


def read_object(result: object, decoder: Decoder) -> ObjectReply:
    """Check the reply to build, stand_in and get_parameters."""
    fields(result, object=int, module=bool, training=bool, names=list)
    names = result["names"]
    if not all(isinstance(name, str) for name in names) or not len(names) == len(decoder.tensors) <= MAX_PARAMETERS:
        raise BreachError("parameters that are not all named")
    if not all(value.is_floating_point() and value.numel() for value in decoder.tensors):
        raise BreachError("a parameter that cannot be learned")
    if sum(value.numel() * value.element_size() for value in decoder.tensors) > MAX_PARAMETER_BYTES:
        raise BreachError("parameters that are too large")
    return ObjectReply(result["object"], result["module"], result["training"], names)


def read_call(result: object, decoder: Decoder, arguments: int) -> CallReply:
    """Check the reply to call, which was sent with so many tensors."""
    fields(result, value=None, graph=(int, type(None)), changed=list)
    changed = result["changed"]
    if not all(type(index) is int and 0 <= index < arguments for index in changed):
        raise BreachError("changed arguments that there are not")
    return CallReply(result["value"], result["graph"], changed)


def read_value(tree: object, decoder: Decoder) -> object:
    """The value that a call has returned."""
    try:
        return decoder.decode(tree)
    except Exception as error:  # whatever it is, what was sent has caused it
        raise BreachError(str(error)) from error


def read_gradients(result: object, decoder: Decoder, inputs: list) -> list:
    """Check the reply to backward; gradients have the shape and dtype of their inputs, or are None."""
    if not isinstance(result, list) or len(result) != len(inputs):
        raise BreachError("another number of gradients than of inputs")
    gradients = []
    for index, (shape, dtype) in zip(result, inputs, strict=True):
        if index is None:
            gradients.append(None)
            continue
        if type(index) is not int or not 0 <= index < len(decoder.tensors):
            raise BreachError("a gradient that was not sent")
        gradient = decoder.tensors[index]
        if gradient.shape != shape or gradient.dtype != dtype:
            raise BreachError("a gradient of another shape or dtype than its input")
        gradients.append(gradient)
    return gradients


def fields(answer: object, /, **types: object) -> None:
    """Check that a JSON object has exactly these fields, of these types (None = any)."""
    if not isinstance(answer, dict) or set(answer) != set(types):
        raise BreachError("an answer with other fields than it should have")
    for name, kind in types.items():
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if kind is not None and type(answer[name]) not in kinds:
            raise BreachError(f"an answer whose {name} is of another type")
