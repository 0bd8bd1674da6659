"""Attention through training time: recorded by a run, kept over interruptions, drawn as a page and as an animation."""

from dataclasses import replace

import pytest
import torch
from PIL import Image

from given.config import PRESETS, ConfigError
from given.experiment import Experiment
from given.measuring import Watched, find_pair
from given.pictures import choose_evenly, plot_through_time
from given.run_folder import Checkpoint
from reference.__main__ import main

PAIRS = [([subject, "dort", "."], [other, "sleeps", "."]) for subject, other in (("il", "he"), ("elle", "she"))] * 4
SMALL = replace(PRESETS["tiny"], d_model=16, d_ff=16, epochs=2, batch_size=4, dropout=0.1)


def test_recording_changes_nothing_and_resuming_goes_on_with_it(tmp_path, capsys):
    plain = Experiment(SMALL, PAIRS, PAIRS[:2])
    plain.run(tmp_path / "plain", progress=False)
    watching = Experiment(SMALL, PAIRS, PAIRS[:2])
    watching.watched = find_pair("il dort .", PAIRS)
    watching.run(tmp_path / "watching", progress=False)
    losses = [[line["train_loss"] for line in run.history] for run in (plain, watching)]
    assert losses[0] == losses[1]

    longer = Experiment.resume(tmp_path / "watching/last.pt", PAIRS, PAIRS[:2], longer={"epochs": 3})
    longer.run(tmp_path / "watching", progress=False)
    recorded = Watched(**Checkpoint.load(tmp_path / "watching/last.pt").watched)
    assert recorded.epochs == [0, 1, 2, 3]
    assert recorded.target == ["he", "sleeps", "."]
    for look in recorded.weights:
        assert {kind: tuple(weights.shape) for kind, weights in look.items()} == {
            "encoder": (1, 4, 3, 3),
            "decoder": (1, 4, 4, 4),
            "cross": (1, 4, 4, 3),
        }
    assert not torch.equal(recorded.weights[0]["cross"], recorded.weights[1]["cross"])
    fresh = Experiment(SMALL, PAIRS, PAIRS[:2])
    fresh.watched = find_pair("il dort .", PAIRS)
    fresh._look(0)
    assert torch.equal(fresh.watched.weights[0]["cross"], recorded.weights[0]["cross"])


@pytest.mark.parametrize(
    "sentence, message",
    [
        ("elle parle .", "'elle parle .' is not a source of the training or dev pairs: add its translation"),
        ("|||he", "expected `source|||target`"),
        ("il|||", "expected `source|||target`"),
        ("il|||he|||she", "expected `source|||target`"),
        ("", "add its translation"),
    ],
)
def test_a_pair_to_watch_needs_both_sides(sentence, message):
    with pytest.raises(ConfigError) as error:
        find_pair(sentence, PAIRS)
    assert message in str(error.value)


@pytest.mark.slow
def test_a_page_and_an_animation_are_drawn_from_a_run(tmp_path, capsys):
    (tmp_path / "pairs").write_text("".join(f"{' '.join(src)}|||{' '.join(tgt)}\n" for src, tgt in PAIRS))
    out = str(tmp_path / "out")
    files = ["--train", str(tmp_path / "pairs"), "--dev", str(tmp_path / "pairs"), "--output", out]
    sizes = ["--preset", "tiny", "--d-model", "16", "--epochs", "2", "--batch-size", "4"]
    assert main(["train", *files, *sizes, "--attention-through-time", "elle dort .|||she sleeps"]) == 0
    drawing = ["attention", "--through-time", out, "--kind", "encoder", "--output"]
    assert main([*drawing, str(tmp_path / "page.png")]) == 0
    assert main([*drawing, str(tmp_path / "moving.gif")]) == 0
    with Image.open(tmp_path / "moving.gif") as picture:
        durations = []
        for frame in range(picture.n_frames):
            picture.seek(frame)
            durations.append(picture.info["duration"])
    assert len(durations) >= 3 and sum(durations) > 2000
    with Image.open(tmp_path / "page.png") as picture:
        assert picture.width > 300
    assert "encoder attention, layer 1, 3 times" in capsys.readouterr().out

    assert main(["train", "--resume", "--output", out, *files[:4], "--attention-through-time", "il dort ."]) == 2
    assert "records the attention in 'elle dort .' already" in capsys.readouterr().err
    assert main(["attention", "--through-time", str(tmp_path / "none")]) == 2
    assert main(["attention", "--sentence", "il", "--checkpoint", f"{out}/best.pt", "--output", "a.gif"]) == 2
    assert "expected a name that ends in .png, .svg, .pdf" in capsys.readouterr().err


@pytest.mark.slow
def test_many_reports_are_thinned_out_and_named():
    assert choose_evenly(3, 12) == [0, 1, 2]
    assert choose_evenly(51, 6) == [0, 10, 20, 30, 40, 50]
    weights = [torch.rand(2, 3, 4) for _ in range(31)]
    figure = plot_through_time(weights, [f"epoch {n}" for n in range(31)], ["a"] * 3, ["b"] * 4, "cross")
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert len(titles) == 12 and (titles[0], titles[-1]) == ("epoch 0", "epoch 30")
    assert [axes.get_ylabel() for axes in figure.axes[:24:12]] == ["head 1", "head 2"]


def test_a_run_without_a_recording_says_how_to_get_one(tmp_path, capsys):
    Experiment(SMALL, PAIRS, PAIRS[:2]).run(tmp_path, progress=False)
    assert main(["attention", "--through-time", str(tmp_path)]) == 2
    assert "recorded no attention; `train --attention-through-time SENTENCE`" in capsys.readouterr().err
