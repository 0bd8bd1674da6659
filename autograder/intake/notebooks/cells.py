"""From a notebook's JSON to the cells that count. No schema is trusted; what cells have printed is not looked at."""

import ast
import json
import re
import warnings
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager

from foundation.texts import printable

from ...sources import RefusedError
from ..tree import MAX_CELLS, MAX_CODE_CHARACTERS

ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
MAX_VALUES = 10_000_000
"""In all of a notebook's JSON, as far as commas and brackets tell; each takes memory once it is parsed."""
CELL_MAGIC = re.compile(r"%%(\w+)(?!\w*\?)")
CELL_OF_PYTHON = {"time", "timeit", "capture", "prun", "python", "python3"}
"""Magics whose cells are Python."""
TIMED = re.compile(r"\.run_line_magic\('time', (.+)\)")
"""What IPython makes of `%time x = f()`, which runs the rest of its line."""


@dataclass(frozen=True)
class Cell:
    """A code cell, or a cell of text that is an answer.

    Attributes:
        notebook: file name.
        number: from 1, over all cells of the notebook including text.
        text: its code.
        grade_id: nbgrader's name of the cell, or "".
        is_answer: students write in it (nbgrader's `solution`).
        is_locked: students should not write in it.
        is_test: nbgrader takes points from it.
        is_text: it holds no code.
    """

    notebook: str
    number: int
    text: str
    grade_id: str = ""
    is_answer: bool = False
    is_locked: bool = False
    is_test: bool = False
    is_text: bool = False

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
    except json.JSONDecodeError as error:
        raise RefusedError(
            f"not a complete notebook: line {error.lineno}: {error.msg}; save it again in Jupyter"
        ) from None
    except (ValueError, RecursionError) as error:  # other encodings, endless numbers, hopeless nesting
        raise RefusedError(f"not a notebook ({type(error).__name__}); save it again in Jupyter") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        older = isinstance(notebook, dict) and "worksheets" in notebook
        raise RefusedError(
            "a notebook in an old format; save it again in Jupyter" if older else "not a notebook: it has no cells"
        )
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


def as_python(text: str) -> tuple[str, list[str]]:
    """A cell's code without IPython's commands, each line in its place, and the commands.

    A cell that IPython cannot read stays as it is.
    """
    remover = CommandRemover()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about line ends, and invalid escapes
            return remover.read(text), remover.commands
    except (SyntaxError, ValueError, LookupError, RuntimeError, AssertionError, MemoryError):
        return text, []  # 500 commands, or too deeply nested


class CommandRemover(TransformerManager):
    """IPython's reading of a cell, in which commands do nothing and every line keeps its number."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # IPython's
        self.line_transforms = [self._remove_cell_magic]
        self.commands: list[str] = []

    def read(self, text: str) -> str:
        """The Python code of a cell."""
        blank = text[: len(text) - len(text.lstrip())].count("\n")  # IPython cuts them off
        return "\n" * blank + self.transform_cell(text)

    def _remove_cell_magic(self, lines: list[str]) -> list[str]:
        """The body of a cell that begins with `%%time` and the like; nothing for `%%bash`."""
        if not lines or not (magic := CELL_MAGIC.match(lines[0])):
            return lines
        self.commands.append(lines[0].strip())
        if magic[1] not in CELL_OF_PYTHON:
            return []
        return ["\n", *self.read("".join(lines[1:])).splitlines(keepends=True)]

    def do_one_token_transform(self, lines: list[str]) -> tuple[bool, list[str]]:
        """As IPython's, but the command is noted, and `None` stands in its place."""
        is_changed, found = super().do_one_token_transform(lines)  # type: ignore[no-untyped-call]
        if is_changed:
            place = next(index for index, (old, new) in enumerate(zip(lines, found, strict=False)) if old != new)
            n_joined = len(lines) - len(found)  # a command may go on in the next line
            self.commands.append(" ".join("".join(lines[place : place + n_joined + 1]).split()))
            before, call, rest = found[place].partition("get_ipython()")
            if call:
                timed = TIMED.fullmatch(rest.rstrip())
                found[place] = before + ((timed and ast.literal_eval(timed[1])) or "None") + "\n"
            found[place + 1 : place + 1] = ["\n"] * n_joined
        return is_changed, found
