"""Layers, stacks and models that are made of parts of their own: each part costs points in its own task only.

The model is in `grading/adapters/whole/`: constructors and masks of its own, PyTorch's LayerNorm, key before query.
"""

from pathlib import Path

import pytest

from autograder.intake.sources import read_sources
from autograder.testing.results import State
from foundation.places import SKELETON
from validity.run_tests import Version, run_versions

pytestmark = pytest.mark.slow

MODEL = Path(__file__).parents[1] / "grading" / "adapters" / "whole"
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
EVERYTHING = {"layers in order", "returned weights", MASKS, "gradients", "no side effects"}
VALUES, OF_STACKS = {"sublayers", "dropout", "returned weights"}, {"layers in order", "returned weights"}


def with_norm(scale: str, size: str = "width") -> dict[str, str]:
    return {NORM: 'Norm(settings["width"])', "class Block(": OWN_NORM.format(size=size, scale=scale)}


CASES = {  # what is written in place of what, the tasks, and the items that are lost there
    "as it is": ({}, ALL, set()),
    "epsilon 1e-12": (with_norm(f"{DEVIATION} + 1e-12"), LAYERS, set()),
    "n - 1, epsilon outside": (with_norm("x.std(-1, keepdim=True) + 1e-6"), LAYERS, set()),
    "a gain of one number": (with_norm(f"{DEVIATION} + 1e-5", "1"), LAYERS, set()),
    "no weights": ({SEEN: "return [None for"}, LAYERS, {"returned weights"}),
    "no norm": ({ADD: ADD.removeprefix("self.norms[0]")}, LAYERS, VALUES),
    "norm before": ({ADD: "x + self.drop(self.attentions[0](*[self.norms[0](x)] * 2, hidden))"}, LAYERS, VALUES),
    "one norm for all": (
        {"for _ in range(2 + is_decoder))\n        self.drop": "for _ in range(1))\n        self.drop"}
        | {"self.norms[1]": "self.norms[0]"},
        LAYERS,
        VALUES,
    ),
    "one layer several times": (
        {BLOCKS: "nn.ModuleList([block(settings)] * n)"},
        STACKS,
        OF_STACKS | {"gradients"},
    ),
    "without the first layer": ({"for block in self.blocks:": "for block in self.blocks[1:]:"}, STACKS, OF_STACKS),
    "a mask for the first layer only": ({STEP: f"{STEP}\n            others = (None, *others[1:])"}, STACKS, {MASKS}),
    "no positions": (
        {"self.drop(x + torch.stack": "self.drop(x + 0 * torch.stack"},
        WHOLE,
        {"encode and decode", "returned weights", "dropout reaches the positions"},
    ),
    "layers that are not offered": (OFFERED, STACKS, EVERYTHING),
    "not offered, and without their mask": (
        {**OFFERED, STEP: STEP.replace("*others", "None, *others[1:]")},
        STACKS,
        OF_STACKS | {MASKS},
    ),
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


def test_each_part_costs_its_own_task(reference, assignment, tmp_path):
    versions = []
    for number, (name, (changes, tasks, _)) in enumerate(CASES.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        versions.append(Version(name, changed(changes, folder), [0], tasks))
    lost = {}
    for run in run_versions(versions, reference, assignment):
        ends = [outcome for outcomes in run.outcomes.values() for outcome in outcomes]
        lost[run.version] = {end.item for end in ends if end.state is not State.PASSED}
    assert lost == {name: items for name, (_, _, items) in CASES.items()}
