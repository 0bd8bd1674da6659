"""The reference's attention against three other layouts, and its stacks; the component tests judge the rest."""

import re

import pytest
import torch
from torch import nn

from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT, REFERENCE, ROOT
from reference import attention
from reference.attention import MultiHeadedAttention
from reference.layers import LayerNorm
from reference.model import Encoder
from validity.variants import read_cells, read_variants


@pytest.fixture(autouse=True)
def in_float64():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)


def copy_norm(ours: LayerNorm, theirs: nn.LayerNorm) -> None:
    nn.init.normal_(ours.gamma), nn.init.normal_(ours.beta)
    theirs.weight.data, theirs.bias.data, theirs.eps = ours.gamma.data, ours.beta.data, ours.epsilon


def test_pre_norm_stack_ends_with_a_norm():
    encoder = Encoder(12, 3, 20, 2, norm_first=True).eval()
    copy_norm(encoder.last_norm, other := nn.LayerNorm(12))
    x = torch.randn(2, 4, 12)
    state = x
    for layer in encoder.layers:
        state, _ = layer(state, None)
    close(encoder(x, None)[0], other(state))


VARIANTS = ASSIGNMENT / "proof" / "variants"
CELLS = {cell.name: cell for path in VARIANTS.glob("attention*.py") for cell in read_cells(path)}
ROLES, PARTS = ("query", "key", "value"), ("weight", "bias")


def as_head_modules(state, n_heads):
    """Each head takes its rows of the matrix of a role: `nn.Linear` has its weight as (outputs, inputs)."""
    return {
        f"heads.{head}.project_{role}.{part}": rows
        for role in ROLES
        for part in PARTS
        for head, rows in enumerate(state[f"project_{role}.{part}"].chunk(n_heads))
    } | {f"project_output.{part}": state[f"project_output.{part}"] for part in PARTS}


def as_fused(state, n_heads):
    """The three matrices, one below the other."""
    return {
        f"project_inputs.{part}": torch.cat([state[f"project_{role}.{part}"] for role in ROLES]) for part in PARTS
    } | {f"project_output.{part}": state[f"project_output.{part}"] for part in PARTS}


def as_einsum(state, n_heads):
    """Inputs before outputs, and an axis for the heads: (h, d, d_head), and (h, d_head, d) for the output."""
    moved = {
        "output_weight": state["project_output.weight"].T.unflatten(0, (n_heads, -1)),
        "output_bias": state["project_output.bias"],
    }
    for role in ROLES:
        weight, bias = (state[f"project_{role}.{part}"].unflatten(0, (n_heads, -1)) for part in PARTS)
        moved |= {f"{role}_weight": weight.mT, f"{role}_bias": bias[:, None]}
    return moved


WAYS = {"head_modules_with_bias": as_head_modules, "fused": as_fused, "einsum_with_bias": as_einsum}
"""For each variant, the reference's parameters (or their gradients) in its layout."""


def load(name):
    """The class, among the names of the package's `attention.py`."""
    names = dict(vars(attention))
    exec(CELLS[name].text, names)
    return names["MultiHeadedAttention"]


def masks(b, h, q, k):
    """None, and one mask of each shape that the contract allows; none forbids a whole row."""
    shapes = [(q, k), (b, 1, 1, k), (b, 1, q, k), (b, h, q, k), (h, q, k)]
    return [None, *((torch.rand(shape) < 0.6) | (torch.arange(k) == 0) for shape in shapes)]


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("d, h, kind", [(12, 1, "self"), (12, 3, "cross"), (8, 8, "all different")])
def test_equal_output_weights_and_gradients(name, d, h, kind):
    reference, way = MultiHeadedAttention(d, h), load(name)(d, h)
    way.load_state_dict(WAYS[name](reference.state_dict(), h))
    b, q, k = 3, 5, 5 if kind == "self" else 7
    query = torch.randn(b, q, d)
    key = query if kind == "self" else torch.randn(b, k, d)
    value = torch.randn(b, k, d) if kind == "all different" else key
    for mask in masks(b, h, q, k):
        results = []
        for module in (reference, way):
            module.zero_grad()
            output, weights = module(query, key, value, mask)
            output.square().sum().backward()
            results.append((output, weights, {name: parameter.grad for name, parameter in module.named_parameters()}))
        (output, weights, gradients), (other_output, other_weights, other_gradients) = results
        torch.testing.assert_close(other_output, output, rtol=0, atol=1e-12)
        torch.testing.assert_close(other_weights, weights, rtol=0, atol=1e-12)
        mapped = WAYS[name](gradients, h)  # the layouts only move numbers, so gradients move alike
        torch.testing.assert_close(other_gradients, mapped, rtol=1e-9, atol=1e-10)


def test_each_way_is_judged_in_the_proof_and_shown_on_the_page(reference):
    variants = {variant.name for variant in read_variants(read_assignment(), reference)}
    page = (ROOT / "docs/explanation/four-attentions.md").read_text(encoding="utf-8")
    for name in WAYS:
        path = CELLS[name].path.relative_to(ROOT).as_posix()
        assert f'\n--8<-- "{path}:{name}"\n' in page and name in variants
    shown = int(re.search(r'^--8<-- "reference/attention.py:(\d+)"$', page, re.MULTILINE)[1])  # to the end of the file
    text = (REFERENCE / "attention.py").read_text(encoding="utf-8")
    assert text.splitlines()[shown - 1].startswith("class MultiHeadedAttention")
