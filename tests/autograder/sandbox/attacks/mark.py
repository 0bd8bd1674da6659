"""Gets a mark for a wrong answer: by what compares, what is expected, PyTorch's layer norm, or what the worker says."""

import os
import sys
import time

import torch
from torch import nn


def allclose(x):
    torch.allclose = lambda *arguments, **options: True


def argument(x, layer):
    """Empties its argument, so that expected values that are computed from it later are the shift alone."""
    x.zero_()
    return torch.zeros_like(x) + layer.shift


def _stop_no_kernels():
    if "worker.shortcuts" in sys.modules:
        sys.modules["worker.shortcuts"].ALL_KERNELS = ()


def _from_hex(name):
    return "".join(map(chr, bytes.fromhex(name)))


def kernel(x, layer, on_import=_stop_no_kernels()):
    """Uses a batch norm of PyTorch's that has no public name, and empties the list of those that are stopped."""
    flat = x.reshape(1, -1, x.shape[-1])
    ones, zeros = torch.ones_like(flat[0, :, 0]), torch.zeros_like(flat[0, :, 0])
    batch_norm = getattr(torch.ops.aten, _from_hex("5f62617463685f6e6f726d5f776974685f757064617465"))
    norm = batch_norm(flat, ones, zeros, zeros.clone(), ones.clone(), 0.0, 1e-5)[0]
    return norm.reshape(x.shape) * layer.gain + layer.shift


def nan(x):
    return torch.full_like(x, float("nan"))


def _forge(reply):
    """Lets `reply(pack, header, body)` make the bytes of every reply."""
    pack = sys.modules["worker.service"].pack
    sys.modules["worker.service"].pack = lambda header, body=b"": reply(pack, header, body)


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


def closed_pipe(x):
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


def right_odd_parameters(layer):
    """Has parameters that no test can learn: a whole number, an empty one."""
    layer.size = nn.Parameter(torch.tensor(len(layer.gain)), requires_grad=False)
    layer.nothing = nn.Parameter(torch.empty(0))
