"""Whatever a component returns or is made of, its tests fail; they never break, which would be the grader's fault."""

import pytest

from autograder.sources import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from validity.run_tests import Version, run_versions

CONTRACT = read_assignment().contract.modules

RESULTS = {  # what is returned, given the arguments `a` of the call; `x` is the first of them, as floats
    "nothing": "None",
    "text": "'text'",
    "pair of nothing": "(None, None)",
    "empty tensor": "torch.zeros(0, 0, 0)",
    "other shape": "torch.zeros(2, 3)",
    "argument": "x",
    "detached": "x.detach()",
    "triple of arguments": "(x, x, x)",
    "lists of arguments": "(x, [x, x, x], [x, x, x])",
    "list of text": "(x, ['a', 'b', 'c'])",
    "not a number": "(x * float('nan'), x * float('nan'))",
    "float32": "(x.float(), x.float(), x.float())",
    "whole numbers": "x.long()",
    "complex": "(x.to(torch.complex128), x.to(torch.complex128))",
    "truth": "x > 0",
    "list of lists of floats": "[[1.5], [2.5], [3.5], [4.5]]",
}

PARAMETERS = {  # what a class is made of instead of its parts
    "none": "",
    "empty": "self.p = nn.Parameter(torch.zeros(0))",
    "whole numbers": "self.p = nn.Parameter(torch.ones(3, dtype=torch.int64), requires_grad=False)",
    "two vectors": "self.p = nn.Parameter(torch.ones(7)); self.q = nn.Parameter(torch.ones(5))",
    "as stand-ins": "self.p = nn.ParameterList(torch.ones(n, 6, 6) for n in (2, 4, 5, 9))",
}

IMPORTS = "\nimport torch\nfrom torch import Tensor, nn\n"
FIRST = """
    x = next((v for v in (*a, *k.values()) if isinstance(v, Tensor)), torch.zeros(2, 3))
    x = x if x.is_floating_point() else x.double()
    return {result}
"""


def rubbish_versions(reference):
    """Every component with every rubbish in the place of its result, and of its parameters."""
    markers = {}
    for task in read_assignment().tasks:
        for component in task.components:
            markers.setdefault(component, []).append(task.marker)
    for module, names in CONTRACT.items():
        for name in names:
            component = f"{module}.{name}"
            tasks = tuple(markers.get(component, ["given"]))
            path, text = reference.get(module, ("", ""))
            if f"class {name}" in text and component != "data.Batch":
                for label, result in RESULTS.items():
                    yield _version(component, label, reference, path, text + subclass(name, result), tasks)
                for label, parameters in PARAMETERS.items():
                    for result in ("x", "(x, x)", "(x, [x, x, x], [x, x, x])"):
                        code = text + new_class(name, parameters, result)
                        yield _version(component, f"{label} {result}", reference, path, code, tasks)
            elif f"def {name}" in text:
                for label, result in RESULTS.items():
                    code = f"{text}{IMPORTS}\ndef {name}(*a, **k):{FIRST.format(result=result)}"
                    yield _version(component, label, reference, path, code, tasks)


def _version(component, label, reference, path, text, tasks):
    module = component.split(".")[0]
    return Version(f"{component}: {label}", {**reference, module: (path, text)}, [1], tasks)


def subclass(name, result):
    """The reference's class with another result."""
    return (
        f"{IMPORTS}\ndef _result(*a, **k):{FIRST.format(result=result)}\n"
        f"class {name}({name}):\n"
        "    def forward(self, *a, **k):\n        return _result(*a, **k)\n"
        "    encode = decode = get_predictions = forward\n"
    )


def new_class(name, parameters, result):
    """A class of other parameters."""
    return (
        f"{IMPORTS}\ndef _result(*a, **k):{FIRST.format(result=result)}\n"
        f"class {name}(nn.Module):\n"
        f"    def __init__(self, *a, **k):\n        super().__init__()\n        {parameters or 'pass'}\n"
        "    def forward(self, *a, **k):\n        return _result(*a, **k)\n"
        "    encode = decode = get_predictions = forward\n"
    )


def run(versions, reference):
    """The grader errors, and what passed a core test."""
    broken, passed = [], []
    for result in run_versions(versions, reference, read_assignment()):
        for outcomes in result.outcomes.values():
            broken.extend(f"{result.version}: {o.test}: {o.message}" for o in outcomes if o.state == "grader error")
            if outcomes and all(outcome.state == "passed" for outcome in outcomes):
                passed.append(result.version)
    return broken, passed


@pytest.mark.slow
def test_rubbish_fails_and_breaks_nothing(sampled):
    reference = read_sources(ROOT / "reference", ROOT / "reference")
    broken, passed = run(sampled(rubbish_versions(reference), 14), reference)
    assert not broken, f"{len(broken)} broken tests:\n" + "\n".join(broken[:10])
    assert not passed, passed
