"""The protocol: frames, values and replies arrive as they were; whatever a submission forges is refused as such."""

import contextlib
import io

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.replies import Answer, Failure, read_call, read_gradients, read_object, read_reply
from autograder.sandbox.worker.messages import MAGIC, PREFIX, Decoder, Encoder, ProtocolError, pack, read_frame

LIMITS = 1000, 1000


def read(data: bytes) -> tuple[dict, bytes]:
    return read_frame(io.BytesIO(data).read, LIMITS)


def test_a_frame_is_read_and_not_a_byte_more():
    stream = io.BytesIO(pack({"a": 1}, b"body") + pack({}))
    frames = [read_frame(stream.read, LIMITS) for _ in range(2)]
    assert frames == [({"a": 1}, b"body"), ({}, b"")]
    with pytest.raises(EOFError):
        read_frame(stream.read, LIMITS)


@pytest.mark.parametrize("header, body", [(1001, 0), (2**32 - 1, 0), (2, 1001), (2, 2**64 - 1)])
def test_lengths_over_the_limits_are_refused_before_the_content_comes(header: int, body: int):
    with pytest.raises(ProtocolError, match="accepted"):
        read(PREFIX.pack(MAGIC, header, body))


HEADERS = [b"", b"[]", b"{", b"\xff\xff", b"1", b"[" * 900, b'{"a": ' + b"9" * 900 + b"}x"]


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", *(PREFIX.pack(MAGIC, len(t), 0) + t for t in HEADERS)])
def test_a_header_that_is_no_object_is_refused(data: bytes):
    with pytest.raises(ProtocolError):
        read(data)


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers(0, 9), inner, max_size=4)
    ),
    max_leaves=20,
)
TENSORS = {
    "dense": torch.randn(3, 4),
    "scalar": torch.tensor(2.5),
    "empty": torch.zeros(0, 3),
    "expanded": torch.randn(1, 4).expand(3, 4),
    "expanded and permuted": torch.randn(2, 1, 3).permute(2, 1, 0).expand(3, 5, 2),
    "gapped": torch.randn(3, 8)[:, :5],
    "cut and transposed": torch.randn(4, 3, 6).transpose(0, 2)[:, 1:, :3],
    "bfloat": torch.randn(3).bfloat16(),
    "bool": torch.tensor([True, False]),
}


def travel(value: object) -> object:
    encoder = Encoder()
    tree = encoder.encode(value)
    return Decoder(encoder.records, encoder.body(), is_trusted=True).decode(tree)


@given(TREES)
def test_plain_values_arrive_as_they_were(value: object):
    arrived = travel(value)
    assert arrived == value and repr(arrived) == repr(value)


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_arrive_equal_and_laid_out_alike(name: str):
    sent = TENSORS[name]
    arrived = travel(sent)
    assert arrived.dtype == sent.dtype and arrived.shape == sent.shape and torch.equal(arrived, sent)
    assert arrived.stride() == sent.stride()


def test_a_generator_arrives_in_the_worker_and_none_comes_from_it():
    assert travel(torch.Generator().manual_seed(77)).initial_seed() == 77
    with pytest.raises(ProtocolError):
        Decoder([], b"").decode({"generator": 77})


def test_what_a_worker_answers_is_dense_whatever_it_says_of_it():
    encoder = Encoder()
    encoder.add(torch.randn(3, 4).t())
    (tensor,) = Decoder([{"strides": [10**9, 4]}], encoder.body()).tensors
    assert tensor.shape == (4, 3) and tensor.is_contiguous()


@pytest.mark.parametrize("body", [b"x", b"\xff" * 100, b"\x08\0\0\0\0\0\0\0{}      ", b"\0" * 8])
def test_bodies_that_are_no_safetensors_are_refused(body: bytes):
    with pytest.raises(ProtocolError):
        Decoder([{}], body)


DEEP: object = 1
for _ in range(500):
    DEEP = {"list": [DEEP]}


NO_VALUES = [{}, [], {"list": 3}, {"tensor": 0}, {"generator": 1}, {"dict": [[1]]}, {"dict": [[{"list": []}, 1]]}]


@pytest.mark.parametrize("tree", [*NO_VALUES, 10**30, DEEP])
def test_trees_that_are_no_values_are_breaches(tree: object):
    with pytest.raises(ProtocolError):
        Decoder([], b"").decode(tree)


def test_half_a_surrogate_becomes_a_question_mark():
    assert Decoder([], b"").decode("a\ud800b") == "a?b"


def test_a_boolean_of_other_bytes_becomes_a_real_one():
    encoder = Encoder()
    encoder.add(torch.tensor([1, 0, 1], dtype=torch.uint8).view(torch.bool))
    body = bytearray(encoder.body())
    body[-8:] = body[-8:].replace(b"\x01", b"\x07")
    (tensor,) = Decoder([{}], bytes(body)).tensors
    assert tensor.view(torch.uint8).tolist() == [1, 0, 1]


FIELDS = ["list", "tuple", "dict", "tensor", "kind", "message", "frames", "value", "graph", "changed", "place"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["id", "result", "tensors", "error"]), JSON), st.binary(max_size=20))
def test_any_header_is_a_reply_or_a_breach(header: dict, body: bytes):
    try:
        reply = read_reply(header, body, 1)
    except ProtocolError:
        return
    assert isinstance(reply, (Answer, Failure))


@given(JSON)
def test_any_result_is_read_or_a_breach(result: object):
    answer = Answer(1, result, Decoder([], b""))
    for read in (
        lambda: read_object(answer),
        lambda: read_call(answer, [torch.zeros(2)] * 2),
        lambda: read_gradients(answer, [(torch.Size([2]), torch.float32)]),
        lambda: answer.decoder.decode(result),
    ):
        with contextlib.suppress(ProtocolError):
            read()


@pytest.mark.parametrize(
    "header",
    [
        {"id": 2, "result": None, "tensors": []},
        {"id": True, "result": None, "tensors": []},
        {"result": None, "tensors": []},
        {"id": 1, "result": None, "tensors": [], "more": 1},
        {"id": 1, "error": {"kind": "ValueError", "message": "x", "frames": [["a.py", "1", "f"]]}},
        {"id": 1, "error": {"kind": 1, "message": "x", "frames": []}},
        {"id": 1, "error": {"kind": "", "message": "x", "frames": [["a.py", 1, "f"]] * 17}},
        {"id": 1, "error": "x"},
    ],
)
def test_forged_replies_are_breaches(header: dict):
    with pytest.raises(ProtocolError):
        read_reply(header, b"", 1)


def reply_with(*parameters: torch.Tensor) -> Decoder:
    encoder = Encoder()
    for parameter in parameters:
        encoder.add(parameter)
    return Decoder(encoder.records, encoder.body())


@pytest.mark.parametrize("value", [torch.zeros(3), torch.zeros(2, dtype=torch.float64), torch.zeros(2, 1)])
def test_gradients_of_another_shape_or_dtype_are_breaches(value: torch.Tensor):
    with pytest.raises(ProtocolError):
        read_gradients(Answer(1, [0], reply_with(value)), [(torch.Size([2]), torch.float32)])


def test_a_body_of_very_many_tensors_is_not_even_parsed():
    text = b'{"' + b" " * 500_000 + b'":1}'
    with pytest.raises(ProtocolError, match="more than the tensors"):
        read_reply({"id": 1, "result": None, "tensors": []}, len(text).to_bytes(8, "little") + text, 1)


@pytest.mark.parametrize(
    "parameters",
    [
        [torch.ones(2, dtype=torch.int64)],
        [torch.ones(2, dtype=torch.bool)],
        [torch.ones(0)],
        [torch.zeros(1 << 20), torch.zeros(2 << 20)],
        [torch.zeros(1) for _ in range(1001)],
    ],
)
def test_parameters_that_no_module_of_a_test_has_are_breaches(parameters: list):
    reply = {"module": True, "training": True, "names": ["p"] * len(parameters)}
    with pytest.raises(ProtocolError, match="parameter|ObjectReply"):
        read_object(Answer(1, reply, reply_with(*parameters)))
