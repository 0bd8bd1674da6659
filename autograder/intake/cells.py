"""From a notebook's JSON to the cells that count, and what the statements in them define, change and use.

No schema is trusted, what cells have printed is not looked at, and nothing is run.
"""

import ast
import json
import keyword
import re
import symtable
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

from foundation.texts import printable

from ..sources import RefusedError, parse
from .tree import MAX_CELLS, MAX_CODE_CHARACTERS

ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
MAX_VALUES = 10_000_000
"""In all of a notebook's JSON, as far as commas and brackets tell; each takes memory once it is parsed."""
CELL_MAGIC = re.compile(r"\s*%%(\w+)(?!\w*\?).*")
TIMED = re.compile(r"^([ \t]*)get_ipython\(\)\.run_line_magic\('time', ('.+')\)$", re.MULTILINE)
"""`%time statement`, which runs it."""
CELL_OF_PYTHON = {"time", "timeit", "capture", "prun", "python", "python3"}
"""Magics whose cells are Python."""
DEFINITION = re.compile(r"^(?:class|(?:async[ \t]+)?def)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
AWAITS = (ast.Await, ast.AsyncFor, ast.AsyncWith)


@dataclass(frozen=True)
class Cell:
    """A code cell, or a cell of text that is an answer."""

    notebook: str  # file name
    number: int  # from 1, over all cells of the notebook including text
    text: str
    grade_id: str = ""  # nbgrader's name of the cell
    is_answer: bool = False  # students write in it (nbgrader's `solution`)
    is_locked: bool = False  # students should not write in it
    is_test: bool = False  # nbgrader takes points from it
    is_text: bool = False  # it holds no code

    def __str__(self) -> str:
        name = f" ({self.grade_id})" if self.grade_id else ""
        return f"{self.notebook}, cell {self.number}{name}"


def read_notebook(content: bytes, name: str) -> list[Cell]:
    """The code cells, and those with written answers, in their order.

    Raises:
        RefusedError: where it is not a notebook, or too large; the reason does not name the file.
    """
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise RefusedError(f"a notebook of more than {MAX_VALUES:,} values; clear its output and save it again")
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError) as error:  # cut off, in another encoding, hopelessly nested
        raise RefusedError(f"not a complete notebook ({error}); save it again in Jupyter") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise RefusedError("not a notebook: it has no cells; save it again in Jupyter")
    if len(cells) > MAX_CELLS:
        raise RefusedError(f"{len(cells):,} cells; at most {MAX_CELLS:,} are read")
    shown = printable(name)
    read = (read_cell(cell, shown, number) for number, cell in enumerate(cells, start=1))
    found = [cell for cell in read if cell is not None]
    if sum(len(cell.text) for cell in found) > MAX_CODE_CHARACTERS:
        raise RefusedError(f"more than {MAX_CODE_CHARACTERS:,} characters of code; hand in only what is asked for")
    return found


def read_cell(cell: object, notebook: str, number: int) -> Cell | None:
    """One cell; None for text that is no answer, an empty cell, and anything that is not a cell."""
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown"):
        return None
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or not source.strip():
        return None
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    marks = marks if isinstance(marks, dict) else {}
    grade_id = marks.get("grade_id")
    is_answer = marks.get("solution") is True
    is_text = cell["cell_type"] == "markdown"
    if is_text and not is_answer:
        return None
    return Cell(
        notebook,
        number,
        source.replace("\r\n", "\n").replace("\r", "\n"),
        grade_id if isinstance(grade_id, str) and ID.fullmatch(grade_id) else "",
        is_answer,
        is_locked=marks.get("locked") is True and not is_answer,
        is_test=marks.get("grade") is True and not is_answer,
        is_text=is_text,
    )


@dataclass
class Statement:
    """One statement at the top level of a cell that defines or changes something."""

    cell: Cell
    node: ast.stmt | None  # None = the cell does not compile, and this represents one of its definitions
    text: str = ""  # its lines
    problem: str = ""  # where `node` is None, what is wrong and where
    binds: set[str] = field(default_factory=set)  # names that it gives a value
    changes: set[str] = field(default_factory=set)  # whose value it changes: `Name.attribute = …`, `@add_to(Name)`
    uses: set[str] = field(default_factory=set)  # that it reads, now or when it is called

    @property
    def is_filled_in(self) -> bool:
        """Whether it contains no TODO."""
        return self.node is not None and not any(is_todo(node) for node in ast.walk(self.node))


def read_code(cell: Cell) -> tuple[list[Statement], str]:
    """The statements of a cell that define or change something, and why it cannot be read, "" where it can.

    Where it does not compile, they are the names that it seems to define.
    """
    text, tree = cell.text, parse(cell.text, is_compiled=True)
    if isinstance(tree, SyntaxError):
        text = as_python(cell.text)
        tree = parse(text, is_compiled=True)
    lines = text.split("\n")
    if not isinstance(tree, SyntaxError):
        found = [statement_of(cell, node, lines) for node in tree.body if not is_awaiting(node)]
        return [one for one in found if one.binds or one.changes], ""
    names = [name for name in dict.fromkeys(DEFINITION.findall(text)) if name.isidentifier()]
    line = tree.lineno or 0
    quoted = lines[line - 1].strip()[:100] if 1 <= line <= len(lines) else ""
    problem = (f"line {line}: " if line else "") + tree.msg + (f": {quoted}" if quoted else "")
    stubs = [Statement(cell, None, "", f"{cell}, {problem}", {name}) for name in names if not keyword.iskeyword(name)]
    return stubs, problem


def as_python(text: str) -> str:
    """A cell's code as IPython reads it, with commands as calls of `get_ipython()`; as it is if that fails."""
    from IPython.core.inputtransformer2 import TransformerManager  # takes a while to load, and most cells need none

    if magic := CELL_MAGIC.match(text):
        rest = "\n" * magic[0].count("\n") + text[magic.end() :]
        return as_python(rest) if magic[1] in CELL_OF_PYTHON else ""
    blank = text[: len(text) - len(text.lstrip())].count("\n")  # IPython cuts them off
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about line ends, and invalid escapes
            python: str = TransformerManager().transform_cell(text)  # type: ignore[no-untyped-call]  # IPython's
    except (SyntaxError, ValueError, LookupError, RuntimeError, AssertionError, MemoryError):
        return text  # 500 commands, or too deeply nested
    return "\n" * blank + TIMED.sub(lambda found: found[1] + ast.literal_eval(found[2]), python)


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
