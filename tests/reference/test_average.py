"""Averages of weights: over time within a run, and of a run's last checkpoints."""

import os
import shlex
import shutil
import signal
from dataclasses import replace

import pytest
import torch

from given.config import PRESETS
from given.decoding import load_model
from given.experiment import Experiment
from given.extras.weight_average import WeightAverage
from given.measuring import Development
from given.run_folder import Checkpoint
from reference.__main__ import main

PAIRS = [
    ([subject, verb, "."], [other, action, "."])
    for subject, other in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for verb, action in (("mange", "eat"), ("dors", "sleep"), ("parle", "speak"))
]
SMALL = replace(PRESETS["tiny"], d_model=16, d_ff=16, epochs=3, batch_size=4, tie_output=True, ema=0.9)


def test_the_average_by_hand():
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(model.weight, 1.0)
    average, expected = WeightAverage(model, 0.3), 1.0
    for step, weight in enumerate((2.0, 4.0, 8.0, -1.0), start=1):
        torch.nn.init.constant_(model.weight, weight)
        average.update()
        decay = min(0.3, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * weight
    assert average.tensors[0].item() == pytest.approx(expected)
    with average.in_model():
        assert model.weight.item() == pytest.approx(expected)
    assert model.weight.item() == -1.0


def test_dev_is_measured_with_the_average_and_training_goes_on_without(monkeypatch):
    run, plain = (Experiment(replace(SMALL, ema=ema, dropout=0.0), PAIRS, PAIRS[:4]) for ema in (0.9, 0.0))
    seen, translate = [], Development.translate

    def look(self, model, count=None):
        seen.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return translate(self, model, count)

    monkeypatch.setattr(Development, "translate", look)
    for experiment in (run, plain):
        experiment.run_epoch(progress=False)
    average = run.average.state()
    assert all(torch.equal(seen[0][name], average[name]) for name in average)
    assert not torch.equal(seen[0]["output_projection.bias"], run.model.output_projection.bias)
    for one, other in zip(run.model.parameters(), plain.model.parameters(), strict=True):
        assert torch.equal(one, other), "the average changes nothing in training"
    assert run.model.output_projection.weight is run.model.tgt_embedding.table.weight
    assert run.history[0]["dev_loss"] != plain.history[0]["dev_loss"]


@pytest.fixture(scope="module")
def averaged(tmp_path_factory):
    """An undisturbed run with an average, and its folder."""
    folder = tmp_path_factory.mktemp("averaged")
    whole = Experiment(SMALL, PAIRS, PAIRS[:4])
    whole.run(folder, progress=False)
    return whole, folder


def test_a_run_with_an_average_resumes_bit_for_bit_and_translates_with_it(tmp_path, averaged):
    whole, folder = averaged
    first = Experiment(SMALL, PAIRS, PAIRS[:4])
    first.run_epoch(progress=False)
    first.checkpoint().save(tmp_path / "last.pt")
    resumed = Experiment.resume(tmp_path / "last.pt", PAIRS, PAIRS[:4])
    resumed.run(tmp_path / "run", progress=False)
    for one, other in zip(whole.average.tensors, resumed.average.tensors, strict=True):
        assert torch.equal(one, other)
    assert whole.average.n_updates == resumed.average.n_updates == 9
    options = type("Options", (), {"checkpoint": folder / "last.pt", "device": "cpu"})
    _, model = load_model(options)
    assert all(torch.equal(tensor, whole.average.state()[name]) for name, tensor in model.state_dict().items())


def test_ctrl_c_while_the_average_is_measured_keeps_the_weights(tmp_path, averaged, monkeypatch):
    translate = Development.translate

    def stop(self, model, count=None):
        if count is None:
            signal.raise_signal(signal.SIGINT)
        return translate(self, model, count)

    monkeypatch.setattr(Development, "translate", stop)
    with pytest.raises(KeyboardInterrupt):
        Experiment(SMALL, PAIRS, PAIRS[:4]).run(tmp_path, progress=False)
    monkeypatch.undo()
    whole, _ = averaged
    resumed = Experiment.resume(tmp_path / "last.pt", PAIRS, PAIRS[:4])
    resumed.run(tmp_path, progress=False)
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    run = Experiment(replace(SMALL, ema=0.0), PAIRS, PAIRS[:4])
    run.run(folder, progress=False, keep_epochs=True)
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    """A run that a test may change."""
    return shutil.copytree(trained, tmp_path / "run")


def test_the_last_checkpoints_are_averaged(folder, capsys):
    os.utime(folder / "epoch-01.pt")  # copied last, for example
    assert main(["average", str(folder), "--last", "2", "--output", str(folder / "the mean.pt")]) == 0
    printed = capsys.readouterr().out
    assert "the average of 2 checkpoints (epoch-02.pt, epoch-03.pt)" in printed
    command = shlex.split(printed.partition("next: python -m reference ")[2])
    assert command == ["translate", "--checkpoint", str(folder / "the mean.pt")]
    mean, *parts = (Checkpoint.load(folder / name) for name in ("the mean.pt", "epoch-02.pt", "epoch-03.pt"))
    for name, tensor in mean.weights.items():
        expected = (parts[0].weights[name] + parts[1].weights[name]) / 2
        torch.testing.assert_close(tensor, expected, rtol=1e-6, atol=1e-8)
    (folder / "sources").write_text("je mange .\n")
    files = ["--input", str(folder / "sources"), "--output", str(folder / "translations")]
    assert main([*command, *files]) == 0


def test_averaging_says_what_is_wrong(folder, capsys):
    for arguments, message in (
        ([str(folder), "--last", "4"], "keeps 3 checkpoints, --last asks for 4; `train --keep-epochs` keeps them"),
        ([str(folder / "none")], "keeps 0 checkpoints, --last asks for 5"),
        ([str(folder), "--last", "1"], "--last 1: expected at least 2"),
    ):
        assert main(["average", *arguments]) == 2
        assert message in capsys.readouterr().err
    other = Checkpoint.load(folder / "epoch-03.pt")
    replace(other, config=replace(other.config, d_ff=8)).save(folder / "epoch-03.pt")
    assert main(["average", str(folder), "--last", "2"]) == 2
    assert "epoch-03.pt: is of another run than epoch-02.pt" in capsys.readouterr().err
    assert not (folder / "average.pt").exists()
