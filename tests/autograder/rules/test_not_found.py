"""What is no short-cut: no submission loses a point for a name that it does not use, and every search ends soon."""

import textwrap
import time

import pytest

from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.rules import find_short_cuts
from autograder.sources import read_sources
from foundation import places
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from validity.variants import read_variants

CONTRACT = read_assignment().contract
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
    "the main guard": NORM + "if __name__ == '__main__':\n    LayerNorm = nn.LayerNorm",
    "type checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch.nn import LayerNorm\n" + NORM,
    "an own test": NORM + "def test_it():\n    assert torch.equal(LayerNorm(8)(1), nn.LayerNorm(8)(1))",
    "a trial at the top": NORM + "other = nn.LayerNorm(8)\nprint(torch.equal(LayerNorm(8)(1), other(1)))",
    "an import that is not used": "from torch.nn import LayerNorm as Other, MultiheadAttention\n" + NORM,
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
