"""Three-way merge of a text that a student has worked in with its corrected release, line by line.

A TODO is a hint and, below it, one statement that raises its number. Students replace the statement and keep the
hint; a corrected release changes the hint. Before merging, an anchor is put between the two, so that a change of one
does not touch a change of the other, and the statement becomes a line of its own kind, since the statements of one
task are all alike.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from foundation.todo_wording import COMMENT

from ..skeleton.build import raise_statement

_COMMENTS = re.compile(r"(?:^[ \t]*#.*\n)+", re.MULTILINE)


@dataclass(frozen=True)
class Todo:
    """One TODO of a skeleton.

    Args:
        key: number of the task, and which of its TODOs in the file this is.
        hint: the lines of the comment.
        statement: the line that raises.
    """

    key: str
    hint: str
    statement: str

    @property
    def anchor(self) -> str:
        """Stands between hint and statement; no line of a file has a zero in it."""
        return f"\0below the hint of {self.key}\n"

    @property
    def token(self) -> str:
        """Stands for the statement."""
        return f"\0statement of {self.key}\n"


@dataclass(frozen=True)
class Merged:
    """The result: a text, and the lines (from 1) where both sides have changed the same and the student's stand."""

    text: str
    conflicts: tuple[int, ...]


def merge_texts(base: str, student: str, new: str) -> Merged:
    """The student's text with the release's changes; where they cannot both have their way, the student's lines stay.

    Args:
        base: what was handed out.
        student: the student's version; it need not be valid Python.
        new: the corrected release.
    """
    newline = "\r\n" if "\r\n" in student else "\n"
    base, student, new = (_with_whole_lines(text) for text in (base, student, new))
    old_todos, new_todos = todos_of(base), todos_of(new)
    versions = _with_tokens(base, old_todos), _with_tokens(student, old_todos), _with_tokens(new, new_todos)
    statements = {todo.token: todo.statement for todo in (*old_todos, *new_todos)}
    anchors = {todo.anchor for todo in (*old_todos, *new_todos)}
    lines: list[str] = []
    conflicts: list[int] = []
    for merged, is_conflict in merge_lines(*map(_lines, versions)):
        if is_conflict:
            conflicts.append(len(lines) + 1)
        lines += [statements.get(line, line) for line in merged if line not in anchors]
    return Merged("".join(lines).replace("\n", newline), tuple(conflicts))


def merge_lines(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[list[str], bool]]:
    """The stretches of the result, each with whether both sides have changed it, and not alike: then it is ours."""
    in_ours, in_theirs = _partners(base, ours), _partners(base, theirs)
    shared = [(index, in_ours[index], in_theirs[index]) for index in in_ours if index in in_theirs]
    done = (0, 0, 0)
    for here in [*shared, (len(base), len(ours), len(theirs))]:  # lines that all three have, in order, and the end
        old, mine, other = base[done[0] : here[0]], ours[done[1] : here[1]], theirs[done[2] : here[2]]
        if mine in (old, other):
            yield other, False
        elif mine or other != old:
            yield mine, other != old
        yield base[here[0] : here[0] + 1], False
        done = (here[0] + 1, here[1] + 1, here[2] + 1)


def _partners(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Index in the base -> index of the same line in the other sequence."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + shift: block.b + shift for block in blocks for shift in range(block.size)}


def todos_of(text: str) -> list[Todo]:
    """The TODOs of a skeleton in order."""
    todos = []
    seen: Counter[str] = Counter()
    for comment in _COMMENTS.finditer(text):
        statement = text[comment.end() : text.find("\n", comment.end()) + 1]
        starts = [match for line in comment[0].splitlines() if (match := COMMENT.match(line.lstrip()))]
        if starts and statement.strip() == raise_statement(number := starts[-1]["number"]):
            seen[number] += 1
            hint = comment[0][comment[0].index(starts[-1][0]) :]
            todos.append(Todo(f"{number} {seen[number]}", hint, statement))
    return todos


def _with_tokens(text: str, todos: Sequence[Todo]) -> str:
    """The text with an anchor below every hint that stands there as in the skeleton, and tokens for statements."""
    parts: list[str] = []
    for todo in todos:
        before, hint, after = text.partition(todo.hint)
        if hint:
            parts += [before, hint, todo.anchor]
            text = after
            if text.startswith(todo.statement):
                parts.append(todo.token)
                text = text.removeprefix(todo.statement)
    return "".join([*parts, text])


def _lines(text: str) -> list[str]:
    """Nothing but a line feed ends one."""
    return [f"{line}\n" for line in text.split("\n")[:-1]]


def _with_whole_lines(text: str) -> str:
    """The text with line feeds alone, one at its end too."""
    text = text.replace("\r\n", "\n")
    return f"{text}\n" if text and not text.endswith("\n") else text
