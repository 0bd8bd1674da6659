"""A model with files and names of its own: whatever they are called, they are imported as their author does."""

import pytest
import torch

from autograder.intake.sources import read_sources
from autograder.intake.submission import take_in
from autograder.running.under_test import InProcessSubmission
from foundation.places import SKELETON

NORM = """
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.gain, self.shift, self.eps = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d)), eps

    def forward(self, x):
        return self.gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + self.eps).sqrt()
"""
ADAPTER = "\n\ndef LayerNorm(d_model, epsilon=1e-6):\n    return {}(d_model, epsilon)\n"
LAYOUTS = {  # files, and how the adapter gets at the norm
    "a module of the contract's name": ({"layers.py": NORM}, "from .layers import Norm", "Norm"),
    "that imports others of such names": (
        {
            "layers.py": "from .attention import Norm\nfrom .model import x\n",
            "attention.py": NORM,
            "model.py": "x = 1\n",
        },
        "from .layers import Norm",
        "Norm",
    ),
    "absolute imports": (
        {"models/layers/norm.py": NORM, "models/all.py": "from models.layers.norm import Norm\n"},
        "from models.all import Norm",
        "Norm",
    ),
    "absolute imports of whole modules": (
        {"models/norm.py": NORM, "models/all.py": "import models.norm as norms\nimport models.norm\n"},
        "import models.all as everything",
        "everything.models.norm.Norm",
    ),
    "a name of Python's own": ({"queue.py": NORM}, "from queue import Norm", "Norm"),
    "what the kit gives": (
        {"layers.py": NORM},
        "from .embedding import PositionalEncoding\nfrom .masks import causal_mask\nfrom layers import Norm",
        "Norm",
    ),
}


@pytest.fixture
def open_model(tmp_path):
    """Makes a run of a model with these files, from the sources of a student's own run or those that are graded."""
    opened = []

    def make(files, assignment, is_graded=False) -> InProcessSubmission:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        graded = take_in(tmp_path, SKELETON, assignment).sources if is_graded else {}
        opened.append(InProcessSubmission(graded or read_sources(tmp_path, SKELETON), assignment))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.mark.parametrize("is_graded", [False, True], ids=["own run", "graded"])
@pytest.mark.parametrize("files, statement, norm", LAYOUTS.values(), ids=LAYOUTS)
def test_names_of_files_are_free(open_model, assignment, files, statement, norm, is_graded):
    submission = open_model({**files, "adapters.py": statement + ADAPTER.format(norm)}, assignment, is_graded)
    made = submission.build("layers.LayerNorm", 6)
    assert made(torch.randn(2, 6)).shape == (2, 6) and len([*made.parameters()]) == 2
    with pytest.raises(NotImplementedError, match=r"TODO 1\.2"):  # what the adapter leaves out is not attempted
        submission.call("attention.scaled_dot_product_attention", *torch.ones(3, 1, 1, 2, 2))


BROKEN = {  # a module beside the adapter, and what is said for each component that needs it
    "a syntax error": ("def soft(:\n    pass\n", SyntaxError, "invalid syntax"),
    "a package that is missing": ("\nimport einops\n\nsoft = 1\n", ImportError, "'einops' when graded"),
    "a sibling that is not there": ("from .missing import soft\n", ImportError, r"there is no missing\.py"),
    "an attribute of a module": ("import torch\n\ntorch.no_such\n", ImportError, "AttributeError.*no_such"),
}


@pytest.mark.parametrize("through", ["from .helpers import soft", "from .between import soft", "from . import helpers"])
@pytest.mark.parametrize("text, kind, message", BROKEN.values(), ids=BROKEN)
def test_the_first_error_of_a_chain_of_imports_is_told(open_model, assignment, text, kind, message, through):
    use = "helpers.soft" if through.endswith("helpers") else "soft"
    adapters = f"{through}\n\n\ndef LayerNorm(d):\n    return {use}\n\n\ndef FeedForward(d, d_ff):\n    return {use}\n"
    files = {"helpers.py": text, "between.py": "from .helpers import soft\n", "adapters.py": adapters}
    submission = open_model(files, assignment)
    for component, sizes in (("layers.LayerNorm", [4]), ("layers.FeedForward", [4, 8])):
        with pytest.raises(kind, match=message) as raised:
            submission.build(component, *sizes)
        assert kind is SyntaxError or any(str(entry.path).endswith("helpers.py") for entry in raised.traceback)


def test_an_adapter_that_is_not_python_says_so(open_model, assignment):
    submission = open_model({"adapters.py": "def LayerNorm(d:\n"}, assignment)
    with pytest.raises(SyntaxError):
        submission.build("layers.LayerNorm", 4)


def test_lines_are_named_as_the_author_knows_them(open_model, assignment, tmp_path):
    open_model({"layers.py": NORM, "adapters.py": "from layers import Norm" + ADAPTER.format("Norm")}, assignment)
    intake = take_in(tmp_path, SKELETON, assignment)
    assert intake.submitted == {"own_model.layers", "own_model.adapters"}
    assert intake.locate("own_model.layers", 7) == "layers.py, line 7"
    assert intake.locate("layers", 7) == "(the kit's) layers.py, line 7"
