"""`train --resume --from epoch-02`: the run that goes on from a kept epoch is the run that was never interrupted."""

import shutil

import pytest
import torch

from given.run_folder import Checkpoint
from reference.__main__ import main

pytestmark = pytest.mark.slow  # whole runs are trained; test_experiment.py has a short one that resumes

LINES = [f"a{n % 7} b{n % 5} c|||x{n % 5} y{n % 7}\n" for n in range(60)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of 5 epochs that keeps all of them."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "train.bpe").write_text("".join(LINES))
    (folder / "dev.bpe").write_text("".join(LINES[:9]))
    assert train(folder, "whole", "--preset", "tiny", "--epochs", 5, "--batch-size", 8, "--keep-epochs") == 0
    return folder


def train(folder, name, *more):
    where = ["--train", folder / "train.bpe", "--dev", folder / "dev.bpe", "--output", folder / name]
    return main([str(word) for word in ["train", *where, *more]])


def contents(folder):
    """Weights, optimizer, random states and history of each checkpoint; the times differ."""
    found = {}
    for path in sorted(folder.glob("*.pt")):
        saved = Checkpoint.load(path)
        history = [{name: value for name, value in line.items() if name != "seconds"} for line in saved.history]
        states = [*saved.weights.values(), *saved.rng_states.values()]
        states += [value for state in saved.optimizer["state"].values() for value in state.values()]
        found[path.name] = (history, states)
    return found


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, (history, states) in one.items():
        assert history == other[name][0], name
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(states, other[name][1], strict=True)), name


@pytest.mark.parametrize("name", ["epoch-02", "02", "epoch-02.pt"])
def test_a_run_goes_on_from_a_kept_epoch(whole, tmp_path, capsys, name):
    """In its own folder: what was trained later is forgotten, then trained again to the last bit."""
    shutil.copytree(whole / "whole", whole / f"again-{name}")
    assert train(whole, f"again-{name}", "--resume", "--from", name, "--keep-epochs") == 0
    assert "back to epoch 2; what was trained after it is removed" in capsys.readouterr().out
    assert_same(contents(whole / "whole"), contents(whole / f"again-{name}"))
    history = (whole / f"again-{name}/history.jsonl").read_text().splitlines()
    assert len(history) == 5 and history[:2] == (whole / "whole/history.jsonl").read_text().splitlines()[:2]


def test_a_run_goes_on_in_another_folder(whole):
    kept = whole / "whole/epoch-02.pt"
    assert train(whole, "elsewhere", "--resume", "--from", kept, "--keep-epochs") == 0
    expected = {name: saved for name, saved in contents(whole / "whole").items() if name > "epoch-02.pt"}
    assert_same({name: expected[name] for name in expected if name != "best.pt"}, {
        name: saved for name, saved in contents(whole / "elsewhere").items() if name not in ("best.pt",)
    })  # fmt: skip


def test_the_best_so_far_is_restored(whole):
    """Also where the run stops before it has a better one."""
    shutil.copytree(whole / "whole", whole / "short")
    assert train(whole, "short", "--resume", "--from", "epoch-02", "--epochs", 2) == 0
    bleus = [line["dev_bleu"] for line in Checkpoint.load(whole / "short/last.pt").history]
    best = Checkpoint.load(whole / "short/best.pt")
    assert len(bleus) == 2 and best.history[-1]["dev_bleu"] == max(bleus)
    assert not (whole / "short/epoch-03.pt").exists() and (whole / "short/epoch-02.pt").is_file()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--resume", "--from", "epoch-09"], "--from epoch-09: no such checkpoint in "),
        (["--resume", "--from", "epoch-09"], "there are epoch-01, epoch-02, epoch-03, epoch-04, epoch-05"),
        (["--from", "epoch-02"], "--from goes on with an earlier run: add --resume"),
        (["--resume", "--from", "epoch-04", "--epochs", "3"], "more than the 24 that you ask for"),
    ],
)
def test_mistakes(whole, capsys, more, message):
    """One line, status 2, and nothing is lost."""
    before = {path: path.read_bytes() for path in (whole / "whole").iterdir() if path.is_file()}
    assert train(whole, "whole", *more) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert {path: path.read_bytes() for path in (whole / "whole").iterdir() if path.is_file()} == before


def test_a_run_that_kept_no_epoch(whole, capsys):
    shutil.copytree(whole / "whole", whole / "bare", ignore=shutil.ignore_patterns("epoch-*"))
    assert train(whole, "bare", "--resume", "--from", "epoch-02") == 2
    assert "it keeps none; `train --keep-epochs` does" in capsys.readouterr().err
