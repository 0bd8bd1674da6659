"""Whatever a component is made of or returns, it costs points, and is never taken for a fault of the grader."""

import pytest

from validity.run_tests import Version, run_versions

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


@pytest.mark.slow
def test_rubbish_fails_and_breaks_nothing(sampled, reference, assignment):
    versions = sampled(rubbish_versions(reference, assignment), 14)
    for run in run_versions(versions, reference, assignment):
        for outcomes in run.outcomes.values():
            assert [outcome for outcome in outcomes if outcome.state == "grader error"] == [], run.version
            assert any(outcome.state != "passed" for outcome in outcomes), run.version
