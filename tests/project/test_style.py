"""Code as a count shows it: names that name nothing, docstrings that talk, component tests that end early."""

import ast
import re
from collections.abc import Iterator

import pytest

from foundation.places import ASSIGNMENT, ROOT

PACKAGES = ("assignment", "autograder", "benchmarks", "data", "foundation", "given", "reference", "release", "validity")
NO_NAMES = {"it", "one", "found", "what", "told", "said"}
TALK = re.compile(r"(What|Whether)\b|(?s:.*)\b(tells?|told|says)\b")
MOST_NAMES, MOST_DOCSTRINGS = 4, 32
"""As many as there are; both may only fall."""


def nodes() -> Iterator[ast.AST]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "variants" not in path.parts:  # written as students write
                yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def test_variables_are_named_after_what_they_hold():
    names = [node.id for node in nodes() if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names += [node.arg for node in nodes() if isinstance(node, ast.arg)]
    assert sum(name in NO_NAMES for name in names) <= MOST_NAMES


def test_docstrings_name_what_there_is_and_do_not_talk():
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in nodes() if isinstance(node, documented)]
    assert sum(TALK.match(docstring) is not None for docstring in docstrings) <= MOST_DOCSTRINGS


@pytest.mark.parametrize("path", sorted((ASSIGNMENT / "tests").glob("test_*.py")), ids=lambda path: path.stem)
def test_no_component_test_returns_early(path):
    """It judges or says that it cannot: whatever follows would pass unseen."""
    functions = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    returns = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.Return)]
    assert [node.lineno for node in returns if node.value is None] == []
