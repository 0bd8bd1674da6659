"""Which tests a change can reach: those that need not run again end as they do on the reference."""

from dataclasses import replace

import pytest

from validity.proof.prove import with_seeds
from validity.reach import Reach, changed_functions
from validity.run_tests import run_versions

TEXT = """import math
LIMIT = 3
def helper(x):
    return x + 1
class Layer:
    size = helper(2)
    def __init__(self, width, depth=2):
        self.width = width
    def forward(self, x):
        def inner(y):
            return y * self.width
        return [inner(y) for y in x]
def other(x, *, flag=False):
    return math.floor(x)
"""


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("x + 1", "x + 1  # the same", set()),
        ("x + 1", "x - 1", {"helper"}),
        ("self.width = width", "self.width = 2 * width", {"Layer.__init__"}),
        ("y * self.width", "y", {"Layer.forward", "Layer.forward.<locals>.inner"}),
        ("y * self.width", "self.width * y", {"Layer.forward.<locals>.inner"}),
        ("def inner(y)", "def inner(y, z=0)", {"Layer.forward", "Layer.forward.<locals>.inner"}),
        ("floor", "ceil", {"other"}),
        ("floor(x)", "floor(1.0)", {"other"}),
        ("LIMIT = 3", "LIMIT = 4", None),
        ("size = helper(2)", "size = helper(3)", None),
        ("depth=2", "depth=3", None),
        ("flag=False", "flags=False", None),
        ("def forward(self, x)", "def forward(self, x, y)", None),
        ("def other", "@helper\ndef other", None),
        ("return math", "return )", None),
    ],
)
def test_a_change_is_named_by_its_functions(old, new, expected):
    assert TEXT.count(old) == 1
    assert changed_functions(TEXT, TEXT.replace(old, new)) == expected


def test_a_test_is_reached_by_what_it_enters(tmp_path):
    path = str(tmp_path / "layers.py")
    sources = {"layers": (path, TEXT), "empty": (str(tmp_path / "empty.py"), "")}
    reach, names = Reach(sources), {}
    with reach.recording(["task_1"]):
        exec(compile(TEXT, path, "exec"), names)
        names["other"](2.5)
    with reach.recording(["task_2", "given"]):
        names["Layer"](2).forward([1])

    def touched(old: str, new: str) -> set[str]:
        return reach.touched({**sources, "layers": (path, TEXT.replace(old, new))})

    assert touched("floor", "ceil") == {"task_1"}
    assert touched("self.width = width", "self.width = 1") == touched("y * self.width", "3") == {"task_2", "given"}
    assert touched("x + 1", "x + 2") == {"task_1", "task_2", "given"}, "the class is made with it"
    assert touched("LIMIT = 3", "LIMIT = 4") == reach.touched({}) == {"task_1", "task_2", "given"}
    assert reach.touched(sources) == set()


@pytest.mark.slow
def test_a_fault_ends_as_with_all_tests(reference, assignment):
    """The tests of the encoder and decoder that put the norm first judge it too; no others run."""
    path, text = reference["model"]
    sources = {**reference, "model": (path, text.replace("layer(x, mask)", "layer(x, None)", 1))}
    assert sources != reference
    versions = [
        replace(version, name=tests)
        for tests in ("own", "reached", "all")
        for version in with_seeds("", sources, range(1), ("task_2_3",), tests)
    ]
    runs = {}
    run_versions(versions, reference, assignment, lambda run: runs.update({run.version: run}))

    def failed(name):
        return {
            (marker, outcome.test, outcome.state, outcome.message)
            for marker, outcomes in runs[name].outcomes.items()
            for outcome in outcomes
            if outcome.state != "passed"
        }

    assert failed("all") == failed("reached") > failed("own") != set()
    assert set(runs["reached"].outcomes) == {"task_2_3", "task_e_2"} < set(runs["all"].outcomes)
    assert set(runs["own"].outcomes) == {"task_2_3"}
