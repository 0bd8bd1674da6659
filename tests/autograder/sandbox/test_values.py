"""Values: what travels arrives equal and lies in memory alike; what does not is refused on either side."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.sandbox.worker.values import Decoder, Encoder, MalformedValueError, UnsendableValueError

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
    "transposed": torch.randn(3, 4).t(),
    "permuted": torch.randn(2, 3, 4, 5).permute(2, 0, 3, 1),
    "expanded": torch.randn(1, 4).expand(3, 4),
    "expanded scalar": torch.tensor(1.0).expand(2, 3),
    "expanded and permuted": torch.randn(2, 1, 3).permute(2, 1, 0).expand(3, 5, 2),
    "gapped": torch.randn(3, 8)[:, :5],
    "strided": torch.randn(12)[::3],
    "cut and transposed": torch.randn(4, 3, 6).transpose(0, 2)[:, 1:, :3],
    "double": torch.randn(3, dtype=torch.float64),
    "half": torch.randn(3).half(),
    "bfloat": torch.randn(3).bfloat16(),
    "long": torch.arange(4),
    "bool": torch.tensor([True, False]),
}


def travel(value: object) -> object:
    encoder = Encoder()
    tree = encoder.encode(value)
    return Decoder(encoder.records, encoder.body()).decode(tree)


@settings(deadline=None, database=None)
@given(TREES)
def test_plain_values_arrive_as_they_were(value: object):
    arrived = travel(value)
    assert arrived == value and repr(arrived) == repr(value)


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_arrive_equal_and_laid_out_alike(name: str):
    sent = TENSORS[name]
    arrived = travel(sent)
    assert arrived.dtype == sent.dtype and arrived.shape == sent.shape and torch.equal(arrived, sent)
    assert arrived.is_contiguous() == sent.is_contiguous()
    assert [s == 0 for s in arrived.stride()] == [s == 0 for s in sent.stride()]
    if name not in ("gapped", "strided", "cut and transposed"):
        assert arrived.stride() == sent.stride()


def test_one_tensor_stays_one():
    tensor = torch.randn(3)
    first, (second, other) = travel([tensor, (tensor, tensor.clone())])
    assert first is second and first is not other


def test_dtypes_and_generators_arrive():
    dtype, generator = travel([torch.float64, torch.Generator().manual_seed(77)])
    assert dtype is torch.float64 and generator.initial_seed() == 77


@pytest.mark.parametrize(
    "value, words",
    [
        (object(), "builtins.object"),
        (2**63, "64 bits"),
        (torch.ones(1, dtype=torch.complex64), "complex64"),
        (torch.eye(2).to_sparse(), "sparse"),
        (torch.ones(1).expand(10**9), "more than can be sent"),
        ({(1, 2): 3}, "key of type tuple"),
        (b"bytes", "bytes"),
        ("x" * 300_000, "300000 characters"),
    ],
)
def test_what_does_not_travel_is_named(value: object, words: str):
    with pytest.raises(UnsendableValueError, match=words):
        travel(value)


def test_a_circle_is_refused():
    value: list = []
    value.append(value)
    with pytest.raises(UnsendableValueError):
        travel(value)


@pytest.mark.parametrize(
    "record",
    [
        {"order": [0, 0]},
        {"order": [0]},
        {"order": [-1, 0]},
        {"order": [True, False]},
        {"order": "01"},
        {"shape": [3]},
        {"shape": [10**9, 4]},
        {"shape": [-1, 4]},
        {"shape": [3.0, 4]},
        {"shape": [6, 4]},
        {"shape": [0, 4]},
    ],
)
def test_records_that_describe_no_tensor_are_refused(record: dict):
    encoder = Encoder()
    encoder.add(torch.randn(3, 4))
    with pytest.raises(MalformedValueError):
        Decoder([record], encoder.body())


@pytest.mark.parametrize("body", [b"x", b"\xff" * 100, b"\x08\0\0\0\0\0\0\0{}      ", b"\0" * 8])
def test_bodies_that_are_no_safetensors_are_refused(body: bytes):
    with pytest.raises(MalformedValueError):
        Decoder([{}], body)


@pytest.mark.parametrize(
    "tree",
    [
        {},
        [],
        {"list": 3},
        {"tensor": 0},
        {"tensor": -1},
        {"tensor": True},
        {"handle": 1},
        {"dtype": "object"},
        {"dtype": ["float32"]},
        {"dict": [[1]]},
        {"dict": [[{"list": []}, 1]]},
        {"list": [], "tuple": []},
        10**30,
    ],
)
def test_trees_that_are_no_values_are_refused(tree: object):
    with pytest.raises(MalformedValueError):
        Decoder([], b"").decode(tree)


def test_a_deep_tree_is_refused():
    tree: object = 1
    for _ in range(500):
        tree = {"list": [tree]}
    with pytest.raises(MalformedValueError):
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
