"""Submissions that attack what judges them, beside the hostile corpus of layer norms: each gets what its code is worth.

They change the reference in one module, or replace one; what the other tasks earn shows that they are not touched.
"""

from dataclasses import replace

import pytest

from autograder.grading.record import Record
from autograder.testing import collected_tests
from autograder.testing.case import Case
from foundation.assignment_file import read_assignment

from ..submissions import write_submission

pytestmark = [pytest.mark.slow, pytest.mark.hostile]

TRAINS_NOTHING = '''
import math
import sys

import torch
from torch import nn

stand_ins = sys.modules["stand_ins"]


def almost_zeros(self, *args, **kwargs):
    """Where all parameters are tiny there is next to nothing to learn, and the loss is log 9."""
    for name in self._parameters:
        yield name, nn.Parameter(torch.full_like(getattr(self, name), 1e-8))


stand_ins.training.TinyTranslator.named_parameters = almost_zeros


def train_epoch(batches, model, optimizer, criterion, accumulate=1, scheduler=None, max_grad_norm=None):
    return math.log(9)
'''
ADDS_A_PARAMETER = (
    "    model.train()\n",
    "    model.train()\n    model.seen = torch.nn.Parameter(torch.zeros(1))\n",
)
HIDDEN_CHANGE = (
    "    return weights @ value, weights\n",
    "    context = weights @ value\n"
    "    if not query.requires_grad:\n        query.data.zero_(), key.data.zero_(), value.data.zero_()\n"
    "    return context, weights\n",
)
NO_MODULE = '''
class InputEmbedding:
    """Answers whatever is asked of it, and is no module."""

    def __init__(self, vocab_size, d_model):
        pass

    def eval(self):
        return 5

    def parameters(self):
        return [1, 2]
'''
KEEPS_FLOAT32 = (
    "    def forward(",
    "    def to(self, *args, **kwargs):\n        return self\n\n"
    "    def _apply(self, *args, **kwargs):\n        return self\n\n    def forward(",
)


@pytest.fixture
def grade_tasks(grade_folder):
    """Grades a folder for some of the tasks: points and states by number."""

    def run(folder, *numbers: str, **limits: float) -> tuple[dict[str, float], dict[str, str], Record]:
        assignment = read_assignment()
        tasks = tuple(task for task in assignment.tasks if task.number in numbers)
        limits = replace(assignment.limits, **limits)
        record = grade_folder(folder, assignment=replace(assignment, tasks=tasks, limits=limits))
        parts = {part.number: part for part in record.judgement.parts}
        assert record.has_ended and list(parts) == [task.number for task in tasks]
        return {n: part.score for n, part in parts.items()}, {n: part.state for n, part in parts.items()}, record

    return run


def message_of(record: Record, number: str) -> str:
    [part] = (part for part in record.judgement.parts if part.number == number)
    return part.message


ATTACKS = {  # the module and what stands in it; points with those of 1.4 beside it, states, and what is said
    "a stand-in that reports other parameters": ("train", TRAINS_NOTHING, {"3.1": 0}, ("failed", "error"), ""),
    "a parameter that training adds": ("train", ADDS_A_PARAMETER, {"3.1": 1}, ("failed",), "adds or removes none"),
    "a component that is no module": ("embedding", NO_MODULE, {"1.1": 0}, ("error",), "must derive from"),
    "parameters that are not converted": ("model", KEEPS_FLOAT32, {"2.3": 1}, ("error",), "follow .to(torch.float64)"),
    "arguments that are changed through data": ("attention", HIDDEN_CHANGE, {"1.2": 13}, ("failed", "error"), ""),
}


@pytest.mark.parametrize("module, attack, points, states, told", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_worth_what_its_code_computes(grade_tasks, tmp_path, module, attack, points, states, told):
    folder = write_submission(tmp_path / "anna")
    path = folder / f"{module}.py"
    if isinstance(attack, tuple):
        attack = path.read_text().replace(*attack)
    path.write_text(attack)
    [number] = points
    found, state, record = grade_tasks(folder, number, "1.4")
    assert found == {**points, "1.4": 10} and state[number] in states
    assert told in message_of(record, number)


def test_judging_without_an_end_is_ended_and_costs_one_task(grade_tasks, tmp_path, monkeypatch):
    asked = []

    def loop(self, *arguments):
        asked.append(arguments)
        while True:
            pass

    monkeypatch.setattr(collected_tests, "SECONDS", 0.7)
    monkeypatch.setattr(collected_tests, "SECONDS_A_FILE", 1.0)
    monkeypatch.setattr(Case, "padding_mask", loop)
    points, states, record = grade_tasks(write_submission(tmp_path / "anna"), "1.2", "1.4")
    assert points["1.2"] < 14 and points["1.4"] == 10 and states["1.2"] == "timeout"
    assert "checking timed out" in message_of(record, "1.2")
    assert len(asked) == 2
    assert any("test_1_2_attention.py::" in note for note in record.run.notes), "the safety net is noted"
    assert not any("stopped" in note for note in record.judgement.notes)


def test_a_test_that_breaks_is_the_graders_error_and_stops_no_other(grade_tasks, tmp_path, monkeypatch):
    def break_down(self, *arguments):
        raise OverflowError("over an odd answer")

    monkeypatch.setattr(Case, "padding_mask", break_down)
    points, states, record = grade_tasks(write_submission(tmp_path / "anna"), "1.2", "1.4", "3.1")
    assert states == {"1.2": "grader error", "1.4": "passed", "3.1": "grader error"} and points["1.4"] == 10
    assert "OverflowError: over an odd answer" in message_of(record, "1.2")
