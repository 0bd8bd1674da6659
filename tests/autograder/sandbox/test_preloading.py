"""What a submission will import is loaded before it runs: ordinary modules, and none that would start something."""

from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.sandbox import session
from autograder.sandbox.imports import MAX_NAMES, wanted_imports
from autograder.sandbox.worker.available import PACKAGES, is_harmless
from foundation.places import ROOT
from release import contents
from release.packing import pin, read_requirements


def names_in(text: str) -> list[str]:
    return wanted_imports({"layers": ("layers.py", text)})


def test_what_is_available_is_what_students_and_gradescope_install():
    brought = metadata.packages_distributions()
    for wanted in (named_in(read_requirements(ROOT).packages), contents.PACKAGES):
        installed = {pinned.partition("==")[0] for pinned in pin(wanted)}
        for package in PACKAGES:
            assert installed & {canonicalize_name(name) for name in brought[package]}, package
    direct = {canonicalize_name(name) for package in PACKAGES for name in brought[package]}
    assert {*named_in(read_requirements(ROOT).packages)} - direct == {"jupyter"}, "which brings IPython"


def named_in(requirements: tuple[str, ...]) -> list[str]:
    return [Requirement(text).name for text in requirements]


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
        "test.support",
        "torch._inductor.async_compile",
        "torch.utils.cpp_extension",
        "torch.distributed.run",
        "autograder.checking",
        "evil",
        "numpy._core",
        "numpy.distutils.tests.test_system_info",
        "numpy.f2py.tests.util",
        "numpy.conftest",
        "unittest.test.support",
        "ctypes.test",
        "distutils.core",
        "einops",
        "torch.",
        "torch..nn",
        ".torch",
    ],
)
def test_what_is_not_for_a_submission_is_left_out(name: str):
    assert not is_harmless(name)
    assert name not in names_in(f"import {name}\nfrom {name} import something")


def test_relative_imports_are_not_ours():
    assert names_in("from .layers import LayerNorm\nfrom . import attention") == []


def test_long_text_costs_no_time_and_few_names():
    text = "import " + " " * 2_000_000 + "\n" + "from " + "a." * 500_000 + "\n" + "import x1, " * 100_000
    assert len(names_in(text + "\nimport math")) <= MAX_NAMES


@pytest.mark.parametrize("name", ["numpy.distutils.tests.test_system_info", "numpy.f2py.tests.util"])
def test_an_import_that_ends_oddly_or_leaves_a_thread_costs_no_worker(name: str, sandbox, monkeypatch):
    monkeypatch.setattr(session, "wanted_imports", lambda sources: [name])
    assert sandbox().call("decode.greedy_decode", "layout", []) == []
