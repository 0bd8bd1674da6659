"""Reads the prose of one notebook: Markdown, with lines in double braces where something is put in.

    {{setup}}                                      imports; once, before the first code
    {{task 1.2: difficulty 3, 30 minutes}}         heading of a task
    {{answer 1.2}}                                 its answer cells, one a definition with a TODO, and its tests

A block fenced by ```python becomes a code cell; after ```python try a cell that needs answers, whose error does not
stop the cells below it. Everything else is Markdown, one cell from heading to heading.
"""

import re
from dataclasses import dataclass

from ..problems import Problem, ReleaseError

_TASK = re.compile(r"task (?P<number>\S+): difficulty (?P<difficulty>[1-5]), (?P<minutes>\d+) minutes")
_ANSWER = re.compile(r"answer (?P<number>\S+)")
_FENCE = re.compile(r"(?P<ticks>`{3,})(?P<info>.*)")
_HEADING = re.compile(r"#{1,3} ")
_CODE = {"python": False, "python try": True}

FORMS = "{{setup}}, {{task 1.2: difficulty 3, 30 minutes}} or {{answer 1.2}}"


@dataclass(frozen=True)
class Text:
    """Markdown, beginning in a line of the prose."""

    line: int
    text: str


@dataclass(frozen=True)
class Code:
    """A code cell; `may_fail`: it uses answers that may not be there yet."""

    line: int
    text: str
    may_fail: bool


@dataclass(frozen=True)
class Setup:
    """Where the imports go."""

    line: int


@dataclass(frozen=True)
class TaskHead:
    """The heading of a task."""

    line: int
    number: str
    difficulty: int
    minutes: int


@dataclass(frozen=True)
class Answer:
    """Where the answer cells of a task go, and its tests."""

    line: int
    number: str


Part = Text | Code | Setup | TaskHead | Answer


def read_prose(path: str, text: str) -> list[Part]:
    """The parts of a notebook in order.

    Raises:
        ReleaseError: for a line in braces that is none of the forms, and a fence that is not closed.
    """
    parts: list[Part] = []
    problems: list[Problem] = []
    waiting: list[str] = []  # Markdown lines of the cell in the making
    begun = 1
    fence, fenced = "", 0  # the ticks that close the block, and the line it began in
    code: list[str] | None = None  # lines of the code cell in the making

    def end_text() -> None:
        if written := "\n".join(waiting).strip("\n"):
            parts.append(Text(begun, written))
        waiting.clear()

    for number, line in enumerate(text.split("\n"), start=1):
        match = _FENCE.match(line)
        if fence:
            if match and match["ticks"].startswith(fence) and not match["info"].strip():
                if code is not None:
                    parts.append(Code(fenced, "\n".join(code), may_fail))
                    code, begun = None, number + 1
                else:
                    waiting.append(line)
                fence = ""
            else:
                (waiting if code is None else code).append(line)
        elif match:
            fence, fenced = match["ticks"], number
            info = match["info"].strip()
            if info in _CODE:
                end_text()
                code, may_fail = [], _CODE[info]
            else:
                waiting.append(line)
        elif line.startswith("{{"):
            end_text()
            begun = number + 1
            if part := _directive(line.strip(), number):
                parts.append(part)
            else:
                problems.append(Problem(path, number, f"`{line.strip()[:60]}` is not known", f"write {FORMS}"))
        else:
            if _HEADING.match(line):
                end_text()
            if not waiting:
                begun = number
            waiting.append(line)
    if fence:
        problems.append(Problem(path, fenced, "the block that begins here has no end", f"close it with {fence}"))
    end_text()
    if problems:
        raise ReleaseError(problems)
    return parts


def _directive(line: str, number: int) -> Part | None:
    inner = line.removeprefix("{{").removesuffix("}}").strip() if line.endswith("}}") else ""
    if inner == "setup":
        return Setup(number)
    if match := _TASK.fullmatch(inner):
        return TaskHead(number, match["number"], int(match["difficulty"]), int(match["minutes"]))
    if match := _ANSWER.fullmatch(inner):
        return Answer(number, match["number"])
    return None
