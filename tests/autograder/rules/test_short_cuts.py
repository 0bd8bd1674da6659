"""What is a short-cut, however it is called, and what is none; each costs the component that uses it, and no other.

No submission loses a point for a name that it does not use, and every search ends soon.
"""

import textwrap
import time
from collections.abc import Callable

import pytest

from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.rules import ShortCut, find_short_cuts
from autograder.sources import read_sources
from foundation import places
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from validity.variants import read_variants

CONTRACT = read_assignment().contract

OWN = {
    "attention": """
        import torch
        from torch import nn

        def scaled_dot_product_attention(query, key, value, mask=None):
            return torch.softmax(query @ key.transpose(-2, -1), -1) @ value, None

        class MultiHeadedAttention(nn.Module):
            def __init__(self, d_model, n_heads):
                super().__init__()
                self.project = nn.Linear(d_model, d_model)
        """,
    "layers": """
        import torch
        from torch import nn
        from .attention import MultiHeadedAttention

        class LayerNorm(nn.Module):
            def __init__(self, d_model):
                super(LayerNorm, self).__init__()
                self.gain = nn.Parameter(torch.ones(d_model))

        class EncoderLayer(nn.Module):
            def __init__(self, d_model):
                super().__init__()
                self.norm, self.attention = LayerNorm(d_model), MultiHeadedAttention(d_model, 2)
        """,
}
COMPONENTS = (
    "attention.scaled_dot_product_attention",
    "attention.MultiHeadedAttention",
    "layers.LayerNorm",
    "layers.EncoderLayer",
)


@pytest.fixture
def find() -> Callable[..., dict[str, list[ShortCut]]]:
    """Replaces modules of the package, given as indented text, and returns what is found by component."""

    def search(**modules: str) -> dict[str, list[ShortCut]]:
        texts = {name: textwrap.dedent(text).lstrip("\n") for name, text in {**OWN, **modules}.items()}
        return find_short_cuts(
            {name: (f"{name}.py", text) for name, text in texts.items()}, COMPONENTS, CONTRACT.forbidden
        )

    return search


NORM = """
class LayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm = {}(d_model)
"""
ROUTES = {
    "plain": ("", "nn.LayerNorm"),
    "dotted": ("import torch", "torch.nn.LayerNorm"),
    "module alias": ("import torch.nn as n", "n.LayerNorm"),
    "name alias": ("from torch.nn import LayerNorm as L", "L"),
    "assigned twice": ("a = nn\nb = a\nL = b.LayerNorm", "L"),
    "unpacked": ("L, M = nn.LayerNorm, nn.Linear", "L"),
    "conditional": ("L = nn.LayerNorm if hasattr(nn, 'x') else nn.LayerNorm", "L"),
    "inner module": ("from torch.nn.modules import normalization as m", "m.LayerNorm"),
    "getattr, renamed": ("g = getattr", "g(nn, 'LayerNorm')"),
    "dictionary, get": ("NORMS = {'layer': nn.LayerNorm}", "NORMS.get('layer')"),
    "list": ("NORMS = [nn.LayerNorm]", "NORMS[0]"),
    "lambda": ("make = lambda d: nn.LayerNorm(d)", "make"),
    "star": ("from torch.nn import *", "GroupNorm"),
    "submodule by a star": ("from torch.nn import *", "functional.layer_norm"),
    "loop": ("for L in (nn.LayerNorm,): pass", "L"),
    "try": ("try:\n    L = nn.LayerNorm\nexcept Exception:\n    L = None", "L"),
    "subclass of it": ("class Norm(nn.LayerNorm): pass", "Norm"),
    "partial": ("from functools import partial\nL = partial(nn.LayerNorm, eps=1e-6)", "L"),
    "batch norm": ("", "nn.LazyBatchNorm1d"),
    "quantised": ("import torch", "torch.ao.nn.quantized.LayerNorm"),
    "default of a helper": ("def make(d, kind=nn.LayerNorm):\n    return kind(d)", "make"),
    "class attribute": ("class Parts:\n    norm = nn.LayerNorm", "Parts.norm"),
    "helper of a helper": ("def a(d):\n    return nn.LayerNorm(d)\ndef b(d):\n    return a(d)", "b"),
    "closure": ("def a():\n    L = nn.LayerNorm\n    return lambda d: L(d)", "a()"),
    "import in a function": ("def a(d):\n    from torch.nn import LayerNorm\n    return LayerNorm(d)", "a"),
}


@pytest.mark.parametrize("before, name", ROUTES.values(), ids=ROUTES)
def test_every_route_to_a_class(find, before, name):
    layers = "from torch import nn\n" + before + "\n"
    layers += NORM.format(name) + "class EncoderLayer:\n    def forward(self, x):\n        return LayerNorm(8)(x)"
    found = find(layers=layers)
    assert set(found) == {"layers.LayerNorm"}
    short_cut = found["layers.LayerNorm"][0]
    assert short_cut.module == "layers" and "norm" in short_cut.name.lower()
    assert short_cut.code == layers.split("\n")[short_cut.line - 1].strip()


CALLS = {
    "functional": ("import torch.nn.functional as F", "F.layer_norm(x, (8,))"),
    "functional, star": ("from torch.nn.functional import *", "layer_norm(x, (8,))"),
    "torch, star": ("from torch import *", "layer_norm(x, (8,))"),
    "ops": ("import torch", "torch.ops.aten.native_layer_norm.default(x, (8,), None, None, 1e-6)[0]"),
    "_C, imported": ("from torch._C import _nn", "_nn.scaled_dot_product_attention(x, x, x)"),
    "flex": ("from torch.nn.attention.flex_attention import flex_attention", "flex_attention(x, x, x)"),
    "multi-head": ("import torch.nn.functional as F", "F.multi_head_attention_forward(x)"),
    "class": ("from torch.nn import TransformerEncoderLayer as T", "T(8, 2)(x)"),
    "forward of a class": ("from torch import nn", "nn.LayerNorm.forward(self, x)"),
    "argument": ("import torch", "apply(torch.layer_norm, x)"),
}


@pytest.mark.parametrize("before, call", CALLS.values(), ids=CALLS)
def test_every_route_to_a_function(find, before, call):
    layers = f"{before}\n\nclass LayerNorm:\n    def forward(self, x):\n        return {call}\n"
    assert list(find(layers=layers)) == ["layers.LayerNorm"]


@pytest.mark.parametrize(
    "layers",
    [
        "from torch import nn\nLayerNorm = nn.LayerNorm",
        "from torch.nn import LayerNorm",
        "from torch.nn import *",
        "from torch import nn\nclass LayerNorm(nn.LayerNorm):\n    pass",
        "from torch import nn\nclass LayerNorm(nn.Module):\n    pass\nLayerNorm = nn.LayerNorm",
        "from torch import nn\nclass Base(nn.LayerNorm):\n    pass\nclass LayerNorm(Base):\n    pass",
        "from torch import nn\ndef LayerNorm(d):\n    return nn.LayerNorm(d)",
    ],
)
def test_a_component_that_is_one(find, layers):
    assert list(find(layers=layers)) == ["layers.LayerNorm"]


def test_through_other_modules(find):
    helper = "from torch import nn\nL = nn.LayerNorm\ndef make(d):\n    return L(d)\n"
    norm = "class LayerNorm:\n    def __init__(self, d):\n        self.n = make(d)"
    for use in ("from .helper import make\n", "from .helper import *\n", "from . import helper\nmake = helper.make\n"):
        found = find(layers=use + norm, helper=helper)
        assert [(cut.module, cut.line) for cut in found["layers.LayerNorm"]] == [("helper", 4)]
    through = "from .helper import nn\nclass LayerNorm:\n    def __init__(self, d):\n        self.n = nn.LayerNorm(d)"
    assert find(layers=through, helper=helper)["layers.LayerNorm"][0].line == 4


def test_modules_that_import_each_other(find):
    found = find(
        layers="from .helper import a\nfrom .helper import *\nclass LayerNorm:\n    def f(self):\n        return a()",
        helper="from .layers import *\nfrom torch import nn\ndef a():\n    return nn.LayerNorm(8)",
    )
    assert list(found) == ["layers.LayerNorm"]


def test_each_component_is_charged_with_its_own_code_and_with_shared_helpers(find):
    attention = """
        import torch.nn.functional as F
        def scaled_dot_product_attention(q, k, v):
            return F.scaled_dot_product_attention(q, k, v)
        class MultiHeadedAttention:
            def forward(self, x):
                return scaled_dot_product_attention(x, x, x)
        """
    assert list(find(attention=attention)) == ["attention.scaled_dot_product_attention"]
    layers = """
        from torch import nn

        def make(d):
            return nn.LayerNorm(d)

        class LayerNorm(nn.Module):
            def __init__(self, d):
                self.norm = make(d)

        class EncoderLayer(nn.Module):
            def __init__(self, d):
                self.norm = make(d)
        """
    assert set(find(layers=layers)) == {"layers.LayerNorm", "layers.EncoderLayer"}


EMPTY = "class LayerNorm(nn.Module):\n    pass\n"
HARMLESS = {
    "comments and docstrings": """
        class LayerNorm(nn.Module):
            'Like nn.LayerNorm, F.layer_norm and torch.layer_norm.'
            # nn.LayerNorm(d_model) would do
            def forward(self, x):
                raise ValueError("F.layer_norm is forbidden, nn.LayerNorm too")
        """,
    "own classes and functions of the name": """
        class GroupNorm(nn.Module):
            pass
        def layer_norm(x):
            return x - x.mean()
        class LayerNorm(nn.Module):
            def __init__(self, d):
                self.parts = GroupNorm()
            def layer_norm(self, x):
                return layer_norm(x) + self.model.layer_norm(x) + x.scaled_dot_product_attention()
        """,
    "an own class behind an import": "from torch.nn import LayerNorm, Module\n"
    + EMPTY
    + "class EncoderLayer(LayerNorm): pass",
    "an own class behind a star": "from torch.nn import *\n" + EMPTY + "class EncoderLayer(LayerNorm): pass",
    "kinds that are compared": """
        ACTIONS = {nn.LayerNorm: print, nn.Linear: len}
        KINDS = (nn.Linear, nn.GroupNorm)
        class LayerNorm(nn.Module):
            def forward(self, x):
                if isinstance(x, nn.LayerNorm) or isinstance(x, KINDS):
                    return ACTIONS[type(x)](x), ACTIONS[nn.LayerNorm](x)
                if type(x) is nn.LayerNorm or type(x) in (nn.LayerNorm, nn.Linear) or type(x) in {nn.RMSNorm}:
                    return x
                match x:
                    case nn.LayerNorm():
                        return {nn.LayerNorm: 1, nn.Linear: 2}.get(type(x), issubclass(x, nn.LayerNorm | nn.GroupNorm))
        """,
    "annotations": """
        from typing import cast
        class LayerNorm(nn.Module):
            other: nn.LayerNorm
            def forward(self, x: nn.LayerNorm | None = None, *more: nn.GroupNorm) -> nn.LayerNorm:
                y: nn.LayerNorm = x
                return cast(nn.LayerNorm, y)
        """,
    "the main guard": EMPTY + "if __name__ == '__main__':\n    LayerNorm = nn.LayerNorm",
    "type checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch.nn import LayerNorm\n"
    + EMPTY,
    "an own test": EMPTY + "def test_it():\n    assert torch.equal(LayerNorm(8)(1), nn.LayerNorm(8)(1))",
    "a trial at the top": EMPTY + "other = nn.LayerNorm(8)\nprint(torch.equal(LayerNorm(8)(1), other(1)))",
    "an import that is not used": "from torch.nn import LayerNorm as Other, MultiheadAttention\n" + EMPTY,
    "an alias that is not used": "L, M = nn.LayerNorm, nn.Linear\nclass LayerNorm:\n    part = M",
    "the name of it": "class LayerNorm(nn.Module):\n    __doc__ = nn.LayerNorm.__doc__",
    "what is allowed": """
        class LayerNorm(nn.Module):
            def __init__(self, d):
                self.parts = nn.Linear(d, d), nn.Embedding(d, d), nn.Dropout(0.1), nn.ModuleList(), nn.Parameter(d)
            def forward(self, x):
                x = torch.softmax(x, -1) + F.normalize(x, dim=-1) + torch.einsum("bqd,bkd->bqk", x, x) + torch.norm(x)
                return nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))(x) + torch.var_mean(x, -1)[0]
        """,
    "other people's names": """
        from other.nn import LayerNorm as L
        class LayerNorm:
            def __init__(self, d, nn):
                self.a, self.b = nn.LayerNorm(d), L(d)
        """,
}
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


@pytest.mark.parametrize("layers", HARMLESS.values(), ids=HARMLESS)
def test_harmless(find, layers):
    assert find(layers=HEAD + textwrap.dedent(layers)) == {}


def test_code_that_does_not_compile(find):
    assert find(layers="class LayerNorm(:", helper="\0") == {}


NESTED = {
    "signs": "class LayerNorm:\n    x = " + "-" * 5000 + "1",
    "attributes": "class LayerNorm:\n    x = " + "a." * 3000 + "b",
    "calls": "class LayerNorm:\n    x = " + "f(" * 150 + ")" * 150,
    "lambdas": "class LayerNorm:\n    x = " + "lambda: " * 500 + "0",
    "sums": "class LayerNorm:\n    x = " + "1 + " * 3000 + "1",
    "blocks": "def LayerNorm():\n" + "".join(" " * i + "if x:\n" for i in range(1, 90)) + " " * 90 + "pass",
    "names": "a = b\nb = a\nc = c\nclass LayerNorm(a, c):\n    pass",
    "imports": "from .layers import *\nfrom .layers import LayerNorm\nfrom .layers import x as y, y as x",
    "paths": "import torch as x\n" + "x = x.a\n" * 2_000 + "class LayerNorm(x):\n    pass",
    "stars": "".join(f"from .{name} import *\n" for name in ("layers", "attention")) * 1_500
    + "def LayerNorm():\n"
    + "    y = aa + bb + cc\n" * 500,
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_tangled_code_ends_soon(find, text):
    started = time.process_time()
    assert find(layers=text, attention="from .layers import *") == {}
    assert time.process_time() - started < 3


def test_nesting_that_cannot_be_read_is_said():
    text = "class LayerNorm:\n    pass\nx = a" + ".b" * 4_000
    notes = []
    assert find_short_cuts({"layers": ("layers.py", text)}, ["layers.LayerNorm"], CONTRACT.forbidden, notes) == {}
    assert notes == ["layers.py is too tangled to be searched completely for forbidden short-cuts"]


def test_star_imports_in_a_circle_hide_nothing(find):
    texts = {
        "layers": "class LayerNorm:\n    def forward(self, x):\n        return helper(x) + unknown(x)\n",
        "attention": "",
        "model": "import torch\ndef helper(x):\n    return torch.layer_norm(x, (4,))\n",
    }
    stars = {module: "".join(f"from .{other} import *\n" for other in texts if other != module) for module in texts}
    found = find(**{module: stars[module] + texts[module] for module in texts})
    assert [(one.module, one.name) for one in found["layers.LayerNorm"]] == [("model", "torch.layer_norm")]


REFERENCE = read_sources(ROOT / "reference", ROOT / "student")


def alarms(versions: dict[str, dict]) -> dict[str, object]:
    """What is found in which version."""
    found = {}
    for name, sources in versions.items():
        notes: list[str] = []
        short_cuts = find_short_cuts(sources, CONTRACT.components, CONTRACT.forbidden, notes)
        if short_cuts or notes:
            found[name] = (short_cuts, notes)
    return found


def test_a_few_faults_raise_no_alarm():
    assert alarms({fault.id: apply(fault, REFERENCE) for fault in read_catalogue()[::200]}) == {}


@pytest.mark.slow
def test_no_fault_and_no_correct_variant_raises_an_alarm(sampled):
    assert alarms({fault.id: apply(fault, REFERENCE) for fault in sampled(read_catalogue(), 10)}) == {}
    variants = read_variants(places.ASSIGNMENT / "proof" / "variants", REFERENCE, CONTRACT)
    assert alarms({variant.name: variant.sources for variant in sampled(variants, 2)}) == {}
