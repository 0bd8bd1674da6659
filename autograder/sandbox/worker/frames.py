"""Frames: what travels over the pipes between the trusted side and a worker. No torch, no pickle.

A frame is `magic, header length, body length | header (JSON) | body (safetensors, may be empty)`.
Both lengths are compared with limits before a single byte of the content is kept, so that a hostile peer can
neither make us allocate what it likes nor make us guess where a frame ends.
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from typing import Any

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
