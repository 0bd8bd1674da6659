"""Data parallel: two processes train as one does with twice the batch."""

import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from given.extras.several_processes import ProcessGroup
from given.run_folder import Checkpoint
from reference.__main__ import main
from reference.data import Batch

LINES = [
    f"{s} {v} {o} .|||{t} {w} {p} ."
    for s, t in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for v, w in (("mange", "eat"), ("aime", "like"), ("vois", "see and see"))
    for o, p in (("tout", "all"), ("rien du tout", "nothing"))
]
SETTINGS = [
    *("--preset", "tiny", "--d-model", "16", "--dropout", "0", "--epochs", "3", "--accumulate", "2"),
    *("--max-grad-norm", "0.5", "--ema", "0.9", "--learning-rate", "3e-3", "--schedule", "linear", "--samples", "1"),
    *("--adam-epsilon", "1e-3"),  # Adam would take rounding errors for gradients, where these should be 0
]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "train").write_text("\n".join(LINES) + "\n")
    (tmp_path / "dev").write_text("\n".join(LINES[:5]) + "\n")
    return ["--train", str(tmp_path / "train"), "--dev", str(tmp_path / "dev")]


def torchrun(*arguments, press_ctrl_c_when=None):
    """Trains in two processes; presses Ctrl-C when a file is there. Returns the exit status and the output."""
    command = [*TORCHRUN, "-m", "reference", "train", *arguments]
    with subprocess.Popen(
        command,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            end = time.monotonic() + 60
            while press_ctrl_c_when and not press_ctrl_c_when.exists() and time.monotonic() < end:
                time.sleep(0.01)
            if press_ctrl_c_when:
                run.send_signal(signal.SIGINT)
            output, _ = run.communicate(timeout=120)
        except BaseException:
            run.terminate()  # and with it the two
            raise
    return run.returncode, output


def curve(folder):
    history = Checkpoint.load(folder / "last.pt").history
    return [[line[name] for name in ("train_loss", "dev_loss", "dev_bleu")] for line in history]


@pytest.mark.slow
def test_two_processes_train_as_one_with_twice_the_batch(files, tmp_path):
    assert main(["train", *files, *SETTINGS, "--batch-size", "10", "--output", str(tmp_path / "one")]) == 0
    status, output = torchrun(*files, *SETTINGS, "--batch-size", "5", "--output", str(tmp_path / "two"))
    assert status == 0, output
    for two, one in zip(curve(tmp_path / "two"), curve(tmp_path / "one"), strict=True):
        assert two == pytest.approx(one, abs=2e-4)
    assert output.count("best dev BLEU") == 1, "only one process prints"
    files_of = [{path.name for path in (tmp_path / run).iterdir()} for run in ("one", "two")]
    assert files_of[1] - {"curves.png"} == files_of[0] - {"curves.png"}  # tests in this process draw no curves
    saved = [Checkpoint.load(tmp_path / name / "last.pt") for name in ("one", "two")]
    for name, tensor in saved[0].average.items():
        torch.testing.assert_close(saved[1].average[name], tensor, rtol=1e-4, atol=1e-5)
    assert set(saved[1].rng_states) == {"cpu", "cpu/1"}


@pytest.mark.slow
def test_ctrl_c_and_resume(files, tmp_path, capsys):
    flags = [*files, "--preset", "tiny", "--d-model", "16", "--batch-size", "2", "--samples", "0"]
    status, output = torchrun(*flags, "--epochs", "12", "--output", str(tmp_path / "whole"))
    assert status == 0, output
    last, arguments = tmp_path / "run" / "last.pt", [*flags, "--epochs", "12", "--output", str(tmp_path / "run")]
    status, output = torchrun(*arguments, press_ctrl_c_when=last)
    assert status != 0
    assert 0 < Checkpoint.load(last).step < 72, "it was stopped on its way"
    assert "resume with: torchrun --standalone --nproc-per-node 2 -m reference train --resume" in output
    status, output = torchrun(*files, "--resume", "--output", str(tmp_path / "run"))
    assert status == 0, output
    assert curve(tmp_path / "run") == curve(tmp_path / "whole")
    assert main(["train", *files, "--resume", "--epochs", "13", "--output", str(tmp_path / "run")]) == 2
    assert "was trained by 2 processes; resume it with as many" in capsys.readouterr().err


@pytest.mark.parametrize("n_sentences, shares", [(5, [[0, 2, 4], [1, 3]]), (2, [[0], [1]]), (1, [[0], [0]])])
def test_every_process_has_sentences(n_sentences, shares):
    batch = Batch.from_ids([[5 + row] for row in range(n_sentences)], [[9]] * n_sentences)
    for rank, expected in enumerate(shares):
        group = object.__new__(ProcessGroup)
        group.rank, group.size = rank, 2
        assert (group.share(batch).src[:, 0] - 5).tolist() == expected
