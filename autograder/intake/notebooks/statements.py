"""Analyses the top-level statements of a notebook's cells: the names that each defines, changes and uses."""

import ast
import keyword
import re
import symtable
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...sources import parse
from .cells import Cell

DEFINITION = re.compile(r"^(?:class|(?:async[ \t]+)?def)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
AWAITS = (ast.Await, ast.AsyncFor, ast.AsyncWith)
AUTOMAGIC = re.compile(r"([a-z]+)( [^\s=(].*)?")
"""A line by itself that may be a command without its %: `pip install einops`, `ls`."""


@dataclass
class Statement:
    """One statement at the top level of a cell that defines or changes something.

    Attributes:
        cell: that contains it.
        text: its lines, without IPython's commands.
        node: its syntax tree; None = the cell does not compile, and this represents one of its definitions.
        problem: where `node` is None, what is wrong and where.
        binds: names that it gives a value.
        changes: names whose value it changes: `Name.attribute = …`, `@add_to(Name)`.
        uses: names that it reads, now or when it is called.
    """

    cell: Cell
    node: ast.stmt | None
    text: str = ""
    problem: str = ""
    binds: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)

    @property
    def is_filled_in(self) -> bool:
        """Whether it contains no TODO."""
        return self.node is not None and not any(is_todo(node) for node in ast.walk(self.node))


@dataclass
class CellCode:
    """What a cell says.

    Attributes:
        statements: those that define or change something.
        commands: IPython's, which were left out.
        problem: why it cannot be read, and in which line; "" where it can.
    """

    statements: list[Statement] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    problem: str = ""


def read_code(cell: Cell) -> CellCode:
    """Reads the code of a cell; where it does not compile, only the names that it seems to define."""
    text, tree = cell.text, parse(cell.text, is_compiled=True)
    commands: list[str] = []
    if isinstance(tree, SyntaxError):
        from .cells import as_python  # takes a while to load, and most notebooks need none

        text, commands = as_python(cell.text)
        tree = parse(text, is_compiled=True)
    lines = text.split("\n")
    if not isinstance(tree, SyntaxError):
        found = [statement_of(cell, node, lines) for node in tree.body if not is_awaiting(node)]
        return CellCode([one for one in found if one.binds or one.changes], commands)
    names = [name for name in dict.fromkeys(DEFINITION.findall(text)) if name.isidentifier()]
    names = [name for name in names if not keyword.iskeyword(name)]
    command = AUTOMAGIC.fullmatch(text.strip())
    if not names and command and not keyword.iskeyword(command[1]):
        return CellCode(commands=[command[0]])
    line = tree.lineno or 0
    quoted = lines[line - 1].strip()[:100] if 1 <= line <= len(lines) else ""
    problem = (f"line {line}: " if line else "") + tree.msg + (f": {quoted}" if quoted else "")
    stubs = [Statement(cell, None, "", f"{cell}, {problem}", {name}) for name in names]
    return CellCode(stubs, commands, problem)


def statement_of(cell: Cell, node: ast.stmt, lines: list[str]) -> Statement:
    """Analyses one statement that compiles, of a cell with these lines."""
    statement = Statement(cell, node)
    statement.text = "\n".join(lines[first_line(node) - 1 : node.end_lineno])
    if isinstance(node, DEFINITIONS):
        statement.binds = {node.name}
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                statement.changes |= {part.id for part in decorator.args if isinstance(part, ast.Name)}
    elif isinstance(node, IMPORTS):
        statement.binds = {bound_by(alias) for alias in node.names}
    elif isinstance(node, ASSIGNMENTS):
        take_targets(statement, node.targets if isinstance(node, ast.Assign) else [node.target])
    elif isinstance(node, (ast.If, ast.Try)) and not is_main_guard(node):
        for part in ast.walk(node):
            if isinstance(part, DEFINITIONS):
                statement.binds.add(part.name)
            elif isinstance(part, IMPORTS):
                statement.binds |= {bound_by(alias) for alias in part.names}
            elif isinstance(part, ASSIGNMENTS):
                take_targets(statement, part.targets if isinstance(part, ast.Assign) else [part.target])
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Name) and call.func.id == "setattr":
            statement.changes |= {part.id for part in call.args[:1] if isinstance(part, ast.Name)}
    read = names_read(node, statement.text)
    statement.uses = read - statement.binds
    if isinstance(node, ASSIGNMENTS):  # `Name = wrap(Name)` needs what the name was before
        statement.changes |= statement.binds & read
        statement.binds -= read
    return statement


def names_read(node: ast.stmt, text: str) -> set[str]:
    """The names that a statement looks up outside itself; no arguments or variables of its functions."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like
            waiting = [symtable.symtable(text, "<cell>", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # too deep for this process, as in `parse`
        return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    read = {symbol.get_name() for symbol in waiting[0].get_symbols() if symbol.is_referenced()}
    while waiting:
        scope = waiting.pop()
        read |= {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()}
        waiting += scope.get_children()
    return read


def take_targets(statement: Statement, targets: Iterable[ast.expr]) -> None:
    """Adds the names that an assignment binds and changes."""
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            take_targets(statement, target.elts)
        elif isinstance(target, ast.Starred):
            take_targets(statement, [target.value])
        elif isinstance(target, ast.Name):
            statement.binds.add(target.id)
        else:
            while isinstance(target, (ast.Attribute, ast.Subscript)):
                target = target.value
            if isinstance(target, ast.Name):
                statement.changes.add(target.id)


def bound_by(alias: ast.alias) -> str:
    """The name that an import binds; "*" for a star import."""
    return alias.asname or alias.name.partition(".")[0]


def first_line(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def is_awaiting(node: ast.stmt) -> bool:
    """Whether a statement awaits something outside functions, which works in a notebook alone."""
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, AWAITS) or (isinstance(part, ast.comprehension) and part.is_async):
            return True
        if not isinstance(part, (*FUNCTIONS, ast.Lambda)):
            waiting += ast.iter_child_nodes(part)
    return False


def is_main_guard(node: ast.stmt) -> bool:
    """Whether this is `if __name__ == "__main__"`, which is not run when a module is imported."""
    if not isinstance(node, ast.If):
        return False
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test))


def is_todo(node: ast.AST) -> bool:
    """Whether this is the `raise NotImplementedError(…)` of a skeleton."""
    if not isinstance(node, ast.Raise):
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
