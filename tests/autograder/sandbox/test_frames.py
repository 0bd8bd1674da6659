"""Frames: any split of the bytes gives the same frame; what is over the limits or out of shape is refused."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.sandbox.worker.frames import (
    MAGIC,
    PREFIX,
    FrameError,
    FrameLimits,
    FrameReader,
    pack,
    read_frame,
    write_all,
)

LIMITS = FrameLimits(header=1000, body=1000)


@settings(database=None)
@given(st.dictionaries(st.text(), st.integers()), st.binary(max_size=900), st.integers(1, 50))
def test_pieces_of_any_size_give_the_frame(header: dict, body: bytes, size: int):
    data = pack(header, body)
    if len(json.dumps(header)) > 900:
        return
    reader, frame = FrameReader(LIMITS), None
    while data:
        assert frame is None
        piece, data = data[: min(size, reader.wanted)], data[min(size, reader.wanted) :]
        frame = reader.feed(piece)
    assert frame == (header, body)


@pytest.mark.parametrize("header, body", [(1001, 0), (2**32 - 1, 0), (2, 1001), (2, 2**64 - 1)])
def test_lengths_over_the_limits_are_refused_before_the_content_comes(header: int, body: int):
    with pytest.raises(FrameError, match="accepted"):
        FrameReader(LIMITS).feed(PREFIX.pack(MAGIC, header, body))


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff\xff", b"1", b"[" * 900, b'{"a": ' + b"9" * 900 + b"}x"])
def test_a_header_that_is_no_object_is_refused(text: bytes):
    with pytest.raises(FrameError):
        FrameReader(LIMITS).feed(PREFIX.pack(MAGIC, len(text), 0) + text)


def test_other_bytes_are_refused():
    with pytest.raises(FrameError, match="magic"):
        FrameReader(LIMITS).feed(b"GET / HTTP/1.1\r\n\r\n")


def test_a_descriptor_gives_frames_until_its_end():
    reading, writing = os.pipe()
    write_all(writing, pack({"a": 1}) + pack({"b": 2}, b"xyz"))
    os.close(writing)
    frames = [read_frame(reading, LIMITS) for _ in range(3)]
    os.close(reading)
    assert frames == [({"a": 1}, b""), ({"b": 2}, b"xyz"), None]
