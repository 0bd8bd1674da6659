"""Reads the prose of one notebook: Markdown, with lines in double braces where something is put in.

    {{setup}}                                      imports; once, before the first code
    {{task 1.2: difficulty 3, 30 minutes}}         heading of a task
    {{answer 1.2}}                                 its answer cells, one for each definition with a TODO, and its tests

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
        ReleaseError: for a line in braces of another form, and a fence that is not closed.
    """
    reader = _Reader(path)
    for number, line in enumerate(text.split("\n"), start=1):
        reader.read(number, line)
    reader.end()
    if reader.problems:
        raise ReleaseError(reader.problems)
    return reader.parts


class _Reader:
    """Takes the prose line by line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.parts: list[Part] = []
        self.problems: list[Problem] = []
        self._text: list[str] = []  # Markdown lines of the cell in the making
        self._begun = 1  # the line it begins in
        self._fence, self._fenced, self._info = "", 0, ""  # the ticks of the open block, its first line, its kind
        self._code: list[str] = []  # lines of the code cell in the making

    def read(self, number: int, line: str) -> None:
        """Takes one line."""
        match = _FENCE.match(line)
        if self._fence:
            self._read_fenced(number, line, match)
        elif match:
            self._fence, self._fenced, self._info = match["ticks"], number, match["info"].strip()
            if self._info in _CODE:
                self._end_text()
            else:
                self._text.append(line)
        elif "{{" in line or line.rstrip().endswith("}}"):
            self._end_text()
            if part := _directive(line.strip(), number):
                self.parts.append(part)
            else:
                what = f"`{line.strip()[:60]}` is not a directive"
                self.problems.append(Problem(self.path, number, what, f"write {FORMS}"))
        else:
            if _HEADING.match(line):
                self._end_text()
            if not self._text:
                self._begun = number
            self._text.append(line)

    def _read_fenced(self, number: int, line: str, match: re.Match[str] | None) -> None:
        is_code = self._info in _CODE
        is_end = match is not None and match["ticks"].startswith(self._fence) and not match["info"].strip()
        if not (is_code and is_end):
            (self._code if is_code else self._text).append(line)
        if is_end:
            self._fence = ""
            if is_code:
                self.parts.append(Code(self._fenced, "\n".join(self._code), _CODE[self._info]))
                self._code = []

    def end(self) -> None:
        """The prose is over."""
        if self._fence:
            what = "the block that begins here is not closed"
            self.problems.append(Problem(self.path, self._fenced, what, f"close it with {self._fence}"))
        self._end_text()

    def _end_text(self) -> None:
        if written := "\n".join(self._text).strip("\n"):
            self.parts.append(Text(self._begun, written))
        self._text = []


def _directive(line: str, number: int) -> Part | None:
    inner = line.removeprefix("{{").removesuffix("}}").strip() if line.endswith("}}") else ""
    if inner == "setup":
        return Setup(number)
    if match := _TASK.fullmatch(inner):
        return TaskHead(number, match["number"], int(match["difficulty"]), int(match["minutes"]))
    if match := _ANSWER.fullmatch(inner):
        return Answer(number, match["number"])
    return None
