"""Whatever a component is, is made of or returns: it costs its own tasks, with its own reason, and breaks no test."""

import re

import pytest

from autograder.testing.results import tests_of as results_of
from validity.run_tests import Version, run_versions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judge(reference, assignment):
    """Runs versions, a module and its changed text by name; yields the results of the lost tasks, by number."""

    def run(changes):
        versions = [
            Version(name, {**reference, module: (reference[module][0], text)}, [0])
            for name, (module, text) in changes.items()
        ]
        for judged in run_versions(versions, reference, assignment):
            results = (result for result in results_of(assignment, judged.outcomes) if not result.task.asks_about)
            lost = {result.task.number: result for result in results if result.state != "passed"}
            yield judged.version, lost

    return run


def without(text, name):
    """A module without one of its definitions."""
    return re.sub(rf"^(@.*\n)*(class|def) {name}\b.*?(?=^(class|def|@)|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)


def unusable(text, name):
    """A module with a definition that cannot be built or called."""
    if f"def {name}" in text:
        return f"{text}\ndef {name}(*args, **kwargs):\n    raise KeyError('oops')\n"
    return f"{text}\nclass {name}({name}):\n    def __init__(self, *args, **kwargs):\n        raise KeyError('oops')\n"


COMPONENTS = ("embedding.InputEmbedding", "attention.MultiHeadedAttention", "model.Encoder", "train.train_epoch")


def broken_parts(reference, assignment):
    """Yields a name; a module and its text; the components that are broken; and a part of each message."""
    for component in COMPONENTS:
        module, name = component.split(".")
        text = reference[module][1]
        yield f"{component}: missing", (module, without(text, name)), [component], f"{module}.py has no {name}"
        yield f"{component}: unusable", (module, unusable(text, name)), [component], "KeyError: 'oops'"
    for line in ("raise KeyError('oops')", "import no_such_package", "exit()", "def broken(:"):
        all_in = [f"layers.{name}" for name in assignment.contract.modules["layers"]]
        yield f"layers: {line}", ("layers", line), all_in, ""


def test_a_broken_part_costs_its_own_tasks(judge, reference, assignment, sampled):
    cases = {name: case for name, *case in sampled(broken_parts(reference, assignment), 5)}
    for name, results in judge({name: change for name, (change, _, _) in cases.items()}):
        _, components, message = cases[name]
        assert set(results) == {task.number for task in assignment.tasks if set(task.components) & set(components)}, (
            name
        )
        assert all(result.state == "error" and message in result.message for result in results.values()), name


def test_a_part_that_hangs_when_built_costs_its_own_tasks(judge, reference, short_tests):
    hanging = "\nclass LayerNorm(LayerNorm):\n    def __init__(self, *args, **kwargs):\n        while True: pass\n"
    [(_, results)] = judge({"hangs": ("layers", reference["layers"][1] + hanging)})
    assert {number: result.state for number, result in results.items()} == {"1.4": "timeout"}


RESULTS = {  # expressions of the arguments `a` of the call; `x` is the first of them, as floats
    "nothing": "None",
    "pair of nothing": "(None, None)",
    "empty tensor": "torch.zeros(0, 0, 0)",
    "other shape": "torch.zeros(2, 3)",
    "argument": "x",
    "detached": "x.detach()",
    "triple of arguments": "(x, x, x)",
    "lists of arguments": "(x, [x, x, x], [x, x, x])",
    "list of text": "(x, ['a', 'b', 'c'])",
    "not a number": "(x * float('nan'), x * float('nan'))",
    "complex": "(x.to(torch.complex128), x.to(torch.complex128))",
    "truth": "x > 0",
    "list of lists of floats": "[[1.5], [2.5], [3.5], [4.5]]",
}

PARAMETERS = {  # in place of the parts of a class
    "none": "pass",
    "empty": "self.p = nn.Parameter(torch.zeros(0))",
    "whole numbers": "self.p = nn.Parameter(torch.ones(3, dtype=torch.int64), requires_grad=False)",
    "two vectors": "self.p = nn.Parameter(torch.ones(7)); self.q = nn.Parameter(torch.ones(5))",
    "as stand-ins": "self.p = nn.ParameterList(torch.ones(n, 6, 6) for n in (2, 4, 5, 9))",
}

RESULT = """
import torch
from torch import Tensor, nn

def {name}(*a, **k):
    x = next((v for v in (*a, *k.values()) if isinstance(v, Tensor)), torch.zeros(2, 3))
    x = x if x.is_floating_point() else x.double()
    return {result}
"""
CLASS = """
class {name}({base}):
{init}
    def forward(self, *a, **k):
        return _result(*a, **k)
    encode = decode = get_predictions = forward
"""
INIT = """
    def __init__(self, *a, **k):
        super().__init__()
        {parameters}
"""


def rubbish_versions(reference, assignment):
    """Every component with every rubbish in the place of its result, and of its parameters."""
    for component in assignment.contract.components:
        module, name = component.split(".")
        path, text = reference.get(module, ("", ""))
        changed = {}
        if f"class {name}" in text and component != "data.Batch":
            for label, result in RESULTS.items():
                made = CLASS.format(name=name, base=name, init="")
                changed[label] = RESULT.format(name="_result", result=result) + made
            for label, parameters in PARAMETERS.items():
                init = INIT.format(parameters=parameters)
                for result in ("x", "(x, x)", "(x, [x, x, x], [x, x, x])"):
                    made = CLASS.format(name=name, base="nn.Module", init=init)
                    changed[f"{label} {result}"] = RESULT.format(name="_result", result=result) + made
        elif f"def {name}" in text:
            changed = {label: RESULT.format(name=name, result=result) for label, result in RESULTS.items()}
        markers = tuple(task.marker for task in assignment.tasks if component in task.components) or ("given",)
        for label, rubbish in changed.items():
            yield Version(f"{component}: {label}", {**reference, module: (path, text + rubbish)}, [1], markers)


def test_rubbish_fails_and_breaks_nothing(sampled, reference, assignment):
    versions = sampled(rubbish_versions(reference, assignment), 14)
    for run in run_versions(versions, reference, assignment):
        for outcomes in run.outcomes.values():
            assert [outcome for outcome in outcomes if outcome.state == "grader error"] == [], run.version
            assert any(outcome.state != "passed" for outcome in outcomes), run.version
