"""Notebooks: the cells that count, what they define, and which module of the contract each definition belongs to.

A definition replaces the release's definition of the same name, in its module; the imports, helpers and constants
that it needs go with it. Everything else (training loops, plots, experiments) is left out. A cell that does not compile
costs only what it defines. No schema is trusted, what cells have printed is not looked at, and nothing is run.
"""

import ast
import json
import keyword
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field

from foundation.assignment_file import Assignment
from foundation.texts import first_of, printable

from .sources import RefusedError, Source, Sources, names_in, parse

ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
MAX_CODE_CHARACTERS = 200_000  # all cells together
MAX_VALUES = 10_000_000
"""In all of a notebook's JSON, estimated from commas and brackets; each takes memory once it is parsed."""
CELL_MAGIC = re.compile(r"\s*%%(\w+)(?!\w*\?).*")
CELL_OF_PYTHON = {"time", "timeit", "capture", "prun", "python", "python3"}
"""Magics whose cells are Python."""
DEFINITION = re.compile(r"^(?:class|(?:async[ \t]+)?def)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
KEPT = (*DEFINITIONS, *IMPORTS, *ASSIGNMENTS, ast.If, ast.Try)
"""Statements that may become a part of a module; loops, which train, may not."""
MOST_NOTES = 5
LIBRARIES = {"torch", "numpy", "einops", "__future__"} | sys.stdlib_module_names
"""Packages that are available during grading, whose star imports stay."""
Line = tuple[str, str]  # of a module: its text, and the place in a cell that it comes from


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
    """The code cells and written answers, in order. Raises: RefusedError, whose reason does not name the file."""
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise RefusedError(f"a notebook of more than {MAX_VALUES:,} values; clear its output and save it again")
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError) as error:  # cut off, in another encoding, hopelessly nested
        raise RefusedError(f"not a complete notebook ({error}); save it again in Jupyter") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise RefusedError("not a notebook: it has no cells; save it again in Jupyter")
    read = (_read_cell(cell, printable(name), number) for number, cell in enumerate(cells, start=1))
    counting = [cell for cell in read if cell is not None]
    if sum(len(cell.text) for cell in counting) > MAX_CODE_CHARACTERS:
        raise RefusedError(f"more than {MAX_CODE_CHARACTERS:,} characters of code; hand in only what is asked for")
    return counting


def _read_cell(cell: object, notebook: str, number: int) -> Cell | None:
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
    is_answer, is_text = marks.get("solution") is True, cell["cell_type"] == "markdown"
    if not is_answer and (is_text or marks.get("grade") is True):
        return None
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    grade_id, is_locked = marks.get("grade_id"), marks.get("locked") is True and not is_answer
    grade_id = grade_id if isinstance(grade_id, str) and ID.fullmatch(grade_id) else ""
    return Cell(notebook, number, text, grade_id, is_answer, is_locked, is_text)


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

    @property
    def has_todo(self) -> bool:
        """True if it contains the `raise NotImplementedError(…)` of a skeleton."""
        return self.node is not None and _has_todo(self.node)


def read_code(cell: Cell) -> tuple[list[Statement], str]:
    """The statements of a cell, and why it cannot be read, "" where it can.

    Where it does not compile, they are the names that it seems to define.
    """
    text, tree = cell.text, parse(cell.text, is_compiled=True)
    if isinstance(tree, SyntaxError):
        text = as_python(cell.text)
        tree = parse(text, is_compiled=True)
    lines = text.split("\n")
    if not isinstance(tree, SyntaxError):
        return [part for node in tree.body for part in _statements_of(cell, node, lines)], ""
    line = tree.lineno or 0
    quoted = lines[line - 1].strip()[:100] if 1 <= line <= len(lines) else ""
    problem = (f"line {line}: " if line else "") + tree.msg + (f": {quoted}" if quoted else "")
    defined = dict.fromkeys(DEFINITION.findall(text))
    names = [name for name in defined if name.isidentifier() and not keyword.iskeyword(name)]
    return [Statement(cell, None, text=f"{cell}, {problem}", binds={name}) for name in names], problem


def as_python(text: str) -> str:
    """A cell's code as IPython reads it, with commands as calls of `get_ipython()`; as it is if that fails."""
    from IPython.core.inputtransformer2 import TransformerManager  # takes a while to load, and most cells need none

    at = 0
    while magic := CELL_MAGIC.match(text, at):
        if magic[1] not in CELL_OF_PYTHON:
            return ""
        at = magic.end()
    text = "\n" * text.count("\n", 0, at) + text[at:]
    blank = text[: len(text) - len(text.lstrip())].count("\n")  # IPython cuts them off
    try:
        with warnings.catch_warnings(action="ignore"):  # about line ends, and invalid escapes
            python: str = TransformerManager().transform_cell(text)  # type: ignore[no-untyped-call]  # IPython's
            return "\n" * blank + python
    except TimeoutError:
        raise
    except Exception:  # of a dozen kinds: 500 commands, or too deeply nested
        return text


def _statements_of(cell: Cell, node: ast.stmt, lines: list[str]) -> Iterator[Statement]:
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
    changes = _changed_by(node)
    if isinstance(node, ASSIGNMENTS):  # `Name = wrap(Name)` needs what the name was before
        changes |= binds & read
        binds -= read
    yield Statement(cell, node, first, text, binds, changes, read - binds)


def _changed_by(node: ast.stmt) -> set[str]:
    """The names whose value a statement changes."""
    if isinstance(node, DEFINITIONS):
        changed = [part for call in node.decorator_list if isinstance(call, ast.Call) for part in call.args]
    else:
        places = (part for part in ast.walk(node) if isinstance(part, (ast.Attribute, ast.Subscript)))
        changed = [place for place in places if isinstance(place.ctx, ast.Store)]
    names = set()
    for part in changed:
        while isinstance(part, (ast.Attribute, ast.Subscript)):
            part = part.value
        names |= {part.id} if isinstance(part, ast.Name) else set()
    return names


def _lost_with(statement: Statement) -> set[str]:
    """The names that a statement sets, or calls a method of."""
    names = statement.binds | statement.changes
    for part in ast.walk(statement.node or ast.Pass()):
        match part:
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name)))):
                names.add(name)
    return names


def _has_todo(node: ast.AST) -> bool:
    raised = (part.exc for part in ast.walk(node) if isinstance(part, ast.Raise))
    names = (part.func if isinstance(part, ast.Call) else part for part in raised)
    return any(isinstance(name, ast.Name) and name.id == "NotImplementedError" for name in names)


def _unparse(node: ast.stmt) -> str:
    try:
        return ast.unparse(node)
    except RecursionError:  # it costs this statement alone
        return "pass"


class Distribution:
    """The statements of cells, in their order, assigned to the contract's modules."""

    def __init__(self, cells: list[Cell], release: Sources, assignment: Assignment, path: str) -> None:
        """Replaces the release's modules by those that the cells define; `path` names their file in messages."""
        self.release, self.package = release, assignment.package
        self.contract = assignment.contract.modules
        self.home: dict[str, str] = {}  # name -> its module in the contract
        to_write = set[str]()  # names that were handed out with a TODO
        for module, components in self.contract.items():
            definitions = [node for node in ast.parse(release[module][1]).body if isinstance(node, DEFINITIONS)]
            to_write |= {node.name for node in definitions if _has_todo(node)}
            self.home = {node.name: module for node in definitions} | self.home | dict.fromkeys(components, module)
        code = {cell: read_code(cell) for cell in cells}
        statements = [statement for statements, _ in code.values() for statement in statements]
        self.statements = [each for each in statements if each.node is None or isinstance(each.node, KEPT)]
        self.makers: dict[str, list[Statement]] = {}  # name -> what gives it a value or changes it
        for statement in self.statements:
            for name in () if _is_general(statement.node) else statement.binds | statement.changes:
                self.makers.setdefault(name, []).append(statement)
        self.unreadable = {cell: problem for cell, (_, problem) in code.items() if problem}
        self.doubts: dict[str, str] = {}  # name -> what a person should know of where it is defined
        self.chosen = chosen = {name: best for name in self.home if (best := self._choose(name))}
        self._note_left_out([each for each in statements if each.node and not isinstance(each.node, KEPT)])
        of_contract = (name for names in self.contract.values() for name in names)
        missing = [name for name in of_contract if name in to_write and name not in chosen]
        uncounted = [f"no cell defines {first_of(missing, MOST_NOTES)}: not attempted"] if missing else []
        self.notes = [*describe_unreadable(self.unreadable), *self.doubts.values(), *uncounted]
        self.doubts |= {name: f"no cell defines {name}: not attempted" for name in missing}
        self.sources: dict[str, Source] = {}  # the modules that the cells define
        self.origins: dict[str, list[str]] = {}  # of each the cell and line that each line comes from
        for module in self.contract:
            names = {name for name, home in self.home.items() if home == module}
            roots = [best for name, best in chosen.items() if name in names]
            roots += [statement for statement in self.statements if statement.changes & names]
            if roots:
                lines = self._module(module, roots)
                self.sources[module] = (f"{module}.py from {path}", "".join(f"{line}\n" for line, _ in lines))
                self.origins[module] = [origin for _, origin in lines]

    def _note_left_out(self, left_out: list[Statement]) -> None:
        """Notes of each definition that counts the first statement that sets what it needs, and is left out."""
        imported = {name for each in self.statements if isinstance(each.node, IMPORTS) for name in each.binds}
        needed = {name: self._closure([best])[1] - imported for name, best in self.chosen.items()}
        for each, lost in ((each, _lost_with(each)) for each in left_out):
            for name in [name for name in needed if needed[name] & lost]:
                code, first = each.text.strip().partition("\n")[0][:60], min(needed.pop(name) & lost)
                why = f"is left out, and {name} needs it for {first}: assign {first} in one statement"
                self.doubts[name] = f"{each.cell}, line {each.line}, `{code}`, {why}"

    def needed_by(self, name: str) -> set[str]:
        """The names, given a value in the cells, that the definition which counts needs, but for the contract's."""
        _, names = self._closure([self.chosen[name]])
        return {name for name in names & self.makers.keys() if name not in self.home}

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
        chosen = max(
            reversed(candidates), key=lambda each: (each.cell.is_answer, bool(each.node) and not each.has_todo)
        )
        cells = list(dict.fromkeys(str(statement.cell) for statement in candidates))
        if len(cells) > 1:
            self.doubts[name] = f"{name} is defined in {' and in '.join(cells)}: the one in {chosen.cell} counts"
        return chosen

    def _module(self, module: str, roots: list[Statement]) -> list[Line]:
        """A module's lines: the release's, followed by the definitions and what they need."""
        taken, names = self._closure(roots)
        lines = [
            line
            for statement in self.statements
            if statement.node and _is_general(statement.node)  # first: the release's names must hide theirs
            for line in _lines_of(_unparse(statement.node), str(statement.cell))
        ]
        lines.sort(key=lambda line: not line[0].startswith("from __future__"))
        lines += _lines_of(self.release[module][1])
        for name in sorted(names):
            if self.home.get(name, module) != module:
                lines += _lines_of(f"from .{self.home[name]} import {name}")
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
            return _lines_of(f"def {name}(*args, **kwargs):\n    raise SyntaxError({statement.text!r})", cell)
        if isinstance(node, IMPORTS):  # a notebook beside the package imports it by its name
            return _lines_of(re.sub(rf"^from {self.package}\b\.?", "from .", _unparse(node)), cell)
        if isinstance(node, DEFINITIONS):
            text = statement.text.split("\n")
            return [(line, f"{cell}, line {number}") for number, line in enumerate(text, start=statement.line)]
        # It may need something that is missing; only code that uses it should fail.
        body = _unparse(node).replace("\n", "\n    ")
        return _lines_of(f"try:\n    {body}\nexcept Exception:\n    pass", cell)


def _lines_of(text: str, origin: str = "") -> list[Line]:
    return [(line, origin) for line in text.split("\n")]


def describe_unreadable(problems: Mapping[Cell, str]) -> list[str]:
    """A note for each cell that cannot be read: its number, its first line, and what is wrong where."""
    notes = []
    for cell, problem in problems.items():
        begin = cell.text.lstrip().partition("\n")[0].rstrip()[:60]
        notes.append(f"{cell}, which begins `{begin}`, cannot be read, so what it defines is missing ({problem})")
    more = [f"and {len(notes) - MOST_NOTES} more cells cannot be read"] if len(notes) > MOST_NOTES else []
    return [*notes[:MOST_NOTES], *more]


def _is_general(node: ast.stmt | None) -> bool:
    """True for a star import from a library, and one from `__future__`."""
    if not isinstance(node, ast.ImportFrom) or node.level or (node.module or "").partition(".")[0] not in LIBRARIES:
        return False
    return node.names[0].name == "*" or node.module == "__future__"
