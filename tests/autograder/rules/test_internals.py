"""Uses of internals are listed with their places; ordinary code has none."""

import pytest

from autograder.classroom.entries import Member, Roll
from autograder.classroom.marks import mark_of, results_of
from autograder.grading.recording import Finished, Found, Recorder
from autograder.reports.class_summary import as_class_table
from autograder.reports.pages.class_page import cases
from autograder.reports.terminal import as_table
from autograder.rules import ShortCut, find_internals
from autograder.sources import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON

ASSIGNMENT = read_assignment()
FORBIDDEN = ASSIGNMENT.contract.forbidden


def names(text, **more):
    sources = {"layers": ("layers.py", text), **{name: (f"{name}.py", code) for name, code in more.items()}}
    return [use.name for use in find_internals(sources, sources, FORBIDDEN)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import torch\nx = torch._refs.add(1, 2)", "torch._refs.add"),
        ("from torch._decomp import decompositions as d\nx = d.gelu", "torch._decomp.decompositions.gelu"),
        ("import torch as t\ny = getattr(t, '_' + 'C')", "getattr with a computed name"),
        ("import torch\nclass A:\n    def f(self, x):\n        return torch.vmap(x)", "torch.vmap"),
        (
            "import torch\nA = torch.ops.aten.add.default\ndef f(x):\n    return x._op_dk(1)",
            "torch.ops.aten.add.default",
        ),
        ("def f(x):\n    return x.decompose()", ".decompose"),
        ("import inspect\nexec(inspect.getsource(f))", "builtins.exec"),
        ("import sys\ndef f():\n    return sys._getframe(1)", "sys._getframe"),
        ("def f(g):\n    g.__code__ = None", ".__code__"),
        ("import torch\nx = getattr(torch, bytes.fromhex('5f43').decode())", "getattr with a computed name"),
        ("def f(x, name):\n    setattr(x, name, 1)", "setattr with a computed name"),
        ("import torch\nx = getattr(*(torch, '_C'))", "getattr with a computed name"),
        ("import torch\ng = getattr\nx = g(torch, chr(95) * 2)", "getattr under another name"),
        ("import functools, torch\nx = functools.reduce(getattr, NAMES, torch)", "getattr under another name"),
        ("import operator, torch\nx = operator.attrgetter(torch.__name__)(torch)", "attrgetter with a computed name"),
        ("import torch\nx = [v for n, v in vars(torch).items() if hash(n) == 1]", "builtins.vars"),
        ("import torch\nx = torch.__dict__[NAME]", "torch.__dict__"),
        ("import torch\nx = object.__getattribute__(torch, NAME)", ".__getattribute__"),
        ("eval(bytes.fromhex('31'))", "builtins.eval"),
        ("x = __import__(NAME)", "builtins.__import__"),
        ("x = __builtins__['get' + NAME]", "builtins.__builtins__"),
        ("import importlib\nx = importlib.import_module(NAME)", "importlib.import_module"),
        ("from .helper import thing\ndef f():\n    return thing.add", "torch._refs.add"),
    ],
)
def test_a_use_is_listed(text, name):
    assert name in names(text, helper="import torch\nthing = torch._refs\n" if "helper" in text else "x = 1\n")


@pytest.mark.parametrize(
    "text",
    [
        "import torch._refs\nimport inspect",
        "# torch._refs.add\nNOTE = 'torch._C'",
        "import torch\ndef f(x: torch._C.Value) -> None:\n    return torch.add(x, x)",
        "class A:\n    def decompose(self):\n        return 1",
        "import torch\nx = getattr(torch, 'add', None)\nsetattr(x, 'note', 1)",
        "import torch\n@torch.compile\ndef f(x):\n    return x",
        "from torch import nn\nclass A(nn.Module):\n    def f(self):\n        return nn.Linear(2, 2), self.compile_",
    ],
)
def test_a_mention_or_an_own_name_is_not(text):
    assert names(text) == []


def test_places_one_for_each_line():
    sources = {"layers": ("layers.py", "import torch\n\nx = torch._refs.add(torch._refs.mul, 1)  # twice\n")}
    assert find_internals(sources, ["layers"], FORBIDDEN) == [
        ShortCut("layers", 3, "torch._refs.add", "x = torch._refs.add(torch._refs.mul, 1)  # twice")
    ]
    assert find_internals(sources, [], FORBIDDEN) == [], "only what the submission brings"


def test_the_reference_uses_none():
    sources = read_sources(REFERENCE, SKELETON)
    release = read_sources(SKELETON, SKELETON)
    assert find_internals(sources, ASSIGNMENT.contract.modules, FORBIDDEN, release=release) == []


def test_code_that_never_ends_is_cut():
    found = names("import torch\n" + "x = torch._refs.add\n" * 500)
    assert len(found) == 20 and found[-1] == "torch._refs.add, and more in 480 other lines"
    names("x = [" * 80 + "]" * 80)


def test_it_stands_in_the_record_and_first_in_the_class():
    recorder = Recorder("anna", ASSIGNMENT, "0123456789abcdef")
    recorder.add(Found({"internals": ("torch._refs.add in layers.py, line 3: x = …",)}))
    recorder.add(Finished())
    record = recorder.record
    assert record.judgement.internals == ("torch._refs.add in layers.py, line 3: x = …",)
    assert "torch._refs.add in layers.py, line 3" in as_table(record)
    member = Member(id="anna", name="Anna Smith", key="anna", entry="anna.zip")
    roll = Roll(layout="plain", folder="class", has_roster=False, members=(member,), left_out=())
    assert "to be read by a person: Anna Smith" in as_class_table(roll, results_of(roll, {"anna": record}))
    (case,) = cases({"anna": record}, {"anna": [mark_of(record.judgement)]}, {})
    assert "internals: torch._refs.add in layers.py, line 3: x = …" in case.reasons
