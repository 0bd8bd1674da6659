"""Imports are found in every form; mentions of what is forbidden are noted, uses of internals are listed."""

import ast
import re

import pytest
import torch.nn.functional as F
from torch import nn

from autograder.intake.names import MAX_NAMES, find_internals, find_mentions, own_imports, wanted_imports
from autograder.intake.sources import names_in, parse, read_sources
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT as FOLDER
from foundation.places import SKELETON
from validity.variants import read_variants

ASSIGNMENT = read_assignment()
FORBIDDEN = ASSIGNMENT.contract.forbidden


def wanted_in(text: str) -> list[str]:
    return wanted_imports({"layers": ("layers.py", text)})


def test_names_are_found_in_every_form_of_import():
    text = """import math, os.path as p; import html
if 1:
    from torch.nn import functional as F, init
from json import(  # as text
    decoder,
)
import numpy as np
np.typing.NDArray
"""
    wanted = {"math", "os.path", "html", "torch.nn", "torch.nn.functional", "torch.nn.init", "json.decoder"}
    assert wanted | {"numpy.typing"} <= set(wanted_in(text))


def test_hostile_imports_cost_no_time_and_few_names():
    text = "import " + " " * 2_000_000 + "\n" + "from " + "a." * 500_000 + "\n" + "import x1, " * 100_000
    assert len(wanted_in(text + "\nimport math")) <= MAX_NAMES
    assert [own_imports(f"from {dots}x import y", "tools.soft") for dots in ("", ".", "..", "...")] == [
        (),
        ("tools", "tools.x", "tools", "tools.x", "tools.x.y"),
        ("x", "x", "x.y"),
        (),
    ]


def test_a_name_of_endless_parts_is_not_parsed():
    """Python's own parser takes gigabytes for one."""
    for dot in (".", ".\\\n"):
        text = f"import {dot.join('a' * 100_000)}"
        assert "200 parts" in parse(text).msg and names_in(text) == (set(), set())
    assert isinstance(parse("import a" + ".b" * 150 + "\nx = '" + "1. 2.\\n" * 500 + "'"), ast.Module)


def mentions(text: str) -> list[str]:
    return list(find_mentions({"layers": ("layers.py", text)}, FORBIDDEN))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from torch.nn import LayerNorm as L\nx = L(8)", "torch.nn.LayerNorm"),
        ("import torch.nn.functional as F\nf = F\ny = f.layer_norm(x, (8,))", "torch.nn.functional.layer_norm"),
        ("import torch\nx = torch.nn.TransformerEncoderLayer", "torch.nn.TransformerEncoderLayer"),
        ("import torch\nx = torch.native_layer_norm", "torch.native_layer_norm"),
    ],
)
def test_a_mention_is_noted_once(text, name):
    [note] = mentions(text)
    place, _, consequence = note.partition("; ")
    assert re.fullmatch(rf"note: layers\.py, line [23]: {name}", place)
    of_some = "grading refuses it in scaled_dot_product_attention, MultiHeadedAttention and LayerNorm"
    assert consequence == ("grading refuses a task that uses it" if "Transformer" in name else of_some)


def test_own_names_and_other_code_are_not():
    assert mentions("# nn.LayerNorm\nclass LayerNorm:\n    def layer_norm(self):\n        return 'F.layer_norm'") == []
    assert mentions("from torch import nn\nfrom other import LayerNorm\nx = nn.Linear(2, 2), LayerNorm(2)") == []
    assert mentions("class LayerNorm(:") == []


def names(text):
    sources = {"layers": ("layers.py", text)}
    return [use.partition(" in layers.py")[0] for use in find_internals(sources, sources, FORBIDDEN, {})]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from torch._decomp import decompositions as d\nx = d.gelu", "torch._decomp.decompositions.gelu"),
        (
            "import torch\nA = torch.ops.aten.add.default\ndef f(x):\n    return x._op_dk(1)",
            "torch.ops.aten.add.default",
        ),
        ("exec(TEXT)", "builtins.exec"),
        ("import sys\ndef f():\n    return sys._getframe(1)", "sys._getframe"),
        ("import builtins, torch\nx = builtins.getattr(torch, NAME)", "getattr with a computed name"),
        ("import operator\nx = operator.attrgetter('real.__code__')", ".__code__"),
        ("import torch\nx = torch.sys.modules", "sys.modules"),
        ("import torch\nx = torch.masked.softmax", "torch.masked.softmax"),
        ("match x:\n    case object(tb_frame=y):\n        pass", ".tb_frame"),
        ("import importlib\nx = importlib.import_module(NAME)", "importlib.import_module"),
        ("import torch.nn.attention.flex_attention", "torch.nn.attention.flex_attention"),
        ('x = """\n""".__class__.__subclasses__()', ".__subclasses__"),
        ("import sys\nx = [s.modules for s in (sys,)]", "sys, handed on"),
        ("import torch\nfor t in (torch,):\n    x = t.ops", "torch, handed on"),
        ("import torch\nclass A:\n    t = torch\nx = A.t.ops", "torch, handed on"),
        ("import torch\ndef f():\n    import math as torch\nx = torch.ops", "torch.ops"),
        ("from torch._C import *\nx = _nn", "torch._C._nn"),
        ("from torch import nn\ndef f(n=nn):\n    return n.modules", "torch.nn, handed on"),
    ],
)
def test_a_use_is_listed(text, name):
    assert name in names(text)


@pytest.mark.parametrize(
    "text",
    [
        "import inspect",
        "class A:\n    def decompose(self):\n        return 1",
        "import torch\nx = getattr(torch, 'add', None)\nsetattr(x, 'note', 1)",
        "class A:\n    def f(self, i):\n        setattr(self, f'layer_{i}', i)\n        getattr(self, f'layer_{i}')",
        "import operator\nx = operator.attrgetter('weight.grad')",
        "import torch\nt = torch\nx = hasattr(torch, 'compile'), t.add",
        "import torch\n@torch.compile\ndef f(x):\n    return x",
        "from torch import nn\nclass A(nn.Module):\n    def f(self):\n        return nn.Linear(2, 2), self.compile_",
    ],
)
def test_a_mention_or_an_own_name_is_not(text):
    assert names(text) == []


@pytest.mark.parametrize(
    "line",
    [
        "from .data import torch as t\nx = t.ops",
        "from .data import lib\nx = lib.ops",
        "from . import data\nx = data.lib.ops",
        "from .data import *\nx = lib.ops",
    ],
)
def test_a_module_is_known_by_way_of_another_one(line):
    sources = {"data": ("data.py", "import torch\nimport torch as lib\n"), "layers": ("layers.py", line)}
    assert [use.partition(" in ")[0] for use in find_internals(sources, ["layers"], FORBIDDEN, {})] == ["torch.ops"]


def test_places_one_for_each_line():
    sources = {"layers": ("layers.py", "import torch\n\nx = torch._refs.add(torch._refs.mul, 1)  # twice\n")}
    assert find_internals(sources, ["layers"], FORBIDDEN, {}) == [
        "torch._refs.add in layers.py, line 3: x = torch._refs.add(torch._refs.mul, 1)  # twice"
    ]
    assert find_internals(sources, [], FORBIDDEN, {}) == [], "only what the submission brings"
    assert len(names("import torch\n" + "x = torch._refs.add\n" * 500)) == 20


def test_neither_the_reference_nor_a_correct_variant_uses_any(reference):
    release = read_sources(SKELETON, SKELETON)
    assert find_internals(reference, ASSIGNMENT.contract.modules, FORBIDDEN, release) == []
    for variant in read_variants(ASSIGNMENT, reference):
        assert find_internals(variant.sources, ASSIGNMENT.contract.modules, FORBIDDEN, release) == [], variant.name


def test_what_a_worker_has_seen_comes_first_with_its_line():
    sources = {"layers": ("layers.py", "import torch\nx = torch._refs.add\ny = z(torch)\n")}
    seen = [("layers", 3, "sys._getframe"), ("layers", 9, "exec"), ("__init__", 1, "exec")]
    assert find_internals(sources, ["layers"], FORBIDDEN, {}, seen=seen) == [
        "sys._getframe in layers.py, line 3: y = z(torch)",
        "torch._refs.add in layers.py, line 2: x = torch._refs.add",
    ]


def is_forbidden(name: str) -> bool:
    return bool(mentions(f"import torch\nx = {name}"))


HANDOUT = (FOLDER / "handout.md").read_text(encoding="utf-8")


def family(name: str) -> str:
    """LazyBatchNorm1d, SyncBatchNorm and BatchNorm2d count as one; so does all that begins with Transformer."""
    return re.sub("^Transformer.*", "Transformer", re.sub("^(Lazy|Sync)|[123]d$", "", name.removesuffix("…")))


def test_the_handout_names_what_is_forbidden():
    named = {f"{package}.{family(name)}" for package, name in re.findall(r"`(nn|F)\.(\w+…?)`", HANDOUT)}
    forbidden = [name for name in dir(nn) if is_forbidden(f"torch.nn.{name}")]
    classes = {f"nn.{family(name)}" for name in forbidden if isinstance(getattr(nn, name), type)}
    functions = {f"F.{name}" for name in dir(F) if is_forbidden(f"torch.nn.functional.{name}") and name[0] != "_"}
    assert named == classes | functions and len(classes) > 6 and len(functions) > 5
