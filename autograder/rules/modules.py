"""The top level of a module: which names it binds, where, in which order, and what is never run."""

import ast
from collections.abc import Iterator

from ..intake.python_source import parse
from .values import Binding

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LOOPS = (ast.For, ast.AsyncFor)


class ModuleNames:
    """The bindings of one module.

    Attributes:
        name: of the module.
        lines: of its text.
        statements: statements that bind nothing but may change something, with their position.
        exec_lines: id of a statement that came out of an `exec` -> line of that `exec`.
    """

    def __init__(self, name: str, text: str) -> None:
        """Reads the text; one that does not compile has no names."""
        self.name = name
        self.lines = text.split("\n")
        self.bindings: dict[str, list[Binding]] = {}
        self.statements: list[tuple[ast.stmt, int]] = []
        self.exec_lines: dict[int, int] = {}
        self._position = 0
        tree = parse(text)
        if isinstance(tree, ast.Module):
            self._read(tree.body, is_certain=True)

    def visible(self, name: str, position: int | None = None) -> list[Binding]:
        """The bindings that a name may stand for, at a point of the import or after it (None)."""
        candidates = self.bindings.get(name, []) + self.bindings.get("*", [])
        found = []
        for binding in sorted(candidates, key=lambda binding: -binding.position):
            if position is not None and binding.position >= position:
                continue
            found.append(binding)
            if binding.is_certain and binding.name != "*":
                break
        return found

    def _read(self, body: list[ast.stmt], is_certain: bool, line: int | None = None) -> None:
        for node in body:
            self._position += 1
            if line is not None:
                self.exec_lines[id(node)] = line
            self._read_one(node, is_certain, line)

    def _read_one(self, node: ast.stmt, is_certain: bool, line: int | None) -> None:
        if isinstance(node, DEFINITIONS):
            self._bind(node.name, node, None, is_certain)
            self.statements.append((node, self._position))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.split(".")[0])
                self._bind(name, node, alias, is_certain)
        elif isinstance(node, (ast.If, ast.While)):
            runs, runs_else = branches(node.test)
            self._read(node.body if runs else [], False, line)
            self._read(node.orelse if runs_else else [], is_certain and not runs, line)
        elif isinstance(node, (ast.Try, *LOOPS, ast.With, ast.AsyncWith, ast.Match)):
            if isinstance(node, LOOPS):
                for name, value in targets_of(node.target, an_element(node.iter)):
                    self._bind(name, node, value, False)
            is_with = isinstance(node, (ast.With, ast.AsyncWith))
            for inner in inner_bodies(node):
                self._read(inner, is_certain and is_with, line)
        else:
            for name, value in bound_in(node):
                self._bind(name, node, value, is_certain)
            self.statements.append((node, self._position))
            if text := executed_text(node):
                tree = parse(text)
                self._read(tree.body if isinstance(tree, ast.Module) else [], False, line or node.lineno)

    def _bind(self, name: str, node: ast.stmt, value: ast.expr | ast.alias | None, is_certain: bool) -> None:
        line = self.exec_lines.get(id(node), node.lineno)
        binding = Binding(self.name, name, node, value, self._position, is_certain, line)
        self.bindings.setdefault(name, []).append(binding)


def inner_bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement."""
    for part in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(inner := getattr(part, field, None), list):
                yield inner


def branches(test: ast.expr) -> tuple[bool, bool]:
    """Whether the two blocks of an `if` may run when the module is imported for grading."""
    if isinstance(test, ast.Constant):
        return bool(test.value), not test.value
    if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING":
        return False, True
    if isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING":
        return False, True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = [test.left, test.comparators[0]]
        is_name = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
        if is_name and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides):
            return (False, True) if isinstance(test.ops[0], ast.Eq) else (True, False)
    return True, True


def bound_in(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Names that a simple statement or expression sets, each with the expression it is set to where that is known."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from targets_of(target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
        yield from targets_of(node.target, node.value)


def targets_of(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    """The names in an assignment's target, with their part of the value."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Starred):
        yield from targets_of(target.value, None)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        matches = len(parts) == len(target.elts) and not any(isinstance(part, ast.Starred) for part in parts)
        for index, inner in enumerate(target.elts):
            yield from targets_of(inner, parts[index] if matches else value)


def an_element(collection: ast.expr) -> ast.expr:
    """The expression for some element of a collection."""
    return ast.copy_location(ast.Subscript(collection, ast.Name("_", ast.Load()), ast.Load()), collection)


def executed_text(node: ast.stmt) -> str | None:
    """The text in a statement `exec("…")`."""
    match node:
        case ast.Expr(ast.Call(ast.Name("exec"), [ast.Constant(str() as text), *_])):
            return text
    return None
