"""The shape of each verb's reply. A worker that replies anything else has broken the protocol and is ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .worker.objects import MAX_PARAMETER_BYTES, MAX_PARAMETERS
from .worker.values import Decoder


class BreachError(Exception):
    """The worker broke the protocol."""


@dataclass(frozen=True)
class Failure:
    """An exception of the submission as the worker describes it, with texts that are not cleaned yet."""

    kind: str
    message: str
    frames: list[tuple[str, int, str]]


@dataclass(frozen=True)
class ObjectReply:
    """A new object: its number, whether it is a module, whether that is in training mode, its parameters' names."""

    number: int
    is_module: bool
    training: bool
    names: list[str]


@dataclass(frozen=True)
class CallReply:
    """A result as a tree.

    Attributes:
        value: the tree.
        graph: its number, for a backward pass.
        changed: indices of arguments that were changed.
        place: the file and the line that changed the first of them, as far as that is known.
    """

    value: object
    graph: int | None
    changed: list[int]
    place: tuple[str, int] | None


def read_reply(header: dict[str, Any], body: bytes, number: int) -> tuple[object, Decoder] | Failure:
    """Checks the envelope of the reply to request `number`."""
    if header.get("id") != number or type(header["id"]) is not int:
        raise BreachError("a reply with another number than its request")
    if set(header) == {"id", "error"}:
        return read_failure(header["error"])
    if set(header) != {"id", "result", "tensors"}:
        raise BreachError("a reply with unexpected fields")
    try:
        return header["result"], Decoder(header["tensors"], body)
    except Exception as error:  # of any kind: the worker's bytes have caused it
        raise BreachError(f"a reply with {error}") from error


def read_failure(error: object) -> Failure:
    """Checks the description of an exception."""
    answer = fields(error, kind=str, message=str, frames=list)
    frames = []
    for frame in answer["frames"][:16]:
        if not isinstance(frame, list) or [type(part) for part in frame] != [str, int, str]:
            raise BreachError("a malformed traceback")
        frames.append((frame[0], frame[1], frame[2]))
    return Failure(answer["kind"][:80], answer["message"][:4000], frames)


def read_object(result: object, decoder: Decoder) -> ObjectReply:
    """Checks the reply to build, stand_in and get_parameters."""
    answer = fields(result, object=int, module=bool, training=bool, names=list)
    names = answer["names"]
    if not all(isinstance(name, str) for name in names) or not len(names) == len(decoder.tensors) <= MAX_PARAMETERS:
        raise BreachError("parameters without names")
    if not all(value.is_floating_point() and value.numel() for value in decoder.tensors):
        raise BreachError("a parameter that cannot have a gradient")
    if sum(value.numel() * value.element_size() for value in decoder.tensors) > MAX_PARAMETER_BYTES:
        raise BreachError("parameters that are too large")
    return ObjectReply(answer["object"], answer["module"], answer["training"], names)


def read_call(result: object, decoder: Decoder, arguments: int) -> CallReply:
    """Checks the reply to a call that was sent with `arguments` tensors."""
    answer = fields(result, value=None, graph=(int, type(None)), changed=list, place=(list, type(None)))
    changed = answer["changed"]
    if not all(type(index) is int and 0 <= index < arguments for index in changed):
        raise BreachError("changes to arguments that were never sent")
    place = answer["place"]
    if place is not None and [type(part) for part in place] != [str, int]:
        raise BreachError("a change at a place that is none")
    return CallReply(answer["value"], answer["graph"], changed, place and (place[0], place[1]))


def read_value(tree: object, decoder: Decoder) -> object:
    """The value that a call returned."""
    try:
        return decoder.decode(tree)
    except Exception as error:  # of any kind: the worker's bytes have caused it
        raise BreachError(str(error)) from error


def read_gradients(
    result: object, decoder: Decoder, inputs: Sequence[tuple[torch.Size, torch.dtype]]
) -> list[Tensor | None]:
    """Checks the reply to backward; a gradient has the shape and dtype of its input, or is None."""
    if not isinstance(result, list) or len(result) != len(inputs):
        raise BreachError("not one gradient per input")
    gradients: list[Tensor | None] = []
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


def fields(answer: object, /, **types: type | tuple[type, ...] | None) -> dict[str, Any]:
    """A JSON object; checks that it has exactly these fields, of these types (None = any)."""
    if not isinstance(answer, dict) or set(answer) != set(types):
        raise BreachError("a reply with unexpected fields")
    for name, kind in types.items():
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if kind is not None and type(answer[name]) not in kinds:
            raise BreachError(f"a reply with a {name} of an unexpected type")
    return answer
