"""Code whose parameters no test can read is left to a person.

What unusual modules of PyTorch are to the tests is decided here, and said in docs/reference/grading.md.
"""

from pathlib import Path

import pytest

from autograder.testing.results import Outcome, State, judge_task
from autograder.testing.results import tests_of as results_of
from validity.run_tests import Version, run_versions
from validity.variants import splice

FLAT = """
import torch
from torch import nn
from .attention import scaled_dot_product_attention  # noqa: F401


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table, self.scale = nn.Parameter(torch.randn(vocab_size * d_model)), 2 * d_model**0.5
        self.shape = vocab_size, d_model

    def forward(self, tokens):
        return (self.table.view(self.shape)[tokens]) * self.scale


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.sizes = [d_model * d_ff, d_ff, d_ff * d_model, d_model]
        self.theta, self.shape = nn.Parameter(torch.randn(sum(self.sizes)) * 0.05), (d_model, d_ff)

    def forward(self, x):
        first, inner, second, outer = (2 * self.theta).split(self.sizes)
        return torch.relu(x @ first.view(self.shape) + inner) @ second.view(self.shape[::-1]) + outer


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("heads")
        self.h, self.d = n_heads, d_model
        self.theta = nn.Parameter(torch.randn(4 * (d_model + 1) * d_model) * d_model**-0.5)

    def maps(self, x, number):
        part = 2 * self.theta.view(4, -1)[number]
        return x @ part[: self.d**2].view(self.d, self.d) + part[self.d**2 :]

    def forward(self, query, key, value, mask=None):
        heads = (self.maps(x, i).unflatten(-1, (self.h, -1)).transpose(1, 2) for i, x in enumerate((query, key, value)))
        context, weights = scaled_dot_product_attention(*heads, mask)
        return self.maps(context.transpose(1, 2).flatten(2), 3), weights
"""
TASKS = {
    "embedding.InputEmbedding": "1.1",
    "attention.MultiHeadedAttention": "1.3",
    "layers.FeedForward": "1.5",
}


NORMED, GAIN = "nn.utils.parametrizations.weight_norm", "self.gamma = nn.Parameter(torch.ones(d_model))"
UNUSUAL = {  # task and module; what is written instead of what; how it ends
    "weight norm": ("1.5", "layers", {"nn.Linear(d_model, d_ff)": f"{NORMED}(nn.Linear(d_model, d_ff))"}, "reader"),
    "an orthogonal projection": (
        "1.3",
        "attention",
        {"query = nn.Linear(d_model, d_model)": f"query = {NORMED[:-11]}orthogonal(nn.Linear(d_model, d_model))"},
        "reader",
    ),
    "a shift, then the gain's difference from 1": (
        "1.4",
        "layers",
        {
            GAIN: "pass",
            "torch.zeros(d_model))": f"torch.zeros(d_model))\n        {GAIN.replace('ones', 'zeros')}",
            "self.gamma * centred": "(1 + self.gamma) * centred",
        },
        "passed",
    ),
    "a sparse table": (
        "1.1",
        "embedding",
        {"(vocab_size, d_model)\n": "(vocab_size, d_model, sparse=True)\n"},
        "passed",
    ),
    "a vector for each word": (
        "1.1",
        "embedding",
        {
            "nn.Embedding(vocab_size, d_model)": "nn.ParameterList(torch.randn(d_model) for _ in range(vocab_size))",
            "self.table(tokens)": "torch.stack([*self.table])[tokens]",
            "import math\n": "import math\nimport torch\n",
        },
        "passed",
    ),
    "a number for each feature of each word": (
        "1.1",
        "embedding",
        {
            "nn.Embedding(vocab_size, d_model)": "nn.ParameterList(torch.randn(vocab_size * d_model).unbind())",
            "self.table(tokens)": "torch.stack([*self.table]).view(-1, self.d_model)[tokens]",
            "import math\n": "import math\nimport torch\n",
        },
        "reader",
    ),
    "a lazy map": ("1.5", "layers", {"nn.Linear(d_model, d_ff)": "nn.LazyLinear(d_ff)"}, "error"),
}


def class_named(component, text):
    """One class of the module above, with its imports."""
    head, *classes = text.split("\n\n\nclass ")
    return head + "\n\n\nclass " + next(one for one in classes if one.startswith(component.split(".")[1]))


def states_of(versions, reference, assignment):
    """The state of the task whose tests ran, by version."""
    found = {}
    for run in run_versions(versions, reference, assignment):
        [result] = [one for one in results_of(assignment, run.outcomes) if one.outcomes]
        found[run.version] = result.state
    return found


@pytest.mark.slow
def test_what_unusual_modules_of_pytorch_are_to_the_tests(reference, assignment):
    versions = []
    for name, (number, module, changes, _) in UNUSUAL.items():
        path, text = reference[module]
        for old, new in changes.items():
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        marker = next(task.marker for task in assignment.tasks if task.number == number)
        versions.append(Version(name, {**reference, module: (path, text)}, [0], (marker,)))
    ends = {name: {"reader": "needs a reader"}.get(end, end) for name, (*_, end) in UNUSUAL.items()}
    assert {name: state.value for name, state in states_of(versions, reference, assignment).items()} == ends


@pytest.mark.slow
def test_flat_parameters_that_are_scaled_need_a_reader(reference, assignment):
    versions = []
    for component, number in TASKS.items():
        marker = next(task.marker for task in assignment.tasks if task.number == number)
        path, text = reference[module := component.split(".")[0]]
        spliced, _ = splice(text, class_named(component, FLAT), Path(__file__))
        versions.append(Version(component, {**reference, module: (path, spliced)}, [0], (marker,)))
    assert states_of(versions, reference, assignment) == dict.fromkeys(TASKS, State.NEEDS_READER)


@pytest.mark.slow
def test_a_mask_that_other_heads_ignore_is_noticed_all_the_same(reference, assignment):
    text = class_named("attention.MultiHeadedAttention", FLAT)
    path, whole = reference["attention"]
    versions = []
    for name, mask in {
        "its own": "mask",
        "the first head's": "mask if mask is None or mask.dim() < 4 else mask[:, :1]",
    }.items():
        spliced, _ = splice(whole, text.replace("*heads, mask)", f"*heads, {mask})"), Path(__file__))
        versions.append(Version(name, {**reference, "attention": (path, spliced)}, [0], ("task_1_3",)))
    failed = {
        run.version: {one.item for one in run.outcomes["task_1_3"] if one.state is State.FAILED}
        for run in run_versions(versions, reference, assignment)
    }
    assert failed == {"its own": set(), "the first head's": {"masks reach every head"}}


@pytest.mark.parametrize("other", [State.FAILED, State.ERROR, State.PASSED])
def test_a_task_needs_a_reader_if_any_of_its_tests_does(assignment, other):
    outcomes = [Outcome("test_a", other, "it failed"), Outcome("test_b", State.NEEDS_READER, "it cannot be read")]
    result = judge_task(assignment.tasks[0], outcomes, "items")
    assert result.state is State.NEEDS_READER and "it cannot be read" in result.message
