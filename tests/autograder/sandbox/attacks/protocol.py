"""Answers the trusted side with what no worker would send; a naive grader has no protocol to attack."""

import os
import sys
import time

import torch
from torch import nn


def _forge(reply):
    """Lets `reply(pack, header, body)` make the bytes of every reply."""
    pack = sys.modules["worker.service"].pack
    sys.modules["worker.service"].pack = lambda header, body=b"": reply(pack, header, body)


def _forge_result(kind, change):
    """Lets `change(header)` alter every reply whose result is of that kind."""

    def reply(pack, header, body):
        if isinstance(header.get("result"), kind):
            change(header)
        return pack(header, body)

    _forge(reply)


def _frame(text):
    """The bytes of a frame with such a header and no body."""
    return sys.modules["worker.messages"].PREFIX.pack(b"TAK1", len(text), 0) + text


def _write_everywhere(data, descriptors=range(3, 64)):
    """Writes into whatever descriptors there are."""
    for descriptor in descriptors:
        try:
            os.write(descriptor, data)
        except OSError:
            continue


def _make_right(layer):
    """Lets a layer normalise, so that nothing but its parameters is odd."""

    def normalise(x):
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return layer.gain * centred / torch.sqrt(variance + layer.epsilon) + layer.shift

    layer.forward = normalise


def changed_nowhere(x):
    """Says that an argument was changed at a place that is none."""
    _forge_result(dict, lambda header: header["result"].update(changed=[0], place=["layers.py", True]))


def closed_pipe(x):
    """Closes the pipe of replies and lives on."""
    os.closerange(3, 4096)
    while True:
        pass


def error_kinds(x):
    """Describes errors of kinds that would end the grader."""
    frames = [["layers.py", 10**9, "evil\n"], ["../../etc/passwd", 1, "f"]]
    error = {"kind": "KeyboardInterrupt", "message": "stop", "frames": frames}
    _forge(lambda pack, header, body: pack({"id": header["id"], "error": error}))


def expanded_parameters(layer):
    """Has 300 parameters that take no memory here, being expanded, and 64 MB each in a grader that copies them."""
    for index in range(300):
        large = torch.zeros(1, dtype=torch.float16).expand(32 << 20)
        layer.register_parameter(f"p{index}", nn.Parameter(large, requires_grad=False))
    _make_right(layer)


def generator(x):
    """Returns a generator whose seed has 130 bits."""

    def change(header):
        if "value" in header["result"]:
            header["result"]["value"] = {"generator": 10**40}

    _forge_result(dict, change)
    return _Generator()


class _Generator(torch.Generator):
    def initial_seed(self):
        return 10**40


def half_frame(x):
    """Sends the beginning of a frame and then nothing, for ever."""
    _write_everywhere(b"TAK1\x10\0\0\0")
    while True:
        pass


def many_parameters(layer):
    """Has so many parameters that a grader has no end of roles to try for them."""
    layer.more = nn.ParameterList([nn.Parameter(torch.ones_like(layer.gain)) for _ in range(3_500)])
    _make_right(layer)


def replies_ahead(x):
    """Answers requests that have not been made yet, with results of its choice."""
    pack = sys.modules["worker.messages"].pack
    result = {"value": True, "graph": False, "changed": [], "place": None}
    for number in range(200):
        _write_everywhere(pack({"id": number, "result": result, "tensors": []}))


def trickle(x):
    """Sends a frame byte by byte, slowly."""
    while True:
        for byte in b"TAK1" + (1000).to_bytes(4, "little") + bytes(8):
            _write_everywhere(bytes([byte]), range(3, 8))
            time.sleep(0.05)


def two_replies(x):
    """Answers twice, so that each later request finds the answer to the one before."""
    _forge(lambda pack, header, body: pack(header, body) * 2)


def whole_number_parameters(layer):
    """Says that it has parameters of whole numbers."""
    del layer.shift
    layer.table = nn.Parameter(torch.ones(layer.gain.shape, dtype=torch.int64), requires_grad=False)
    sys.modules["worker.inspection"].LEARNED += (torch.int64,)
