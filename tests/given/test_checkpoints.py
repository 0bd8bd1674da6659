"""Checkpoints: what is refused, and that nothing in them runs; `average` and `--from`, which take kept ones."""

import shlex
import shutil

import pytest
import torch

from given.run_folder import Checkpoint, CheckpointError
from reference.__main__ import main

from .small import corpus_flags


class Trap:
    def __reduce__(self):
        return print, ("the checkpoint ran code",)


@pytest.mark.parametrize("content", [b"", {"format": 99}, {"format": 1, "weights": Trap()}, {"format": 1}, None])
def test_what_is_no_checkpoint_is_refused_and_not_run(tmp_path, capsys, content):
    path = tmp_path / "c.pt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        torch.save(content, path)
    expected = "No such file or directory; `train` writes it" if content is None else "not a checkpoint of this version"
    with pytest.raises(CheckpointError, match=f"c.pt: {expected}"):
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


def test_a_run_goes_on_from_a_kept_epoch(kept, folder):
    """In its own folder: what was trained later is trained again, to the last bit."""
    (folder / "last.pt").unlink()
    assert train(folder, "--resume", "--from", "epoch-02", "--keep-epochs") == 0
    one, other = contents(kept / "run"), contents(folder)
    assert one.keys() == other.keys()
    for file, (history, states) in one.items():
        assert history == other[file][0]
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(states, other[file][1], strict=True)), file


@pytest.mark.parametrize(
    "more, message",
    [
        (["--from", "epoch-09"], "epoch-09.pt: No such file"),
        (["--from", "epoch-04", "--epochs", "3"], "more than the 3 that you ask for"),
    ],
)
def test_going_on_from_what_is_not_there_loses_nothing(folder, capsys, more, message):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert train(folder, *more) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_the_last_checkpoints_are_averaged(folder, capsys):
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


def test_too_few_checkpoints_are_not_averaged(folder, capsys):
    assert main(["average", str(folder), "--last", "6"]) == 2
    assert "keeps 5 checkpoints, --last asks for 6; `train --keep-epochs` keeps them" in capsys.readouterr().err
    assert not (folder / "average.pt").exists()
