"""Attention maps that can be read."""

import pytest
import torch

from reference.pictures.attention_maps import plot_attention
from reference.pictures.saving import save_figure


def test_tokens_are_no_formulas(tmp_path):
    figure = plot_attention(torch.rand(2, 2, 2), [r"$\bad$", "b"], ["$x_2$", "y"], "cross")
    save_figure(figure, tmp_path / "a.svg")
    labels = figure.axes[0].get_xticklabels() + figure.axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["$x_2$", "y", r"$\bad$", "b"]
    assert not any(label.get_parse_math() for label in labels)


@pytest.mark.parametrize(
    "n_queries, n_keys", [(5, 5), (12, 60), (60, 12), (60, 60), pytest.param(511, 512, marks=pytest.mark.slow)]
)
def test_maps_of_long_sentences_keep_a_shape_that_fits_a_screen(n_queries, n_keys):
    figure = plot_attention(torch.rand(4, n_queries, n_keys), ["a"] * n_queries, ["b"] * n_keys, "cross")
    width, height = figure.get_size_inches()
    assert max(width, height) < 45 and max(width, height) < 3 * min(width, height)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("is attended to", "attends")
