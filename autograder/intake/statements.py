"""The statements of modules, such that other names, another layout and another order leave them as they are.

Each statement stands for itself; a loop or a `with` is its first line, and what stands in it are statements of their
own. Names that the author chose are blank, those of libraries, builtins and the contract stay: `h =
torch.relu(self.first(x))` reads as `_ = relu(self._(_))`. Docstrings, annotations and imports do not count.
"""

import ast
import builtins
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from foundation.assignment_tables import Contract
from foundation.places import ROOT
from foundation.texts import counted

from .sources import Definition, Sources, parse
from .submission import Intake

OTHER = "other code"
"""Of a module: what belongs to none of the contract's components, such as helpers."""
BLANK = "_"
BLOCKS = frozenset({"body", "orelse", "handlers", "finalbody", "cases"})
PYTHONS = frozenset(dir(builtins)) | {"self"}
SKIPPED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
LEAST_SIZE, LONG, LEAST_COPIED = 8, 11, 20
"""Nodes of a piece of code, an expression or a whole function, that may have been copied; of one that is listed by
itself; and of all such pieces together. Right variants and 91 public repositories share up to 10 with the tests."""
TESTING = ROOT / "autograder" / "testing"
"""Beside the assignment's folder, the code that students get of the tests."""
NOT_HANDED_OUT = "proof/"
Numbers: TypeAlias = dict[ast.AST, tuple[int, int]]
"""By node, a number, equal for equal ones, and how many expressions it has; both without the blocks of a statement.

Those of a function are its statements', wherever they stand in it.
"""


@dataclass(frozen=True)
class Statement:
    """A statement and its place."""

    component: str  # "layers.LayerNorm", or "layers: other code"
    text: int  # equal for equal statements
    module: str
    lines: tuple[int, ...]


def numbered(text: str, fixed: Collection[str]) -> tuple[ast.Module, Numbers]:
    """A module's tree, own names blank, with its numbered nodes; none without Python. Raises: RecursionError."""
    tree, numbers = parse(text), Numbers()
    if not isinstance(tree, ast.Module):
        return ast.Module([], []), numbers

    def visit(node: ast.AST) -> tuple[int, int]:
        parts: list[object] = [type(node).__name__]
        size = int(isinstance(node, ast.expr))
        for field, value in ast.iter_fields(node):
            is_counted = field != "ctx" and not (isinstance(node, ast.stmt) and field in BLOCKS)
            for part in value if isinstance(value, list) else [value]:
                number, n_nodes = visit(part) if isinstance(part, ast.AST) else (repr(part), 0)
                if is_counted:
                    parts.append(number)
                    size += n_nodes
        numbers[node] = number_of(parts), size
        return numbers[node]

    blank: ast.Module = Blanking(tree, fixed).visit(tree)
    visit(blank)
    for node in ast.walk(blank):
        if isinstance(node, ast.FunctionDef):
            own = [numbers[part] for part in written_in(node)]
            numbers[node] = number_of(number for number, _ in own), sum(size for _, size in own)
    return blank, numbers


def number_of(parts: Iterable[object]) -> int:
    """A number that is the same in every process."""
    return int.from_bytes(hashlib.blake2b(repr([*parts]).encode(), digest_size=7).digest())


def written_in(top: ast.AST) -> Iterator[ast.stmt]:
    """The statements within a node, each for itself, without docstrings and what does not count."""
    for node in ast.walk(top):
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and not (is_docstring or isinstance(node, SKIPPED)):
            yield node


def statements_in(sources: Sources, contract: Contract) -> Iterator[Statement]:
    """The statements of some modules; those that are not Python have none."""
    for module, (_, text) in sorted(sources.items()):
        components = contract.modules.get(module, ())
        tree, numbers = numbered(text, {*components, *contract.methods})
        for top in tree.body:
            name = top.name if isinstance(top, Definition) else ""
            component = f"{module}.{name}" if name in components else f"{module}: {OTHER}"
            for node in written_in(top):
                inner = [getattr(part, "lineno", 0) for block in BLOCKS for part in getattr(node, block, [])]
                end = min(filter(None, inner), default=(node.end_lineno or node.lineno) + 1)
                lines = tuple(range(node.lineno, max(end, node.lineno + 1)))
                yield Statement(component, numbers[node][0], module, lines)


@lru_cache(maxsize=256)  # what students get is compared with each submission
def long_pieces(text: str, fixed: tuple[str, ...], least: int = LEAST_SIZE) -> frozenset[int]:
    """The numbers of a module's expressions and functions of at least so many nodes; see `numbered`."""
    _, numbers = numbered(text, fixed)
    pieces = ast.expr, ast.FunctionDef
    long = {node for node, (_, size) in numbers.items() if isinstance(node, pieces) and size >= least}
    for node in numbers:
        match node:
            case ast.JoinedStr() | ast.Call(ast.Attribute(ast.Constant(str()))):  # `", ".join(…)`, of a message
                long.difference_update(ast.walk(node))
    return frozenset(numbers[node][0] for node in long)


def code_of_tests(folder: Path, contract: Contract) -> dict[int, str]:
    """The longer pieces of code that students get with an assignment, with the path of a file that has each."""
    pieces: dict[int, str] = {}
    for top in (folder, TESTING):
        for path in sorted(top.rglob("*.py")):
            name = path.relative_to(top if top is folder else TESTING.parent).as_posix()
            if not name.startswith(NOT_HANDED_OUT):
                pieces |= dict.fromkeys(long_pieces(path.read_text(encoding="utf-8"), contract.methods), name)
    return pieces


def find_copied(intake: Intake, modules: Collection[str], contract: Contract, of_tests: Mapping[int, str]) -> list[str]:
    """Notes on modules that repeat code of the tests, of which a component might be assembled; [] for a little of it.

    Whole functions are compared, and whole expressions wherever they stand: a value that is named, wrapped or looped
    over stays the same.
    """
    given = set[int]().union(*(long_pieces(text, contract.methods) for _, text in intake.release.values()))
    copies: dict[int, tuple[str, int, int]] = {}  # module, line and size
    notes = []
    for module in sorted(modules):
        try:
            tree, numbers = numbered(intake.sources[module][1], contract.methods)
        except RecursionError:
            notes.append(f"{intake.locate(module, 1)}: nested too deeply to be compared with the tests")
            continue
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            number, size = numbers.get(node, (0, 0))
            if number in of_tests and number not in given:
                lines = (part.lineno for part in ast.walk(node) if hasattr(part, "lineno"))
                copies.setdefault(number, (module, min(lines, default=1), size))
            else:
                waiting += ast.iter_child_nodes(node)
    sizes = [size for _, _, size in copies.values()]
    if sum(sizes) < LEAST_COPIED and max(sizes, default=0) < LONG:
        return notes
    files = ", ".join(sorted({of_tests[number] for number in copies}))
    module, line, _ = min(copies.values())
    first = intake.locate(module, line)
    return [*notes, f"{counted(len(copies), 'piece')} of the code of the tests' {files}, the first in {first}"]


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
