"""What is done before submitted code runs: settings are kept, imports are loaded, hostile modules replaced."""

import random
import sys
import warnings
from importlib import metadata

import pytest
import torch
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.sandbox.imports import MAX_NAMES, wanted_imports
from autograder.sandbox.worker.loading import PACKAGES, is_harmless
from autograder.sandbox.worker.settings import kept
from foundation.places import ROOT
from release import contents
from release.packing import read_requirements

SETTINGS = {
    "dtype": "torch.set_default_dtype(torch.float64)",
    "gradients": "torch.set_grad_enabled(False)",
    "seed": "torch.manual_seed(0)",
    "deterministic": "torch.use_deterministic_algorithms(True)",
    "device": "torch.set_default_device('meta')",
    "warnings": "import warnings; warnings.simplefilter('error')",
    "autocast": "torch.autocast('cpu', dtype=torch.bfloat16).__enter__()",
    "output": "import io, sys; sys.stdout = sys.stderr = io.StringIO()",
    "recursion": "import sys; sys.setrecursionlimit(150)",
}


def everything() -> tuple[object, ...]:
    return (
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_rng_state().tolist(),
        random.getstate(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.zeros(1).device.type,
        torch.is_anomaly_enabled(),
        (torch.ones(2, 2) @ torch.ones(2, 2)).dtype,
        list(warnings.filters),
        (sys.stdout, sys.stderr),
        sys.getrecursionlimit(),
    )


@pytest.mark.parametrize("line", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_is_taken_back(line):
    before = everything()
    with kept():
        exec(line, {"torch": torch})
    assert everything() == before


def test_an_older_pytorch_forgets_its_default_device(monkeypatch):
    """Up to 2.9, `get_default_device` raises once the device was set to None."""
    monkeypatch.setattr(torch, "get_default_device", lambda: None.device)
    with kept():
        torch.set_default_device("meta")
    assert torch.zeros(1).device.type == "cpu"


@pytest.mark.parametrize("line", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_of_one_module_costs_no_other_component(sandbox, example_sources, line):
    path, text = example_sources["train"]
    submission = sandbox({"train": f"import torch\n{line}\n{text}"})
    norm = submission.build("layers.LayerNorm", 4)
    assert norm.p0.dtype == torch.float32
    x = torch.randn(2, 4, requires_grad=True)
    norm(x).sum().backward()
    assert x.grad is not None and norm.p0.grad is not None


def names_in(text: str) -> list[str]:
    return wanted_imports({"layers": ("layers.py", text)})


def test_what_is_available_is_what_students_and_gradescope_install():
    brought = metadata.packages_distributions()
    for wanted in (read_requirements(ROOT), contents.PACKAGES):
        installed = with_what_they_need(wanted)
        for package in PACKAGES:
            assert installed & {canonicalize_name(name) for name in brought[package]}, package
    direct = {canonicalize_name(name) for package in PACKAGES for name in brought[package]}
    named = {Requirement(text).name for text in read_requirements(ROOT)}
    assert named - direct == {"jupyter"}, "which brings IPython"


def with_what_they_need(requirements: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    waiting = [*map(Requirement, requirements)]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found.add(name)
            waiting += map(Requirement, metadata.requires(name) or ())
    return found


def test_names_are_found_in_every_form_of_import():
    text = """import math, os.path as p; import html
if 1:
    from torch.nn import functional as F, init
from json import(  # as text
    decoder,
)
import numpy as np
np.typing.NDArray
"""
    wanted = {"math", "os.path", "html", "torch.nn", "torch.nn.functional", "torch.nn.init", "json.decoder"}
    assert wanted | {"numpy.typing"} <= set(names_in(text))


@pytest.mark.parametrize(
    "name",
    [
        "antigravity",
        "this",
        "torch.utils.cpp_extension",
        "autograder.checking",
        "evil",
        "numpy._core",
        "numpy.f2py.tests.util",
        "distutils.core",
        "einops",
        "torch..nn",
    ],
)
def test_what_is_not_for_a_submission_is_left_out(name: str):
    assert not is_harmless(name)
    assert name not in names_in(f"import {name}\nfrom {name} import something")


def test_long_text_costs_no_time_and_few_names():
    text = "import " + " " * 2_000_000 + "\n" + "from " + "a." * 500_000 + "\n" + "import x1, " * 100_000
    assert len(names_in(text + "\nimport math")) <= MAX_NAMES
