"""From a notebook's JSON to the cells that count. No schema is trusted.

What cells have printed and drawn is cut out before the JSON is parsed: it is most of a large notebook, and nothing in
it is graded. Strings are skipped in one step each, so pictures of many megabytes cost next to nothing.
"""

import ast
import json
import re
import warnings
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager

from foundation.texts import printable

from ...sources import RefusedError
from ..tree import MAX_CELLS, MAX_CODE_CHARACTERS, MAX_NOTEBOOK_TEXT

ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
SKIPPED = (b'"outputs"', b'"attachments"', b'"widgets"')
"""Keys whose values are cut out, wherever they stand: a cell's output, pasted pictures, the state of widgets."""
LONGEST = max(map(len, SKIPPED))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
"""How deep a bracket leads."""
MAX_TOKENS = 3_000_000
"""Strings and brackets in all; a notebook of 100 MB with ordinary tables and pictures has a tenth of that."""
TOO_MANY = f"a notebook of more than {MAX_TOKENS:,} values; clear its output and save it again"
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
"""A string, also one that nothing ends: else each of its quotation marks would be tried as a beginning."""
COLON = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")
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
    content = without_outputs(content)
    if len(content) > MAX_NOTEBOOK_TEXT:
        raise RefusedError(f"it has {len(content):,} bytes without its outputs; at most {MAX_NOTEBOOK_TEXT:,} are read")
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


def without_outputs(content: bytes) -> bytes:
    """The JSON with `null` in the place of each skipped value, in the same lines; what is no JSON stays so.

    Raises:
        RefusedError: for too many values.
    """
    kept: list[bytes] = []
    copied, position, n_tokens = 0, 0, 0
    while token := TOKEN.search(content, position):
        n_tokens += 1
        if n_tokens >= MAX_TOKENS:
            raise RefusedError(TOO_MANY)
        position = token.end()
        is_short = position - token.start() <= LONGEST  # what is long is not copied
        if not is_short or token[0] not in SKIPPED or not (colon := COLON.match(content, position)):
            continue
        start = colon.end()
        position, more = end_of_value(content, start, MAX_TOKENS - n_tokens)
        n_tokens += more
        if position > start:
            lines = b"\n" * content.count(b"\n", start, position)  # so that errors name the right line
            kept += [content[copied:start], b"null", lines]
            copied = position
        if n_tokens >= MAX_TOKENS:
            raise RefusedError(TOO_MANY)
    return b"".join([*kept, content[copied:]]) if kept else content


def end_of_value(content: bytes, start: int, most: int) -> tuple[int, int]:
    """Where the list, object or string ends that begins at a position, and how many tokens it has.

    Anything else ends where it begins. Looks at `most` tokens and no more.
    """
    depth, position = 0, start
    for count in range(1, most + 1):
        token = TOKEN.match(content, start) if count == 1 else TOKEN.search(content, position)
        if token is None:
            return (start if count == 1 else len(content)), count
        position = token.end()
        depth += STEPS.get(content[token.start()], 0)
        if depth <= 0:
            return position, count
    return position, most


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
