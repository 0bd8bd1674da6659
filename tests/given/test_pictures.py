"""Pictures that can be read: maps, attention through time, matrices of any code, bug hunts."""

import pytest
import torch
from PIL import Image

from given.drawing import catch
from given.pictures import plot_history, plot_matrices
from reference.__main__ import main
from reference.attention import scaled_dot_product_attention
from reference.masks import causal_mask

from .conftest import corpus_flags


@pytest.mark.slow
def test_a_page_and_an_animation_are_drawn_from_a_run(tmp_path, capsys):
    files, out = corpus_flags(tmp_path), str(tmp_path / "run")
    sizes = ["--preset", "tiny", "--d-model", "16", "--epochs", "2", "--batch-size", "4"]
    assert main(["train", *files, *sizes, "--attention-through-time", "elle dort .|||she sleeps"]) == 0
    drawing = ["attention", "--through-time", out, "--kind", "encoder", "--output"]
    for name in ("page.png", "moving.gif"):
        assert main([*drawing, str(tmp_path / name)]) == 0
    with Image.open(tmp_path / "moving.gif") as picture:
        durations = []
        for frame in range(picture.n_frames):
            picture.seek(frame)
            durations.append(picture.info["duration"])
    assert len(durations) >= 3 and sum(durations) > 2000
    with Image.open(tmp_path / "page.png") as picture:
        assert picture.width > 300
    assert "encoder attention, layer 1, 3 times" in capsys.readouterr().out


def test_every_panel_names_its_shape_and_what_the_mask_excludes_is_grey():
    query, key, value = torch.randn(3, 1, 1, 3, 4)
    caught = catch(scaled_dot_product_attention, query, key, value, causal_mask(3)).of_head(0)
    figure = plot_matrices(caught, ["a", "b", "c"], ["d", "e", "f"], "one head")
    assert [axes.get_title() for axes in figure.axes[:6]] == [
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


def drawn(axes):
    """The points of each curve by its label; those without one have a number."""
    names = [line.get_label() for line in axes.lines]
    return {name: line.get_xydata().tolist() for name, line in zip(names, axes.lines, strict=True)}


def test_a_history_is_drawn_by_epoch_with_the_thresholds():
    lines = [{"epoch": n, "train_loss": 4.0 - n, "dev_loss": 5.0 - n, "dev_bleu": n / 10} for n in (1, 2)]
    loss, bleu = plot_history(lines, {"beginner": 0.3}).axes
    assert drawn(loss) == {"train loss": [[1, 3], [2, 2]], "dev loss": [[1, 4], [2, 3]]}
    assert [text.get_text() for text in loss.get_legend().texts] == ["train loss", "dev loss"]
    curve, threshold = drawn(bleu).values()
    assert curve == [[1, 0.1], [2, 0.2]] and {y for _, y in threshold} == {0.3} and bleu.get_ylim() == (0, 1)
    assert [(text.get_text(), text.get_position()) for text in bleu.texts] == [("beginner 0.30", (1, 0.31))]
    assert [axes.get_xlabel() for axes in (loss, bleu)] == ["epoch", "epoch"]
