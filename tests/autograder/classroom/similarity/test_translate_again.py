"""A checkpoint translates again in the sandbox: it agrees, it does not, it is something else."""

import pickle
import shutil
from pathlib import Path

import pytest
import torch

from autograder.__main__ import main
from given.building import build_model
from given.config import Config
from given.decoding import translate
from given.run_folder import Checkpoint
from reference.vocab import Vocabulary

N = 12


class Harmful:
    """Unpickled, it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.write_text, (self.path, "ran")


@pytest.fixture
def handed_in(tmp_path):
    """A submission with the translations of a small untrained model; its folder, checkpoint and references."""
    torch.manual_seed(0)
    config = Config.from_dict({**Config().to_dict(), "d_model": 16, "n_heads": 2, "d_ff": 16, "n_layers": 1})
    vocabulary = Vocabulary([f"w{n}" for n in range(30)])
    model = build_model(config, len(vocabulary), len(vocabulary)).eval()
    checkpoint = Checkpoint(config, vocabulary, vocabulary, model.state_dict(), None, 1, {}, {}, {}, [])
    checkpoint.save(tmp_path / "best.pt")
    sources = [f"w{n} w{n + 1} w{2 * n}" for n in range(N)]
    (tmp_path / "test.bpe").write_text("".join(f"{line}|||w1 w2\n" for line in sources))
    folder = tmp_path / "anna"
    folder.mkdir()
    for path in Path("reference").glob("*.py"):
        shutil.copy(path, folder)
    lines = translate(model, [line.split() for line in sources], vocabulary, vocabulary, config)
    (folder / "translations.txt").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def check(folder):
    paths = ["--checkpoint", str(folder / "best.pt"), "--references", str(folder / "test.bpe")]
    return main(["translate-again", str(folder / "anna"), *paths])


@pytest.mark.slow
def test_a_checkpoint_agrees_or_what_differs_is_shown(handed_in, capsys):
    shutil.copy(handed_in / "best.pt", handed_in / "anna")
    arguments = ["translate-again", str(handed_in / "anna"), "--references", str(handed_in / "test.bpe")]
    assert main([*arguments, "--lines", "5"]) == 0
    assert "5 of 5 sampled lines are the same\n" in capsys.readouterr().out
    path = handed_in / "anna" / "translations.txt"
    path.write_text("".join(f"{line}\n" for line in ["the reference"] * 4 + path.read_text().splitlines()[4:]))
    assert check(handed_in) == 1
    printed = capsys.readouterr().out
    assert f"{N - 4} of {N} sampled lines are the same: for a person to look at" in printed
    assert "line 1\n    handed in: the reference" in printed


@pytest.mark.slow
def test_a_pickle_that_is_no_checkpoint_is_not_run(handed_in, capsys):
    (handed_in / "best.pt").write_bytes(pickle.dumps(Harmful(handed_in / "ran")))
    assert check(handed_in) == 1
    assert "not translated: the checkpoint: not a checkpoint" in capsys.readouterr().out
    assert not (handed_in / "ran").exists()


def test_mistakes_are_one_line(handed_in, capsys):
    (handed_in / "best.pt").unlink()
    assert check(handed_in) == 2
    (handed_in / "best.pt").symlink_to("/etc/passwd")
    assert check(handed_in) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2 and "best.pt: No such file" in errors[0] and "ordinary file" in errors[1]
