"""What is no short-cut: no submission loses a point for a name that it does not use, and every search ends soon."""

import textwrap
import time

import pytest

from autograder.rules import find_short_cuts, names
from foundation.assignment_file import read_assignment

FORBIDDEN = read_assignment().contract.forbidden

NORM = "class LayerNorm(nn.Module):\n    pass\n"
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
    + NORM
    + "class EncoderLayer(LayerNorm): pass",
    "an own class behind a star": "from torch.nn import *\n" + NORM + "class EncoderLayer(LayerNorm): pass",
    "kinds that are compared": """
        class LayerNorm(nn.Module):
            def forward(self, x):
                if isinstance(x, nn.LayerNorm) or isinstance(x, (nn.Linear, nn.GroupNorm)):
                    return x
                if type(x) is nn.LayerNorm or type(x) in (nn.LayerNorm, nn.Linear) or type(x) in [nn.RMSNorm]:
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
    "the main guard": NORM + "if __name__ == '__main__':\n    LayerNorm = nn.LayerNorm",
    "type checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch.nn import LayerNorm\n" + NORM,
    "an own test": NORM + "def test_it():\n    assert torch.equal(LayerNorm(8)(1), nn.LayerNorm(8)(1))",
    "a trial at the top": NORM + "other = nn.LayerNorm(8)\nprint(torch.equal(LayerNorm(8)(1), other(1)))",
    "an import that is not used": "from torch.nn import LayerNorm as Other, MultiheadAttention\n" + NORM,
    "an alias that is not used": "L = nn.LayerNorm\n" + NORM,
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
    "dynamic access": """
        class LayerNorm(nn.Module):
            def __init__(self, d, activation="relu"):
                self.activation = getattr(torch, activation)
                self.weight = getattr(nn, "Linear")(d, d)
                setattr(self, "norm", d)
        """,
}
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


@pytest.mark.parametrize("layers", HARMLESS.values(), ids=HARMLESS)
def test_harmless(find, layers):
    assert find(layers=HEAD + textwrap.dedent(layers)) == {}


def test_the_package_itself(find):
    assert find() == {}


def test_code_that_does_not_compile(find):
    assert find(layers="class LayerNorm(:", helper="\0") == {}


@pytest.mark.parametrize(
    "text",
    [
        "class LayerNorm:\n    x = " + "-" * 5000 + "1",
        "class LayerNorm:\n    x = " + "a." * 3000 + "b",
        "class LayerNorm:\n    x = " + "f(" * 150 + ")" * 150,
        "class LayerNorm:\n    x = " + "lambda: " * 500 + "0",
        "class LayerNorm:\n    x = " + "1 + " * 3000 + "1",
        "class LayerNorm:\n    x = " + "'a' + " * 900 + "'b'",
        "def LayerNorm():\n" + "".join(" " * i + "if x:\n" for i in range(1, 90)) + " " * 90 + "pass",
        "a = b\nb = a\nc = c\nclass LayerNorm(a, c):\n    pass",
        "from .layers import *\nfrom .layers import LayerNorm\nfrom .layers import x as y, y as x",
        "def LayerNorm():\n    return " + "[" * 150 + "]" * 150,
    ],
)
def test_tangled_code_ends(find, text):
    assert find(layers=text) == {}


def test_too_much_code_is_said(monkeypatch):
    monkeypatch.setattr(names, "MAX_STEPS", 3_000)
    text = "class LayerNorm:\n    def f(self):\n" + "        a = b.c(d) + e[f] + g(h)\n" * 300
    notes = []
    assert find_short_cuts({"layers": ("layers.py", text)}, ["layers.LayerNorm"], FORBIDDEN, notes) == {}
    assert len(notes) == 1 and "too tangled" in notes[0]


def test_nesting_that_cannot_be_read_is_said():
    text = "class LayerNorm:\n    pass\nx = a" + ".b" * 4_000
    notes = []
    assert find_short_cuts({"layers": ("layers.py", text)}, ["layers.LayerNorm"], FORBIDDEN, notes) == {}
    assert notes == ["layers.py is too tangled to be searched completely for forbidden short-cuts"]


SECONDS = 6.0
"""CPU time; about 2 on a machine that is not busy."""
MANY = range(200)

TANGLES = {
    "paths": [f"x = x.a{i}" for i in range(30)],
    "paths of two names": [f"y = x.a{i}; x = y.b{i}" for i in MANY],
}

CONTRACT = read_assignment().contract.modules


@pytest.mark.slow
@pytest.mark.parametrize("lines", TANGLES.values(), ids=TANGLES)
def test_tangles_in_every_component_end_soon_and_are_said(lines: list[str]):
    body = "".join(f"    {line}\n" for line in ["x = y = torch", *lines, "return x"])
    sources = {
        module: (f"{module}.py", "import torch\n" + "".join(f"def {name}(*a):\n{body}" for name in names))
        for module, names in CONTRACT.items()
    }
    components = [f"{module}.{name}" for module, names in CONTRACT.items() for name in names]
    started, notes = time.process_time(), []
    assert find_short_cuts(sources, components, FORBIDDEN, notes) == {}
    assert time.process_time() - started < SECONDS
    assert len(notes) == len(components) and all("too tangled" in note for note in notes)


def test_one_tangle_hides_no_other_components_short_cut():
    tangle = "".join(f"    x = x.a{i}\n" for i in range(30))
    text = f"import torch\ndef diagonal_mask(x):\n    x = torch\n{tangle}    return x\n"
    norm = "import torch\nclass LayerNorm:\n    def forward(self, x):\n        return torch.layer_norm(x, (4,))\n"
    notes = []
    sources = {"masks": ("masks.py", text), "layers": ("layers.py", norm)}
    found = find_short_cuts(sources, ["masks.diagonal_mask", "layers.LayerNorm"], FORBIDDEN, notes)
    assert list(found) == ["layers.LayerNorm"]
    assert notes == ["masks.diagonal_mask is too tangled to be searched completely for forbidden short-cuts"]


def test_star_imports_in_a_circle_end_and_hide_nothing():
    """Each module imports all of each other: paths through them double with every step, modules do not."""
    modules = ("layers", "attention", "model")
    stars = {module: "".join(f"from .{other} import *\n" for other in modules if other != module) for module in modules}
    texts = {
        "layers": "class LayerNorm:\n    def forward(self, x):\n        return helper(x) + unknown(x)\n",
        "attention": "",
        "model": "import torch\ndef helper(x):\n    return torch.layer_norm(x, (4,))\n",
    }
    sources = {module: (f"{module}.py", stars[module] + texts[module]) for module in modules}
    started, notes = time.process_time(), []
    found = find_short_cuts(sources, ["layers.LayerNorm"], FORBIDDEN, notes)
    assert [(one.module, one.name) for one in found["layers.LayerNorm"]] == [("model", "torch.layer_norm")]
    assert time.process_time() - started < SECONDS / 3 and notes == []


@pytest.mark.slow
def test_thousands_of_star_imports_end_soon():
    modules = ("layers", "attention", "model")
    stars = "".join(f"from .{module} import *\n" for module in modules) * 1500
    use = "def f(x):\n" + "    y = aa + bb + cc\n" * 500
    started, notes = time.process_time(), []
    find_short_cuts({m: (f"{m}.py", stars + use) for m in modules}, ["layers.f"], FORBIDDEN, notes)
    assert time.process_time() - started < SECONDS and "too tangled" in notes[0]
