"""A student's own tests (E.4) as text: which there are, and whether one of them looks where no test may look."""

from __future__ import annotations

import ast
import re
import sys

from foundation.texts import with_comment

from ..sources import parse

MOST_TESTS = 40
"""Of one class."""
PACKAGES = {"__future__", "collections", "contextlib", "copy", "dataclasses", "functools", "itertools", "math"}
PACKAGES |= {"pytest", "random", "statistics", "torch", "typing"}
"""What tests may import."""
COMMON = {"abc", "copy", "decimal", "fractions", "math", "numbers", "random", "select", "statistics", "string", "time"}
"""Names of Python's modules that much else is called by, too."""
INSIDE = re.compile(
    r"_.*|(ag|co|cr|f|gi|tb)_.*|tb|traceback"  # frames and code objects
    r"|format|format_map|MonkeyPatch|importorskip"
    r"|compile|compiler|export|fx|graph|hub|jit|library|load|next_functions|onnx|ops|overrides|package|profiler|save"
    r"|saved_tensors|serialization|utils"  # what shows, or stores, what PyTorch does
)
"""Attributes that nothing may be asked for."""
BUILTINS = re.compile(
    r"__.*|breakpoint|compile|delattr|dir|eval|exec|getattr|globals|help|input|locals|memoryview|open|setattr|vars"
)


def named_tests(text: str, name: str) -> dict[str, str]:
    """The tests of a class by name, in order; each with the TODO that is still in it, or "".

    None where the text cannot be read, or has no such class.
    """
    tree, lines = parse(text), text.split("\n")
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


def looks_inside(text: str) -> tuple[int, str] | None:
    """The first line that looks at source, names, frames or files, or imports more than a test needs; and what it has.

    The sandbox keeps such code from doing harm. This keeps it from telling implementations apart by anything but what
    they return.
    """
    tree = parse(text)
    nodes = list(ast.walk(tree)) if isinstance(tree, ast.Module) else []
    plain = {id(node.func) for node in nodes if isinstance(node, ast.Call) and _is_by_name(node)}
    found = [(getattr(node, "lineno", 0), what) for node in nodes if id(node) not in plain and (what := _seen(node))]
    return min(found, default=None)


def _is_by_name(call: ast.Call) -> bool:
    """Whether this is `getattr(x, "name")`, or `setattr`, with a name that may be looked at."""
    match call:
        case ast.Call(func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return not _is_inside(name)
    return False


def _seen(node: ast.AST) -> str:
    """What a node looks at that no test may look at; "" = nothing."""
    match node:
        case ast.Import(names=names):
            return next((f"import {one.name}" for one in names if not _is_allowed(one.name)), "")
        case ast.ImportFrom(level=level, module=module, names=names):
            full = [f"{'.' * level}{module or ''}.{one.name}" for one in names]
            return next((f"import {name}" for name in full if level or not _is_allowed(name)), "")
        case ast.Attribute(attr=name) if _is_inside(name):
            return name
        case ast.MatchClass(kwd_attrs=names) if any(map(_is_inside, names)):
            return next(filter(_is_inside, names))
        case ast.Name(id=name) if BUILTINS.fullmatch(name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if (
            name.startswith("__") and name != "__init__"
        ):
            return name
        case ast.Constant(value=str(text)) if "__" in text:
            return text[:40]
    return ""


def _is_allowed(module: str) -> bool:
    package, *parts = module.split(".")
    return package in PACKAGES and not any(map(_is_inside, parts))


def _is_inside(name: str) -> bool:
    return bool(INSIDE.fullmatch(name)) or (name in sys.stdlib_module_names and name not in COMMON)
