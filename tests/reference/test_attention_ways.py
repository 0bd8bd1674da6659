"""The same attention, four ways: equal output for equal weights, and one source with the proof's variants."""

import itertools
import re

import pytest
import torch

from benchmarks import attention_ways
from benchmarks.__main__ import main
from benchmarks.attention_ways import FILES, load, map_weights
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT, ROOT
from validity.proof.reading_variants import read_variants

BASE = "one matrix a role"


def masks(b, h, q, k):
    """None, and one mask of each shape that the contract allows; none forbids a whole row."""
    shapes = [(q, k), (b, 1, 1, k), (b, 1, q, k), (b, h, q, k), (h, q, k)]
    return [None, *((torch.rand(shape) < 0.6) | (torch.arange(k) == 0) for shape in shapes)]


def same_weights(name, d, h, state):
    way = load(name)(d, h).double()
    way.load_state_dict(map_weights(state, BASE, name, h))
    return way


@pytest.mark.parametrize("name", [name for name in FILES if name != BASE])
@pytest.mark.parametrize("d, h", [(12, 1), (12, 3), (8, 8)])
@pytest.mark.parametrize("kind", ["self", "cross", "all different"])
def test_equal_output_weights_and_gradients(name, d, h, kind):
    reference = load(BASE)(d, h).double()
    way = same_weights(name, d, h, reference.state_dict())
    b, q, k = 3, 5, 5 if kind == "self" else 7
    query = torch.randn(b, q, d, dtype=torch.float64)
    key = query if kind == "self" else torch.randn(b, k, d, dtype=torch.float64)
    value = torch.randn(b, k, d, dtype=torch.float64) if kind == "all different" else key
    for mask in masks(b, h, q, k):
        results = []
        for module in (reference, way):
            module.zero_grad()
            output, weights = module(query, key, value, mask)
            output.square().sum().backward()
            gradients = {key: parameter.grad for key, parameter in module.named_parameters()}
            results.append((output, weights, gradients))
        (output, weights, gradients), (other_output, other_weights, other_gradients) = results
        torch.testing.assert_close(other_output, output, rtol=0, atol=1e-12)
        torch.testing.assert_close(other_weights, weights, rtol=0, atol=1e-12)
        mapped = map_weights(gradients, BASE, name, h)  # the maps only move numbers, so gradients move alike
        torch.testing.assert_close(other_gradients, mapped, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("source, target", [*itertools.permutations(FILES, 2)])
def test_weights_map_there_and_back(source, target):
    state = load(source)(12, 3).state_dict()
    mapped = map_weights(state, source, target, 3)
    shapes = {name: tensor.shape for name, tensor in load(target)(12, 3).state_dict().items()}
    assert {name: tensor.shape for name, tensor in mapped.items()} == shapes
    back = map_weights(mapped, target, source, 3)
    assert back.keys() == state.keys() and all(torch.equal(back[name], state[name]) for name in state)


@pytest.mark.parametrize("name", FILES)
def test_heads_must_divide_the_width(name):
    with pytest.raises(ValueError, match="10.*4"):
        load(name)(10, 4)


def test_each_way_is_judged_in_the_proof_and_shown_on_the_page(reference):
    variants = {
        variant.name
        for variant in read_variants(ASSIGNMENT / "proof" / "variants", reference, read_assignment().contract)
    }
    page = (ROOT / "docs/four-attentions.md").read_text(encoding="utf-8")
    for name, path in FILES.items():
        if name == BASE:  # the page shows the class, to the end of the file
            shown = int(re.search(r'^--8<-- "reference/attention.py:(\d+)"$', page, re.MULTILINE)[1])
            assert path.read_text(encoding="utf-8").splitlines()[shown - 1].startswith("class MultiHeadedAttention")
        else:
            assert f'\n--8<-- "{path.relative_to(ROOT).as_posix()}"\n' in page
            assert path.stem in variants


def test_the_ways_are_timed_side_by_side(monkeypatch, capsys):
    monkeypatch.setattr(attention_ways, "SHAPES", ((2, 3, 8, 2, 1),))
    assert main(["attention", "--rounds", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.count(" x\n") == 2 * len(FILES) and "cross-attention: batch 2, 3 positions" in printed
    assert printed.count(" 1.00 x\n") >= 2
