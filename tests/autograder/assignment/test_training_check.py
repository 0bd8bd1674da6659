"""The short training run: correct submissions learn, those that cannot work as a whole do not."""

from dataclasses import replace

import pytest

from autograder.assignment import training_check
from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.grading.record import Training
from autograder.grading.whole_model import missing_for, try_training
from autograder.sandbox.submission import Sandbox
from autograder.sources import read_sources
from autograder.testing.results import TaskResult
from autograder.testing.under_test import InProcessSubmission
from foundation import places
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from validity.variants import read_variants

REFERENCE = read_sources(ROOT / "reference", ROOT / "reference")
FATAL = (
    "transformer-no-source-positions",
    "transformer-memory-ignored",
    "decoder-layer-no-memory",
    "decoder-target-mask-dropped",
    "attention-softmax-over-queries",
    "training-labels-shifted-again",
    "training-no-step",
    "decoder-plain-list",
)
VARIANTS = ("fused", "head_modules_with_bias", "raw_left", "all_inline", "feed_forward_left", "tied", "clones")


def train(sources: dict, seed: int = 0) -> Training:
    submission = InProcessSubmission(dict(sources), read_assignment())
    try:
        return try_training(submission, read_assignment(), seed=seed)
    finally:
        submission.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "state"),
    [
        ("return sum(losses) / len(losses)", "return float('nan')", "failed"),
        ("return sum(losses) / len(losses)", "raise KeyError('no')", "error"),
        ("    model.train()\n", "    import time\n    time.sleep(9)\n", "error"),
    ],
)
def test_hostile_training(zygote, monkeypatch, old, new, state):
    monkeypatch.setattr(training_check, "EPOCHS", 1)
    monkeypatch.setattr(training_check, "BATCHES", 1)
    hurried = replace(read_assignment(), limits=replace(read_assignment().limits, call_seconds=1.5))
    path, text = REFERENCE["train"]
    assert text.count(old) == 1
    sources = {**REFERENCE, "train": (path, text.replace(old, new))}
    with Sandbox(sources, hurried, zygote=zygote) as submission:
        verdict = try_training(submission, read_assignment())
    assert verdict.state == state
    assert verdict.message


def test_not_run_where_a_part_is_missing():
    tasks = read_assignment().tasks
    results = [TaskResult(task, "passed", task.points, "") for task in tasks]
    assert missing_for(results) == ""
    results[2] = TaskResult(tasks[2], "not attempted", 0.0, "")
    assert tasks[2].number in missing_for(results)
    results[2] = TaskResult(tasks[2], "failed", 0.0, "")
    assert missing_for(results) == ""
    extension = next(task for task in tasks if task.extension)
    results.append(TaskResult(extension, "not attempted", 0.0, ""))
    assert missing_for(results) == ""


@pytest.mark.slow
def test_correct_variants_learn(sampled):
    variants = read_variants(places.ASSIGNMENT / "proof" / "variants", REFERENCE, read_assignment().contract)
    sources = {variant.name: variant.sources for variant in variants}
    runs = [(name, seed) for name in VARIANTS for seed in range(2)]
    states = {(name, seed): train(sources[name], seed).state for name, seed in sampled(runs, 5)}
    assert set(states.values()) == {"passed"}, states


@pytest.mark.slow
def test_what_cannot_work_does_not_learn(sampled):
    catalogue = {fault.id: fault for fault in read_catalogue()}
    states = {name: train(apply(catalogue[name], REFERENCE)).state for name in sampled(FATAL, 3)}
    assert set(states.values()) == {"failed"}, states
