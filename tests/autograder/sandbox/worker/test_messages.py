"""The protocol: frames, values and replies arrive as they were; whatever a submission forges is refused as such."""

import io
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import pytest
import torch

from autograder.own_work.own_tests import read_verdicts
from autograder.sandbox.replies import Answer, read_call, read_gradients, read_object, read_reply
from autograder.sandbox.worker.messages import MAGIC, PREFIX, Decoder, Encoder, ProtocolError, read_frame
from autograder.sandbox.worker.running import MAX_PARAMETERS

LIMITS = 1000, 1000
PAIR = [(torch.Size([2]), torch.float32)]


LENGTHS = [(1001, 0), (2**32 - 1, 0), (2, 1001), (2, 2**64 - 1)]
HEADERS = [b"", b"[]", b"{", b"\xff\xff", b"1", b"[" * 900, b'{"a": ' + b"9" * 900 + b"}x"]
NO_FRAMES = [b"GET / HTTP/1.1\r\n\r\n", *(PREFIX.pack(MAGIC, *lengths) for lengths in LENGTHS)]


@pytest.mark.parametrize("data", [*NO_FRAMES, *(PREFIX.pack(MAGIC, len(text), 0) + text for text in HEADERS)])
def test_what_is_no_frame_is_refused_before_more_of_it_is_read_than_the_limits_allow(data: bytes):
    asked = []
    stream = io.BytesIO(data)
    with pytest.raises(ProtocolError):
        read_frame(lambda size: (asked.append(size), stream.read(size))[1], LIMITS)
    assert sum(asked) <= PREFIX.size + sum(LIMITS)


VALUES = [None, True, -(2**63), 2**63 - 1, 0.1, "\x00é", [], (), {}, [(1, [2.5, ("a",)]), {"b": {3: [None]}}]]
TENSORS = {
    "dense": torch.randn(3, 4),
    "empty": torch.zeros(0, 3),
    "expanded and permuted": torch.randn(2, 1, 3).permute(2, 1, 0).expand(3, 5, 2),
    "cut and transposed": torch.randn(4, 3, 6).transpose(0, 2)[:, 1:, :3],
    "bfloat": torch.randn(3).bfloat16(),
}


def decoder_of(*tensors: torch.Tensor, **changes: object) -> Decoder:
    """Decodes tensors, with other records of them."""
    encoder = Encoder()
    for tensor in tensors:
        encoder.add(tensor)
    return Decoder([{**record, **changes} for record in encoder.records], encoder.body())


def travel(value: object) -> object:
    encoder = Encoder()
    tree = encoder.encode(value)
    return Decoder(encoder.records, encoder.body(), is_trusted=True).decode(tree)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_arrive_as_they_were(value: object):
    arrived = travel(value)
    assert arrived == value and repr(arrived) == repr(value)


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_arrive_equal_and_laid_out_alike(name: str):
    tensor = TENSORS[name]
    arrived = travel(tensor)
    assert arrived.dtype == tensor.dtype and arrived.shape == tensor.shape and torch.equal(arrived, tensor)
    assert arrived.stride() == tensor.stride()


def test_what_does_not_travel_is_named_with_its_place():
    with pytest.raises(TypeError, match=r"^\['1\.2'\]\['input'\]\[1\]: an object of type fractions\.Fraction$"):
        Encoder().encode({"1.2": {"line": 3, "input": [1, Fraction(1, 2)]}})
    with pytest.raises(TypeError, match="^an object of type"):
        Encoder().encode(Fraction(1, 2))


def test_what_a_worker_answers_is_dense_and_of_real_values_whatever_it_says():
    [tensor] = decoder_of(torch.randn(3, 4).t(), strides=[10**9, 4]).tensors
    assert tensor.shape == (4, 3) and tensor.is_contiguous()
    [tensor] = Decoder([{"dtype": "bool", "shape": [2]}], b"\x07".ljust(8, b"\0")).tensors
    assert tensor.view(torch.uint8).tolist() == [1, 0]
    assert Decoder([], b"").decode("a\ud800b") == "a?b"


DEEP: object = 1
for _ in range(500):
    DEEP = {"list": [DEEP]}
NO_VALUES = [{}, [], {"list": 3}, {"tensor": 0}, {"generator": 1}, {"dict": [[1]]}, {"dict": [[{"list": []}, 1]]}]
NO_REPLIES = [
    {"id": 2, "result": None, "tensors": []},
    {"id": True, "result": None, "tensors": []},
    {"result": None, "tensors": []},
    {"id": 1, "result": None, "tensors": [], "more": 1},
    {"id": 1, "error": {"kind": "ValueError", "message": "x", "frames": [["a.py", "1", "f"]]}},
    {"id": 1, "error": {"kind": 1, "message": "x", "frames": []}},
    {"id": 1, "error": {"kind": "", "message": "x", "frames": [["a.py", 1, "f"]] * 17}},
    {"id": 1, "error": "x"},
]
NO_TENSORS = [  # with a body of eight bytes
    *({"dtype": "int64", "shape": shape} for shape in ([], [2], [-1], [-1, -1], [10**30], [True], ["1"], None)),
    *({"dtype": dtype, "shape": [1]} for dtype in ("float32 ", "complex64", 3, None)),
    {"dtype": "int64", "shape": [1] * 13},
    *({"dtype": "int64", "shape": shape} for shape in ([0, 2**62], [0, *[2**26] * 3])),
    *(1, None, []),
]
NO_PARAMETERS = [  # whole numbers, truth values, empty, large, many
    *([torch.ones(2, dtype=dtype)] for dtype in (torch.int64, torch.bool)),
    *([torch.ones(0)], [torch.zeros(1 << 20), torch.zeros(2 << 20)]),
    [torch.zeros(1) for _ in range(MAX_PARAMETERS + 1)],
]
NO_GRADIENTS = [torch.zeros(3), torch.zeros(2, dtype=torch.float64), torch.zeros(2, 1)]
NO_CHANGES = [[True], ["0"], 0, None]
NO_VERDICTS = [], [1], None, "ab", [[True]]


def forged() -> Iterator[Callable[[], object]]:
    """Readings of what a worker may have forged."""
    for tree in (*NO_VALUES, 10**30, DEEP):
        yield partial(Decoder([], b"").decode, tree)
    for header in NO_REPLIES:
        yield partial(read_reply, header, b"", 1)
    for tensor in NO_TENSORS:
        header = {"id": 1, "result": None, "tensors": [{"dtype": "int64", "shape": [1]}, tensor]}
        yield partial(read_reply, header, b"12345678", 1)
    for parameters in NO_PARAMETERS:
        reply = {"training": True, "names": ["p"] * len(parameters)}
        yield partial(read_object, Answer(1, reply, decoder_of(*parameters)))
    for value in NO_GRADIENTS:
        yield partial(read_gradients, Answer(1, [0], decoder_of(value)), PAIR)
    for verdicts in NO_VERDICTS:
        yield partial(read_verdicts, Answer(1, verdicts, Decoder([], b"")))
    for changed in NO_CHANGES:
        reply = {"value": None, "graph": False, "changed": changed, "rewritten": []}
        yield partial(read_call, Answer(1, reply, Decoder([], b"")))


@pytest.mark.parametrize("read", [*forged()])
def test_what_is_forged_is_refused(read: Callable[[], object]):
    with pytest.raises(ProtocolError):
        read()
