"""The search ends soon whatever it is given, and says where it has not come to the end."""

import time

import pytest

from autograder.rules import find_short_cuts
from foundation.assignment_file import read_assignment

FORBIDDEN = read_assignment().contract.forbidden

SECONDS = 6.0
"""CPU time; about 2 on a machine that is not busy."""
MANY = range(200)

TANGLES = {
    "paths": [f"x = x.a{i}" for i in range(30)],
    "paths of two names": [f"y = x.a{i}; x = y.b{i}" for i in MANY],
}

CONTRACT = read_assignment().contract.modules


@pytest.mark.slow
@pytest.mark.parametrize("lines", TANGLES.values(), ids=TANGLES)
def test_tangles_in_every_component_end_soon_and_are_said(lines: list[str]):
    body = "".join(f"    {line}\n" for line in ["x = y = torch", *lines, "return x"])
    sources = {
        module: (f"{module}.py", "import torch\n" + "".join(f"def {name}(*a):\n{body}" for name in names))
        for module, names in CONTRACT.items()
    }
    components = [f"{module}.{name}" for module, names in CONTRACT.items() for name in names]
    started, notes = time.process_time(), []
    assert find_short_cuts(sources, components, FORBIDDEN, notes) == {}
    assert time.process_time() - started < SECONDS
    assert len(notes) == len(components) and all("too tangled" in note for note in notes)


def test_one_tangle_hides_no_other_components_short_cut():
    tangle = "".join(f"    x = x.a{i}\n" for i in range(30))
    text = f"import torch\ndef diagonal_mask(x):\n    x = torch\n{tangle}    return x\n"
    norm = "import torch\nclass LayerNorm:\n    def forward(self, x):\n        return torch.layer_norm(x, (4,))\n"
    notes = []
    sources = {"masks": ("masks.py", text), "layers": ("layers.py", norm)}
    found = find_short_cuts(sources, ["masks.diagonal_mask", "layers.LayerNorm"], FORBIDDEN, notes)
    assert list(found) == ["layers.LayerNorm"]
    assert notes == ["masks.diagonal_mask is too tangled to be searched completely for forbidden short-cuts"]


def test_star_imports_in_a_circle_end_and_hide_nothing():
    """Each module imports all of each other: paths through them double with every step, modules do not."""
    modules = ("layers", "attention", "model")
    stars = {module: "".join(f"from .{other} import *\n" for other in modules if other != module) for module in modules}
    texts = {
        "layers": "class LayerNorm:\n    def forward(self, x):\n        return helper(x) + unknown(x)\n",
        "attention": "",
        "model": "import torch\ndef helper(x):\n    return torch.layer_norm(x, (4,))\n",
    }
    sources = {module: (f"{module}.py", stars[module] + texts[module]) for module in modules}
    started, notes = time.process_time(), []
    found = find_short_cuts(sources, ["layers.LayerNorm"], FORBIDDEN, notes)
    assert [(one.module, one.name) for one in found["layers.LayerNorm"]] == [("model", "torch.layer_norm")]
    assert time.process_time() - started < SECONDS / 3 and notes == []


@pytest.mark.slow
def test_thousands_of_star_imports_end_soon():
    modules = ("layers", "attention", "model")
    stars = "".join(f"from .{module} import *\n" for module in modules) * 1500
    use = "def f(x):\n" + "    y = aa + bb + cc\n" * 500
    started, notes = time.process_time(), []
    find_short_cuts({m: (f"{m}.py", stars + use) for m in modules}, ["layers.f"], FORBIDDEN, notes)
    assert time.process_time() - started < SECONDS and "too tangled" in notes[0]
