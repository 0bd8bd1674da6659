"""Component tests judge or say that they cannot: none ends early, which would let whatever follows pass unseen."""

import ast

import pytest

from foundation.places import ASSIGNMENT

FILES = sorted((ASSIGNMENT / "tests").glob("test_*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_component_test_returns_early(path):
    functions = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    returns = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.Return)]
    assert [node.lineno for node in returns if node.value is None] == []
