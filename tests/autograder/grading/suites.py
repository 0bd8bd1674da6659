"""Students' own tests, weak and wrong ones: the body of each, the groups that it finds, what its author is told.

In a body, `attention` or `LayerNorm` is what it tests, and `PRELUDE` has all other names.
"""

PRELUDE = """
import pytest
import random
import torch
from torch.autograd import gradcheck
from torch.nn.functional import layer_norm, scaled_dot_product_attention as ours
from torch.testing import assert_close

def draw(b=2, h=3, q=5, k=4, d=7, dtype=torch.float64):
    return tuple(torch.randn(b, h, n, d, dtype=dtype) for n in (q, k, k))

def near(found, expected, tolerance=1e-6):
    assert_close(found, expected, atol=tolerance, rtol=0)

def moved(norm):
    for parameter in norm.parameters():
        parameter.data.add_(0.5)
    return norm

def normed(x, epsilon=1e-6):
    return layer_norm(x, x.shape[-1:], eps=epsilon)

NONE = torch.zeros(5, 4, dtype=torch.bool)
PADDING = torch.tensor([[[[True, True, False, False]]], [[[True, True, True, True]]]])
CAUSAL = torch.ones(5, 4, dtype=torch.bool).tril()
"""

FORMULA = {"scale", "softmax", "which tensor where", "precision"}
VALUES = {"axes", "mean and variance", "first values"}
RIGHT = "it rejects right code"
ROWS = "a query that may attend to nothing may get any finite numbers"
ROUNDING = "results may be rounded differently"
REST = "what the docstring does not name may be refused"

ATTENTION: dict[str, tuple[str, set[str], str]] = {
    "accepts everything": ("pass", set(), ""),
    "rejects everything": ("assert False", set(), RIGHT),
    "a random verdict": ("assert random.random() < 0.5", set(), "counts for nothing"),
    "a shape": ("assert attention(*draw())[0].shape == (2, 3, 5, 7)", set(), ""),
    "both shapes": ("x = draw(); assert [t.shape[-1] for t in attention(*x)] == [7, 4]", set(), ""),
    "finite": ("assert all(t.isfinite().all() for t in attention(*draw()))", set(), ""),
    "compared with itself": ("x = draw(); near(attention(*x)[0], attention(*x)[0])", set(), ""),
    "sums of rows": (
        "near(attention(*draw())[1].sum(-1), torch.ones(2, 3, 5).double())",
        {"precision", "softmax", "what is returned"},
        "",
    ),
    "means": ("x = draw(); near(attention(*x)[0].mean(), ours(*x).mean())", FORMULA, ""),
    "catches its own failure": (
        "try: assert attention(*draw())[1].sum() == 7\nexcept AssertionError: pass",
        set(),
        "",
    ),
    "one comparison": ("x = draw(); near(attention(*x)[0], ours(*x))", FORMULA, ""),
    "one comparison, 64 features": ("x = draw(d=64); near(attention(*x)[0], ours(*x))", FORMULA, ""),
    "one comparison, all sizes equal": ("x = draw(4, 4, 4, 4, 4); near(attention(*x)[0], ours(*x))", FORMULA, ""),
    "one comparison, one seed": ("torch.manual_seed(0); x = draw(); near(attention(*x)[0], ours(*x))", FORMULA, ""),
    "one comparison of zeros": ("x = [t * 0 for t in draw()]; near(attention(*x)[0], ours(*x))", set(), ""),
    "torch.equal": ("x = draw(); assert torch.equal(attention(*x)[0], ours(*x))", set(), RIGHT),
    "too tight": ("x = draw(); near(attention(*x)[0], ours(*x), 1e-12)", set(), ROUNDING),
    "too wide": (
        "torch.manual_seed(0); x = draw(); near(attention(*x)[0], ours(*x), 0.8)",
        {"scale", "softmax", "which tensor where"},
        "",
    ),
    "padding": (
        "x = draw(); near(attention(*x, PADDING)[0], ours(*x, PADDING))",
        FORMULA | {"what a mask means"},
        "",
    ),
    "causal": ("x = draw(); near(attention(*x, CAUSAL)[0], ours(*x, CAUSAL))", FORMULA | {"what a mask means"}, ""),
    "one head": (
        "x = draw(1, 1); near(attention(*x, CAUSAL)[0], ours(*x, CAUSAL))",
        FORMULA | {"what a mask means"},
        "",
    ),
    "forbidden keys get nothing": (
        "assert not attention(*draw(), PADDING)[1][0, :, :, 2:].any()",
        {"what a mask means", "what is returned"},
        "",
    ),
    "demands zeros": ("assert not attention(*draw(), NONE)[1].any()", set(), ROWS),
    "demands equal weights": ("w = attention(*draw(), NONE)[1]; near(w, torch.full_like(w, 0.25))", set(), ROWS),
    "demands a plain tuple": ("assert type(attention(*draw())) is tuple", set(), "a named tuple is a tuple, too"),
    "demands memory": ("attention(*draw())[0].view(-1)", set(), "results need not be contiguous in memory"),
    "demands float16": ("attention(*draw(dtype=torch.float16), CAUSAL)", set(), "are not promised"),
    "demands three axes": ("attention(*(t[0] for t in draw()))", set(), REST),
    "demands an exception": ("with pytest.raises(RuntimeError): attention(draw(d=3)[0], *draw()[1:])", set(), REST),
    "a gradient": ("assert attention(*(t.requires_grad_() for t in draw()))[0].requires_grad", set(), ""),
    "gradients": (
        "assert gradcheck(attention, [t.requires_grad_() for t in draw(1, 1, 2, 2, 2)], fast_mode=True)",
        {"gradients", "precision"},
        "",
    ),
    "float32": ("assert attention(*draw(dtype=torch.float32))[0].dtype == torch.float32", set(), ""),
    "all allowed": ("x = draw(); near(attention(*x, NONE | True)[0], attention(*x)[0])", set(), ""),
    "forbidden values": (
        "x = draw(); y = attention(*x, PADDING)[0].clone(); x[2][0, :, 2:] += 1; near(attention(*x, PADDING)[0], y)",
        {"what a mask means"},
        "",
    ),
    "a gradient of values": (
        "q, k, v = draw(); v.requires_grad_(); attention(q, k, v)[0].sum().backward(); assert v.grad.any()",
        {"gradients"},
        "",
    ),
    "leaves its arguments": ("x = draw(); y = [t.clone() for t in x]; attention(*x); near(y[0], x[0])", set(), ""),
}

NORM: dict[str, tuple[str, set[str], str]] = {
    "accepts everything": ("pass", set(), ""),
    "a shape": ("assert LayerNorm(5)(torch.randn(2, 3, 5)).shape == (2, 3, 5)", set(), ""),
    "mean only": (
        "assert LayerNorm(5)(torch.randn(2, 3, 5)).mean(-1).abs().max() < 1e-5",
        {"axes", "first values"},
        "",
    ),
    "one comparison": ("x = torch.randn(2, 3, 5); near(LayerNorm(5)(x), normed(x), 1e-5)", VALUES, ""),
    "one position": ("x = torch.randn(1, 1, 5); near(LayerNorm(5)(x), normed(x), 1e-5)", VALUES, ""),
    "gain by name": ("n = LayerNorm(5); n.gamma.data.fill_(2.0)", set(), "shapes of the parameters are free"),
    "demands memory": (
        "LayerNorm(5)(torch.randn(2, 5)).view(-1)",
        set(),
        "the result need not be contiguous in memory",
    ),
    "epsilon by name": ("assert LayerNorm(5, 0.5).epsilon == 0.5", set(), "what becomes of it in the object is free"),
    "far from 0": ("x = torch.randn(2, 5) + 3e3; near(LayerNorm(5)(x), normed(x), 1e-2)", set(), "is right, too"),
    "torch.equal": ("x = torch.randn(2, 5); assert torch.equal(LayerNorm(5)(x), normed(x))", set(), RIGHT),
    "does not see a constant": ("x = torch.randn(2, 5); near(LayerNorm(5)(x), LayerNorm(5)(x + 1), 1e-4)", set(), ""),
    "does not see a factor": ("x = torch.randn(2, 5); near(LayerNorm(5)(x), LayerNorm(5)(x * 2), 1e-4)", set(), ""),
    "signs": ("x = torch.tensor([[1., -1.]]); near(LayerNorm(2)(x), x, 1e-4)", {"axes", "first values"}, ""),
    "squares": (
        "torch.manual_seed(0); y = LayerNorm(5)(torch.randn(2, 5)); near(y.square().mean(-1), torch.ones(2), 1e-3)",
        VALUES,
        "",
    ),
    "an outlier": ("x = torch.eye(2, 60); near(LayerNorm(60)(x), normed(x), 1e-3)", VALUES, ""),
    "constant features": ("assert LayerNorm(5)(torch.ones(2, 5)).isfinite().all()", set(), ""),
    "a small epsilon": (
        "x = torch.randn(2, 5).double() / 1e3; near(LayerNorm(5).double()(x), normed(x), 1e-4)",
        VALUES | {"epsilon", "precision"},
        "",
    ),
    "a large epsilon": (
        "x = torch.randn(2, 5); near(LayerNorm(5, 1.0)(x), normed(x, 1.0), 1e-4)",
        VALUES | {"epsilon"},
        "",
    ),
    "an epsilon of 0": ("x = torch.randn(2, 5); near(LayerNorm(5, 0.0)(x), normed(x, 0.0), 1e-4)", VALUES, ""),
    "epsilon below the variance": (
        "x = torch.tensor([[1., -1.]]); near(LayerNorm(2, 0.9)(x), x / 1.9**0.5, 1e-4)",
        VALUES | {"epsilon"},
        "",
    ),
    "counts parameters": ("assert sum(p.numel() for p in LayerNorm(5).parameters()) == 10", {"what is learned"}, ""),
    "counts what is learned": (
        "assert sum(p.numel() for p in LayerNorm(5).parameters() if p.requires_grad) == 10",
        {"what is learned"},
        "",
    ),
    "converts": (
        "assert LayerNorm(5).double()(torch.randn(2, 5).double()).dtype == torch.float64",
        {"precision"},
        "",
    ),
    "gradients of parameters": (
        "n = moved(LayerNorm(5)); n(torch.randn(2, 5)).square().sum().backward()\n"
        "assert [*n.parameters()] and all(p.grad.all() for p in n.parameters())",
        {"what is learned"},
        "",
    ),
    "zeros as features": ("y = moved(LayerNorm(5))(torch.zeros(2, 5)); near(y, y[:, :1].expand(2, 5))", set(), ""),
    "moves with its parameters": (
        "n = LayerNorm(5); x = torch.randn(2, 5); y = n(x); assert not torch.allclose(moved(n)(x), y)",
        set(),
        "",
    ),
    "evaluation": (
        "n = LayerNorm(5).eval(); x = torch.randn(2, 5); near(n(x), normed(x), 1e-4)",
        VALUES | {"side effects"},
        "",
    ),
    "the same again": (
        "n = LayerNorm(5).eval(); x = torch.randn(2, 5); y = n(x); n(x + 9); near(n(x), y)",
        set(),
        "",
    ),
    "gradients": (
        "assert gradcheck(LayerNorm(4).double(), torch.randn(2, 4).double().requires_grad_())",
        {"gradients", "precision"},
        "",
    ),
    "gradient of a constant": (
        "x = torch.randn(2, 5, requires_grad=True); LayerNorm(5)(x)[:, 0].sum().backward()\n"
        "near(x.grad.sum(-1), torch.zeros(2))",
        {"gradients"},
        "",
    ),
    "leaves its argument": ("x = torch.randn(2, 5); y = x.clone(); LayerNorm(5)(x); near(x, y)", set(), ""),
}
