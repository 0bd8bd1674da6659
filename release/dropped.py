"""Names every place that still needs a task that was taken out of `assignment.toml`.

Marks that a program reads tell which task was dropped: hints above solutions, markers of tests, headings in the prose,
the tasks of misconceptions. After that its number is looked for in all that people read, too.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from foundation.assignment_file import Assignment

NUMBER = r"(?P<number>(?:\d+|[eE])[._]\d+)\b"
MARKS = re.compile(
    rf"(?:^\s*# TODO |\bmark\.task_|\{{\{{(?:task|answer) |^```predict |^task = \"|-m task_){NUMBER}", re.M
)
FOLDERS = ("given", "notebooks/prose", "assignment", "docs/pictures")
FILES = ("notebooks/handout.md", "assignment/assignment.toml")
READ = (".py", ".md", ".toml", ".svg")
LEFT_OUT = ("proof/",)
"""Correct variants: their numbers are no tasks."""


def places_of_dropped_tasks(root: Path, reference: Path, assignment: Assignment) -> list[str]:
    """Return a line for each place that needs a task that the assignment does not have: `file:line: what to do`."""
    known = {task.number for task in assignment.tasks}
    texts = {
        path: path.read_text(encoding="utf-8", errors="replace")
        for folder in (reference, *(root / name for name in FOLDERS))
        for path in sorted(folder.rglob("*"))
        if path.suffix in READ and not any(part in path.as_posix() for part in LEFT_OUT)
    }
    texts |= {path: path.read_text(encoding="utf-8") for path in (root / name for name in FILES) if path.is_file()}
    marks = [match["number"] for text in texts.values() for match in MARKS.finditer(text)]
    dropped = {number.upper().replace("_", ".") for number in marks} - known
    places = []
    for path, text in texts.items():
        shown = path.relative_to(root) if path.is_relative_to(root) else path
        found = {(line, number) for line, one in _read_lines(path, text) for number in dropped if _names(one, number)}
        places += [
            f"{shown}:{line}: names task {number}, which is not in assignment.toml" for line, number in sorted(found)
        ]
    return places


def _names(line: str, number: str) -> bool:
    """Return whether a line speaks of a task, not of a section of a paper or a part of another number."""
    marker = number.replace(".", "_").lower()
    return bool(
        re.search(rf"(?<![\d.])(?<!section )(?<!sections )(?<!version ){re.escape(number)}(?!\d|\.\d)", line)
        or re.search(rf"task_{marker}\b", line)
    )


def _read_lines(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines in which a number is no decimal, with where they are: of Python, comments, strings and marks."""
    lines = text.splitlines()
    if path.suffix == ".toml":
        yield from ((n, line) for n, line in enumerate(lines, 1) if not line.startswith(("find", "replace", "#")))
    elif path.suffix == ".svg":
        yield from ((n, " ".join(re.findall(r"task [^<]*", line))) for n, line in enumerate(lines, 1))
    elif path.suffix == ".md":
        yield from enumerate(lines, 1)
    else:
        yield from ((n, line) for n, line in enumerate(lines, 1) if "mark.task_" in line)
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type in (tokenize.COMMENT, tokenize.STRING):
                    yield from enumerate(token.string.splitlines(), token.start[0])
        except (tokenize.TokenError, SyntaxError):  # other messages say so
            return
