"""Attention maps that can be read."""

import pytest
import torch

from given.pictures import plot_attention, plot_page, save_figure


def test_tokens_are_no_formulas(tmp_path):
    figure = plot_attention(torch.rand(2, 2, 2), [r"$\bad$", "b"], ["$x_2$", "y"], "cross")
    save_figure(figure, tmp_path / "a.svg")
    labels = figure.axes[0].get_xticklabels() + figure.axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["$x_2$", "y", r"$\bad$", "b"]
    assert not any(label.get_parse_math() for label in labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_queries, n_keys", [(5, 5), (12, 60), (60, 12), (60, 60), pytest.param(511, 512, marks=pytest.mark.slow)]
)
def test_maps_of_long_sentences_keep_a_shape_that_fits_a_screen(n_queries, n_keys):
    figure = plot_attention(torch.rand(4, n_queries, n_keys), ["a"] * n_queries, ["b"] * n_keys, "cross")
    width, height = figure.get_size_inches()
    assert max(width, height) < 45 and max(width, height) < 3 * min(width, height)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("is attended to", "attends")


def test_a_page_has_a_map_for_each_layer_and_head():
    maps = [[torch.full((2, 3), layer / 10 + head / 100) for head in range(4)] for layer in range(2)]
    figure = plot_page(maps, ["layer 1", "layer 2"], list("ABCD"), ["a", "b"], ["x", "y", "z"], "all")
    shown = [axes.images[0].get_array()[0, 0] for axes in figure.axes[:8]]
    assert shown == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.1, 0.11, 0.12, 0.13])
    assert [axes.get_title() for axes in figure.axes[:4]] == list("ABCD")
    assert [axes.get_ylabel() for axes in figure.axes[:8:4]] == ["layer 1", "layer 2"]


@pytest.mark.parametrize(
    "n_layers, n_heads, length",
    [(1, 1, 3), *(pytest.param(*sizes, marks=pytest.mark.slow) for sizes in ((2, 4, 60), (6, 8, 15)))],
)
def test_a_page_fits_on_a_screen(n_layers, n_heads, length):
    maps = torch.rand(n_layers, n_heads, length, length)
    names = [str(number) for number in range(max(n_layers, n_heads))]
    figure = plot_page(maps, names[:n_layers], names[:n_heads], ["a"] * length, ["b"] * length, "all")
    assert max(figure.get_size_inches()) < 27
