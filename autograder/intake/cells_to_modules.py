"""Distributes the cells of notebooks over the contract's modules.

A definition replaces the release's definition of the same name, in its module; the imports, helpers and constants
that it needs go with it. Everything else (training loops, plots, experiments) is left out. A cell that does not compile
costs only what it defines.
"""

import ast
import re
import sys
from collections.abc import Mapping

from foundation.assignment_file import Assignment

from .cells import ASSIGNMENTS, DEFINITIONS, IMPORTS, Cell, Statement, has_todo, read_code
from .modules import Intake
from .sources import Sources

MOST_NOTES = 5
LIBRARIES = {"torch", "numpy", "einops", "__future__"} | sys.stdlib_module_names
"""Packages that are available during grading, whose star imports stay."""
Line = tuple[str, str]
"""Of a module: its text, and the place in a cell that it comes from."""


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
        self.home: dict[str, str] = {}  # name -> its module in the contract
        for module, components in self.contract.items():
            definitions = (node for node in ast.parse(release[module][1]).body if isinstance(node, DEFINITIONS))
            self.home = {node.name: module for node in definitions} | self.home | dict.fromkeys(components, module)
        code = {cell: read_code(cell) for cell in cells}
        self.statements = [statement for statements, _ in code.values() for statement in statements]
        self.makers: dict[str, list[Statement]] = {}  # name -> what gives it a value or changes it
        for statement in self.statements:
            for name in () if is_general(statement.node) else statement.binds | statement.changes:
                self.makers.setdefault(name, []).append(statement)
        self.unreadable = {cell: problem for cell, (_, problem) in code.items() if problem}
        self.notes = describe_unreadable(self.unreadable)
        self.chosen = {name: chosen for name in self.home if (chosen := self._choose(name))}

    def _choose(self, name: str) -> Statement | None:
        """The definition that counts: preferably in an answer cell, compiling and filled in; of several, the last."""
        in_contract = name in self.contract[self.home[name]]
        kinds = (*DEFINITIONS, *(ASSIGNMENTS if in_contract else ()))
        candidates = [
            statement
            for statement in self.statements
            if name in statement.binds
            and (statement.node is None or isinstance(statement.node, kinds))
            and not statement.cell.is_locked  # given code: the release has it
        ]
        if not candidates:
            return None

        def rank(statement: Statement) -> tuple[bool, bool]:
            return statement.cell.is_answer, statement.node is not None and not has_todo(statement.node)

        chosen = max(reversed(candidates), key=rank)
        cells = list(dict.fromkeys(str(statement.cell) for statement in candidates))
        if len(cells) > 1:
            self.notes.append(f"{name} is defined in {' and in '.join(cells)}: the one in {chosen.cell} counts")
        return chosen

    def fill(self, intake: Intake, path: str) -> None:
        """Replaces the release's modules by those that the cells define.

        Args:
            intake: takes the modules.
            path: of the notebook, for messages.
        """
        for module in self.contract:
            names = {name for name, home in self.home.items() if home == module}
            roots = [statement for name, statement in self.chosen.items() if name in names]
            roots += [statement for statement in self.statements if statement.changes & names]
            if roots:
                lines = self._module(module, roots)
                intake.sources[module] = (f"{module}.py from {path}", "".join(f"{line}\n" for line, _ in lines))
                intake.submitted.add(module)
                intake.origins[module] = [origin for _, origin in lines]

    def _module(self, module: str, roots: list[Statement]) -> list[Line]:
        """A module's lines: the release's, followed by the definitions and what they need."""
        taken, names = self._closure(roots)
        lines = [
            line
            for statement in self.statements
            if statement.node and is_general(statement.node)  # first: the release's names must hide theirs
            for line in lines_of(unparse(statement.node), str(statement.cell))
        ]
        lines.sort(key=lambda line: not line[0].startswith("from __future__"))
        lines += lines_of(self.release[module][1])
        for name in sorted(names):
            if self.home.get(name, module) != module:
                lines += lines_of(f"from .{self.home[name]} import {name}")
        return lines + [line for part in self.statements if part in taken for line in self._lines(part)]

    def _closure(self, roots: list[Statement]) -> tuple[set[Statement], set[str]]:
        """The statements that a module needs, and all names used in them; names of the contract are imported."""
        taken, names = set(roots), set[str]()
        while new := set[str]().union(*(statement.uses for statement in taken)) - names:
            names |= new
            for name in new - self.home.keys():
                makers = self.makers.get(name, [])
                taken.update([maker for maker in makers if maker.node] or makers[-1:])
        return taken, names

    def _lines(self, statement: Statement) -> list[Line]:
        """One statement in the form that does the least harm if it fails."""
        node, cell = statement.node, str(statement.cell)
        if node is None:
            [name] = statement.binds
            return lines_of(f"def {name}(*args, **kwargs):\n    raise SyntaxError({statement.text!r})", cell)
        if isinstance(node, IMPORTS):  # a notebook beside the package imports it by its name
            return lines_of(re.sub(rf"^from {self.package}\b\.?", "from .", unparse(node)), cell)
        if isinstance(node, DEFINITIONS):
            text = statement.text.split("\n")
            return [(line, f"{cell}, line {number}") for number, line in enumerate(text, start=statement.line)]
        # It may need something that is missing; only code that uses it should fail.
        body = unparse(node).replace("\n", "\n    ")
        return lines_of(f"try:\n    {body}\nexcept Exception:\n    pass", cell)


def lines_of(text: str, origin: str = "") -> list[Line]:
    """The lines of a text that all come from one place."""
    return [(line, origin) for line in text.split("\n")]


def describe_unreadable(problems: Mapping[Cell, str]) -> list[str]:
    """A note for each cell that cannot be read: its number, its first line, and what is wrong where."""
    notes = []
    for cell, problem in problems.items():
        begin = cell.text.lstrip().partition("\n")[0].rstrip()[:60]
        notes.append(f"{cell}, which begins `{begin}`, cannot be read, so what it defines is missing ({problem})")
    more = [f"and {len(notes) - MOST_NOTES} more cells cannot be read"] if len(notes) > MOST_NOTES else []
    return [*notes[:MOST_NOTES], *more]


def is_general(node: ast.stmt | None) -> bool:
    """True for a star import from a library, and one from `__future__`."""
    if not isinstance(node, ast.ImportFrom) or node.level or (node.module or "").partition(".")[0] not in LIBRARIES:
        return False
    return node.names[0].name == "*" or node.module == "__future__"


def unparse(node: ast.stmt) -> str:
    """A statement's code."""
    try:
        return ast.unparse(ast.fix_missing_locations(node))
    except RecursionError:
        return "pass"
