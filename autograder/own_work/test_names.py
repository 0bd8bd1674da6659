"""A student's own tests (E.4) as text: which there are."""

from __future__ import annotations

import ast

from foundation.texts import with_comment

from ..intake.sources import tree_of

MOST_TESTS = 40
"""Of one class."""


def named_tests(text: str, name: str) -> dict[str, str]:
    """The tests of a class by name, in order; each with the TODO that is still in it, or "".

    None where the text cannot be read, or has no such class.
    """
    tree, lines = tree_of(text), text.split("\n")
    classes = [node for node in getattr(tree, "body", ()) if isinstance(node, ast.ClassDef) and node.name == name]
    methods = [node for node in (classes[-1].body if classes else ()) if isinstance(node, ast.FunctionDef)]
    return {method.name: todo_in(method, lines) for method in methods if method.name.startswith("test")}


def todo_in(definition: ast.AST, lines: list[str]) -> str:
    """The TODO that is still in a definition; "" = none."""
    for node in ast.walk(definition):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"), args=[ast.Constant(value=str(said))])):
                return with_comment(said, lines, node.lineno) or "not implemented yet"
    return ""
