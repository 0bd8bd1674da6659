"""What ordinary code does, and what costs marks under other graders, works in a worker that can open no file."""

from pathlib import Path

import pytest
import torch

from .snippets import read_snippets

HABITS = read_snippets(Path(__file__).with_name("habits.py"))
OWN_FILE = """
import os
import sys
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.append(os.getcwd())
sys.path.append(str(Path(__file__).resolve().parent))


def greedy_decode(x):
    return __file__, HERE, os.getcwd()
"""


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.name)
def test_an_ordinary_habit_works(habit, sandbox):
    submission = sandbox({"decode": f"{habit.text}\n\ndef greedy_decode(x):\n    return {habit.name}(x)\n"})
    assert submission.call("decode.greedy_decode", torch.ones(4, 3)) is not None
    assert "Permission" not in submission.output and "Operation not permitted" not in submission.output


def test_its_own_file_tells_nothing_of_the_grader(sandbox):
    submission = sandbox({"decode": OWN_FILE})
    assert submission.call("decode.greedy_decode", torch.ones(1)) == ("decode.py", "/", "/")
    assert "Permission" not in submission.output and "Operation not permitted" not in submission.output


def test_there_are_habits():
    assert len(HABITS) > 20
