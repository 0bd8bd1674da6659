"""Replies that a submission has forged: each is a breach or a plain failure, never another exception."""

import contextlib

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.sandbox.replies import (
    BreachError,
    Failure,
    read_call,
    read_gradients,
    read_object,
    read_reply,
    read_value,
)
from autograder.sandbox.worker.values import Decoder, Encoder

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "result", "tensors", "error", "kind", "message", "frames", "value", "graph", "changed", "place"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, database=None)
@given(st.dictionaries(st.sampled_from(["id", "result", "tensors", "error"]), JSON), st.binary(max_size=20))
def test_any_header_is_a_reply_or_a_breach(header: dict, body: bytes):
    try:
        reply = read_reply(header, body, 1)
    except BreachError:
        return
    assert isinstance(reply, (tuple, Failure))


@settings(deadline=None, database=None)
@given(JSON)
def test_any_result_is_read_or_a_breach(result: object):
    decoder = Decoder([], b"")
    for read in (
        lambda: read_object(result, decoder),
        lambda: read_call(result, decoder, 2),
        lambda: read_gradients(result, decoder, [(torch.Size([2]), torch.float32)]),
    ):
        with contextlib.suppress(BreachError):
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
        {"id": 1, "error": "x"},
    ],
)
def test_forged_replies_are_breaches(header: dict):
    with pytest.raises(BreachError):
        read_reply(header, b"", 1)


@pytest.mark.parametrize("value", [torch.zeros(3), torch.zeros(2, dtype=torch.float64), torch.zeros(2, 1)])
def test_gradients_of_another_shape_or_dtype_are_breaches(value: torch.Tensor):
    encoder = Encoder()
    encoder.add(value)
    decoder = Decoder(encoder.records, encoder.body())
    with pytest.raises(BreachError):
        read_gradients([0], decoder, [(torch.Size([2]), torch.float32)])


def test_a_body_of_very_many_tensors_is_not_even_parsed():
    text = b'{"' + b" " * 500_000 + b'":1}'
    with pytest.raises(BreachError, match="more than the tensors"):
        read_reply({"id": 1, "result": None, "tensors": []}, len(text).to_bytes(8, "little") + text, 1)


def reply_with(*parameters: torch.Tensor) -> Decoder:
    encoder = Encoder()
    for parameter in parameters:
        encoder.add(parameter)
    return Decoder(encoder.records, encoder.body())


@pytest.mark.parametrize(
    "parameters",
    [
        [torch.ones(2, dtype=torch.int64)],
        [torch.ones(2, dtype=torch.bool)],
        [torch.ones(0)],
        [torch.zeros(1).expand(1 << 20), torch.zeros(1).expand(2 << 20)],
        [torch.zeros(1) for _ in range(1001)],
    ],
)
def test_parameters_that_no_module_of_a_test_has_are_breaches(parameters: list):
    reply = {"object": 1, "module": True, "training": True, "names": ["p"] * len(parameters)}
    with pytest.raises(BreachError, match="parameter"):
        read_object(reply, reply_with(*parameters))


def test_expanded_tensors_count_as_large_as_they_look():
    encoder = Encoder()
    for _ in range(20):
        encoder.add(torch.zeros(1).expand(8 << 20))
    with pytest.raises(BreachError, match="too large together"):
        read_reply({"id": 1, "result": None, "tensors": encoder.records}, encoder.body(), 1)


@settings(deadline=None, database=None)
@given(st.fixed_dictionaries({"generator": st.integers()}) | JSON)
def test_any_value_is_decoded_or_a_breach(tree: object):
    with contextlib.suppress(BreachError):
        read_value(tree, Decoder([], b""))


@pytest.mark.parametrize("seed", [10**40, -1, 2**64])
def test_a_generator_of_an_odd_seed_is_a_breach(seed: int):
    with pytest.raises(BreachError):
        read_value({"tuple": [{"generator": seed}]}, Decoder([], b""))
