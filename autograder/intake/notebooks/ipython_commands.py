"""Removes IPython's own commands from a cell's code: %magics, !shell commands, ?help."""

import ast
import re

from ..python_source import parse

MAX_ATTEMPTS = 20
MAX_PARSED_CHARACTERS = 2_000_000  # in all attempts at one cell
WHOLE_CELL = re.compile(r"\s*%%([A-Za-z]\w*)")
CELL_OF_PYTHON = {"time", "timeit", "capture", "prun", "python", "python3", "pypy"}
COMMAND = re.compile(r"(\s*)(?:[%!?]|[\w.]+\s*=\s*[!%]|[\w.]+\?{1,2}\s*(?:#.*)?$)")


def without_magics(text: str) -> tuple[str, ast.Module | SyntaxError, list[str]]:
    """The code that Python itself would run.

    A command becomes `pass`, so that line numbers stay. Commands are searched for only where the code does not
    compile, and only in the line that Python complains about: `% d_head` may well begin the second line of an
    expression.

    Returns:
        The code; its syntax tree, or what is wrong with it; the commands that were removed.
    """
    lines = text.split("\n")
    dropped = []
    if match := WHOLE_CELL.match(text):
        first = next(index for index, line in enumerate(lines) if line.strip())
        dropped.append(lines[first].strip())
        if match[1] not in CELL_OF_PYTHON:
            return "", ast.Module([], []), dropped
        lines[first] = ""
    for _ in range(min(MAX_ATTEMPTS, 1 + MAX_PARSED_CHARACTERS // (len(text) + 1))):
        code = "\n".join(lines)
        tree = parse(code, is_compiled=True)
        if not isinstance(tree, SyntaxError):
            break
        index = (tree.lineno or 0) - 1
        command = COMMAND.match(lines[index]) if 0 <= index < len(lines) else None
        if command is None:
            break
        dropped.append(lines[index].strip())
        lines[index] = command[1] + "pass"
    return code, tree, dropped
