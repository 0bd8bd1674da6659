"""Merges a Python file that a student has worked in with its corrected skeleton.

A TODO is a hint and, below it, one statement that raises its number. Students replace the statement and keep the
hint; a corrected release changes the hint. Before merging, an anchor is put between the two, so that a change of one
does not touch a change of the other, and the statement becomes a token of its own, since the statements of one task
are all alike.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from foundation.todo_wording import COMMENT

from ..skeleton.build import raise_statement
from .line_merge import merge


@dataclass(frozen=True)
class Todo:
    """One TODO of a skeleton.

    Args:
        key: number of the task, and which of its TODOs in the file this is.
        hint: the lines of the comment.
        statement: the line that raises.
    """

    key: str
    hint: tuple[str, ...]
    statement: str


@dataclass(frozen=True)
class Merged:
    """The result: a text, and the lines (from 1) where both sides have changed the same and the student's stand."""

    text: str
    conflicts: tuple[int, ...]


def merge_python(base: str, student: str, new: str) -> Merged:
    """The student's file with the skeleton's changes.

    Args:
        base: the skeleton that was handed out.
        student: the student's version; it need not be valid Python.
        new: the corrected skeleton.
    """
    newline = "\r\n" if "\r\n" in student else "\n"
    base_lines, student_lines, new_lines = (_lines(text) for text in (base, student, new))
    base_todos, new_todos = todos_of(base_lines), todos_of(new_lines)
    chunks = merge(
        _with_tokens(base_lines, base_todos),
        _with_tokens(student_lines, base_todos),
        _with_tokens(new_lines, new_todos),
    )
    statements = {_token(todo): todo.statement for todo in (*base_todos, *new_todos)}
    anchors = {_anchor(todo) for todo in (*base_todos, *new_todos)}
    lines: list[str] = []
    conflicts: list[int] = []
    for chunk in chunks:
        if chunk.is_conflict:
            conflicts.append(len(lines) + 1)
        for line in chunk.lines:
            if line not in anchors:
                lines.append(statements.get(line, line))
    return Merged("".join(lines).replace("\n", newline), tuple(conflicts))


def todos_of(lines: Sequence[str]) -> list[Todo]:
    """The TODOs of a skeleton in order."""
    todos = []
    seen: Counter[str] = Counter()
    index = 0
    while index < len(lines):
        match = COMMENT.match(lines[index].lstrip())
        if not match:
            index += 1
            continue
        begin = index
        while index < len(lines) and lines[index].lstrip().startswith("#"):
            index += 1
        if index < len(lines) and lines[index].strip() == raise_statement(match["number"]):
            seen[match["number"]] += 1
            key = f"{match['number']} {seen[match['number']]}"
            todos.append(Todo(key, tuple(lines[begin:index]), lines[index]))
            index += 1
    return todos


def _with_tokens(lines: Sequence[str], todos: Sequence[Todo]) -> list[str]:
    """The lines with an anchor below every hint that stands there as in the skeleton, and tokens for statements."""
    result: list[str] = []
    index = 0
    waiting = list(todos)
    while index < len(lines):
        todo = next((todo for todo in waiting if _stands(todo.hint, lines, index)), None)
        if todo:
            waiting = waiting[waiting.index(todo) + 1 :]
            result += [*todo.hint, _anchor(todo)]
            index += len(todo.hint)
        else:
            result.append(lines[index])
            index += 1
            continue
        if index < len(lines) and lines[index] == todo.statement:
            result.append(_token(todo))
            index += 1
    return result


def _anchor(todo: Todo) -> str:
    """Stands between hint and statement; no line of a file has a zero in it."""
    return f"\0below the hint of {todo.key}\n"


def _token(todo: Todo) -> str:
    """Stands for the statement."""
    return f"\0statement of {todo.key}\n"


def _stands(part: Sequence[str], lines: Sequence[str], index: int) -> bool:
    return tuple(lines[index : index + len(part)]) == tuple(part)


def _lines(text: str) -> list[str]:
    """Lines that all end in a newline."""
    lines = text.replace("\r\n", "\n").split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in (*lines, *([last] if last else []))]
