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
RIGHT = "it rejects correct code"
ROWS = "a query that may attend to nothing may get any finite numbers"
ROUNDING = "results may be rounded differently"
REST = "what the docstring does not name may be refused"

ATTENTION: dict[str, tuple[str, set[str], str]] = {
    "accepts everything": ("pass", set(), ""),
    "a random verdict": ("assert random.random() < 0.5", set(), "counts for nothing"),
    "a shape": ("assert attention(*draw())[0].shape == (2, 3, 5, 7)", set(), ""),
    "sums of rows": (
        "near(attention(*draw())[1].sum(-1), torch.ones(2, 3, 5).double())",
        {"precision", "softmax", "what is returned"},
        "",
    ),
    "catches its own failure": (
        "try: assert attention(*draw())[1].sum() == 7\nexcept AssertionError: pass",
        set(),
        "",
    ),
    "one comparison": ("x = draw(); near(attention(*x)[0], ours(*x))", FORMULA, ""),
    "torch.equal": ("x = draw(); assert torch.equal(attention(*x)[0], ours(*x))", set(), RIGHT),
    "torch.equal in float32": (
        "x = draw(dtype=torch.float32); assert torch.equal(attention(*x)[1], (x[0] @ x[1].mT / 7**0.5).softmax(-1))",
        set(),
        ROUNDING,
    ),
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
    "forbidden keys get nothing": (
        "assert not attention(*draw(), PADDING)[1][0, :, :, 2:].any()",
        {"what a mask means", "what is returned"},
        "",
    ),
    "demands zeros": ("assert not attention(*draw(), NONE)[1].any()", set(), ROWS),
    "demands a plain tuple": ("assert type(attention(*draw())) is tuple", set(), "a named tuple is a tuple, too"),
    "demands memory": ("attention(*draw())[0].view(-1)", set(), "results need not be contiguous in memory"),
    "demands float16": ("attention(*draw(dtype=torch.float16), CAUSAL)", set(), "are not promised"),
    "demands three axes": ("attention(*(t[0] for t in draw()))", set(), REST),
    "gradients": (
        "assert gradcheck(attention, [t.requires_grad_() for t in draw(1, 1, 2, 2, 2)], fast_mode=True)",
        {"gradients", "precision"},
        "",
    ),
}

NORM: dict[str, tuple[str, set[str], str]] = {
    "one comparison": ("x = torch.randn(2, 3, 5); near(LayerNorm(5)(x), normed(x), 1e-5)", VALUES, ""),
    "gain by name": ("n = LayerNorm(5); n.gamma.data.fill_(2.0)", set(), "shapes of the parameters are free"),
    "demands memory": (
        "LayerNorm(5)(torch.randn(2, 5)).view(-1)",
        set(),
        "the result need not be contiguous in memory",
    ),
    "epsilon by name": ("assert LayerNorm(5, 0.5).epsilon == 0.5", set(), "what becomes of it in the object is free"),
    "far from 0": ("x = torch.randn(2, 5) + 3e3; near(LayerNorm(5)(x), normed(x), 1e-2)", set(), "is right, too"),
    "a small epsilon": (
        "x = torch.randn(2, 5).double() / 1e3; near(LayerNorm(5).double()(x), normed(x), 1e-4)",
        VALUES | {"epsilon", "precision"},
        "",
    ),
    "epsilon below the variance": (
        "x = torch.tensor([[1., -1.]]); near(LayerNorm(2, 0.9)(x), x / 1.9**0.5, 1e-4)",
        VALUES | {"epsilon"},
        "",
    ),
    "counts what is learned": (
        "assert sum(p.numel() for p in LayerNorm(5).parameters() if p.requires_grad) == 10",
        {"what is learned"},
        "",
    ),
    "gradients of parameters": (
        "n = moved(LayerNorm(5)); n(torch.randn(2, 5)).square().sum().backward()\n"
        "assert [*n.parameters()] and all(p.grad.all() for p in n.parameters())",
        {"what is learned"},
        "",
    ),
    "evaluation": (
        "n = LayerNorm(5).eval(); x = torch.randn(2, 5); near(n(x), normed(x), 1e-4)",
        VALUES | {"side effects"},
        "",
    ),
    "gradients": (
        "assert gradcheck(LayerNorm(4).double(), torch.randn(2, 4).double().requires_grad_())",
        {"gradients", "precision"},
        "",
    ),
}
