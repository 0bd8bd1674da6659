"""The Python code that a cell means to IPython, whose own input transformer decides: text into text, nothing is run.

It knows magics, shell commands, `help?`, indented cells, and prompts that were pasted along.
"""

import ast
import re
import warnings

from IPython.core.inputtransformer2 import TransformerManager

CELL_MAGIC = re.compile(r"%%(\w+)(?!\w*\?)")
CELL_OF_PYTHON = {"time", "timeit", "capture", "prun", "python", "python3"}
"""Magics whose cells are Python."""
TIMED = re.compile(r"\.run_line_magic\('time', (.+)\)")
"""What IPython makes of `%time x = f()`, which runs the rest of its line."""


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
