"""Component tests in both ways to run.

An own run imports and reads what grading does, whatever files and names a model has; stand-ins are reached. A test that
fails once has failed, unless another component has damaged the worker; checking has its limits.
"""

import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from autograder.intake.sources import read_sources
from autograder.intake.submission import take_in
from autograder.running.collected_tests import CollectedTests
from autograder.running.collection import Collection, case_of, run_in_process
from autograder.running.in_process import InProcessSubmission
from autograder.sandbox.errors import submission_error
from autograder.sandbox.submission import Sandbox
from autograder.testing.results import CollectionError, Outcome, State
from autograder.testing.results import tests_of as results_of
from foundation.assignment_file import Item, read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON

from ..conftest import examples_in

EXAMPLES = examples_in("running/collection.toml")

ADAPTER = "\n\ndef LayerNorm(d_model, epsilon=1e-6):\n    return Norm(d_model, epsilon)\n"


@pytest.fixture
def open_model(tmp_path, assignment):
    """Opens a model with these files, from the sources of a student's own run or those that are graded."""

    def make(files, is_graded=False) -> InProcessSubmission:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        graded = take_in(tmp_path, SKELETON, assignment).sources if is_graded else {}
        opened.append(InProcessSubmission(graded or read_sources(tmp_path, SKELETON), assignment))
        return opened[-1]

    opened: list[InProcessSubmission] = []
    yield make
    for submission in opened:
        submission.close()


def open_reference(change: Callable[[str], str]) -> InProcessSubmission:
    """The reference with another text of its layers."""
    sources = read_sources(REFERENCE, SKELETON)
    sources |= {"layers": ("layers.py", change(sources["layers"][1]))}
    return InProcessSubmission(sources, read_assignment())


@pytest.mark.parametrize("is_graded", [False, True], ids=["own run", "graded"])
@pytest.mark.parametrize("name", EXAMPLES["layouts"])
def test_names_of_files_are_free(open_model, name, is_graded):
    layout = EXAMPLES["layouts"][name]
    files = {path: EXAMPLES["norm"] if text == "norm" else text for path, text in layout["files"].items()}
    submission = open_model({**files, "adapters.py": layout["import"] + ADAPTER}, is_graded)
    made = submission.build("layers.LayerNorm", 6)
    assert made(torch.randn(2, 6)).shape == (2, 6) and len([*made.parameters()]) == 2
    modules = [module for name, module in sys.modules.items() if name.startswith("submission_")]
    assert all(getattr(module, "__file__", "none") for module in modules), "as PyTorch expects that looks for sources"
    with pytest.raises(NotImplementedError, match=r"TODO 1\.2"):  # what the adapter leaves out is not attempted
        submission.call("attention.scaled_dot_product_attention", *torch.ones(3, 1, 1, 2, 2))


@pytest.mark.parametrize(
    "kind, state",
    [
        ("MemoryError", State.OUT_OF_MEMORY),
        ("ForbiddenShortcut", State.REFUSED),
        ("NotImplementedError", State.ERROR),
        ("ValueError", State.ERROR),
    ],
)
def test_states_of_what_submitted_code_raises(kind, state):
    classified, message = CollectedTests.describe(None, submission_error(kind, "why"))
    assert classified is state and message.endswith("why")
    ours, message = CollectedTests.describe(None, OverflowError("why"))
    assert ours is State.GRADER_ERROR and message.endswith("please tell your instructor: OverflowError: why")


FAILS = "\n\ndef _break(*arguments):\n    raise KeyError('its own part was used')\n\nLayerNorm.forward = _break\n"


@pytest.mark.parametrize("way", EXAMPLES["ways"])
def test_a_component_is_replaced_by_its_stand_in(way):
    before, build = EXAMPLES["ways"][way].values()

    def change(text):
        start, end = text.split("class EncoderLayer")
        assert "LayerNorm(d_model)" in end
        return f"{start}{before}\n\nclass EncoderLayer{end.replace('LayerNorm(d_model)', build)}{FAILS}"

    with closing(open_reference(change)) as submission:
        layer = submission.build("layers.EncoderLayer", 8, 2, 12)
        assert layer(torch.randn(2, 3, 8), None)[0].shape == (2, 3, 8)
        with pytest.raises(KeyError, match="its own part"):
            submission.build("layers.LayerNorm", 8)(torch.randn(2, 8))
        with pytest.raises(KeyError, match="its own part"):
            submission.build("layers.EncoderLayer", 8, 2, 12, isolated=False)(torch.randn(2, 3, 8), None)


@pytest.mark.parametrize("name", EXAMPLES["more"])
def test_a_component_may_use_more_of_others_than_is_promised(reference, assignment, name):
    number, module, changes, state = EXAMPLES["more"][name].values()
    text = reference[module][1] + EXAMPLES["named"]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    task = next(task for task in assignment.tasks if task.number == number)
    tests = Collection(assignment)
    run_in_process(tests, InProcessSubmission({**reference, module: ("", text)}, assignment), task, seed=3)
    assert {outcome.state for outcome in tests.outcomes.values()} == {state}


def test_what_is_wrong_is_said_of_a_component_that_uses_more_than_is_promised(reference, assignment):
    fields = next(row["changes"] for row in EXAMPLES["more"].values() if row["task"] == "1.3")
    text = reference["attention"][1] + EXAMPLES["named"]
    for old, new in [*fields, ("            mask,\n        )", "            None,\n        )")]:
        assert old in text
        text = text.replace(old, new)
    task = next(task for task in assignment.tasks if task.number == "1.3")
    tests = Collection(assignment)
    run_in_process(tests, InProcessSubmission({**reference, "attention": ("", text)}, assignment), task, seed=3)
    messages = [end.message for end in tests.outcomes.values() if end.state is State.FAILED]
    assert any("a key that the mask forbids has the weight" in message for message in messages)
    assert all("your code raises AttributeError: 'tuple' object has no" in message for message in messages)


def test_an_item_that_no_test_names_stops_everything(assignment):
    task = assignment.tasks[0]
    task = replace(task, items=(*task.items, Item("read aloud", 1.0)))
    with pytest.raises(CollectionError, match=r"assignment.toml: task 1\.1: no test names the item 'read aloud'"):
        CollectedTests(replace(assignment, tasks=(task,)))


def test_a_test_of_no_task_stops_everything(tmp_path):
    folder = shutil.copytree(ROOT / "tests" / "example" / "assignment", tmp_path / "assignment")
    (folder / "tests" / "test_left.py").write_text("def test_left():\n    pass\n")
    with pytest.raises(CollectionError, match=r"test_left.py:1: test_left: no task.s mark; remove the test"):
        CollectedTests(read_assignment(folder))


@pytest.mark.slow
def test_damage_by_another_component_is_forgiven(reference, assignment, zygote):
    assignment = replace(assignment, tasks=tuple(t for t in assignment.tasks if t.number in ("1.3", "1.5")))
    tests = CollectedTests(assignment)
    path, text = reference["attention"]
    with Sandbox({**reference, "attention": (path, text + EXAMPLES["damage"])}, assignment, zygote=zygote) as sandbox:
        outcomes = {marker: ends for some in tests.run(sandbox, seed=3) for marker, ends in some.items()}
    passed = {result.task.number for result in results_of(assignment, outcomes) if result.state == "passed"}
    assert passed == {"1.3", "1.5"}


@pytest.mark.parametrize("tries, n_tried", [("pppp", 4), ("fppp", 1), ("pfpp", 2), ("pppf", 4)])
def test_chance_is_not_forgiven(tries, n_tried):
    """A test that failed must pass in every fresh worker; after one failure it is not tried again."""
    restarts, script = [], iter(tries)
    outcomes = {"test": Outcome("test", State.FAILED)}

    def run_items(items):
        for test in items:
            outcomes[test.nodeid] = Outcome("test", State.PASSED if next(script) == "p" else State.FAILED)

    tests, submission = SimpleNamespace(outcomes=outcomes, run_items=run_items), SimpleNamespace()
    submission.restart = lambda: restarts.append(1)
    CollectedTests.try_again(tests, [SimpleNamespace(nodeid="test")], submission)
    assert (outcomes["test"].state == State.PASSED) is ("f" not in tries)
    assert len(restarts) == n_tried


def test_inputs_depend_on_the_seed_the_file_and_the_test_alone():
    places = [*product((7, 8), ("test_one.py", "test_two.py"), ("test_a", "test_a[1]"))]

    def draw(seed: int, file: str, test: str) -> list[float]:
        torch.rand(3)
        return case_of(SimpleNamespace(path=Path(file), name=test), seed).normal(3).tolist()

    drawn = [draw(*place) for place in places]
    assert len({*map(tuple, drawn)}) == len(places)
    assert [draw(*place) for place in reversed(places)] == drawn[::-1]
