"""Checkpoints: what is refused, and that nothing in them runs; `average` and `--from`, which take kept ones."""

import os
import shlex
import shutil
from dataclasses import replace

import pytest
import torch

from given.experiment import Experiment
from given.run_folder import Checkpoint, CheckpointError
from reference.__main__ import main

from .small import DEV, PAIRS, SMALL, corpus_flags


class Trap:
    def __reduce__(self):
        return print, ("the checkpoint ran code",)


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "not a checkpoint, or a damaged one"),
        ({"format": 99}, "checkpoint format 99, expected 1"),
        ({"format": 1, "weights": Trap()}, "not a checkpoint"),
        (None, "No such file or directory; `train` writes it"),
        ({"history": "missing"}, "missing 1 required positional argument: 'history'"),
    ],
)
def test_what_is_no_checkpoint_is_refused_and_not_run(tmp_path, capsys, content, message):
    path = tmp_path / "c.pt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        if "format" not in content:
            Experiment(SMALL, PAIRS, DEV).checkpoint().save(path)
            content = torch.load(path, weights_only=True) | content
        torch.save({name: value for name, value in content.items() if value != "missing"}, path)
    with pytest.raises(CheckpointError, match=f"c.pt: .*{message}"):
        Checkpoint.load(path)
    assert "ran code" not in capsys.readouterr().out


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The folder of a run that keeps its five epochs, with its corpus."""
    folder = tmp_path_factory.mktemp("kept")
    flags = corpus_flags(folder)
    assert main(["train", *flags, "--preset", "tiny", "--d-model", "16", "--epochs", "5", "--keep-epochs"]) == 0
    return folder


@pytest.fixture
def folder(kept, tmp_path):
    """A run that a test may change."""
    shutil.copytree(kept / "run", tmp_path / "run")
    return tmp_path / "run"


def train(folder, *more):
    return main(["train", *corpus_flags(folder.parent)[:-1], str(folder), *more])


def contents(folder):
    """Weights, optimizer, random states and history of each checkpoint; the times differ."""
    found = {}
    for path in sorted(folder.glob("*.pt")):
        saved = Checkpoint.load(path)
        states = [*saved.weights.values(), *saved.rng_states.values()]
        states += [value for state in saved.optimizer["state"].values() for value in state.values()]
        found[path.name] = ([{**line, "seconds": 0} for line in saved.history], states)
    return found


def test_a_run_goes_on_from_a_kept_epoch(kept, folder, capsys):
    """In its own folder: what was trained later is forgotten, then trained again to the last bit."""
    assert train(folder, "--resume", "--from", "2", "--keep-epochs") == 0
    assert "back to epoch 2; what was trained after it is removed" in capsys.readouterr().out
    one, other = contents(kept / "run"), contents(folder)
    assert one.keys() == other.keys()
    for file, (history, states) in one.items():
        assert history == other[file][0]
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(states, other[file][1], strict=True)), file


@pytest.mark.parametrize(
    "more, message",
    [
        (["--resume", "--from", "epoch-09"], "--from epoch-09: no such checkpoint in "),
        (["--from", "epoch-02"], "--from goes on with an earlier run: add --resume"),
        (["--resume", "--from", "epoch-04", "--epochs", "3"], "more than the 3 that you ask for"),
    ],
)
def test_going_on_from_what_is_not_there_loses_nothing(folder, capsys, more, message):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert train(folder, *more) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    for path in folder.glob("epoch-*"):
        path.unlink()
    assert train(folder, "--resume", "--from", "epoch-02") == 2
    assert "it keeps none; `train --keep-epochs` does" in capsys.readouterr().err


def test_the_last_checkpoints_are_averaged(folder, capsys):
    os.utime(folder / "epoch-01.pt")  # copied last, for example
    assert main(["average", str(folder), "--last", "2", "--output", str(folder / "the mean.pt")]) == 0
    printed = capsys.readouterr().out
    assert "the average of 2 checkpoints (epoch-04.pt, epoch-05.pt)" in printed
    command = shlex.split(printed.partition("next: python -m reference ")[2])
    assert command == ["translate", "--checkpoint", str(folder / "the mean.pt")]
    mean, *parts = (Checkpoint.load(folder / name) for name in ("the mean.pt", "epoch-04.pt", "epoch-05.pt"))
    for name, tensor in mean.weights.items():
        expected = (parts[0].weights[name] + parts[1].weights[name]) / 2
        torch.testing.assert_close(tensor, expected, rtol=1e-6, atol=1e-8)
    (folder / "sources").write_text("je mange .\n")
    assert main([*command, "--input", str(folder / "sources"), "--output", str(folder / "translations")]) == 0


def test_averaging_says_what_is_wrong(folder, capsys):
    for arguments, message in (
        ([str(folder), "--last", "6"], "keeps 5 checkpoints, --last asks for 6; `train --keep-epochs` keeps them"),
        ([str(folder / "none")], "keeps 0 checkpoints, --last asks for 5"),
        ([str(folder), "--last", "1"], "--last 1: expected at least 2"),
    ):
        assert main(["average", *arguments]) == 2
        assert message in capsys.readouterr().err
    other = Checkpoint.load(folder / "epoch-05.pt")
    replace(other, config=replace(other.config, d_ff=8)).save(folder / "epoch-05.pt")
    assert main(["average", str(folder), "--last", "2"]) == 2
    assert "epoch-05.pt: is of another run than epoch-04.pt" in capsys.readouterr().err
    assert not (folder / "average.pt").exists()
