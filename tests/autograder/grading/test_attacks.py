"""Submissions that attack what judges them, beside the hostile corpus of layer norms: each gets what its code is worth.

They change the reference in one module, or replace one; what the other tasks earn shows that they are not touched.
"""

from dataclasses import replace

import pytest

from autograder.grading.record import Record
from autograder.testing import checking_time
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
    "train",
    "    model.train()\n",
    "    model.train()\n    model.seen = torch.nn.Parameter(torch.zeros(1))\n",
)
HIDDEN_CHANGE = "    if not query.requires_grad:\n        query.data.zero_(), key.data.zero_(), value.data.zero_()\n"
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
KEEPS_FLOAT32 = """
    def to(self, *args, **kwargs):
        return self

    def _apply(self, *args, **kwargs):
        return self

"""


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


def test_a_stand_in_that_reports_other_parameters_teaches_nothing(grade_tasks, tmp_path):
    folder = write_submission(tmp_path / "anna")
    (folder / "train.py").write_text(TRAINS_NOTHING)
    points, states, _ = grade_tasks(folder, "3.1", "1.4")
    assert points == {"3.1": 0, "1.4": 10} and states["3.1"] in ("failed", "error")


def test_a_parameter_that_training_adds_is_a_fault_of_the_submission(grade_tasks, tmp_path):
    points, states, record = grade_tasks(write_submission(tmp_path / "anna", ADDS_A_PARAMETER), "3.1", "1.4")
    assert points == {"3.1": 1, "1.4": 10} and states["3.1"] == "failed", "the returned loss is right"
    assert "adds or removes none" in message_of(record, "3.1")


def test_a_component_that_is_no_module_is_told_so(grade_tasks, tmp_path):
    folder = write_submission(tmp_path / "anna")
    (folder / "embedding.py").write_text(NO_MODULE)
    points, states, record = grade_tasks(folder, "1.1", "1.4")
    assert points == {"1.1": 0, "1.4": 10} and states["1.1"] == "error"
    assert "must derive from" in message_of(record, "1.1")


def test_parameters_that_are_not_converted_are_a_fault_of_the_submission(grade_tasks, tmp_path):
    folder = write_submission(tmp_path / "anna")
    text = (folder / "model.py").read_text()
    (folder / "model.py").write_text(text.replace("    def forward(", f"{KEEPS_FLOAT32}    def forward("))
    points, states, record = grade_tasks(folder, "2.3", "1.4")
    assert points == {"1.4": 10, "2.3": 0} and states["2.3"] == "error"
    assert "follow .to(torch.float64)" in message_of(record, "2.3")


def test_arguments_that_are_changed_through_data_are_seen(grade_tasks, tmp_path):
    folder = write_submission(tmp_path / "anna")
    text = (folder / "attention.py").read_text()
    end = "    return weights @ value, weights\n"
    assert text.count(end) == 1
    new = f"    context = weights @ value\n{HIDDEN_CHANGE}    return context, weights\n"
    (folder / "attention.py").write_text(text.replace(end, new))
    points, states, _ = grade_tasks(folder, "1.2", "1.4")
    assert points == {"1.2": 13, "1.4": 10}, "side effects alone"
    assert states["1.2"] in ("failed", "error")


def test_judging_without_an_end_is_ended_and_costs_one_task(grade_tasks, tmp_path, monkeypatch):
    asked = []

    def loop(self, *arguments):
        asked.append(arguments)
        while True:
            pass

    monkeypatch.setattr(checking_time, "SECONDS", 0.7)
    monkeypatch.setattr(checking_time, "FEW_SECONDS", 0.3)
    monkeypatch.setattr(Case, "padding_mask", loop)
    points, states, record = grade_tasks(write_submission(tmp_path / "anna"), "1.2", "1.4")
    assert points["1.2"] < 14 and points["1.4"] == 10 and states["1.2"] == "timeout"
    assert "checking timed out" in message_of(record, "1.2")
    assert len(asked) == checking_time.MOST_STRIKES
    assert any("test_1_2_attention.py::" in note for note in record.run.notes), "the safety net is noted"
    assert not any("stopped" in note for note in record.judgement.notes)


def test_a_test_that_breaks_is_the_graders_error_and_stops_no_other(grade_tasks, tmp_path, monkeypatch):
    def break_down(self, *arguments):
        raise OverflowError("over an odd answer")

    monkeypatch.setattr(Case, "padding_mask", break_down)
    points, states, record = grade_tasks(write_submission(tmp_path / "anna"), "1.2", "1.4", "3.1")
    assert states == {"1.2": "grader error", "1.4": "passed", "3.1": "grader error"} and points["1.4"] == 10
    assert "OverflowError: over an odd answer" in message_of(record, "1.2")
