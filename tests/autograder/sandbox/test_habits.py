"""What ordinary code does, and what costs marks under other graders, works in a worker that can open no file."""

from pathlib import Path

import pytest
import torch

HABITS = sorted(Path(__file__).with_name("habits").glob("*.py"))


@pytest.mark.parametrize("path", HABITS, ids=lambda path: path.stem)
def test_an_ordinary_habit_works(path: Path, sandbox):
    text = path.read_text(encoding="utf-8") + "\n\ndef greedy_decode(x):\n    return habit(x)\n"
    submission = sandbox({"decode": text})
    assert submission.call("decode.greedy_decode", torch.ones(4, 3)) is not None
    assert "Permission" not in submission.output and "Operation not permitted" not in submission.output


def test_its_own_file_tells_nothing_of_the_grader(sandbox):
    text = Path(__file__).with_name("habits").joinpath("own_file.py").read_text(encoding="utf-8")
    submission = sandbox({"decode": text + "\n\ndef greedy_decode(x):\n    return habit(x)\n"})
    assert submission.call("decode.greedy_decode", torch.ones(1)) == ("decode.py", "/", "/")


def test_there_are_habits():
    assert len(HABITS) > 20
