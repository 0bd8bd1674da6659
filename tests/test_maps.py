"""The maps in the packages' docstrings name every module, and nothing that is not there."""

import ast
import re

import pytest

from foundation.places import ROOT

PACKAGES = [
    "autograder",
    "autograder/assignment",
    "autograder/assignment/understanding",
    "autograder/classroom",
    "autograder/classroom/store",
    "autograder/commands",
    "autograder/diagnosis",
    "autograder/grading",
    "autograder/intake",
    "autograder/reports",
    "autograder/reports/gradescope",
    "autograder/rules",
    "autograder/sandbox",
    "autograder/understanding",
    "benchmarks",
    "benchmarks/similarity",
    "benchmarks/tables",
    "data",
    "data/fetching",
    "data/generator",
    "data/preparation",
    "foundation",
    "given",
    "given/extras",
    "reference",
    "release",
    "validity",
    "validity/diagnosis",
    "validity/mutation",
    "validity/proof",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_map_is_complete(package):
    folder = ROOT / package
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")), clean=False)
    chart = "\n".join(line for line in text.splitlines() if line.startswith("    "))
    named = set(re.findall(r"\b[\w]+\.(?:py|md|toml)\b|\b\w+/(?=\s)", chart))
    there = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    there |= {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    assert there <= named
    for name in named - there:
        assert (folder / name).exists() or (ROOT / name).exists(), name
