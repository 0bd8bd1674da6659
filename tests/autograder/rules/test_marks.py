"""What a short-cut does to the marks: no points for its task, and the line is quoted."""

import re

import pytest
import torch.nn.functional as F
from torch import nn

from autograder.grading import judging
from autograder.grading.judging import refuse_short_cuts, search_text
from autograder.intake import Intake
from autograder.rules import explain_short_cuts, find_short_cuts
from autograder.rules.names import ForbiddenNames
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT as FOLDER

ASSIGNMENT = read_assignment()
LAYERS = """import torch.nn.functional as F


def norm(x):
    return F.layer_norm(x, (8,))


class LayerNorm:
    def forward(self, x):
        return norm(x)


class EncoderLayer:
    def forward(self, x):
        return LayerNorm()(x)
"""
NAMES = ForbiddenNames(read_assignment().contract.forbidden)
HANDOUT = (FOLDER / "handout.md").read_text(encoding="utf-8")


def marks(text: str, state: str = "passed", origins: dict | None = None) -> dict[str, TaskResult]:
    """Results after the search, by task number, where all tests ended in one state."""
    results = [TaskResult(task, State(state), task.points, "") for task in ASSIGNMENT.tasks if task.components]
    intake = Intake("anna", {"layers": ("layers.py", text)}, origins=origins or {})
    found = search_text(intake, ASSIGNMENT).short_cuts
    return {result.task.number: result for result in refuse_short_cuts(results, found, intake)}


def test_the_task_is_refused_and_the_line_quoted():
    found = marks(LAYERS)
    assert (found["1.4"].state, found["1.4"].score) == ("refused", 0.0)
    assert found["1.4"].message == (
        "LayerNorm (layers.py) uses torch.nn.functional.layer_norm; the assignment asks you to write it yourself:\n"
        "layers.py, line 5:\n    return F.layer_norm(x, (8,))"
    )
    assert {number for number, result in found.items() if result.state != "passed"} == {"1.4"}


def test_a_component_of_two_tasks():
    found = marks("from torch.nn import TransformerEncoderLayer as EncoderLayer")
    assert {number for number, result in found.items() if result.state == "refused"} == {"2.1", "E.2"}


def test_lines_of_notebooks_are_named_by_their_cells():
    origins = {"layers": [""] * 4 + ["anna.ipynb, cell 7, line 2"]}
    assert "anna.ipynb, cell 7, line 2:\n    return F.layer_norm" in marks(LAYERS, origins=origins)["1.4"].message


def test_what_was_caught_when_it_ran_earns_nothing():
    assert {result.score for result in marks("class LayerNorm: pass", state="refused").values()} == {0.0}
    assert marks("class LayerNorm: pass", state="failed")["1.4"].score == 10.0


@pytest.mark.parametrize("n_uses, n_lines", [(1, 3), (3, 7), (5, 8)])
def test_a_few_lines_are_quoted(n_uses, n_lines):
    text = "import torch\nclass LayerNorm:\n    def f(self, x):\n" + "        torch.layer_norm(x, (8,))\n" * n_uses
    found = find_short_cuts({"layers": ("layers.py", text)}, ["layers.LayerNorm"], ASSIGNMENT.contract.forbidden)
    message = explain_short_cuts(found.items(), lambda module, line: f"{module} {line}")
    assert len(message.split("\n")) == n_lines
    assert ("… and 2 more" in message) == (n_uses == 5)


def test_one_limit_holds_for_all_that_is_looked_for(monkeypatch):
    def never_ends(*arguments):
        while True:
            pass

    monkeypatch.setattr(judging, "SEARCH_SECONDS", 0.3)
    monkeypatch.setattr(judging, "find_internals", never_ends)
    found = search_text(Intake("anna", {"layers": ("layers.py", LAYERS)}), ASSIGNMENT)
    assert list(found.short_cuts) == ["layers.LayerNorm"], "what was found before counts"
    assert found.internals == [] and found.notes == ["the search for forbidden short-cuts was stopped after 0.3 s"]


def family(name: str) -> str:
    """LazyBatchNorm1d, SyncBatchNorm and BatchNorm2d are told as one; so is all that begins with Transformer."""
    return re.sub("^Transformer.*", "Transformer", re.sub("^(Lazy|Sync)|[123]d$", "", name.removesuffix("…")))


def test_the_handout_names_what_is_forbidden():
    told = {f"{package}.{family(name)}" for package, name in re.findall(r"`(nn|F)\.(\w+…?)`", HANDOUT)}
    forbidden = [name for name in dir(nn) if NAMES.has(f"torch.nn.{name}")]
    classes = {f"nn.{family(name)}" for name in forbidden if isinstance(getattr(nn, name), type)}
    functions = {f"F.{name}" for name in dir(F) if NAMES.has(f"torch.nn.functional.{name}") and name[0] != "_"}
    assert told == classes | functions and len(classes) > 6 and len(functions) > 5


def test_what_the_handout_names_is_forbidden():
    long = {"nn": "torch.nn", "F": "torch.nn.functional"}
    for package, name in re.findall(r"`(nn|F)\.(\w+)…?`", HANDOUT):
        assert NAMES.has(f"{long[package]}.{name}") or NAMES.has(f"{long[package]}.{name}1d"), name
    assert NAMES.has("torch.native_layer_norm") and NAMES.has("torch.nn.attention.flex_attention")
