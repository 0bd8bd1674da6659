"""The ways round the trip-wires are reported with file and line; `test_habits.py` has what is not."""

import pytest
import torch

UNDO = """
import sys
import torch
from torch import nn
from torch.nn import functional as F


def undo():
    frame = getattr(sys, bytes.fromhex("5f6765746672616d65").decode())()
    while not hasattr(frame.f_locals.get("self"), "_prove"):
        frame = frame.f_back
    forbid = frame.f_locals["self"]._forbid_shortcuts
    for cell in getattr(forbid, "__{}__".format("closure")):
        [getattr(library, "reset")() for library in cell.cell_contents if hasattr(library, "reset")] if isinstance(
            cell.cell_contents, list
        ) else None


class LayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        undo()
        return getattr(F, "layer_" + "norm")(x, x.shape[-1:], self.gain, self.shift)


class FeedForward(LayerNorm):
    def forward(self, x):
        return x
"""


@pytest.mark.hostile
def test_kernels_that_were_put_back_are_reported_with_what_led_to_them(sandbox):
    submission = sandbox({"layers": UNDO})
    submission.build("layers.FeedForward", 4)(torch.ones(2, 4))
    x = torch.randn(2, 4)
    torch.testing.assert_close(submission.build("layers.LayerNorm", 4)(x), torch.layer_norm(x, (4,)))
    assert submission.notices.seen == [("layers", 9, "sys._getframe"), ("layers", 13, "__closure__")]
    submission.restart()
    assert submission.notices.unguarded == ["layers.LayerNorm"]


def test_kernels_refuse_after_an_ordinary_submission(sandbox):
    submission = sandbox({"decode": "def greedy_decode(x):\n    y = 2 * x\n    return y\n"})
    for _ in range(2):
        submission.build("layers.LayerNorm", 4)(torch.ones(2, 4))
        submission.build("layers.FeedForward", 4, 8)(torch.ones(2, 4))
        submission.apply("watch", "decode.greedy_decode", [torch.ones(1)], [[2, 2, "y", True]])  # as for E.6
        submission.restart()
    assert submission.notices.unguarded == [] and submission.notices.seen == []


IMPORTS = """
import collections, copy, ctypes, dataclasses, enum, functools, gc, inspect, logging, marshal, operator, pickle, sys
import traceback, types, typing, warnings
import torch
from torch import nn


def own():
    pass


hinted = type("A", (), {"__annotations__": {"x": "1 and int"}})
try:
    1 / 0
except ArithmeticError as error:
    failed = error
"""
REPORTED = {  # code -> the name that is reported
    "sys._getframe()": "sys._getframe",
    "inspect.currentframe()": "sys._getframe",
    "logging.currentframe()": "sys._getframe",
    "failed.__traceback__.tb_frame": "tb_frame",
    "[*traceback.walk_tb(failed.__traceback__)]": "tb_frame",
    "getattr((x for x in ()), 'gi_' + 'frame')": "gi_frame",
    "match own:\n        case object(__code__=x): pass": "__code__",
    "operator.attrgetter('__co' + 'de__')(own)": "__code__",
    "functools.update_wrapper(lambda: 0, own, ['__co' + 'de__'])": "__code__",
    "own.__code__.replace(co_name='x')": "code.__new__",
    "types.FunctionType(own.__code__, {})": "function.__new__",
    "own.__code__ = own.__code__": "__code__",
    "gc.get_objects()": "gc.get_objects",
    "ctypes.string_at(id(own), 8)": "ctypes.string_at",
    "exec('x = 1')": "exec",
    "eval(compile('1', 'layers.py', 'eval'))": "compile",
    "typing.get_type_hints(hinted)": "exec",
    "marshal.loads(marshal.dumps(1))": "marshal.loads",
    "pickle.loads(pickle.dumps(ValueError))": "pickle.find_class",
    "sys.settrace(None)": "sys.settrace",
    "torch.library.Library('aten', 'IMPL')": "sys._getframe",
    "getattr(torch, '_' + 'C')": "torch._C",
    "functools.reduce(getattr, ['_' + 'refs', 'add'], torch)": "torch._refs",
    "getattr(own, '__glo' + 'bals__')": "__globals__",
}


@pytest.mark.parametrize("line", REPORTED)
def test_what_a_way_round_needs_is_reported(sandbox, line):
    text = f"{IMPORTS}\ndef greedy_decode():\n    {line.replace(chr(10), chr(10) + 4 * ' ')}\n"
    submission = sandbox({"decode": text})
    submission.call("decode.greedy_decode")
    assert ("decode", text.count("\n"), REPORTED[line]) in submission.notices.seen
