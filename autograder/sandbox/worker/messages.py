"""What travels between the trusted side and a worker: frames, and the values in them. No pickle; both sides use it.

A frame is `magic, header length, body length | header (JSON) | body (safetensors, may be empty)`. Both lengths are
compared with limits before a single byte of the content is kept, so that a hostile peer can neither make us allocate
what it likes nor make us guess where a frame ends.

A header holds values as trees. Scalars stand for themselves; everything else is an object with one key that names
its kind: `{"list": [...]}`, `{"tuple": [...]}`, `{"dict": [[key, value], ...]}`, `{"tensor": 3}`,
`{"dtype": "float64"}`, `{"generator": seed}`. Anything else cannot be sent, in either direction.

Arguments keep the pattern of their strides (transposed, expanded, with gaps): the worker rebuilds it from `order`,
`shape` and `gapped`. What a worker answers is dense, so that nothing in it describes memory that is not there.
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from typing import Any

import torch
from safetensors import TensorSpec, serialize
from safetensors.torch import load

MAGIC = b"TAK1"
PREFIX = struct.Struct("<4sIQ")


class FrameError(Exception):
    """The peer sent bytes that are not a frame, or a frame over the limits."""


@dataclass(frozen=True)
class FrameLimits:
    """The greatest lengths, in bytes, that a reader accepts."""

    header: int = 1 << 20
    body: int = 64 << 20


REQUEST_LIMITS = FrameLimits(header=16 << 20, body=256 << 20)
REPLY_LIMITS = FrameLimits()


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """The bytes of one frame."""
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    return b"".join((PREFIX.pack(MAGIC, len(text), len(body)), text, body))


class FrameReader:
    """Assembles one frame from pieces of any size.

    Ask `wanted` how many bytes may be read next, give them to `feed`; it returns `(header, body)` once the frame
    is complete and None before. Reading never goes past the end of the frame.
    """

    def __init__(self, limits: FrameLimits) -> None:
        self.limits = limits
        self._buffer = bytearray()
        self._lengths: tuple[int, int] | None = None

    @property
    def wanted(self) -> int:
        """The number of bytes up to the next boundary."""
        return PREFIX.size + sum(self._lengths or (0, 0)) - len(self._buffer)

    def feed(self, piece: bytes) -> tuple[dict[str, Any], bytes] | None:
        """Takes the next bytes. Raises FrameError for anything but a frame within the limits."""
        self._buffer += piece
        if self._lengths is None and len(self._buffer) >= PREFIX.size:
            self._lengths = self._read_prefix()
        if self._lengths is None or self.wanted:
            return None
        start = PREFIX.size + self._lengths[0]
        text, body = bytes(self._buffer[PREFIX.size : start]), bytes(self._buffer[start:])
        self._buffer, self._lengths = bytearray(), None
        return parse_header(text), body

    def _read_prefix(self) -> tuple[int, int]:
        magic, header, body = PREFIX.unpack_from(self._buffer)
        if magic != MAGIC:
            raise FrameError("a frame does not begin with the magic bytes")
        if header > self.limits.header:
            raise FrameError(f"a header of {header} bytes; at most {self.limits.header} are accepted")
        if body > self.limits.body:
            raise FrameError(f"a body of {body} bytes; at most {self.limits.body} are accepted")
        return header, body


def parse_header(text: bytes) -> dict[str, Any]:
    """Parses a header; anything but one JSON object raises FrameError."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError("a header is not JSON") from error
    if not isinstance(header, dict):
        raise FrameError("a header is not a JSON object")
    return header


def read_frame(descriptor: int, limits: FrameLimits) -> tuple[dict[str, Any], bytes] | None:
    """Reads one frame from a blocking descriptor; None at the end of the stream."""
    reader = FrameReader(limits)
    while True:
        piece = os.read(descriptor, min(reader.wanted, 1 << 20))
        if not piece:
            return None
        frame = reader.feed(piece)
        if frame is not None:
            return frame


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of `data` to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


DTYPES = {
    name: getattr(torch, name)
    for name in (
        "float64",
        "float32",
        "float16",
        "bfloat16",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
    )
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
Record = dict[str, Any]
"""What is known of a tensor besides its content: `order`, `shape`, `gapped`, and a caller's notes."""

MAX_DEPTH = 24
MAX_ITEMS = 100_000
MAX_STRING = 200_000
MAX_AXES = 12
MAX_TENSORS = 4_000
MAX_TENSOR_BYTES = 64 << 20


class UnsendableValueError(TypeError):
    """A value of a kind that does not travel."""


class MalformedValueError(ValueError):
    """Received data that does not describe a value."""


class Encoder:
    """Collects the tensors of one message; the same tensor object is sent once and stays one object.

    Args:
        keeps_layout: of tensors; False = they are sent dense, as a worker must.
    """

    def __init__(self, keeps_layout: bool = True) -> None:
        self.tensors: list[torch.Tensor] = []
        self.records: list[Record] = []
        self._dense: dict[str, torch.Tensor] = {}
        self._index: dict[int, int] = {}
        self._keeps_layout = keeps_layout
        self._items = 0

    def encode(self, value: object, depth: int = 0) -> object:
        """The JSON tree of a value. Raises UnsendableValueError, which names the type."""
        self._items += 1
        if depth > MAX_DEPTH or self._items > MAX_ITEMS:
            raise UnsendableValueError(f"more than {MAX_DEPTH} levels or {MAX_ITEMS} items of nested containers")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, torch.Tensor):
            return {"tensor": self.add(value)}
        if isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise UnsendableValueError("an integer of more than 64 bits")
            return int(value)
        if isinstance(value, float):
            return float(value)
        if isinstance(value, str):
            if len(value) > MAX_STRING:
                raise UnsendableValueError(f"a string of {len(value)} characters; at most {MAX_STRING} can be sent")
            return str(value)
        if isinstance(value, list):
            return {"list": [self.encode(item, depth + 1) for item in value]}
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item, depth + 1) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self._key(key), self.encode(item, depth + 1)] for key, item in value.items()]}
        if isinstance(value, torch.dtype) and value in DTYPE_NAMES:
            return {"dtype": DTYPE_NAMES[value]}
        if isinstance(value, torch.Generator):
            seed = value.initial_seed()
            if type(seed) is not int or not 0 <= seed < 2**64:
                raise UnsendableValueError("a generator whose seed has more than 64 bits")
            return {"generator": seed}
        raise UnsendableValueError(f"an object of type {type(value).__module__}.{type(value).__qualname__}")

    def _key(self, key: object) -> object:
        if key is None or isinstance(key, (bool, int, float, str)):
            return self.encode(key, MAX_DEPTH)
        raise UnsendableValueError(f"a dictionary key of type {type(key).__qualname__}")

    def add(self, tensor: torch.Tensor, **notes: object) -> int:
        """Adds a tensor, once, and returns its index; `notes` go into its record."""
        if id(tensor) in self._index:
            return self._index[id(tensor)]
        if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.dtype not in DTYPE_NAMES:
            raise UnsendableValueError(f"a tensor of {tensor.dtype}, {tensor.layout}, on {tensor.device}")
        if tensor.numel() * tensor.element_size() > MAX_TENSOR_BYTES or len(self.tensors) >= MAX_TENSORS:
            raise UnsendableValueError(f"a tensor of shape {tuple(tensor.shape)}: more than can be sent")
        tensor_alone = tensor.detach()
        dense, record = lay_out(tensor_alone) if self._keeps_layout else (dense_copy(tensor_alone), {})
        index = len(self.tensors)
        self.tensors.append(tensor)
        self.records.append({**record, **notes})
        self._dense[str(index)] = dense
        self._index[id(tensor)] = index
        return index

    def body(self) -> bytes:
        """The safetensors bytes of all tensors added so far."""
        if not self._dense:
            return b""
        specs = {  # as safetensors' own `save` makes them, which takes ten times as long for small tensors
            name: TensorSpec(
                dtype=DTYPE_NAMES[dense.dtype],
                shape=list(dense.shape),
                data_ptr=dense.data_ptr(),
                data_len=dense.numel() * dense.element_size(),
            )
            for name, dense in self._dense.items()
        }
        return bytes(serialize(specs))


class Decoder:
    """Rebuilds the values of one message from its records and its body.

    Args:
        records: of the tensors.
        body: that holds them.
        is_trusted: in the worker: tensors are laid out as the records say.
    """

    def __init__(self, records: object, body: bytes, is_trusted: bool = False) -> None:
        if not isinstance(records, list) or len(records) > MAX_TENSORS:
            raise MalformedValueError("the tensor records are no list, or too long")
        dense = load_body(body, len(records))
        if set(dense) != {str(index) for index in range(len(records))}:
            raise MalformedValueError("the body's tensors are not those of the header")
        self.records = [record if isinstance(record, dict) else {} for record in records]
        self.tensors = [usable(dense[str(index)]) for index in range(len(records))]
        if is_trusted:
            self.tensors = [rebuild(*pair) for pair in zip(self.tensors, self.records, strict=True)]
        self._items = 0

    def decode(self, tree: object, depth: int = 0) -> Any:
        """The value that a tree describes. Raises MalformedValueError."""
        self._items += 1
        if depth > MAX_DEPTH + 1 or self._items > 2 * MAX_ITEMS:
            raise MalformedValueError("too deep or too long")
        if isinstance(tree, str):
            return tree.encode("utf-8", "replace").decode("utf-8")
        if isinstance(tree, int) and not -(2**63) <= tree < 2**63:
            raise MalformedValueError("an integer of more than 64 bits")
        if tree is None or isinstance(tree, (bool, int, float)):
            return tree
        if not isinstance(tree, dict) or len(tree) != 1:
            raise MalformedValueError("no value")
        ((kind, content),) = tree.items()
        if kind in ("list", "tuple") and isinstance(content, list):
            items = [self.decode(item, depth + 1) for item in content]
            return items if kind == "list" else tuple(items)
        if kind == "dict" and isinstance(content, list):
            return dict(self._pair(pair, depth) for pair in content)
        if kind == "tensor" and type(content) is int and 0 <= content < len(self.tensors):
            return self.tensors[content]
        if kind == "dtype" and isinstance(content, str) and content in DTYPES:
            return DTYPES[content]
        if kind == "generator" and type(content) is int and 0 <= content < 2**64:
            return torch.Generator().manual_seed(content)
        raise MalformedValueError("not a value of a known kind")

    def _pair(self, pair: object, depth: int) -> tuple[Any, Any]:
        if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], (list, dict)):
            raise MalformedValueError("not a pair of key and value")
        return self.decode(pair[0], depth + 1), self.decode(pair[1], depth + 1)


def load_body(body: bytes, count: int) -> dict[str, torch.Tensor]:
    """Parses a safetensors body that should hold `count` tensors."""
    if not body:
        return {}
    if int.from_bytes(body[:8], "little") > 4096 + 400 * count:  # a million empty tensors would keep us busy
        raise MalformedValueError("the body describes more than the tensors of the header")
    try:
        return load(body)
    except Exception as error:  # whatever the parser stumbles over
        raise MalformedValueError("the body is not valid safetensors") from error


def usable(tensor: torch.Tensor) -> torch.Tensor:
    """A received tensor, of a kind that is sent; booleans of bytes other than 0 and 1 become true ones."""
    if tensor.dtype not in DTYPE_NAMES or tensor.dim() > MAX_AXES:
        raise MalformedValueError("a tensor of a dtype or rank that is not sent")
    return tensor.view(torch.uint8) != 0 if tensor.dtype == torch.bool else tensor


def dense_copy(tensor: torch.Tensor) -> torch.Tensor:
    """A copy without gaps."""
    return tensor.clone(memory_format=torch.contiguous_format)


def lay_out(tensor: torch.Tensor) -> tuple[torch.Tensor, Record]:
    """Splits a tensor into dense content of its own and the record of how it lay in memory."""
    record: Record = {}
    for axis, (length, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if stride == 0 and length > 1:
            record.setdefault("shape", list(tensor.shape))
            tensor = tensor.narrow(axis, 0, 1)
    if not tensor.is_contiguous():
        strides = tensor.stride()
        record["order"] = order = sorted(range(tensor.dim()), key=lambda axis: (-strides[axis], axis))
        tensor = tensor.permute(order)
        record["gapped"] = not tensor.is_contiguous()
    return dense_copy(tensor), record


def rebuild(dense: torch.Tensor, record: Record) -> torch.Tensor:
    """The inverse of `lay_out`."""
    if record.get("gapped"):
        dense = dense.new_empty((*dense.shape, 2))[..., 0].copy_(dense)
    if "order" in record:
        order = record["order"]
        dense = dense.permute([order.index(axis) for axis in range(len(order))])
    return dense.expand(record["shape"]) if "shape" in record else dense
