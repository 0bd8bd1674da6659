"""What is no short-cut: no submission loses a point for a name that it does not use."""

import pytest

from autograder.rules import find_short_cuts, names
from foundation.assignment_file import read_assignment

FORBIDDEN = read_assignment().contract.forbidden

HARMLESS = {
    "comments and docstrings": '''
        from torch import nn
        class LayerNorm(nn.Module):
            """Like nn.LayerNorm, F.layer_norm and torch.layer_norm."""
            # nn.LayerNorm(d_model) would do
            def forward(self, x):
                "not F.layer_norm(x)"
                return x
        ''',
    "a text that names it": """
        class LayerNorm:
            def __repr__(self):
                return "LayerNorm" + "(nn.LayerNorm)"
            def check(self, x):
                raise ValueError("F.layer_norm is forbidden, nn.LayerNorm too")
        """,
    "an own class of the name": """
        from torch import nn
        class GroupNorm(nn.Module):
            pass
        class TransformerBlock(nn.Module):
            pass
        class LayerNorm(nn.Module):
            def __init__(self, d):
                self.parts = GroupNorm(), TransformerBlock()
        """,
    "own functions of the name": """
        def layer_norm(x):
            return x - x.mean()
        class LayerNorm:
            def layer_norm(self, x):
                return layer_norm(x)
            def forward(self, x):
                return self.layer_norm(x)
        """,
    "an own class behind an import": """
        from torch.nn import LayerNorm, Module
        class LayerNorm(Module):
            def __init__(self, d):
                super(LayerNorm, self).__init__()
        class EncoderLayer(Module):
            def __init__(self, d):
                self.norm = LayerNorm(d)
        """,
    "an own class behind a star": """
        from torch.nn import *
        class LayerNorm(Module):
            def __init__(self, d):
                super(LayerNorm, self).__init__()
        class EncoderLayer(Module):
            def __init__(self, d):
                self.norm = LayerNorm(d)
        """,
    "isinstance": """
        from torch import nn
        class LayerNorm(nn.Module):
            def forward(self, x):
                if isinstance(x, nn.LayerNorm) or isinstance(x, (nn.Linear, nn.GroupNorm)):
                    return x
                if type(x) is nn.LayerNorm or type(x) == nn.RMSNorm or type(x) in (nn.LayerNorm, nn.Linear):
                    return x
                if issubclass(type(x), nn.LayerNorm | nn.GroupNorm):
                    return x
                match x:
                    case nn.LayerNorm():
                        return x
        """,
    "annotations": """
        from typing import cast
        from torch import nn
        class LayerNorm(nn.Module):
            other: nn.LayerNorm
            def forward(self, x: nn.LayerNorm | None = None, *more: nn.GroupNorm) -> nn.LayerNorm:
                y: nn.LayerNorm = x
                return cast(nn.LayerNorm, y)
        """,
    "the main guard": """
        from torch import nn
        class LayerNorm(nn.Module):
            pass
        if __name__ == "__main__":
            LayerNorm.forward = nn.LayerNorm.forward
            LayerNorm = nn.LayerNorm
        """,
    "type checking": """
        from typing import TYPE_CHECKING
        from torch import nn
        if TYPE_CHECKING:
            from torch.nn import LayerNorm as Other
        class LayerNorm(nn.Module):
            def forward(self, x: "Other"):
                return x
        """,
    "an own test": """
        import torch
        from torch import nn
        class LayerNorm(nn.Module):
            pass
        def test_layer_norm():
            x = torch.randn(2, 8)
            assert torch.allclose(LayerNorm(8)(x), nn.LayerNorm(8)(x))
        class TestNorm:
            expected = nn.LayerNorm(8)
        """,
    "a trial at the top": """
        import torch
        from torch import nn
        class LayerNorm(nn.Module):
            pass
        reference = nn.LayerNorm(8)
        x = torch.randn(2, 8)
        assert torch.allclose(LayerNorm(8)(x), reference(x))
        print(torch.allclose(LayerNorm(8)(x), nn.LayerNorm(8)(x)))
        """,
    "an import that is not used": """
        from torch import nn
        from torch.nn import LayerNorm as TorchLayerNorm, MultiheadAttention
        import torch.nn.functional as F
        class LayerNorm(nn.Module):
            pass
        """,
    "an alias that is not used": """
        from torch import nn
        L = nn.LayerNorm
        class LayerNorm(nn.Module):
            def __init__(self, d):
                unused = nn.LayerNorm
        """,
    "the name of it": """
        from torch import nn
        class LayerNorm(nn.Module):
            __doc__ = nn.LayerNorm.__doc__
        """,
    "what is allowed": """
        import torch
        import torch.nn.functional as F
        from torch import nn
        class LayerNorm(nn.Module):
            def __init__(self, d):
                self.parts = nn.Linear(d, d), nn.Embedding(d, d), nn.Dropout(0.1), nn.ModuleList(), nn.Parameter(d)
            def forward(self, x):
                x = torch.softmax(x, -1) + F.softmax(x, -1) + F.relu(x) + F.dropout(x, 0.1) + F.normalize(x, dim=-1)
                x = torch.einsum("bqd,bkd->bqk", x, x) + torch.matmul(x, x) + torch.bmm(x, x) + torch.norm(x)
                return nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))(x) + torch.var_mean(x, -1)[0]
        """,
    "other people's names": """
        import helper_norms
        from other.nn import LayerNorm as L
        class LayerNorm:
            def __init__(self, d, nn):
                self.a, self.b = nn.LayerNorm(d), L(d)
        """,
    "dynamic access": """
        import torch
        from torch import nn
        class LayerNorm(nn.Module):
            def __init__(self, d, activation="relu"):
                self.activation = getattr(torch, activation)
                self.weight = getattr(nn, "Linear")(d, d)
                setattr(self, "norm", d)
        """,
    "a method of the name": """
        class LayerNorm:
            def forward(self, x):
                return self.model.layer_norm(x) + x.scaled_dot_product_attention()
        """,
}


@pytest.mark.parametrize("layers", HARMLESS.values(), ids=HARMLESS)
def test_harmless(find, layers):
    assert find(layers=layers) == {}


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
