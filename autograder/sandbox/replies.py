"""The shape of each verb's reply. A worker that replies anything else has broken the protocol and is ended."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError
from torch import Tensor

from foundation.texts import clean

from .worker.failures import MAX_FRAMES, MAX_MESSAGE
from .worker.messages import Answer, Decoder, ProtocolError
from .worker.mirror import Kind
from .worker.running import MAX_PARAMETER_BYTES, MAX_PARAMETERS


class Reply(BaseModel):
    """JSON with exactly these fields, of exactly these types."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Shape = TypeVar("Shape", bound=Reply)


class Failure(Reply):
    """An exception of the submission as the worker describes it, with texts that are not cleaned yet."""

    kind: StrictStr
    message: StrictStr = Field(max_length=MAX_MESSAGE)
    frames: list[tuple[StrictStr, StrictInt, StrictStr]] = Field(max_length=MAX_FRAMES)


class ObjectReply(Reply):
    """A new object: whether it is in training mode, its parameters' names."""

    training: StrictBool
    names: list[Annotated[StrictStr, AfterValidator(partial(clean, limit=200))]] = Field(max_length=MAX_PARAMETERS)


class CallReply(Reply):
    """A result as a tree."""

    value: Any
    graph: StrictBool  # whether there is one, for a backward pass
    changed: list[StrictInt]  # indices of arguments that were changed
    rewritten: list[tuple[StrictInt, StrictInt]]  # earlier calls, and the tensors that they returned


def shaped(kind: type[Shape], value: object) -> Shape:
    """A part of a reply, whose shape is checked."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise ProtocolError(f"a malformed {error.title}") from None


def read_reply(header: dict[str, Any], body: bytes, number: int) -> Answer | Failure:
    """Checks the envelope of the reply to request `number`."""
    if header.get("id") != number or type(header["id"]) is not int:
        raise ProtocolError("a reply with another number than its request")
    if set(header) == {"id", "error"}:
        return shaped(Failure, header["error"])
    if set(header) != {"id", "result", "tensors"}:
        raise ProtocolError("a reply with unexpected fields")
    return Answer(number, header["result"], Decoder(header["tensors"], body))


def read_object(answer: Answer) -> ObjectReply:
    """Checks the reply to build."""
    reply, parameters = shaped(ObjectReply, answer.result), answer.decoder.tensors
    if len(reply.names) != len(parameters):
        raise ProtocolError("parameters without names")
    if not all(value.is_floating_point() and value.numel() for value in parameters):
        raise ProtocolError("a parameter that cannot have a gradient")
    if sum(value.numel() * value.element_size() for value in parameters) > MAX_PARAMETER_BYTES:
        raise ProtocolError("parameters that are too large")
    return reply


def read_call(answer: Answer) -> CallReply:
    """Checks the reply to a call."""
    return shaped(CallReply, answer.result)


def read_gradients(answer: Answer, inputs: Sequence[Kind]) -> list[Tensor | None]:
    """Checks the reply to backward; a gradient has the shape and dtype of its input, or is None."""
    result, sent = answer.result, answer.decoder.tensors
    if not isinstance(result, list) or len(result) != len(inputs):
        raise ProtocolError("not one gradient per input")
    gradients: list[Tensor | None] = []
    for index, kind in zip(result, inputs, strict=True):
        if index is not None and (type(index) is not int or not 0 <= index < len(sent)):
            raise ProtocolError("a gradient that was not sent")
        gradient = None if index is None else sent[index]
        if gradient is not None and (gradient.shape, gradient.dtype) != kind:
            raise ProtocolError("a gradient of another shape or dtype than its input")
        gradients.append(gradient)
    return gradients
