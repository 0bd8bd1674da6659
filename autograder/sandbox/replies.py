"""The shape of each verb's reply. A worker that replies anything else has broken the protocol and is ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError
from torch import Tensor

from .worker.failures import MAX_FRAMES, MAX_MESSAGE
from .worker.messages import Decoder
from .worker.running import MAX_PARAMETER_BYTES, MAX_PARAMETERS

Made = TypeVar("Made")


class BreachError(Exception):
    """The worker broke the protocol."""


class Reply(BaseModel):
    """JSON with exactly these fields, of exactly these types."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Failure(Reply):
    """An exception of the submission as the worker describes it, with texts that are not cleaned yet."""

    kind: StrictStr
    message: StrictStr = Field(max_length=MAX_MESSAGE)
    frames: list[tuple[StrictStr, StrictInt, StrictStr]] = Field(max_length=MAX_FRAMES)


class ObjectReply(Reply):
    """A new object: whether it is a module, whether that is in training mode, its parameters' names."""

    module: StrictBool
    training: StrictBool
    names: list[StrictStr] = Field(max_length=MAX_PARAMETERS)


class CallReply(Reply):
    """A result as a tree.

    Attributes:
        value: the tree.
        graph: whether there is one, for a backward pass.
        changed: indices of arguments that were changed.
        place: the file and the line that changed the first of them, as far as that is known.
    """

    value: Any
    graph: StrictBool
    changed: list[StrictInt]
    place: tuple[StrictStr, StrictInt] | None


def shaped(make: Callable[..., Made], *arguments: Any) -> Made:
    """What is made of a worker's bytes, whatever goes wrong with them."""
    try:
        return make(*arguments)
    except ValidationError as error:
        raise BreachError(f"a malformed {error.title}") from None
    except Exception as error:
        raise BreachError(str(error)) from error


def read_reply(header: dict[str, Any], body: bytes, number: int) -> tuple[object, Decoder] | Failure:
    """Checks the envelope of the reply to request `number`."""
    if header.get("id") != number or type(header["id"]) is not int:
        raise BreachError("a reply with another number than its request")
    if set(header) == {"id", "error"}:
        return shaped(Failure.model_validate, header["error"])
    if set(header) != {"id", "result", "tensors"}:
        raise BreachError("a reply with unexpected fields")
    return header["result"], shaped(Decoder, header["tensors"], body)


def read_object(result: object, decoder: Decoder) -> ObjectReply:
    """Checks the reply to build."""
    reply = shaped(ObjectReply.model_validate, result)
    if len(reply.names) != len(decoder.tensors):
        raise BreachError("parameters without names")
    if not all(value.is_floating_point() and value.numel() for value in decoder.tensors):
        raise BreachError("a parameter that cannot have a gradient")
    if sum(value.numel() * value.element_size() for value in decoder.tensors) > MAX_PARAMETER_BYTES:
        raise BreachError("parameters that are too large")
    return reply


def read_call(result: object, arguments: int) -> CallReply:
    """Checks the reply to a call that was sent with `arguments` tensors."""
    reply = shaped(CallReply.model_validate, result)
    if not all(0 <= index < arguments for index in reply.changed):
        raise BreachError("changes to arguments that were never sent")
    return reply


def read_gradients(
    result: object, decoder: Decoder, inputs: Sequence[tuple[torch.Size, torch.dtype]]
) -> list[Tensor | None]:
    """Checks the reply to backward; a gradient has the shape and dtype of its input, or is None."""
    if not isinstance(result, list) or len(result) != len(inputs):
        raise BreachError("not one gradient per input")
    gradients: list[Tensor | None] = []
    for index, kind in zip(result, inputs, strict=True):
        if index is not None and (type(index) is not int or not 0 <= index < len(decoder.tensors)):
            raise BreachError("a gradient that was not sent")
        gradient = None if index is None else decoder.tensors[index]
        if gradient is not None and (gradient.shape, gradient.dtype) != kind:
            raise BreachError("a gradient of another shape or dtype than its input")
        gradients.append(gradient)
    return gradients
