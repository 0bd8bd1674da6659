"""Q, K, V, scores, weights and context in colour, caught from any code for attention."""

import pytest
import torch

from given.drawing import catch, catching
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
