"""Whole numbers in the code of a component: sizes at which it may do something else.

    if x.size(1) > 128: …      128, from which tests make inputs of 128 and of 129 positions
    if d_ff >= 2**8: …         256, from which they build objects of 256 and of 257 features

Most submissions have none, which then cost no time.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from foundation.sources import Sources

from ..intake.python_source import parse, resolve

LEAST, MOST = 7, 20_000
"""Smaller sizes of inputs occur anyway; larger ones would take too long."""
OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
HIGHEST_EXPONENT = 14

Name = tuple[str, str]
"""A module, and a name at its top."""


def numbers_of(
    sources: Sources, contract: Mapping[str, Sequence[str]], component: str, least: int = LEAST
) -> list[int]:
    """Numbers in the code of a component and in what it names, other components excepted.

    Args:
        sources: of the submission.
        contract: the components of each module.
        component: "module.Name".
        least: what smaller ones there are is left out.
    """
    others = {(module, name) for module, names in contract.items() for name in names}
    module, _, name = component.partition(".")
    waiting, seen, found = [(module, name)], {(module, name)}, set[int]()
    while waiting:
        module, name = waiting.pop()
        numbers, named = contents_of(name, module, *sources.get(module, ("", "")))
        found.update(number for number in numbers if number >= least)
        new = named - seen - others
        seen |= new
        waiting += sorted(new)
    return sorted(found)


@lru_cache(maxsize=256)
def contents_of(name: str, module: str, path: str, text: str) -> tuple[frozenset[int], frozenset[Name]]:
    """Numbers in the statements that give a name its meaning, and what these name. Several tests ask the same."""
    numbers, named = set[int](), set[Name]()
    for node in definitions(text).get(name, ()):
        numbers.update(numbers_in(node))
        named.update(imported(node, name, module, path))
        named.update((module, one.id) for one in ast.walk(node) if isinstance(one, ast.Name))
    return frozenset(numbers), frozenset(named)


@lru_cache(maxsize=64)
def definitions(text: str) -> Mapping[str, list[ast.stmt]]:
    """The statements at the top of a module that give a name its meaning."""
    tree, found = parse(text), dict[str, list[ast.stmt]]()
    for node in tree.body if isinstance(tree, ast.Module) else ():
        for name in names_given(node):
            found.setdefault(name, []).append(node)
    return found


def names_given(node: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a meaning to."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def imported(node: ast.stmt, name: str, module: str, path: str) -> Iterator[Name]:
    """What a relative import takes under a name, and from where."""
    if isinstance(node, ast.ImportFrom) and node.level:
        origin = resolve(module, path.endswith("/__init__.py"), node.level, node.module)
        found = (alias for alias in node.names if name == (alias.asname or alias.name))
        yield from ((origin or "__init__", alias.name) for alias in found)


def numbers_in(tree: ast.AST) -> Iterator[int]:
    """Positive whole numbers of a usual size; none that is negated, or the default of an argument."""
    left_out: set[int] = set()
    for node in ast.walk(tree):  # a node comes before those within it
        if isinstance(node, ast.arguments) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)):
            left_out.update(map(id, ast.walk(node)))
        is_number = isinstance(node, (ast.Constant, ast.BinOp)) and id(node) not in left_out
        value = value_of(node) if is_number else None
        if value is not None and 0 < value <= MOST and value == int(value):
            yield int(value)


def value_of(node: ast.AST) -> float | None:
    """The value of a number, or of an operation on two numbers; None if it is neither, or a huge one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and abs(node.value) <= MOST:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        two = [part.value for part in (node.left, node.right) if isinstance(part, ast.Constant)]
        left, right = two if len(two) == 2 else (None, None)
        most = HIGHEST_EXPONENT if isinstance(node.op, ast.Pow) else MOST
        if isinstance(left, (int, float)) and isinstance(right, (int, float)) and abs(left) <= MOST and right <= most:
            with suppress(ArithmeticError):
                return OPERATORS[type(node.op)](left, right)
    return None
