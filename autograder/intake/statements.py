"""The statements of modules, such that other names, another layout and another order leave them as they are.

Nothing is run. Each statement stands for itself; a loop, a condition or a `with` is its first line, and what stands in
it are statements of their own. Names that the author chose are blank, those of libraries, builtins and the contract
stay: `h = torch.relu(self.first(x))` reads as `_ = relu(self._(_))`. Docstrings, annotations and imports do not count.
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
LEAST_SIZE, LEAST_COPIED = 9, 40
"""Parts of a statement that may have been copied, and of all such statements together. Independent right solutions
share up to 23 with the tests; submissions that were assembled of the tests' code, 185 and more."""
NOT_HANDED_OUT = "proof"


@dataclass(frozen=True)
class Statement:
    """A statement and its place."""

    component: str  # "layers.LayerNorm", or "layers: other code"
    text: int  # equal for equal statements
    module: str
    lines: tuple[int, ...]
    size: int  # how many statements and expressions it is made of


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
                    alone = type(node)(**parts)
                    size = sum(isinstance(part, (ast.stmt, ast.expr)) for part in ast.walk(alone))
                    yield Statement(component, number_of(ast.dump(alone)), module, lines_of(node), size)


def statements_of_tests(folder: Path, contract: Contract) -> dict[int, str]:
    """The longer statements in an assignment's code that students get, with the path of a file that has each."""
    paths = [path for path in sorted(folder.rglob("*.py")) if path.relative_to(folder).parts[0] != NOT_HANDED_OUT]
    code = {path.relative_to(folder).as_posix(): (str(path), path.read_text(encoding="utf-8")) for path in paths}
    return {own.text: own.module for own in statements_in(code, contract) if own.size >= LEAST_SIZE}


def find_copied(intake: Intake, modules: Collection[str], contract: Contract, of_tests: Mapping[int, str]) -> list[str]:
    """Notes on modules that repeat code of the tests, of which a component might be assembled; [] for a few lines."""
    given = {own.text for own in statements_in(intake.release, contract)}
    own = statements_in({module: intake.sources[module] for module in modules}, contract)
    copies = {statement.text: statement for statement in own if statement.text in of_tests.keys() - given}
    if sum(statement.size for statement in copies.values()) < LEAST_COPIED:
        return []
    notes = {}
    for module in sorted({statement.module for statement in copies.values()}):
        inside = [statement for statement in copies.values() if statement.module == module]
        files = sorted({of_tests[statement.text] for statement in inside})
        first = intake.locate(module, min(statement.lines[0] for statement in inside))
        notes[module] = f"{counted(len(inside), 'statement')} of the tests' {', '.join(files)}, the first in {first}"
    return list(notes.values())


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
