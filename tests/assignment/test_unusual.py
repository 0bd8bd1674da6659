"""Unusual code: parts of a layer's or a model's own, drawn layouts, and parameters that no test can read.

Each part costs points in its own task only; what no test can read is left to a person. What unusual modules of PyTorch
are to the tests is decided here, and said in docs/reference/grading.md. The model that is made of parts of its own is
`tests/autograder/grading/adapters/whole/`: constructors and masks of its own, PyTorch's LayerNorm, key before query.
"""

import math
import re
from dataclasses import replace
from functools import partial
from itertools import chain, product
from pathlib import Path

import pytest

from autograder.intake.sources import read_sources
from autograder.testing.results import Outcome, State, judge_task, worst
from autograder.testing.results import tests_of as results_of
from foundation.places import SKELETON
from validity.run_tests import Version, run_versions

from ..conftest import examples_in
from .layouts import drawn, replaced

TABLES = examples_in("assignment/unusual.toml")
UNUSUAL, CASES, FAULTS = TABLES["pytorch"], TABLES["model"], TABLES["layout"]
DROPS, LACKING, WITHOUT_DTYPE = TABLES["drops"], TABLES["lacking"], TABLES["without_dtype"]
JUDGED = {"layers": ("task_2_1", "task_2_2"), "stacks": ("task_2_3",), "model": ("task_2_4",)}
MODEL = Path(__file__).parents[1] / "autograder" / "grading" / "adapters" / "whole"


def changes_of(name: str) -> dict[str, str]:
    """What is written in place of what in a case of the model."""
    changes = dict(CASES[name].get("changes", []))
    if "norm" in CASES[name]:
        scale, size = CASES[name]["norm"]
        changes |= {"nn.LayerNorm(": "Norm(", "class Block(": TABLES["norm"]["text"].format(size=size, scale=scale)}
    return changes


def changed(changes: dict[str, str], folder: Path) -> dict[str, tuple[str, str]]:
    """The modules of the model with other lines, each of which it has."""
    texts = {path.name: path.read_text() for path in MODEL.glob("*.py")}
    for old, new in changes.items():
        assert any(old in text for text in texts.values()), old
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return read_sources(folder, SKELETON)


def with_drop(text, code):
    """A layer that ends with its own way to drop."""
    return text.replace("self.dropout(", "self.drop(") + f"\n    def drop(self, out):\n        return {code}\n"


def ends_of(versions, reference, assignment):
    """By version: the outcomes of its tests."""
    runs = run_versions(versions, reference, assignment)
    return {run.version: run.all_outcomes for run in runs}


def items_lost(versions, reference, assignment):
    """By version: the items of which a test did not pass."""
    outcomes = ends_of(versions, reference, assignment)
    return {name: {end.item for end in ends if end.state is not State.PASSED} for name, ends in outcomes.items()}


@pytest.mark.slow
def test_what_unusual_modules_of_pytorch_are_to_the_tests(reference, assignment):
    tasks = {task.number: task for task in assignment.tasks}
    versions = [
        Version(name, replaced(reference, row["module"], row["changes"]), [0], (tasks[row["task"]].marker,))
        for name, row in UNUSUAL.items()
    ]
    outcomes = ends_of(versions, reference, assignment)
    found = {name: judge_task(tasks[UNUSUAL[name]["task"]], outcomes[name], "items").state for name in outcomes}
    assert found == {name: row["state"] for name, row in UNUSUAL.items()}


def test_what_is_lacking_costs_its_own_items(reference, assignment):
    markers = {task.number: task.marker for task in assignment.tasks}
    versions = [
        Version(name, replaced(reference, row["module"], row["changes"]), [0], (markers[row["task"]],))
        for name, row in LACKING.items()
    ]
    assert items_lost(versions, reference, assignment) == {name: {*row["lost"]} for name, row in LACKING.items()}


FILLED = "torch.zeros(({0}).shape).copy_({0})"
"""A result that is written into a tensor of the default dtype."""


@pytest.mark.slow
def test_tensors_without_dtype_cost_one_item(reference, assignment):
    """Models are trained with the default dtype: there such code is right."""
    markers = {task.number: task.marker for task in assignment.tasks}
    versions = [
        Version(number, replaced(reference, case["module"], [(code, FILLED.format(code))]), [0], (markers[number],))
        for number, case in WITHOUT_DTYPE.items()
        for code in [case["result"]]
    ]
    lost = items_lost(versions, reference, assignment)
    assert lost == {number: {*case["lost"]} for number, case in WITHOUT_DTYPE.items()}


ALONE = (
    "        x = self.attention_norm(x + self.dropout(attended))\n"
    "        x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))",
    "        x = attended",
)
"""What follows the attention of an encoder layer, and what leaves it alone."""


def test_a_layer_that_is_an_attention_alone_keeps_next_to_nothing(reference, assignment):
    [task] = (task for task in assignment.tasks if task.number == "2.1")
    version = Version("alone", replaced(reference, "layers", [ALONE]), [0], (task.marker,))
    [ends] = ends_of([version], reference, assignment).values()
    assert judge_task(task, ends, assignment.credit).score <= task.points / 20


FLAT = {"embedding.InputEmbedding": 0, "attention.MultiHeadedAttention": 59, "layers.FeedForward": 6}
"""By component a drawn layout whose numbers are all in one parameter."""


def scaled(text, mask="mask[:, i if mask.size(1) > 1 else 0]"):
    """The layout with twice its parameter, and perhaps with another mask for its heads."""
    assert "self.p0.split" in text
    return text.replace("self.p0.split", "(2 * self.p0).split").replace("mask[:, i if mask.size(1) > 1 else 0]", mask)


@pytest.mark.slow
def test_flat_parameters_that_are_scaled_need_a_reader(reference, assignment):
    """A mask that other heads ignore is noticed all the same."""
    heads = "attention.MultiHeadedAttention"
    versions = [drawn(reference, component, number, scaled) for component, number in FLAT.items()]
    of_first = drawn(reference, heads, FLAT[heads], partial(scaled, mask="mask[:, 0]"))
    versions.append(replace(of_first, name="mask of the first head"))
    *others, ends_of_first = ends_of(versions, reference, assignment).values()
    for ends in others:
        assert State.NEEDS_READER in {end.state for end in ends}
    assert {end.item for end in ends_of_first if end.state is State.FAILED} == {"masks reach every head"}


@pytest.mark.slow
def test_each_part_costs_its_own_task(reference, assignment, tmp_path, sampled):
    versions = []
    for name in sampled(CASES, 9):
        (folder := tmp_path / name).mkdir()
        tasks = chain(*(JUDGED[kind] for kind in CASES[name]["judged"]))
        versions.append(Version(name, changed(changes_of(name), folder), [0], (*tasks,)))
    lost = items_lost(versions, reference, assignment)
    assert lost == {version.name: {*CASES[version.name]["lost"]} for version in versions}


@pytest.mark.slow
def test_dropout_of_more_than_single_entries_costs_its_item(reference, assignment, sampled):
    """In layers that write parts out, too."""
    versions = []
    for component, number, drop in sampled(product(("layers.EncoderLayer", "layers.DecoderLayer"), range(2), DROPS), 5):
        layout = drawn(reference, component, number, partial(with_drop, code=DROPS[drop]))
        versions.append(replace(layout, name=f"{layout.name}: {drop}"))
    outcomes = ends_of(versions, reference, assignment)
    missed = {name: {end.item for end in ends if end.state is State.FAILED} for name, ends in outcomes.items()}
    assert missed == {version.name: {"dropout"} for version in versions}


@pytest.mark.parametrize("other", [State.FAILED, State.ERROR, State.PASSED])
def test_a_task_needs_a_reader_if_any_of_its_tests_does(assignment, other):
    outcomes = [Outcome("test_a", other, "it failed"), Outcome("test_b", State.NEEDS_READER, "it cannot be read")]
    result = judge_task(assignment.tasks[0], outcomes, "items")
    assert result.state is State.NEEDS_READER and "it cannot be read" in result.message


SHARES = {
    "attention.MultiHeadedAttention": 130,
    "layers.EncoderLayer": 40,
    "layers.DecoderLayer": 40,
    "layers.FeedForward": 30,
    "embedding.InputEmbedding": 20,
    "layers.LayerNorm": 15,
    "model.Transformer": 15,
    "model.Encoder": 10,
}
"""How many layouts of each are drawn: 300 in all."""

ALL = [(kind, number) for kind, count in SHARES.items() for number in range(count)]
MOST_FOR_A_READER = 0.03


def states_of(layouts, reference, assignment):
    """The worst state of the tasks that judge a layout, and why, by its name."""
    found = {}
    for run in run_versions(layouts, reference, assignment):
        results = [result for result in results_of(assignment, run.outcomes) if result.outcomes]
        found[run.version] = worst(result.state for result in results), "\n".join(result.message for result in results)
    return found


@pytest.mark.slow
def test_right_layouts_keep_all_points(reference, assignment, sampled):
    layouts = [drawn(reference, kind, number) for kind, number in sampled(ALL, 75)]
    found = states_of(layouts, reference, assignment)
    lost = {name: why for name, (state, why) in found.items() if state not in (State.PASSED, State.NEEDS_READER)}
    assert lost == {}
    readers = [name for name, (state, _) in found.items() if state is State.NEEDS_READER]
    assert len(readers) <= math.ceil(MOST_FOR_A_READER * len(layouts)), readers


@pytest.mark.slow
def test_faults_in_unusual_layouts_are_found_or_need_a_reader(reference, assignment, sampled):
    layouts, count = [], len(sampled(range(5), 5))
    for name in sampled(FAULTS, 3):
        change = partial(re.sub, FAULTS[name]["pattern"], FAULTS[name]["replacement"])
        kinds = [kind for kind in SHARES if kind.startswith(tuple(FAULTS[name]["places"]))]
        faulty = []
        for kind, number in ((kind, number) for number in range(40) for kind in kinds):
            if len(faulty) < count:
                layout = drawn(reference, kind, number, change)
                if layout != drawn(reference, kind, number):
                    faulty.append(replace(layout, name=f"{name}: {layout.name}"))
        assert len(faulty) == count, name
        layouts += faulty
    found = states_of(layouts, reference, assignment)
    assert [name for name, (state, _) in found.items() if state is State.PASSED] == []
