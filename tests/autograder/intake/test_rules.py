"""Mentions of what is forbidden are noted at home; uses of internals are listed with their places."""

import re

import pytest
import torch.nn.functional as F
from torch import nn

from autograder.classroom.entries import Member, Roll
from autograder.classroom.marks import results_of
from autograder.grading.record import new_record
from autograder.intake.rules import find_internals, find_mentions
from autograder.intake.sources import read_sources
from autograder.reports.class_page import cases_in
from autograder.reports.terminal import as_table
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT as FOLDER
from foundation.places import REFERENCE, SKELETON
from validity.variants import read_variants

ASSIGNMENT = read_assignment()
FORBIDDEN = ASSIGNMENT.contract.forbidden


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
        ("import torch\nclass A:\n    def f(self, x):\n        return torch.vmap(x)", "torch.vmap"),
        (
            "import torch\nA = torch.ops.aten.add.default\ndef f(x):\n    return x._op_dk(1)",
            "torch.ops.aten.add.default",
        ),
        ("def f(x):\n    return x.decompose()", ".decompose"),
        ("exec(TEXT)", "builtins.exec"),
        ("import sys\ndef f():\n    return sys._getframe(1)", "sys._getframe"),
        ("import builtins, torch\nx = builtins.getattr(torch, NAME)", "getattr with a computed name"),
        ("from builtins import getattr as get\nx = reduce(get, NAMES, torch)", "getattr with a computed name"),
        ("import operator\nx = operator.attrgetter('real.__code__')", ".__code__"),
        ("import torch\nx = torch.sys.modules", "sys.modules"),
        ("class A:\n    def f(self):\n        return self.torch._C.x", "._C"),
        ("match x:\n    case object(tb_frame=y):\n        pass", ".tb_frame"),
        ("import operator, torch\nx = operator.attrgetter(torch.__name__)(torch)", "attrgetter with a computed name"),
        ("import torch\nx = [v for n, v in vars(torch).items() if hash(n) == 1]", "builtins.vars"),
        ("x = __builtins__['get' + NAME]", "builtins.__builtins__"),
        ("import importlib\nx = importlib.import_module(NAME)", "importlib.import_module"),
        ("import torch.nn.attention.flex_attention", "torch.nn.attention.flex_attention"),
        ("from torch.ao.nn import quantizable", "torch.ao.nn.quantizable"),
        ("import string\nx = string.Formatter().get_field(NAME, [1], {})", "string.Formatter"),
        ('x = """\n""".__class__.__subclasses__()', ".__subclasses__"),
        ("import sys\nx = [s.modules for s in (sys,)]", "sys, handed on"),
        ("import torch\nfor t in (torch,):\n    x = t.ops", "torch, handed on"),
        ("import torch\n(t,) = (torch,)", "torch, handed on"),
        ("import torch\nt: object = torch", "torch, handed on"),
        ("import torch\ndef f(x, t=torch):\n    return t.ops", "torch, handed on"),
        ("import torch\nx = (t := torch).ops", "torch, handed on"),
        ("from torch import nn\ndef f(n=nn):\n    return n.modules", "torch.nn, handed on"),
        ("from torch.nn import functional as F\nclass A:\n    B, C = F, 1", "torch.nn.functional, handed on"),
        ("x = len.__self__.eval", ".__self__"),
        ("class A:\n    def f(self):\n        return self.library.get_kernel", ".get_kernel"),
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


def test_places_one_for_each_line():
    sources = {"layers": ("layers.py", "import torch\n\nx = torch._refs.add(torch._refs.mul, 1)  # twice\n")}
    assert find_internals(sources, ["layers"], FORBIDDEN, {}) == [
        "torch._refs.add in layers.py, line 3: x = torch._refs.add(torch._refs.mul, 1)  # twice"
    ]
    assert find_internals(sources, [], FORBIDDEN, {}) == [], "only what the submission brings"
    assert len(names("import torch\n" + "x = torch._refs.add\n" * 500)) == 20


def test_the_reference_uses_none():
    sources, release = (read_sources(folder, SKELETON) for folder in (REFERENCE, SKELETON))
    assert find_internals(sources, ASSIGNMENT.contract.modules, FORBIDDEN, release) == []


def test_no_correct_variant_uses_any(reference):
    release = read_sources(SKELETON, SKELETON)
    for variant in read_variants(ASSIGNMENT, reference):
        assert find_internals(variant.sources, ASSIGNMENT.contract.modules, FORBIDDEN, release) == [], variant.name


def test_what_a_worker_has_seen_comes_first_with_its_line():
    sources = {"layers": ("layers.py", "import torch\nx = torch._refs.add\ny = z(torch)\n")}
    seen = [("layers", 3, "sys._getframe"), ("layers", 9, "exec"), ("__init__", 1, "exec")]
    assert find_internals(sources, ["layers"], FORBIDDEN, {}, seen=seen) == [
        "sys._getframe in layers.py, line 3: y = z(torch)",
        "torch._refs.add in layers.py, line 2: x = torch._refs.add",
    ]


def test_it_stands_in_the_record_and_first_in_the_class():
    record = new_record("anna", ASSIGNMENT, "0123456789abcdef")
    record = record.judged(internals=("torch._refs.add in layers.py, line 3: x = …",)).finished()
    assert record.judgement.internals == ("torch._refs.add in layers.py, line 3: x = …",)
    assert "torch._refs.add in layers.py, line 3" in as_table(record)
    member = Member(id="anna", name="Anna Smith", key="anna", entry="anna.zip")
    of_class = {"assignment": "a", "layout": "plain", "folder": "class", "has_roster": False}
    roll = Roll(**of_class, members=(member,), left_out=())
    ((_, reasons),) = cases_in(results_of(roll, {"anna": record}), roll, ASSIGNMENT)
    assert "to be read: torch._refs.add in layers.py, line 3: x = …" in reasons


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
