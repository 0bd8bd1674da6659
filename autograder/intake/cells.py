"""From a notebook's JSON to the cells that count, and what the statements in them define, change and use.

No schema is trusted, what cells have printed is not looked at, and nothing is run.
"""

import ast
import json
import keyword
import re
import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field

from foundation.texts import printable

from .sources import RefusedError, names_in, parse
from .tree import MAX_CODE_CHARACTERS

ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
MAX_VALUES = 10_000_000
"""In all of a notebook's JSON, estimated from commas and brackets; each takes memory once it is parsed."""
CELL_MAGIC = re.compile(r"\s*%%(\w+)(?!\w*\?).*")
TIMED = re.compile(r"^([ \t]*)get_ipython\(\)\.run_line_magic\('time', ('.+')\)$", re.MULTILINE)
"""`%time statement`, which runs it."""
CELL_OF_PYTHON = {"time", "timeit", "capture", "prun", "python", "python3"}
"""Magics whose cells are Python."""
DEFINITION = re.compile(r"^(?:class|(?:async[ \t]+)?def)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
KEPT = (*DEFINITIONS, *IMPORTS, *ASSIGNMENTS, ast.If, ast.Try, ast.Expr)
"""Statements that may become a part of a module; loops, which train, may not."""
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
    shown = printable(name)
    read = (read_cell(cell, shown, number) for number, cell in enumerate(cells, start=1))
    counting = [cell for cell in read if cell is not None]
    if sum(len(cell.text) for cell in counting) > MAX_CODE_CHARACTERS:
        raise RefusedError(f"more than {MAX_CODE_CHARACTERS:,} characters of code; hand in only what is asked for")
    return counting


def read_cell(cell: object, notebook: str, number: int) -> Cell | None:
    """One cell; None for text that is no answer, a test, an empty cell, and anything that is not a cell."""
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
    grade_id, is_answer = marks.get("grade_id"), marks.get("solution") is True
    is_text = cell["cell_type"] == "markdown"
    if not is_answer and (is_text or marks.get("grade") is True):
        return None
    return Cell(
        notebook,
        number,
        source.replace("\r\n", "\n").replace("\r", "\n"),
        grade_id if isinstance(grade_id, str) and ID.fullmatch(grade_id) else "",
        is_answer,
        is_locked=marks.get("locked") is True and not is_answer,
        is_text=is_text,
    )


@dataclass(eq=False)
class Statement:
    """One statement at the top level of a cell, or one name of an import."""

    cell: Cell
    node: ast.stmt | None  # None = the cell does not compile, and this represents one of its definitions
    line: int = 0  # its first one in the cell
    text: str = ""  # its lines; where `node` is None, what is wrong and where
    binds: set[str] = field(default_factory=set)  # names that it gives a value; "*" for a star import
    changes: set[str] = field(default_factory=set)  # whose value it changes: `Name.attribute = …`, `@add_to(Name)`
    uses: set[str] = field(default_factory=set)  # that it reads, now or when it is called


def read_code(cell: Cell) -> tuple[list[Statement], str]:
    """The statements of a cell that may become a part of a module, and why it cannot be read, "" where it can.

    Where it does not compile, they are the names that it seems to define.
    """
    text, tree = cell.text, parse(cell.text, is_compiled=True)
    if isinstance(tree, SyntaxError):
        text = as_python(cell.text)
        tree = parse(text, is_compiled=True)
    lines = text.split("\n")
    if not isinstance(tree, SyntaxError):
        return [part for node in tree.body if is_kept(node) for part in statements_of(cell, node, lines)], ""
    line = tree.lineno or 0
    quoted = lines[line - 1].strip()[:100] if 1 <= line <= len(lines) else ""
    problem = (f"line {line}: " if line else "") + tree.msg + (f": {quoted}" if quoted else "")
    defined = dict.fromkeys(DEFINITION.findall(text))
    names = [name for name in defined if name.isidentifier() and not keyword.iskeyword(name)]
    return [Statement(cell, None, text=f"{cell}, {problem}", binds={name}) for name in names], problem


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
            return "\n" * blank + TIMED.sub(lambda match: match[1] + ast.literal_eval(match[2]), python)
    except Exception:  # of a dozen kinds: 500 commands, too deeply nested, what only looks like `%time`
        return text


def is_kept(node: ast.stmt) -> bool:
    """True if a statement may become a part of a module: it does not await, and a module's import runs it."""
    if isinstance(node, DEFINITIONS):
        return True
    if isinstance(node, ast.If) and "__name__" in {getattr(part, "id", "") for part in ast.walk(node.test)}:
        return False
    awaits = any(isinstance(part, AWAITS) or getattr(part, "is_async", 0) for part in ast.walk(node))
    return isinstance(node, KEPT) and not awaits


def statements_of(cell: Cell, node: ast.stmt, lines: list[str]) -> Iterator[Statement]:
    """A statement that compiles, of a cell with these lines; an import in parts, one for each name."""
    if isinstance(node, IMPORTS):
        for alias in node.names:
            part = copy(node)
            part.names = [alias]
            yield Statement(cell, part, binds={alias.asname or alias.name.partition(".")[0]})
        return
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    text = "\n".join(lines[first - 1 : node.end_lineno])
    binds, read = names_in(text)
    changes = changed_by(node)
    if isinstance(node, ASSIGNMENTS):  # `Name = wrap(Name)` needs what the name was before
        changes |= binds & read
        binds -= read
    yield Statement(cell, node, first, text, binds, changes, read - binds)


def changed_by(node: ast.stmt) -> set[str]:
    """The names whose value a statement changes."""
    changed: list[ast.expr]
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            changed = [part for call in node.decorator_list if isinstance(call, ast.Call) for part in call.args]
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[first, *_])):
            changed = [first]
        case _:
            places = (part for part in ast.walk(node) if isinstance(part, (ast.Attribute, ast.Subscript)))
            changed = [place for place in places if isinstance(place.ctx, ast.Store)]
    names = set()
    for part in changed:
        while isinstance(part, (ast.Attribute, ast.Subscript)):
            part = part.value
        names |= {part.id} if isinstance(part, ast.Name) else set()
    return names


def has_todo(node: ast.AST) -> bool:
    """True if it contains the `raise NotImplementedError(…)` of a skeleton."""
    raised = (part.exc for part in ast.walk(node) if isinstance(part, ast.Raise))
    names = (part.func if isinstance(part, ast.Call) else part for part in raised)
    return any(isinstance(name, ast.Name) and name.id == "NotImplementedError" for name in names)
