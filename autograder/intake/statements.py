"""The statements of modules, such that other names, another layout and another order leave them as they are.

Each statement stands for itself; a loop or a `with` is its first line, and what stands in it are statements of their
own. Names that the author chose are blank, those of libraries, builtins and the contract stay: `h =
torch.relu(self.first(x))` reads as `_ = relu(self._(_))`. Docstrings, annotations and imports do not count.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from foundation.assignment_tables import Contract
from foundation.texts import counted

from .modules import Intake
from .sources import Sources, parse

OTHER = "other code"
"""Of a module: what belongs to none of the contract's components, such as helpers."""
BLANK = "_"
BLOCKS = frozenset({"body", "orelse", "handlers", "finalbody", "cases"})
PYTHONS = frozenset(dir(builtins)) | {"self"}
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
SKIPPED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
LEAST_SIZE, LEAST_COPIED = 8, 45
"""Nodes of an expression that may have been copied, and of all such expressions together. Right variants share up to 31
with the tests, 80 public repositories as a whole up to 38, submissions that were assembled of the tests' code more."""
NOT_HANDED_OUT = "proof"


@dataclass(frozen=True)
class Statement:
    """A statement and its place."""

    component: str  # "layers.LayerNorm", or "layers: other code"
    text: int  # equal for equal statements
    module: str
    lines: tuple[int, ...]


def statements_in(sources: Sources, contract: Contract) -> Iterator[Statement]:
    """The statements of some modules; those that are not Python have none."""
    for module, (_, text) in sorted(sources.items()):
        tree = parse(text)
        if not isinstance(tree, ast.Module):
            continue
        components = contract.modules.get(module, ())
        blanking = Blanking(tree, {*components, *contract.methods})
        for top in tree.body:
            name = top.name if isinstance(top, Definition) else ""
            component = f"{module}.{name}" if name in components else f"{module}: {OTHER}"
            for node in ast.walk(blanking.visit(top) or ast.Pass()):
                is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                if isinstance(node, ast.stmt) and not (is_docstring or isinstance(node, SKIPPED)):
                    parts = {field: value for field, value in ast.iter_fields(node) if field not in BLOCKS}
                    yield Statement(component, number_of(ast.dump(type(node)(**parts))), module, lines_of(node))


Shapes: TypeAlias = dict[ast.expr, tuple[int, int]]
"""For expressions a number, equal for equal ones in this process, and the number of their nodes."""


def shapes_in(text: str, contract: Contract) -> tuple[ast.AST, Shapes]:
    """The tree of a module, its own names blank, and its expressions; none of what is not Python."""
    tree, shapes = parse(text), Shapes()
    if not isinstance(tree, ast.Module):
        return ast.Pass(), shapes

    def visit(node: ast.AST) -> tuple[int, int]:
        parts: list[object] = [type(node).__name__]
        size = int(isinstance(node, ast.expr))
        for field, value in ast.iter_fields(node):
            for part in (value if isinstance(value, list) else [value]) if field != "ctx" else ():
                number, n_nodes = visit(part) if isinstance(part, ast.AST) else (repr(part), 0)
                parts.append(number)
                size += n_nodes
        shape = hash(tuple(parts)), size
        if isinstance(node, ast.expr):
            shapes[node] = shape
        return shape

    blank: ast.AST = Blanking(tree, contract.methods).visit(tree)
    visit(blank)
    return blank, shapes


def code_of_tests(folder: Path, contract: Contract) -> dict[int, str]:
    """The longer expressions in an assignment's code that students get, with the path of a file that has each."""
    paths = [path for path in sorted(folder.rglob("*.py")) if path.relative_to(folder).parts[0] != NOT_HANDED_OUT]
    expressions: dict[int, str] = {}
    for path in paths:
        _, shapes = shapes_in(path.read_text(encoding="utf-8"), contract)
        name = path.relative_to(folder).as_posix()
        expressions |= {number: name for number, size in shapes.values() if size >= LEAST_SIZE}
    return expressions


def find_copied(intake: Intake, modules: Collection[str], contract: Contract, of_tests: Mapping[int, str]) -> list[str]:
    """Notes on modules that repeat code of the tests, of which a component might be assembled; [] for a little of it.

    Whole expressions are compared, wherever they stand: a value that is named, wrapped or looped over stays the same.
    """
    given = {number for _, text in intake.release.values() for number, _ in shapes_in(text, contract)[1].values()}
    copies: dict[int, tuple[str, int, int]] = {}  # module, line and size
    notes = []
    for module in sorted(modules):
        try:
            tree, shapes = shapes_in(intake.sources[module][1], contract)
        except RecursionError:
            notes.append(f"{intake.locate(module, 1)}: nested too deeply to be compared with the tests")
            continue
        waiting = [tree]
        while waiting:
            node = waiting.pop()
            number, size = shapes.get(node, (0, 0)) if isinstance(node, ast.expr) else (0, 0)
            if size >= LEAST_SIZE and number in of_tests and number not in given:
                lines = (part.lineno for part in ast.walk(node) if hasattr(part, "lineno"))
                copies.setdefault(number, (module, min(lines, default=1), size))
            else:
                waiting += ast.iter_child_nodes(node)
    if sum(size for _, _, size in copies.values()) < LEAST_COPIED:
        return notes
    files = ", ".join(sorted({of_tests[number] for number in copies}))
    module, line, _ = min(copies.values())
    first = intake.locate(module, line)
    return [*notes, f"{counted(len(copies), 'expression')} of the tests' {files}, the first in {first}"]


def lines_of(node: ast.stmt) -> tuple[int, ...]:
    """The lines of a statement without those of its blocks."""
    inner = [part.lineno for field in BLOCKS for part in getattr(node, field, []) if isinstance(part, ast.stmt)]
    end = min(inner, default=(node.end_lineno or node.lineno) + 1)
    return tuple(range(node.lineno, max(end, node.lineno + 1)))


def number_of(text: str) -> int:
    """A number of 63 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1


class Blanking(ast.NodeTransformer):
    """Takes the author's own names out of a tree."""

    def __init__(self, tree: ast.Module, fixed: Collection[str]) -> None:
        self.known = {name: name for name in PYTHONS.union(fixed)}
        self.imported: dict[str, str] = {}  # local names, with the last part of what they stand for
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    local = alias.asname or alias.name.partition(".")[0]
                    self.imported[local] = alias.name.rpartition(".")[2] if alias.asname else local
        self.known |= self.imported

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802  ast's names, here and below
        """A name of a library stays."""
        return ast.Name(self.known.get(node.id, BLANK))

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Parameters of a lambda or a function."""
        return ast.arg(BLANK)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:  # noqa: N802
        """`torch.nn.functional.relu` as `relu`, `self.first` as `self._`; a method of a tensor stays."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self.imported:
            return ast.Name(node.attr)
        name = BLANK if isinstance(node.value, ast.Name) and node.value.id == "self" else node.attr
        return ast.Attribute(self.visit(node.value), name)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:  # noqa: N802
        """An assignment without its annotation."""
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value), node) if node.value else None
