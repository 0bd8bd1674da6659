"""Messages between the trusted side and a worker: frames, and the values in them. No pickle; both sides use it.

A frame is `magic, header length, body length | header (JSON) | body`. Both lengths are compared with limits before a
single byte of the content is kept. The body has the numbers of all tensors one after the other, each from a multiple of
8 bytes; dtypes and shapes stand in the header.

A header holds values as trees. Scalars stand for themselves; everything else is an object with one key that names
its kind: `{"list": [...]}`, `{"tuple": [...]}`, `{"dict": [[key, value], ...]}`, `{"tensor": 3}`, and where the sender
is trusted `{"named": [fields, values]}`, `{"generator": seed}`. Anything else cannot be sent, in either direction.

Arguments keep their strides (transposed, expanded). What a worker answers is dense, so that nothing in it describes
memory that is not there.
"""

import ctypes
import json
import math
import struct
from collections import namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from .running import detached

MAGIC = b"TAK1"
PREFIX = struct.Struct("<4sIQ")
VERBS = ("build", "copy", "call", "backward")
"""Of requests in which a component's own code may run."""


class ProtocolError(ValueError):
    """The peer sent something that is not a frame, not a value, or over the limits."""


REQUEST_LIMITS, REPLY_LIMITS = (16 << 20, 256 << 20), (1 << 20, 64 << 20)
"""The greatest lengths of header and body, in bytes, that a reader accepts."""


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """The bytes of one frame."""
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    return b"".join((PREFIX.pack(MAGIC, len(text), len(body)), text, body))


def read_frame(read: Callable[[int], bytes], limits: tuple[int, int]) -> tuple[dict[str, Any], bytes]:
    """Reads the header and the body of one frame, and not a byte more.

    Args:
        read: returns as many bytes as asked for; fewer only at the end, which becomes EOFError.
        limits: for the lengths of header and body.
    """
    prefix = read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        raise EOFError
    magic, *lengths = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise ProtocolError("a frame does not begin with the magic bytes")
    for name, length, most in zip(("header", "body"), lengths, limits, strict=True):
        if length > most:
            raise ProtocolError(f"a {name} of {length} bytes; at most {most} are accepted")
    content = read(sum(lengths))
    try:
        header = json.loads(content[: lengths[0]])
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a header is not JSON") from error
    if not isinstance(header, dict):
        raise ProtocolError("a header is not a JSON object")
    return header, content[lengths[0] :]


KINDS = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool"
DTYPES = {name: getattr(torch, name) for name in KINDS.split()}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
Record = dict[str, Any]
"""A tensor besides its numbers: `dtype`, `shape`, `strides` if not contiguous, a caller's notes."""

MAX_DEPTH = 24
MAX_AXES = 12
MAX_TENSORS = 4_000
MAX_TENSOR_BYTES = 64 << 20


class Encoder:
    """Collects the tensors of one message; the same tensor object is sent once and stays one object."""

    def __init__(self, keeps_layout: bool = True) -> None:
        """Without their layout, tensors are sent dense, as a worker must."""
        self.tensors: list[torch.Tensor] = []
        self.records: list[Record] = []
        self._pieces: list[bytes] = []
        self._index: dict[int, int] = {}
        self._keeps_layout = keeps_layout

    def encode(self, value: object) -> object:
        """The JSON tree of a value. Raises TypeError, with the place, for one that does not travel."""
        match value:
            case None | bool() | int() | float() | str():
                return value
            case torch.Tensor():
                return {"tensor": self.add(value)}
            case list():
                return {"list": self._all(enumerate(value))}
            case tuple() if self._keeps_layout and hasattr(value, "_fields"):
                return {"named": [list(value._fields), self._all(enumerate(value))]}
            case tuple():
                return {"tuple": self._all(enumerate(value))}
            case dict():
                keys = [self.encode(key) for key in value]
                return {"dict": [[*pair] for pair in zip(keys, self._all(value.items()), strict=True)]}
            case torch.Generator() if self._keeps_layout:
                return {"generator": value.initial_seed()}
        raise TypeError(f"an object of type {type(value).__module__}.{type(value).__qualname__}")

    def _all(self, items: Iterable[tuple[object, object]]) -> list[object]:
        """The JSON trees of the items of a value."""
        trees = []
        for place, item in items:
            try:
                trees.append(self.encode(item))
            except TypeError as error:
                inner = str(error)
                raise TypeError(f"[{place!r:.60}]{'' if inner[:1] == '[' else ': '}{inner}") from None
        return trees

    def add(self, tensor: torch.Tensor, **notes: object) -> int:
        """Adds a tensor, once, and returns its index; `notes` go into its record."""
        if id(tensor) in self._index:
            return self._index[id(tensor)]
        plain = detached(tensor)
        n_bytes = plain.numel() * plain.element_size()
        is_strided = plain.layout == torch.strided and plain.device.type == "cpu"
        if not is_strided or plain.dtype not in DTYPE_NAMES or n_bytes > MAX_TENSOR_BYTES:
            kind = f"{plain.dtype}, {plain.layout}, of {n_bytes:,} bytes on {plain.device}"
            raise TypeError(f"a tensor of {kind} cannot be sent")
        index = len(self.tensors)
        strides = {"strides": plain.stride()} if self._keeps_layout and not plain.is_contiguous() else {}
        self.tensors.append(tensor)
        self.records.append({"dtype": DTYPE_NAMES[plain.dtype], "shape": [*plain.shape], **strides, **notes})
        dense = plain.contiguous().resolve_neg()
        self._pieces.append(ctypes.string_at(dense.data_ptr(), n_bytes).ljust(padded(n_bytes), b"\0"))
        self._index[id(tensor)] = index
        return index

    def body(self) -> bytes:
        """The numbers of all tensors added so far."""
        return b"".join(self._pieces)


class Decoder:
    """Rebuilds the values of one message from the records of its tensors and its body."""

    def __init__(self, records: object, body: bytes, is_trusted: bool = False) -> None:
        """Where it is trusted, in the worker, there may be generators, and tensors are laid out as records say."""
        if not isinstance(records, list) or len(records) > MAX_TENSORS:
            raise ProtocolError("the tensor records are no list, or too long")
        self.records: list[Record] = records
        self.tensors = dense_tensors(records, bytearray(body))
        self._is_trusted = is_trusted
        if is_trusted:
            self.tensors = [laid_out(*pair) for pair in zip(self.tensors, self.records, strict=True)]

    def decode(self, tree: object, depth: int = 0) -> Any:
        """The value that a tree describes. Raises ProtocolError."""
        if depth > MAX_DEPTH:
            raise ProtocolError(f"more than {MAX_DEPTH} levels of nested containers")
        match tree:
            case None | bool() | float():
                return tree
            case str():
                return tree.encode("utf-8", "replace").decode("utf-8")
            case int() if -(2**63) <= tree < 2**63:
                return tree
            case {"list": list(items)}:
                return [self.decode(item, depth + 1) for item in items]
            case {"tuple": list(items)}:
                return tuple(self.decode(item, depth + 1) for item in items)
            case {"dict": list(pairs)}:
                try:
                    return {self.decode(key, depth + 1): self.decode(item, depth + 1) for key, item in pairs}
                except (TypeError, ValueError) as error:  # no pairs, or a key that cannot be one
                    raise ProtocolError(str(error)) from error
            case {"tensor": int(index)} if 0 <= index < len(self.tensors):
                return self.tensors[index]
            case {"named": [list(fields), list(items)]} if self._is_trusted:
                return namedtuple("Result", fields)(*(self.decode(item, depth + 1) for item in items))  # noqa: PYI024
            case {"generator": int(seed)} if self._is_trusted:
                return torch.Generator().manual_seed(seed)
        raise ProtocolError("an integer of more than 64 bits, or no value of a kind that is sent")


@dataclass(frozen=True)
class Answer:
    """A reply to a request: its number, which what it makes has too, the result, and what decodes its tensors."""

    number: int
    result: Any
    decoder: Decoder


def padded(n_bytes: int) -> int:
    """The next multiple of 8: where the next tensor begins."""
    return (n_bytes + 7) // 8 * 8


def dense_tensors(records: list[Any], memory: bytearray) -> list[torch.Tensor]:
    """The tensors whose numbers fill this memory, which becomes theirs. Raises ProtocolError."""
    tensors, start = [], 0
    for record in records:
        match record:
            case {"dtype": str(name), "shape": list(shape)} if name in DTYPES and len(shape) <= MAX_AXES:
                dtype = DTYPES[name]
            case _:
                raise ProtocolError("a tensor of a dtype or rank that is not sent")
        is_sound = all(type(size) is int and size >= 0 for size in shape)
        if not is_sound or math.prod(filter(None, shape)) > MAX_TENSOR_BYTES:  # PyTorch multiplies those of none, too
            raise ProtocolError("a size that no tensor has")
        count = math.prod(shape)
        end = start + padded(count * dtype.itemsize)
        if end > len(memory):
            raise ProtocolError("the body has fewer numbers than the header announces")
        if count:
            flat = torch.frombuffer(memory, dtype=dtype, count=count, offset=start)
        else:
            flat = torch.empty(0, dtype=dtype)
        if dtype == torch.bool:  # bytes other than 0 and 1 become real ones
            flat = flat.view(torch.uint8) != 0
        tensors.append(flat.view(shape))
        start = end
    if start != len(memory):
        raise ProtocolError("the body has more numbers than the header announces")
    return tensors


def laid_out(dense: torch.Tensor, record: Record) -> torch.Tensor:
    """The tensor with the strides that it has on the other side; an error where PyTorch refuses these."""
    if "strides" not in record:
        return dense
    made = dense.new_empty_strided(dense.shape, record["strides"])
    once = tuple(slice(1) if step == 0 else slice(None) for step in record["strides"])  # where an axis is expanded
    made[once].copy_(dense[once])
    return made
