"""Distributes the cells of notebooks over the contract's modules.

A definition replaces the release's definition of the same name, in its module; the imports, helpers and constants
that it needs go with it. Everything else (training loops, plots, experiments) is left out. A cell that does not compile
costs only what it defines.
"""

import ast
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from foundation.assignment_file import Assignment

from ..sources import Sources, parse
from .cells import ASSIGNMENTS, DEFINITIONS, IMPORTS, Cell, Statement, bound_by, first_line, is_todo, read_code
from .modules import Intake

MOST_NOTES = 5
LIBRARIES = {"torch", "numpy", "einops"} | sys.stdlib_module_names
"""Packages that are available during grading, whose star imports stay."""


@dataclass
class Text:
    """The text of a module under construction, with the cell that each line comes from."""

    lines: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)

    def add(self, text: str, cell: Cell | None = None, first_line: int | None = None) -> None:
        """Appends lines.

        Args:
            text: one or several lines.
            cell: that they come from.
            first_line: of the text in the cell; None where the cell does not contain the text in this form.
        """
        for index, line in enumerate(text.split("\n")):
            self.lines.append(line)
            line_in_cell = "" if first_line is None else f", line {first_line + index}"
            self.origins.append(f"{cell}{line_in_cell}" if cell else "")


class Distribution:
    """Assigns the statements of cells to modules."""

    def __init__(self, cells: list[Cell], release: Sources, assignment: Assignment) -> None:
        """Analyses all cells.

        Args:
            cells: code cells in their order, of one or several notebooks.
            release: the modules that were handed out.
            assignment: the contract, and the name of the folder that holds the modules in the release.
        """
        self.release, self.package = release, assignment.package
        self.contract = assignment.contract.modules
        self.notes: list[str] = []
        self.home: dict[str, str] = {}  # name -> its module in the contract
        self.todo: list[str] = []  # names that students have to fill in
        for module in self.contract:
            self._look_at_release(module)
        code = {cell: read_code(cell) for cell in cells if not cell.is_test}
        self.statements = [statement for statements, _ in code.values() for statement in statements]
        self.unreadable = {cell: problem for cell, (_, problem) in code.items() if problem}
        self.notes += describe_unreadable(self.unreadable)
        self.has_marks = any(cell.is_answer or cell.is_locked or cell.is_test for cell in cells)
        self.chosen = {name: self._choose(name) for name in self.home}
        missing = [name for name in self.todo if self.chosen[name] is None]
        if missing and any(self.chosen.values()):
            self.notes.append(f"no cell defines {', '.join(missing)}: the release's own are used (were cells deleted?)")

    def _look_at_release(self, module: str) -> None:
        tree = parse(self.release[module][1])
        for node in tree.body if isinstance(tree, ast.Module) else ():
            if isinstance(node, DEFINITIONS):
                self.home.setdefault(node.name, module)
                if any(is_todo(part) for part in ast.walk(node)):
                    self.todo.append(node.name)
        for name in self.contract[module]:
            self.home[name] = module

    def _choose(self, name: str) -> Statement | None:
        """The definition that counts: preferably in an answer cell, compiling and filled in; of several, the last."""
        in_contract = name in self.contract[self.home[name]]
        kinds = (*DEFINITIONS, *(ASSIGNMENTS if in_contract else ()))
        found = [
            statement
            for statement in self.statements
            if name in statement.binds
            and (statement.node is None or isinstance(statement.node, kinds))
            and not statement.cell.is_locked  # given code: the release has it
        ]
        if not found:
            return None

        def rank(position: int) -> tuple[bool, bool, bool, int]:
            statement = found[position]
            return statement.cell.is_answer, statement.node is not None, statement.is_filled_in, position

        chosen = found[max(range(len(found)), key=rank)]
        cells = list(dict.fromkeys(str(statement.cell) for statement in found))
        if len(cells) > 1:
            self.notes.append(f"{name} is defined in {' and in '.join(cells)}: the one in {chosen.cell} counts")
        elif self.has_marks and not chosen.cell.is_answer:
            self.notes.append(f"{name} is defined in {chosen.cell}, which is not an answer cell; it was graded")
        return chosen

    def fill(self, intake: Intake, path: str) -> None:
        """Replaces the release's modules by those that the cells define.

        Args:
            intake: takes the modules.
            path: of the notebook, for messages.
        """
        for module in self.contract:
            roots = [name for name, home in self.home.items() if home == module]
            changes = [s for s in self.statements if s.changes.intersection(roots) and s.node is not None]
            chosen = [statement for name in roots if (statement := self.chosen[name]) is not None]
            if chosen or changes:
                text = self._module(module, chosen + changes)
                intake.sources[module] = (f"{module}.py from {path}", "\n".join(text.lines) + "\n")
                intake.submitted.add(module)
                intake.origins[module] = text.origins

    def _module(self, module: str, roots: list[Statement]) -> Text:
        """A module's text: the release's, followed by the definitions and what they need."""
        taken, names = self._closure(module, roots)
        text = Text()
        imports = [(one.node, one.cell) for one in self.statements if isinstance(one.node, ast.ImportFrom)]
        for node, cell in imports:
            if node.module == "__future__":
                text.add(unparse(node), cell)
        for node, cell in imports:  # before the release's text, whose names they must not hide
            if node.names[0].name == "*" and not node.level and (node.module or "").partition(".")[0] in LIBRARIES:
                text.add(unparse(node), cell)
        text.add(self.release[module][1])
        for name in sorted(names):
            if self.home.get(name, module) != module:
                text.add(f"from .{self.home[name]} import {name}")
        stubs: set[str] = set()
        for statement in self.statements:
            if id(statement) in taken:
                self._add(text, statement, names, stubs)
        return text

    def _closure(self, module: str, roots: list[Statement]) -> tuple[set[int], set[str]]:
        """The statements that a module needs (by id), and all names used in them."""
        by_name: dict[str, list[Statement]] = {}
        for statement in self.statements:
            for name in statement.binds | statement.changes:
                by_name.setdefault(name, []).append(statement)
        taken = {id(statement) for statement in roots}
        names: set[str] = set()
        waiting = deque(roots)
        while waiting:
            for name in waiting.popleft().uses - names:
                names.add(name)
                if name in self.home:  # imported from its module
                    continue
                found = by_name.get(name, [])
                for statement in [one for one in found if one.node is not None] or found[-1:]:
                    if id(statement) not in taken:
                        taken.add(id(statement))
                        waiting.append(statement)
        return taken, names

    def _add(self, text: Text, statement: Statement, names: set[str], stubs: set[str]) -> None:
        """Appends one statement in the form that does the least harm if it fails."""
        node, cell = statement.node, statement.cell
        if node is None:
            for name in sorted(statement.binds - stubs):
                stubs.add(name)
                text.add(f"def {name}(*args, **kwargs):\n    raise SyntaxError({statement.problem!r})", cell)
        elif isinstance(node, IMPORTS):
            if reduced := self._reduce(node, names):
                text.add(reduced, cell)
        elif isinstance(node, DEFINITIONS):
            text.add(statement.text, cell, first_line(node))
        elif is_literal(node):
            text.add(unparse(node), cell)
        else:  # it may need something that is missing; only code that uses it should fail
            body = unparse(node).replace("\n", "\n    ")
            text.add(f"try:\n    {body}\nexcept Exception:\n    pass", cell)

    def _reduce(self, node: ast.Import | ast.ImportFrom, names: set[str]) -> str:
        """An import without unused names and without names that the contract's modules provide."""
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            return ""
        kept = [alias for alias in node.names if bound_by(alias) in names and bound_by(alias) not in self.home]
        if not kept:
            return ""
        if isinstance(node, ast.Import):
            return unparse(ast.Import(kept))
        first, _, rest = (node.module or "").partition(".")
        if first == self.package and not node.level:  # a notebook beside the package imports it by its name
            return unparse(ast.ImportFrom(rest or None, kept, 1))
        return unparse(ast.ImportFrom(node.module, kept, node.level))


def describe_unreadable(problems: Mapping[Cell, str]) -> list[str]:
    """A note for each cell that cannot be read: its number, its first line, and what is wrong where."""
    notes = []
    for cell, problem in problems.items():
        begin = cell.text.lstrip().partition("\n")[0].rstrip()[:60]
        notes.append(f"{cell}, which begins `{begin}`, cannot be read, so what it defines is missing ({problem})")
    more = [f"and {len(notes) - MOST_NOTES} more cells cannot be read"] if len(notes) > MOST_NOTES else []
    return [*notes[:MOST_NOTES], *more]


def unparse(node: ast.stmt) -> str:
    """A statement's code."""
    try:
        return ast.unparse(ast.fix_missing_locations(node))
    except RecursionError:
        return "pass"


def is_literal(node: ast.stmt) -> bool:
    """Whether a statement assigns a constant, which cannot fail."""
    if not isinstance(node, ast.Assign) or not all(isinstance(target, ast.Name) for target in node.targets):
        return False
    return isinstance(node.value, ast.Constant)
