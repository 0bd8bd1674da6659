"""Q, K, V, scores, weights and context in colour, caught from any code for attention."""

import shutil
import sys

import pytest
import torch

from autograder.cells import read_cells
from foundation.places import ROOT
from given import package
from given.drawing import catch, catching, join_heads
from given.pictures import plot_matrices
from reference import attention
from reference.attention import MultiHeadedAttention, scaled_dot_product_attention
from reference.masks import causal_mask


def draw(shape=(1, 2, 3, 4)):
    return [torch.randn(shape) for _ in range(3)]


def test_a_softmax_written_out_has_no_scores_and_still_a_picture():
    def by_hand(query, key, value, mask=None):
        weights = (query @ key.transpose(-2, -1) / 2).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        return weights @ value, weights

    caught = catch(by_hand, *draw())
    assert caught.scores is None
    figure = plot_matrices(caught.of_head(1), ["a", "b", "c"], ["d", "e", "f"])
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[3:5] == ["scores: not known", "weights: (q, k) = (3, 3)"]


def test_a_models_attention_is_caught_and_unchanged():
    torch.manual_seed(1)
    part, x = MultiHeadedAttention(8, 2), torch.randn(2, 3, 8)
    output, weights = part(x, x, x, causal_mask(3))
    with catching() as caught:
        again, _ = part(x, x, x, causal_mask(3))
        part(x, x, x)
    assert attention.scaled_dot_product_attention is scaled_dot_product_attention
    assert torch.equal(output, again) and torch.equal(caught[0].weights, weights)
    assert len(caught) == 2
    head = caught[0].of_head(1)
    assert head.query.shape == (3, 4) and torch.equal(head.weights, weights[0, 1])
    with pytest.raises(KeyError), catching():
        raise KeyError
    assert attention.scaled_dot_product_attention is scaled_dot_product_attention


def test_every_panel_names_its_shape_and_what_the_mask_excludes_is_grey():
    query, key, value = draw((1, 1, 3, 4))
    caught = catch(scaled_dot_product_attention, query, key, value, causal_mask(3)).of_head(0)
    figure = plot_matrices(caught, ["a", "b", "c"], ["d", "e", "f"], "one head")
    assert [axes.get_title() for axes in figure.axes] == [
        "Q: (q, d_k) = (3, 4)",
        "K: (k, d_k) = (3, 4)",
        "V: (k, d_k) = (3, 4)",
        "scores: (q, k) = (3, 3)",
        "weights: (q, k) = (3, 3)",
        "context: (q, d_k) = (3, 4)",
    ]
    scores = figure.axes[3]
    assert scores.images[0].get_array().mask.sum() == 3 and len(scores.texts) == 6
    assert len(figure.axes[4].texts) == 9


VARIANTS = [
    cell
    for path in sorted((ROOT / "autograder/assignment/proof/variants").glob("attention_*.py"))
    for cell in read_cells(path)
]
WITHOUT_THE_FUNCTION = {"folded_heads", "inline"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("variants")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")  # of a checkpoint without gradients
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda cell: cell.name)
def test_the_matrices_of_correct_variants_are_caught(variant, place, monkeypatch):
    name = f"with_{variant.name}"
    shutil.copytree(ROOT / "reference", place / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (place / name / "attention.py").open("a", encoding="utf-8") as file:
        file.write(f"\n\n{variant.text}")
    monkeypatch.setattr(package, "_names", [name])
    model = package.model.Transformer(9, 9, 8, 2, 8, n_layers=1).eval()
    with torch.no_grad(), catching() as caught:
        memory, encoder = model.encode(torch.tensor([[3, 4, 5]]), None)
        _, decoder, cross = model.decode(torch.tensor([[1, 2]]), memory, None, causal_mask(2))
    joined = join_heads(caught, 3)
    if variant.name in WITHOUT_THE_FUNCTION:
        assert joined == []
        return
    for matrices, weights in zip(joined, [*encoder, *decoder, *cross], strict=True):
        torch.testing.assert_close(matrices.weights, weights)
        assert matrices.query.shape[-1] == 4
