"""A module as statements that other names, another layout and another order leave as they are.

Each statement stands for itself; a loop, a condition or a `with` is its first line, and what stands in it are
statements of their own. Names that the author chose are blank, those of libraries, builtins and the contract stay:
`h = torch.relu(self.first(x))` reads as `_ = relu(self._(_))`. Docstrings, annotations and imports do not count.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

BLANK = "_"
BLOCKS = frozenset({"body", "orelse", "handlers", "finalbody", "cases"})
PYTHONS = frozenset(dir(builtins)) | {"self"}
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
SKIPPED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)


@dataclass(frozen=True)
class Statement:
    """A statement of a module."""

    text: int  # a number, the same for statements that read the same
    top: str  # the class or function at the top of the module in which it stands, or ""
    lines: tuple[int, ...]


def statements_of(tree: ast.Module, fixed: Collection[str]) -> Iterator[Statement]:
    """The statements of a module, which is changed; names in `fixed` are nobody's own."""
    blanking = Blanking(tree, fixed)
    for top in tree.body:
        name = top.name if isinstance(top, Definition) else ""
        for node in ast.walk(blanking.visit(top) or ast.Pass()):
            is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if isinstance(node, ast.stmt) and not (is_docstring or isinstance(node, SKIPPED)):
                parts = {field: value for field, value in ast.iter_fields(node) if field not in BLOCKS}
                yield Statement(number_of(ast.dump(type(node)(**parts))), name, lines_of(node))


def lines_of(node: ast.stmt) -> tuple[int, ...]:
    """The lines of a statement without those of its blocks."""
    blocks = [one for field in BLOCKS for one in getattr(node, field, [])]
    end = min((one.lineno for one in blocks if isinstance(one, ast.stmt)), default=(node.end_lineno or node.lineno) + 1)
    return tuple(range(node.lineno, max(end, node.lineno + 1)))


def number_of(text: str) -> int:
    """A number of 63 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1


class Blanking(ast.NodeTransformer):
    """Takes out of a tree what its author chose freely."""

    def __init__(self, tree: ast.Module, fixed: Collection[str]) -> None:
        """Finds what the module imports: local names, and the last part of what they stand for."""
        self.known = {name: name for name in PYTHONS.union(fixed)}
        self.imported: dict[str, str] = {}
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
