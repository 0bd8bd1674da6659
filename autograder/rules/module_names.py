"""The names at the top level of a module: where they are bound, in which order, and which code never runs."""

import ast
from collections.abc import Iterator

from ..intake.python_source import TooNestedError, parse
from .values import Binding

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LOOPS = (ast.For, ast.AsyncFor)
WITHS = (ast.With, ast.AsyncWith)


class ModuleNames:
    """The bindings of one module.

    Attributes:
        name: of the module.
        lines: of its text.
        tree: of its text; None where that does not compile.
        statements: statements that bind nothing but may change something, with their position.
        is_tangled: it cannot be read here, though a worker may be able to run it.
        exec_lines: id of a node from an `exec` -> line of that `exec`.
    """

    def __init__(self, name: str, text: str) -> None:
        """Reads the text; a text that does not compile has no names."""
        self.name = name
        self.lines = text.split("\n")
        self.bindings: dict[str, list[Binding]] = {}
        self.statements: list[tuple[ast.stmt, int]] = []
        self.exec_lines: dict[int, int] = {}
        self._position = 0
        self._has_globals = "global" in text
        self._trees: list[ast.Module | SyntaxError] = []  # kept, so that no id is used twice
        tree = parse(text)
        self.is_tangled = isinstance(tree, TooNestedError)
        self.tree = tree if isinstance(tree, ast.Module) else None
        if self.tree:
            self._read(self.tree.body)

    def count(self, name: str) -> int:
        """How many bindings `visible` looks at."""
        return len(self.bindings.get(name, ())) + len(self.bindings.get("*", ()))

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

    def _read(self, body: list[ast.stmt]) -> None:
        """Visits the statements in order, blocks included, without recursion: `elif` nests deeply."""
        waiting = [(node, True) for node in reversed(body)]
        while waiting:
            node, is_certain = waiting.pop()
            self._position += 1
            inner = self._read_one(node, is_certain)
            waiting += reversed(inner)

    def _read_one(self, node: ast.stmt, is_certain: bool) -> list[tuple[ast.stmt, bool]]:
        """Adds the names that one statement binds; returns those in its blocks, and whether they are certain to run."""
        if isinstance(node, DEFINITIONS):
            self._bind(node.name, node, None, is_certain)
            self.statements.append((node, self._position))
            if self._has_globals:
                self._bind_globals(node)
            return []
        for named in named_in(node):
            self._bind(named.target.id, ast.copy_location(ast.Expr(named), named), named.value, False)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.split(".")[0])
                self._bind(name, node, alias, is_certain)
            return []
        if isinstance(node, (ast.If, ast.While)):
            runs, runs_else = branches(node.test)
            inner = [(part, False) for part in node.body if runs]
            return inner + [(part, is_certain and not runs) for part in node.orelse if runs_else]
        if isinstance(node, LOOPS):
            for name, value in targets_of(node.target, an_element(node.iter)):
                self._bind(name, node, value, False)
        if isinstance(node, (ast.Try, ast.Match, *LOOPS, *WITHS)):
            return [(part, is_certain and isinstance(node, WITHS)) for part in inner_statements(node)]
        for name, value in bound_in(node):
            self._bind(name, node, value, is_certain)
        self.statements.append((node, self._position))
        if not (text := executed_text(node)):
            return []
        tree = parse(text)
        self._trees.append(tree)
        executed = tree.body if isinstance(tree, ast.Module) else []
        for part in (one for statement in executed for one in ast.walk(statement)):
            self.exec_lines[id(part)] = self.exec_lines.get(id(node), node.lineno)
        return [(statement, False) for statement in executed]

    def _bind_globals(self, definition: ast.stmt) -> None:
        """Binds the names that functions declare `global` and set."""
        parts = list(ast.walk(definition))
        names = {name for part in parts if isinstance(part, ast.Global) for name in part.names}
        for part in parts if names else ():
            for name, value in bound_in(part):
                if name in names:
                    node = ast.Pass() if value is None else ast.Expr(value)
                    self._bind(name, ast.copy_location(node, part), value, False)

    def _bind(self, name: str, node: ast.stmt, value: ast.expr | ast.alias | None, is_certain: bool) -> None:
        line = self.exec_lines.get(id(node), node.lineno)
        binding = Binding(self.name, name, node, value, self._position, is_certain, line)
        self.bindings.setdefault(name, []).append(binding)


def inner_statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements in the blocks of a compound statement."""
    for part in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        for field in ("body", "orelse", "finalbody"):
            yield from getattr(part, field, ())


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
    """Names that a simple statement or expression sets, each with its value where that is known."""
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


def named_in(node: ast.stmt) -> Iterator[ast.NamedExpr]:
    """The `(name := value)` in the expressions of one statement, without those in its blocks."""
    waiting = [part for part in ast.iter_child_nodes(node) if not isinstance(part, (ast.stmt, ast.ExceptHandler))]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.NamedExpr):
            yield part
        waiting += [inner for inner in ast.iter_child_nodes(part) if isinstance(inner, ast.expr)]


def an_element(collection: ast.expr) -> ast.expr:
    """The expression for some element of a collection."""
    return ast.copy_location(ast.Subscript(collection, ast.Name("_", ast.Load()), ast.Load()), collection)


def executed_text(node: ast.stmt) -> str | None:
    """The text in a statement `exec("…")`."""
    match node:
        case ast.Expr(ast.Call(ast.Name("exec"), [ast.Constant(str() as text), *_])):
            return text
    return None
