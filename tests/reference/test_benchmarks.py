"""The measurements run on a fresh clone, and a user's error is one line."""

import pytest

from benchmarks import decoding
from benchmarks.__main__ import main
from reference.running.checkpoint import Checkpoint
from reference.running.config import PRESETS
from reference.running.experiment import Experiment

PAIRS = [
    ([subject, verb, "."], [other, action, "."])
    for subject, other in (("je", "i"), ("tu", "you"))
    for verb, action in (("mange", "eat"), ("dors", "sleep"), ("parle", "speak"))
]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A small corpus and a small model in place of the real ones, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(decoding, "read_pairs", lambda path: PAIRS)
    monkeypatch.setitem(PRESETS, "course", PRESETS["tiny"])
    (tmp_path / "dev").write_text("".join(f"{' '.join(src)}|||{' '.join(tgt)}\n" for src, tgt in PAIRS))
    return tmp_path


def test_decoding_trains_its_model_once(small, capsys, monkeypatch):
    assert main(["decoding", "--input", "dev"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "sentences/s" in line]
    assert len(rows) == len(decoding.WAYS) and all("6 of 6 lines equal" in row for row in rows)
    assert Checkpoint.load("runs/bench/last.pt").epoch == 3
    monkeypatch.setattr(Experiment, "run", lambda *arguments: pytest.fail("trained again"))
    assert main(["decoding", "--input", "dev"]) == 0


def test_mistakes_get_one_line(small, capsys):
    assert main(["decoding", "--checkpoint", "nowhere.pt"]) == 2
    assert capsys.readouterr().err == "benchmarks: nowhere.pt: No such file or directory; `train` writes it\n"
