"""Imports are found in every form, at no cost that their author could choose."""

import ast

import pytest

from autograder.intake.names import MAX_NAMES, own_imports, wanted_imports
from autograder.intake.sources import names_in, parse
from autograder.sandbox.worker.loading import is_harmless


def wanted_in(text: str) -> list[str]:
    return wanted_imports({"layers": ("layers.py", text)})


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
    assert wanted | {"numpy.typing"} <= set(wanted_in(text))


NOT_FOR_US = """
antigravity torch.utils.cpp_extension autograder.checking numpy._core numpy.f2py.tests.util einops torch..nn
"""


@pytest.mark.parametrize("name", NOT_FOR_US.split())
def test_what_is_not_for_a_submission_is_left_out(name: str):
    assert not is_harmless(name)
    assert name not in wanted_in(f"import {name}\nfrom {name} import something")


def test_hostile_imports_cost_no_time_and_few_names():
    text = "import " + " " * 2_000_000 + "\n" + "from " + "a." * 500_000 + "\n" + "import x1, " * 100_000
    assert len(wanted_in(text + "\nimport math")) <= MAX_NAMES
    assert [own_imports(f"from {dots}x import y", "tools.soft") for dots in ("", ".", "..", "...")] == [
        (),
        ("tools", "tools.x", "tools", "tools.x", "tools.x.y"),
        ("x", "x", "x.y"),
        (),
    ]


def test_a_name_of_endless_parts_is_not_parsed():
    """Python's own parser takes gigabytes for one."""
    for dot in (".", ".\\\n"):
        text = f"import {dot.join('a' * 100_000)}"
        assert "200 parts" in parse(text).msg and names_in(text) == (set(), set())
    assert isinstance(parse("import a" + ".b" * 150 + "\nx = '" + "1. 2.\\n" * 500 + "'"), ast.Module)
