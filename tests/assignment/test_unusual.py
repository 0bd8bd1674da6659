"""Unusual code: parts of a layer's or a model's own, and parameters that no test can read.

Each part costs points in its own task only; what no test can read is left to a person. What unusual modules of PyTorch
are to the tests is decided here, and said in docs/reference/grading.md. The model that is made of parts of its own is
`tests/autograder/grading/adapters/whole/`: constructors and masks of its own, PyTorch's LayerNorm, key before query.
"""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from autograder.intake.sources import read_sources
from autograder.testing.results import Outcome, State, judge_task
from foundation.places import SKELETON
from validity.run_tests import Version, run_versions

from .layouts import drawn

UNUSUAL = {  # task and module; what is written instead of what; how it ends
    "weight norm": (
        "1.5",
        "layers",
        {"nn.Linear(d_model, d_ff)": "nn.utils.parametrizations.weight_norm(nn.Linear(d_model, d_ff))"},
        State.NEEDS_READER,
    ),
    "a sparse table": (
        "1.1",
        "embedding",
        {"(vocab_size, d_model)\n": "(vocab_size, d_model, sparse=True)\n"},
        State.PASSED,
    ),
    "a number for each feature of each word": (
        "1.1",
        "embedding",
        {
            "nn.Embedding(vocab_size, d_model)": "nn.ParameterList(torch.randn(vocab_size * d_model).unbind())",
            "self.table(tokens)": "torch.stack([*self.table]).view(-1, self.d_model)[tokens]",
            "import math\n": "import math\nimport torch\n",
        },
        State.NEEDS_READER,
    ),
    "a lazy map": ("1.5", "layers", {"nn.Linear(d_model, d_ff)": "nn.LazyLinear(d_ff)"}, State.ERROR),
}


MODEL = Path(__file__).parents[1] / "autograder" / "grading" / "adapters" / "whole"
NORM = 'nn.LayerNorm(settings["width"])'
OWN_NORM = """
class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones({size})), nn.Parameter(torch.zeros({size}))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return self.gain * x / ({scale}) + self.shift


class Block("""
DEVIATION = "x.square().mean(-1, keepdim=True).sqrt()"
LAYERS, STACKS, WHOLE = ("task_2_1", "task_2_2"), ("task_2_3",), ("task_2_4",)
ALL = LAYERS + STACKS + WHOLE
ADD = "self.norms[0](x + self.drop(self.attentions[0](x, x, hidden)))"
SEEN = "return [block.attentions[number].seen for"
BLOCKS = "nn.ModuleList(block(settings) for _ in range(n))"
STEP = "x = block(x, *others)"
OFFERED = {"class EncoderLayer": "class First", "class DecoderLayer": "class Second"}
MASKS = "masks reach every layer"
EVERYTHING = {"layers in order", "special cases", "returned weights", MASKS, "gradients", "no side effects"}
VALUES = {"sublayers", "special cases", "dropout", "returned weights"}
OF_STACKS = {"layers in order", "special cases", "returned weights"}


def with_norm(scale: str, size: str = "width") -> dict[str, str]:
    return {NORM: 'Norm(settings["width"])', "class Block(": OWN_NORM.format(size=size, scale=scale)}


LEARNED = """class PositionalEncoding(torch.nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.places = torch.nn.Parameter(torch.randn(64, d_model))

    def forward(self, x):
        return x + self.places[: x.size(1)]


class Transformer("""


CASES = {  # what is written in place of what, the tasks, and the items that are lost there
    "as it is": ({}, ALL, set()),
    "epsilon 1e-12": (with_norm(f"{DEVIATION} + 1e-12"), LAYERS, set()),
    "n - 1, epsilon outside": (with_norm("x.std(-1, keepdim=True) + 1e-6"), LAYERS, set()),
    "a gain of one number": (with_norm(f"{DEVIATION} + 1e-5", "1"), LAYERS, set()),
    "no shift, no biases": (
        {NORM: NORM.replace(")", ", bias=False)"), "nn.Linear(width, width)": "nn.Linear(width, width, bias=False)"},
        LAYERS,
        set(),
    ),
    "no shift": ({NORM: NORM.replace(")", ", bias=False)")}, LAYERS, set()),
    "detached weights": ({SEEN: SEEN.replace(".seen", ".seen.detach()")}, LAYERS, set()),
    "wrong weights": ({SEEN: SEEN.replace("[block", "[1 - block")}, LAYERS, {"returned weights"}),
    "x alone": (
        {"(mask)), *seen([self])": "(mask))", "return x, *seen([self]), *seen([self], 1)": "return x"},
        LAYERS,
        {"returned weights"},
    ),
    "no norm": ({ADD: ADD.removeprefix("self.norms[0]")}, LAYERS, VALUES),
    "no norm, all queries with the first one's mask": (
        {ADD: ADD.removeprefix("self.norms[0]").replace("hidden", "hidden if hidden is None else hidden[..., :1, :]")},
        LAYERS,
        VALUES | {"masks"},
    ),
    "no norm, later positions are always hidden": (
        {ADD: ADD.removeprefix("self.norms[0]").replace("hidden", "torch.ones(2 * x.shape[1:2]).triu(1) > 0")},
        LAYERS,
        VALUES | {"masks"},
    ),
    "a norm in front, without epsilon": (
        with_norm(DEVIATION) | {ADD: "x + self.drop(self.attentions[0](*[self.norms[0](x)] * 2, hidden))"},
        LAYERS,
        VALUES,
    ),
    "dropout inside at a rate of its own": (
        {"self.seen @ v": "nn.functional.dropout(self.seen, 0.3, self.training) @ v"},
        ALL,
        set(),
    ),
    "one layer several times": (
        {BLOCKS: "nn.ModuleList([block(settings)] * n)"},
        STACKS,
        OF_STACKS | {"gradients"},
    ),
    "attention without masks": (
        {"(scores if hidden is None else scores.masked_fill(hidden, -1e9))": "scores"},
        STACKS + WHOLE,
        {MASKS, "masks reach both sides"},
    ),
    "a mask for the first layer only": ({STEP: f"{STEP}\n            others = (None, *others[1:])"}, STACKS, {MASKS}),
    "learned positions": (
        {
            "from . import transformer as mine": "import torch\n\nfrom . import transformer as mine",
            "class Transformer(": LEARNED,
            "self.end, self.drop": "self.places = nn.ParameterList(torch.randn(64, width) for _ in words)\n"
            "        self.end, self.drop",
            "torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, : x.size(2)]": "self.places[number]"
            "[: x.size(1)]",
        },
        WHOLE,
        set(),
    ),
    "no positions": (
        {"self.drop(x + torch.stack": "self.drop(x + 0 * torch.stack"},
        WHOLE,
        {"encode and decode", "special cases", "returned weights", "dropout reaches the positions"},
    ),
    "stacks that are not offered": (
        {"class Encoder(": "class First(", "class Decoder(": "class Second("},
        WHOLE,
        set(),
    ),
    "layers that are not offered": (OFFERED, STACKS, EVERYTHING),
}


def changed(changes: dict[str, str], folder: Path) -> dict[str, tuple[str, str]]:
    """The modules of the model with other lines, each of which it has."""
    texts = {path.name: path.read_text() for path in MODEL.glob("*.py")}
    for old, new in changes.items():
        assert any(old in text for text in texts.values()), old
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return read_sources(folder, SKELETON)


DROPS = {
    "whole sublayers": "out * self.dropout(torch.ones(1, 1, 1, dtype=out.dtype))",
    "whole positions": "out * self.dropout(torch.ones_like(out[..., :1]))",
    "a feature of all positions": "out * self.dropout(torch.ones_like(out[:, :1]))",
    "an entry of all sentences": "out * self.dropout(torch.ones_like(out[:1]))",
}


def with_drop(text, code):
    """A layer that ends with its own way to drop."""
    return text.replace("self.dropout(", "self.drop(") + f"\n    def drop(self, out):\n        return {code}\n"


def ends_of(versions, reference, assignment):
    """By version: the outcomes of its tests."""
    runs = run_versions(versions, reference, assignment)
    return {run.version: run.all_outcomes for run in runs}


def replaced(sources, module, changes):
    """Sources in which a module has other lines, each of which it has once."""
    path, text = sources[module]
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return {**sources, module: (path, text)}


@pytest.mark.slow
def test_what_unusual_modules_of_pytorch_are_to_the_tests(reference, assignment):
    tasks = {task.number: task for task in assignment.tasks}
    versions = [
        Version(name, replaced(reference, module, changes), [0], (tasks[number].marker,))
        for name, (number, module, changes, _) in UNUSUAL.items()
    ]
    outcomes = ends_of(versions, reference, assignment)
    found = {name: judge_task(tasks[UNUSUAL[name][0]], outcomes[name], "items").state for name in outcomes}
    assert found == {name: state for name, (*_, state) in UNUSUAL.items()}


FILLED = "torch.zeros(({0}).shape).copy_({0})"
"""A result that is written into a tensor of the default dtype."""
WITHOUT_DTYPE = {  # task and module; whose result it is; the items that are lost there
    "1.1": ("embedding", "self.table(tokens) * math.sqrt(self.d_model)", {"any size and dtype"}),
    "1.2": ("attention", "weights @ value", {"numerically safe"}),
    "1.3": ("attention", "self.project_output(concatenated)", {"special cases"}),
    "1.5": ("layers", "torch.relu(self.expand(x))", {"special cases"}),
}


@pytest.mark.slow
def test_tensors_without_dtype_cost_one_item(reference, assignment):
    """Models are trained with the default dtype: there such code is right."""
    markers = {task.number: task.marker for task in assignment.tasks}
    versions = [
        Version(number, replaced(reference, module, {code: FILLED.format(code)}), [0], (markers[number],))
        for number, (module, code, _) in WITHOUT_DTYPE.items()
    ]
    outcomes = ends_of(versions, reference, assignment)
    lost = {name: {end.item for end in ends if end.state is not State.PASSED} for name, ends in outcomes.items()}
    assert lost == {number: items for number, (*_, items) in WITHOUT_DTYPE.items()}


ALONE = {  # what the layer returns after its first sublayer
    "        x = self.attention_norm(x + self.dropout(attended))\n"
    "        x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))": "        x = attended",
}


def test_a_layer_that_is_an_attention_alone_keeps_next_to_nothing(reference, assignment):
    [task] = (task for task in assignment.tasks if task.number == "2.1")
    version = Version("alone", replaced(reference, "layers", ALONE), [0], (task.marker,))
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
        changes, tasks, _ = CASES[name]
        versions.append(Version(name, changed(changes, folder), [0], tasks))
    outcomes = ends_of(versions, reference, assignment)
    lost = {name: {end.item for end in ends if end.state is not State.PASSED} for name, ends in outcomes.items()}
    assert lost == {version.name: CASES[version.name][2] for version in versions}


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
