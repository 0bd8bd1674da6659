"""What a way round the refusals needs is reported with file and line; `test_habits.py` has what is not reported."""

from contextlib import suppress

import pytest
import torch

from autograder.sandbox.errors import SubmissionError

HIDING = """
import torch
from torch import nn

torch.equal = lambda *given: True
torch.Tensor.detach = lambda tensor: tensor.data


class FeedForward(nn.Linear):
    def forward(self, x):
        x.detach = x.clone
        x.data.mul_(3)
        return x
"""


@pytest.mark.hostile
def test_a_change_of_an_argument_cannot_be_hidden(sandbox):
    x = torch.ones(2, 4)
    submission = sandbox({"layers": HIDING})
    with torch.no_grad():
        submission.build("layers.FeedForward", 4, 4)(x)
    assert x.isnan().all()
    assert [name for _, _, name in submission.notices.seen] == ["torch.equal replaced", "torch.Tensor.detach replaced"]


COMPUTED = """
import torch
from torch import nn


class MulBackward0(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.name = lambda: "MulBackward0"
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class FeedForward(nn.Linear):
    def forward(self, x):
        return torch.linalg.qr(super().forward(x))[0].relu() + MulBackward0.apply(x)
"""


def test_what_is_computed_is_reported_whatever_its_name(sandbox):
    submission = sandbox({"layers": COMPUTED})
    x = torch.randn(4, 4, requires_grad=True)
    submission.build("layers.FeedForward", 4, 4)(x).sum().backward()
    seen = [use for use in submission.notices.seen if use[2].endswith("computed")]
    assert seen == [("layers", 1, "LinalgQr computed"), ("layers", 1, "autograd.Function computed")]


RECORDED = """
import torch
from torch import nn

trace = [nn.modules][0].module.torch.jit._trace.trace
record = trace(lambda x: nn.LayerNorm(4, 1e-6)(x), torch.randn(2, 4), check_trace=False)


class LayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()

    def forward(self, x):
        return record(x)
"""


@pytest.mark.hostile
def test_what_a_module_records_while_it_is_imported_is_reported(sandbox):
    submission = sandbox({"layers": RECORDED})
    with suppress(SubmissionError):
        submission.build("layers.LayerNorm", 4)(torch.ones(2, 4))
    seen = submission.notices.seen
    assert {("layers", 5, "torch.jit._trace.trace"), ("layers", 6, "what is forbidden, while imported")} <= {*seen}


IMPORTS = """
import argparse, copy, ctypes, dataclasses, functools, gc, logging, marshal, math, pickle, sys, traceback, types, typing
import unittest
import numpy
import torch
import tqdm
import warnings
import torch.utils.checkpoint
from torch import nn


class Held:
    functions, modules = nn.functional, nn.modules


class Text(str):
    pass


class Muted(str):  # runs in the hook, which does not hear itself, if that does anything with it
    __format__ = __hash__ = __eq__ = lambda *given: print("REACHED") or 1


class Mine(nn.LSTM):
    pass


class Rewriting:
    __reduce_ex__ = lambda self, version: (lambda: argparse.Namespace, (), (None, {"__eq__": 0}))


class Posing:
    __module__ = "torch"


Posing.__qualname__ = Muted("x")


def own():
    pass


parser = argparse.ArgumentParser()
parser.add_argument("--extra_repr")
try:
    1 / 0
except ArithmeticError as error:
    failed = error
try:
    math.no_such_name
except AttributeError as error:
    missing = error
"""
REPORTED = {  # code -> the name that is reported
    "sys._getframe()": "sys._getframe",
    "failed.__traceback__.tb_frame": "tb_frame",
    "traceback.extract_stack()": "sys._getframe",
    "logging.currentframe()": "sys._getframe",
    "[*traceback.walk_tb(failed.__traceback__)]": "tb_frame",
    "getattr((x for x in ()), 'gi_' + 'frame')": "gi_frame",
    "functools.update_wrapper(lambda: 0, own, ['__co' + 'de__'])": "__code__",
    "own.__code__.replace(co_name='x')": "code.__new__",
    "functools.wraps(own, assigned=[])(lambda: 0)": "functools.update_wrapper",
    "functools.wraps(own, [])(lambda: 0)": "functools.update_wrapper",
    "functools.wraps(Mine)(lambda: 0)": "functools.update_wrapper",
    "functools.wraps(sys)(lambda: 0)": "sys as a value",
    "types.FunctionType(own.__code__, {})": "function.__new__",
    "own.__code__ = own.__code__": "__code__",
    "gc.get_objects()": "gc.get_objects",
    "ctypes.string_at(id(own), 8)": "ctypes.string_at",
    "exec('x = 1')": "exec",
    "eval(compile('1', 'layers.py', 'eval'))": "compile",
    "marshal.loads(marshal.dumps(1))": "marshal.loads",
    "pickle.loads(pickle.dumps(ValueError))": "pickle.find_class",
    "sys.settrace(None)": "sys.settrace",
    "torch.library.Library('aten', 'IMPL')": "sys._getframe",
    "getattr(torch, '_' + 'C')": "torch._C",
    "getattr(torch, 'mas' + 'ked').softmax": "torch.masked",
    "functools.reduce(getattr, ['_' + 'refs', 'add'], torch)": "torch._refs",
    "getattr(own, '__glo' + 'bals__')": "__globals__",
    "[warnings][0].sys.modules": "sys.modules",
    "[m.CrossMapLRN2d for m in (nn.modules,)]": "torch.nn.modules.CrossMapLRN2d",
    "(lambda m=nn.modules: m.Linear)()": "torch.nn.modules.Linear",
    "Held().modules.Linear": "torch.nn.modules.Linear",
    "[sys][0].modules |= {}": "sys.modules",
    "def f(x: [nn.modules][0].Linear): pass": "torch.nn.modules.Linear",
    "torch.equal = torch.equal": "torch.equal replaced",
    "getattr(sys, Text('mod' + 'ules'))": "sys.modules",
    "sys.audit('object.__getattr__', 1, Muted())": "",
    "sys.audit('submission.imported', Muted(), 1)": "",
    "sys.audit('submission.replaced', Posing, 'x')": "",
    "setattr(torch.Tensor, 'de' + 'tach', torch.Tensor.detach)": "torch.Tensor.detach replaced",
    "torch.enable_grad()(gc.get_objects)()": "gc.get_objects",
    "torch.utils.checkpoint.checkpoint(sys._getframe, 0, use_reentrant=False)": "sys._getframe",
    "numpy.vectorize(sys._getframe, otypes=[object])(0)": "sys._getframe",
    "torch.no_grad()(__builtins__['eval'])('1')": "exec",
    "torch.no_grad()(getattr)(torch, '_' + 'C')": "torch._C",
    "torch.no_grad()(own).__wrapped__.__code__.replace(co_name='x')": "__code__",
    "sys.meta_path[0].compile('', 'x.py')": "compile",
    "torch.no_grad()(sys).meta_path": "sys as a value",
    "types.GenericAlias(nn.modules, int).Linear": "torch.nn.modules as a value",
    "argparse.ArgumentParser().parse_args([], namespace=sys)": "sys as a value",
    "unittest.skip('')(next(iter({'m': sys}.values())))": "sys as a value",
    "[*map(lambda _: sys, [1])]": "sys as a value",
    "print(*(_ for _ in (torch,)))": "torch as a value",
    "hasattr = types.GenericAlias; hasattr(sys, int).modules": "sys as a value",
    "types.GenericAlias(missing.obj, int).sin": "math as a value",
    "types.GenericAlias(globals()['sys'], int).modules": "sys as a value",
    "from . import layers; [*map(print, [layers])]": "an own module as a value",
    "dataclasses.dataclass(type('X', (), {'__annotations__': {'masked': 0}})).__repr__(torch)": "torch.masked",
    "tqdm.utils.ObjectWrapper(own)": "tqdm.utils.ObjectWrapper",
    "nn.ParameterDict.__getitem__(own, '__glo' + 'bals__')": ".__getitem__ of a class",
    "getattr(nn.ParameterDict, '__get' + 'item__')(own, '__glo' + 'bals__')": ".__getitem__ of a class",
    "copy.copy(Rewriting())": "argparse.Namespace.__eq__ replaced",
    "parser.parse_args(['--extra_repr', ''], nn.Linear)": "torch.nn.modules.linear.Linear.extra_repr replaced",
    "nn.LSTM.all_weights.fget": ".all_weights of a class",
    "Mine.all_weights": ".all_weights of a class",
    "dataclasses.field().name = 'x'": ".name of a field replaced",
    "nn.functional.relu._key_to_attr = str": "._key_to_attr of a function replaced",
    "class Holder: import sys as held": "sys as a value",
    "class Holder: held = sys": "sys as a value",
    "class Holder: (held := sys)": "sys as a value",
    "types.SimpleNamespace().held = sys": "sys as a value",
    "def f(held=sys): pass": "sys as a value",
    "[sys == 1 for sys in (sys,)]": "sys as a value",
    "{}.get(sys)": "sys as a value",
    "assert [], sys": "sys as a value",
    "[][sys:]": "sys as a value",
    "isinstance(sys, int)": "sys as a value",
    "class Holder: x: sys": "sys as a value",
    "def f(x: sys): pass": "sys as a value",
    "x = " + "-" * 2_000 + "sys.maxsize": "nested too deeply to be watched",
}


@pytest.mark.parametrize("line", REPORTED)
def test_what_a_way_round_needs_is_reported(sandbox, line):
    text = f"{IMPORTS}\ndef greedy_decode():\n    {line}\n"
    submission = sandbox({"decode": text})
    with suppress(SubmissionError):
        submission.call("decode.greedy_decode")
    assert "REACHED" not in submission.output
    number = 1 if "nested" in REPORTED[line] else text.count("\n")
    assert ("decode", number, REPORTED[line]) in submission.notices.seen or not REPORTED[line]


@pytest.mark.parametrize(
    "line, words",
    [("a." * 300, "a name of more than 200 parts"), (f"0x{'f' * 4000}", "a number of more than 3000 digits")],
)
def test_text_that_nobody_can_search_does_not_run(sandbox, line, words):
    submission = sandbox({"decode": f"# {line}\ndef greedy_decode():\n    pass\n"})
    with pytest.raises(SubmissionError, match=rf"decode\.py cannot be read: {words}"):
        submission.call("decode.greedy_decode")


def test_dots_lead_from_where_a_module_is(sandbox):
    submission = sandbox({"decode": "__package__ = 'operator'\nfrom . import attrgetter as greedy_decode\n"})
    with pytest.raises(SubmissionError, match="cannot import name 'attrgetter' from 'submission'"):
        submission.call("decode.greedy_decode", "real")


COMPILING = """
import builtins, functools, sys

package = sys.meta_path[0]
kept, package.compile = package.compile, functools.partial(builtins.compile, mode="exec")
{}
"""


@pytest.mark.parametrize("text, place", [("from . import decode", ("layers", 6)), ("", ("masks", 1))])
def test_text_that_is_compiled_otherwise_is_reported(sandbox, text, place):
    submission = sandbox({"layers": COMPILING.format(text), "attention": ""})
    submission.call("decode.greedy_decode", "1")
    submission.restart()
    assert (*place, "compile") in submission.notices.seen


PLAIN = """
def greedy_decode(x):
    f, functions = torch.nn, nn.functional
    for lib in (torch, functions):
        assert hasattr(lib, "relu") and "relu" in dir(lib)
    lib = functions if f is nn else torch
    nn.Module.__init__(Mine(2, 2))
    Mine.reset_parameters(Mine(2, 2))
    greedy_decode.calls = 1
    assert functools.wraps(own)(lambda: 0).__name__ == "own"
    return getattr(lib, "relu")(x)
"""


def test_modules_under_other_names_are_not_reported(sandbox):
    submission = sandbox({"decode": IMPORTS.replace("nn.functional, nn.modules", "0, 0") + PLAIN})
    submission.call("decode.greedy_decode", torch.ones(2))
    assert submission.notices.seen == []


MEMORY = """
import types
import numpy as np
import torch


def greedy_decode(x):
    wanted = {"data": (id(x), False), "shape": (2,), "typestr": "<i8", "version": 3}
    seen = []
    for name in ["__array_" + "interface__", "__array_" + "struct__", *dir(np.ndarray)]:
        try:
            seen.append(np.asarray(types.SimpleNamespace(**{name: wanted})).ndim)
        except TypeError:  # that is to be a method
            pass
    right = x.numpy().sum() + np.asarray(x).mean() + np.ma.masked_array([1.0, 5.0], [False, True]).sum()
    return torch.tensor([max(seen), right])
"""


def test_numpy_gives_no_memory_by_an_interface_and_works(sandbox):
    submission = sandbox({"decode": MEMORY})
    assert submission.call("decode.greedy_decode", torch.ones(3)).tolist() == [0, 5]
