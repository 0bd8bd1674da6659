"""PyTorch's own layers raise in the worker by whatever route; a mention of them that is not a use does not."""

import re
from dataclasses import replace

import pytest
import torch

from autograder.sandbox.errors import SubmissionRefusedError
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.shortcuts import kernels_named
from foundation.assignment_file import read_assignment

ROUTES = {
    "module": "nn.LayerNorm(4, dtype=x.dtype)(x)",
    "function": "F.layer_norm(x, (4,))",
    "computed text": "eval(bytes.fromhex('462e6c617965725f6e6f726d').decode())(x, (4,))",
    "operator": "torch.ops.aten.layer_norm(x, (4,))",
    "native": "torch.native_layer_norm(x, (4,), None, None, 1e-6)[0]",
    "without gradient": "untracked(x)",
    "attention": "F.scaled_dot_product_attention(x, x, x)",
    "whole layer": "nn.TransformerEncoderLayer(4, 2)(x)",
    "subclass": "Mine(4, 2)(x)",
    "batch with update": "torch.ops.aten._batch_norm_with_update(x, *statistics, 0.0, 1e-6)[0]",
    "nested": "torch.layer_norm(nested(x), (4,), *parameters).to_padded_tensor(0.0)",
    "nested attention": "F.scaled_dot_product_attention(*[nested(x)] * 3)",
    "another layout": "torch.native_layer_norm(x.detach().to_mkldnn(), (4,), None, None, 1e-6)[0].to_dense()",
    "mapped": "torch.vmap(lambda y: F.layer_norm(y, (4,)))(x)",
    "in pieces": "torch.ops.aten.layer_norm.default.decompose(x, (4,))",
    "the formula's own kernel": "torch.ops.aten._scaled_dot_product_attention_math.default._op_dk(own, x, x, x)[0]",
    "PyTorch in Python": "torch._refs.native_layer_norm(x, (4,), None, None, 1e-6)[0]",
    "decomposition": "decomposed(x, (4,), None, None, 1e-6)[0]",
    "another key": "torch.ops.aten.native_layer_norm.default._op_dk(below, x, (4,), None, None, 1e-6)[0]",
}
MODULE = """
import torch
from torch import nn
from torch.nn import functional as F


class Mine(nn.TransformerEncoderLayer):
    pass

statistics = [torch.ones(3), torch.zeros(3), torch.zeros(3), torch.ones(3)]
parameters = [torch.ones(4), torch.zeros(4)]
below = torch._C.DispatchKey.CompositeExplicitAutograd
own = torch._C.DispatchKey.CompositeImplicitAutograd
decomposed = torch._decomp.decomposition_table[torch.ops.aten.native_layer_norm.default]


def nested(x):
    return torch.nested.as_nested_tensor(list(x))


@torch.inference_mode()
def untracked(x):
    return F.layer_norm(x.clone(), (4,))


class LayerNorm(nn.Module):
    def __init__(self, d_model, route=None):
        super().__init__()
        self.gain, self.route = nn.Parameter(torch.ones(d_model)), route

    def forward(self, x):
        return {expression}
"""


@pytest.fixture(scope="module")
def routes(zygote, example_sources):
    """One submission whose LayerNorm takes the route that it is built with."""
    choice = ", ".join(f"{route!r}: lambda: {expression}" for route, expression in ROUTES.items())
    text = MODULE.format(expression=f"{{{choice}}}[self.route]()")
    sources = {"__init__": example_sources["__init__"], "layers": ("layers.py", text)}
    with Sandbox(sources, read_assignment(), zygote=zygote) as submission:
        yield submission


@pytest.mark.parametrize("route", ROUTES)
def test_a_shortcut_is_refused(route, routes):
    module = routes.build("layers.LayerNorm", 4, route)
    with pytest.raises(SubmissionRefusedError, match="must not be used in this assignment") as caught:
        module(torch.randn(2, 3, 4))
    assert "in forward" in caught.value.student_traceback


OTHERS = """
class Inside(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(4), nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x):
        return self.norm(F.scaled_dot_product_attention(x, x, x) + self.attention(x, x, x)[0])


class EncoderLayer(nn.Module):
    def forward(self, x, is_whole=False):
        return nn.TransformerEncoderLayer(4, 2)(x) if is_whole else Inside()(x)
"""


def test_a_part_of_a_layer_may_be_pytorchs_own(zygote, example_sources):
    text = MODULE.format(expression="Inside()(x)") + OTHERS
    sources, x = {"__init__": example_sources["__init__"], "layers": ("layers.py", text)}, torch.randn(2, 3, 4)
    assignment = read_assignment()
    with Sandbox(sources, assignment, zygote=zygote) as submission:
        norm, layer = submission.build("layers.LayerNorm", 4), submission.build("layers.EncoderLayer")
        for _ in range(2):  # what is refused in one component works in the other, again and again
            assert layer(x).shape == x.shape
            with pytest.raises(SubmissionRefusedError):
                norm(x)
        with pytest.raises(SubmissionRefusedError):
            layer(x, is_whole=True)
    forbidden = replace(assignment.contract.forbidden, components=())
    strict = replace(assignment, contract=replace(assignment.contract, forbidden=forbidden))
    with Sandbox(sources, strict, zygote=zygote) as submission, pytest.raises(SubmissionRefusedError):
        submission.build("layers.EncoderLayer")(x)


def test_a_comparison_made_at_import_is_no_use(sandbox):
    text = MODULE.format(expression="torch.softmax(x * self.gain, -1)")
    text += "\n\nassert nn.LayerNorm(4)(torch.ones(2, 4)).shape == LayerNorm(4)(torch.ones(2, 4)).shape\n"
    submission = sandbox({"layers": text})
    for _ in range(2):
        assert submission.build("layers.LayerNorm", 4)(torch.ones(2, 4)).shape == (2, 4)
        submission.restart()


OTHER_NORMS = r"""linalg_\w*norm|(frobenius_|nuclear_)?norm(_except_dim)?|(embedding_)?renorm_?|_?weight_norm\w*
    |native_norm|_sparse_\w*|norm\w*|\w*normal\w*|_foreach_norm"""


def test_every_kernel_of_these_kinds_is_replaced():
    names = {full.removeprefix("aten::") for full in torch._C._dispatch_get_all_op_names() if full.startswith("aten::")}
    of_these_kinds = {
        name
        for name in names
        if re.search("norm|attention|transformer", name)
        and "backward" not in name
        and not re.fullmatch(OTHER_NORMS, name.partition(".")[0], re.VERBOSE)
    }
    assert of_these_kinds == set(kernels_named(read_assignment().contract.forbidden.kernels))
    assert {"_batch_norm_with_update", "_native_batch_norm_legit.no_stats", "native_layer_norm"} <= of_these_kinds
