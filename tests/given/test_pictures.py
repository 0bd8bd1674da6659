"""Pictures that can be read: maps, attention through time, matrices of any code, bug hunts; word alignments."""

import pytest
import torch
from PIL import Image

from autograder.intake.sources import read_sources
from autograder.own_work.boxes import draw_model
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE as FOLDER
from given.config import ConfigError
from given.drawing import error_rate, join_links, show_hunts
from given.pictures import plot_history, plot_matrices, plot_mistake, plot_sanity
from given.watching import catch, find_pair
from reference.__main__ import main
from reference.attention import scaled_dot_product_attention
from reference.masks import causal_mask

from .conftest import PAIRS, REFERENCE, corpus_flags, write_pairs


def test_a_pair_to_watch_needs_both_sides():
    with pytest.raises(ConfigError, match="'elle parle .' is not a source of the training or dev pairs: add its trans"):
        find_pair(REFERENCE, "elle parle .", PAIRS)


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


def test_what_sanity_measures_is_drawn():
    losses, influence = plot_sanity(2.5, [3.0, 1.0, 0.5], torch.tensor([[0.5, 0.0], [1.0, 2.0]]), ["<s>", "he"]).axes
    curve, guess = drawn(losses).values()
    assert curve == [[0, 3], [1, 1], [2, 0.5]] and {y for _, y in guess} == {2.5} and losses.get_ylim()[0] == 0
    assert [text.get_text() for text in losses.get_legend().texts] == ["a guess: ln v"]
    assert influence.images[0].get_array().tolist() == [[0.25, 0], [0.5, 1]], "as a share of the largest"
    assert [label.get_text() for label in influence.get_xticklabels()] == ["<s>", "he"]


SOURCES = read_sources(FOLDER, FOLDER)


def test_hunts_are_described_and_a_trained_model_is_drawn(tmp_path, capsys):
    [picture] = show_hunts("anna", SOURCES, folder=tmp_path)
    text = capsys.readouterr().out
    assert (
        picture.stat().st_size > 10_000
        and 'box("1.2", "anna")' in text
        and "trained with one of these mistakes" in text
    )
    model = draw_model("anna", read_assignment())
    titles = [axes.get_title() for axes in plot_mistake(model.rows).axes]
    assert titles == ["", "cross-attention with the mistake", "cross-attention without it"]


def test_an_answer_about_the_trained_model_gets_a_reply(capsys):
    right = draw_model("anna", read_assignment()).right
    for letter in "ABCD":
        assert show_hunts("anna", SOURCES, letter.lower()) == []
        assert (f"{letter} is right" in capsys.readouterr().out) == (letter == right)
    assert main(["hunt", "anna", "--answer", "E"]) == 2 and "expected one of A, B, C, D" in capsys.readouterr().err


def test_a_name_is_needed(capsys):
    assert main(["hunt", " "]) == 2 and "whose hunts?" in capsys.readouterr().err


ALIGNED = [(["le", "chat@@", "on", "dort"], ["the", "kit@@", "ten", "sleeps"]), (["il", "dort"], ["he", "sleeps"])]


def test_the_error_rate_by_hand_and_links_between_words():
    assert error_rate(n_links=3, n_gold=2, n_right=1) == 1 - 2 / 5
    assert join_links([(0, 0), (1, 2), (2, 1), (3, 3)], ALIGNED[0], "@@") == {(0, 0), (1, 1), (2, 2)}


def test_alignments_are_measured_and_drawn(tmp_path, capsys):
    files = ["--train", str(write_pairs(tmp_path / "pairs", ALIGNED * 2)), "--dev", str(tmp_path / "pairs")]
    (tmp_path / "links").write_text("0-0 1-1 1-2 2-1 2-2 3-3\n0-0 1-1\n" * 2)
    sizes = ["--preset", "tiny", "--d-model", "16", "--n-layers", "2", "--output", str(tmp_path / "run")]
    assert main(["train", *files, *sizes]) == 0
    command = ["align", "--checkpoint", str(tmp_path / "run/best.pt"), "--pairs", str(tmp_path / "pairs")]
    command += ["--alignments", str(tmp_path / "links")]
    capsys.readouterr()
    tables = []
    for step in ("write", "read"):
        assert main([*command, "--step", step]) == 0
        head, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
        assert head == ["layer", "head", "AER", "precision", "recall"]
        assert [row[:2] for row in rows] == [[layer, head] for layer in "12" for head in ("1", "2", "3", "4", "mean")]
        assert [row[2] for row in rows if row[-1] == "*"] == [min(row[2] for row in rows)]
        tables.append(rows)
    assert tables[0] != tables[1]
    assert main([*command, "--output", str(tmp_path / "a.png"), "--line", "2"]) == 0
    assert "\nline 2, layer" in capsys.readouterr().out and (tmp_path / "a.png").stat().st_size > 5000
    assert main([*command, "--line", "5"]) == 2 and "--line 5" in capsys.readouterr().err
    (tmp_path / "links").write_text("0:0\n")
    assert main(command) == 2 and "links:1: expected links source-target" in capsys.readouterr().err
