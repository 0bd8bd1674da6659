"""A part that cannot even be built or imported costs its own tasks, with its own reason, and no others."""

import re

import pytest

from autograder.testing.results import tests_of as results_of
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT
from validity.run_tests import Version, run_versions
from validity.variants import read_variants

pytestmark = pytest.mark.slow

CONTRACT = read_assignment().contract.modules


@pytest.fixture(scope="module")
def judge(reference, assignment):
    """Runs versions: module -> changed text, by name; gives the lost tasks, and the results by number."""

    def run(changes):
        versions = [
            Version(name, {**reference, **{m: (reference[m][0], text) for m, text in changed.items()}}, [0])
            for name, changed in changes.items()
        ]
        judged = {}
        for run in run_versions(versions, reference, assignment):
            of_parts = (one for one in results_of(assignment, run.outcomes) if not one.task.asks_about)
            results = {result.task.number: result for result in of_parts}
            judged[run.version] = {number: result for number, result in results.items() if result.state != "passed"}
        return judged

    return run


def tasks_of(assignment, components):
    return {task.number for task in assignment.tasks if set(task.components) & set(components)}


def without(text, name):
    """A module without one of its definitions."""
    return re.sub(rf"^(@.*\n)*(class|def) {name}\b.*?(?=^(class|def|@)|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)


COMPONENTS = (
    "embedding.InputEmbedding",
    "attention.scaled_dot_product_attention",
    "attention.MultiHeadedAttention",
    "layers.LayerNorm",
    "layers.FeedForward",
    "layers.EncoderLayer",
    "layers.DecoderLayer",
    "model.Encoder",
    "model.Decoder",
    "masks.diagonal_mask",
    "train.train_epoch",
    "decode.beam_decode",
)


def test_a_missing_part_costs_its_own_tasks(judge, reference, assignment, sampled):
    changes = {}
    for component in sampled(COMPONENTS, 5):
        module, name = component.split(".")
        changes[component] = {module: without(reference[module][1], name)}
    for component, results in judge(changes).items():
        module, name = component.split(".")
        assert set(results) == tasks_of(assignment, [component]), component
        for result in results.values():
            assert result.state == "error" and f"{module}.py has no {name}" in result.message


def test_a_part_that_cannot_be_built_or_called_costs_its_own_tasks(judge, reference, assignment, sampled):
    changes = {}
    for component in sampled(reversed(COMPONENTS), 5):
        module, name = component.split(".")
        text = reference[module][1]
        if f"def {name}" in text:
            text += f"\ndef {name}(*args, **kwargs):\n    raise KeyError('oops')\n"
        else:
            text += (
                f"\nclass {name}({name}):\n    def __init__(self, *args, **kwargs):\n        raise KeyError('oops')\n"
            )
        changes[component] = {module: text}
    for component, results in judge(changes).items():
        assert set(results) == tasks_of(assignment, [component]), component
        assert {result.state for result in results.values()} == {"error"}
        assert all("KeyError: 'oops'" in result.message for result in results.values())


def test_a_part_that_is_bound_as_a_default_or_attribute_costs_its_own_task(judge, assignment, reference):
    variants = read_variants(ASSIGNMENT / "proof" / "variants", reference, assignment.contract)
    [variant] = (one for one in variants if one.name == "norm_as_default")
    text = variant.sources["layers"][1].replace("torch.sqrt(variance + self.epsilon)", "(variance + self.epsilon)")
    [results] = judge({"faulty norm": {"layers": text}}).values()
    assert set(results) == {"1.4"}


def test_a_module_that_cannot_be_imported_costs_its_own_tasks(judge, assignment, sampled):
    lines = ["import no_such_package", "exit()", "def broken(:"]
    # One has no tests of its own, one is judged by its groups, one is read and not run.
    modules = CONTRACT.keys() - {"data", "own_tests", "understanding"}
    changes = {("raise KeyError('oops')", module): module for module in sorted(modules)}
    changes |= {(line, "layers"): "layers" for line in lines}
    for (line, module), results in judge({key: {key[1]: key[0]} for key in sampled(changes, 2)}).items():
        assert set(results) == tasks_of(assignment, [f"{module}.{name}" for name in CONTRACT[module]]), (line, module)
        assert {result.state for result in results.values()} <= {"error"}, (line, module)


def test_a_part_that_hangs_when_built_costs_its_own_tasks(judge, reference, short_tests):
    hanging = "\nclass LayerNorm(LayerNorm):\n    def __init__(self, *args, **kwargs):\n        while True: pass\n"
    [results] = judge({"hangs": {"layers": reference["layers"][1] + hanging}}).values()
    assert {number: result.state for number, result in results.items()} == {"1.4": "timeout"}
