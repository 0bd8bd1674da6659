"""Short-cuts that are found, however they are called; each costs the component that uses it, and no other."""

import pytest

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
