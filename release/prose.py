"""Reads the prose of one notebook: Markdown, with lines in double braces where something is put in.

    {{setup}}                                      imports; once, before the first code
    {{task 1.2: difficulty 3, 30 minutes}}         heading of a task
    {{answer 1.2}}                                 its answer cells, one for each definition with a TODO, and its tests

A block fenced by ```python becomes a code cell; after ```python try a cell that needs answers, whose error does not
stop the cells below it. A block fenced by ```predict 1.2 is a question to answer before the task's tests run:

    Which of these sums to 1?
    - [x] the weights of one query
    - [ ] the weights of one key
    Why: the softmax runs over the keys.

Everything else is Markdown, one cell from heading to heading.
"""

import re
from dataclasses import dataclass

from .problems import Problem, ReleaseError

_TASK = re.compile(r"task (?P<number>\S+): difficulty (?P<difficulty>[1-5]), (?P<minutes>\d+) minutes")
_ANSWER = re.compile(r"answer (?P<number>\S+)")
_BLOCK_OR_LINE = re.compile(
    r"^(?P<ticks>`{3,})(?P<info>.*)\n(?P<code>(?:.*\n)*?)(?P=ticks)`*[ \t]*$|^.*$", re.MULTILINE
)
_PREDICT = re.compile(r"predict (?P<number>\S+)")
_CHOICE = re.compile(r"- \[(?P<mark>[x ])\] (?P<text>.+)")
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
class Predict:
    """A question with choices, of which one is right; `why` says so once it was chosen."""

    line: int
    number: str
    question: str
    choices: tuple[str, ...]
    right: int
    why: str

    @property
    def lettered(self) -> dict[str, str]:
        """The choices by their letters."""
        return dict(zip("abcdefgh", self.choices, strict=False))

    @property
    def text(self) -> str:
        """The question with its choices, as Markdown."""
        return "\n".join([f"**Predict.** {self.question}", "", *(f"- **{k}** {v}" for k, v in self.lettered.items())])


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

    @property
    def stars(self) -> str:
        """The difficulty, 1 to 5, as it is shown."""
        return "●" * self.difficulty + "○" * (5 - self.difficulty)


@dataclass(frozen=True)
class Answer:
    """Where the answer cells of a task go, and its tests."""

    line: int
    number: str


Part = Text | Code | Predict | Setup | TaskHead | Answer


def read_prose(path: str, text: str) -> list[Part]:
    """The parts of a notebook in order.

    Raises:
        ReleaseError: for a line in braces of another form, and a fence that is not closed.
    """
    parts: list[Part] = []
    problems: list[Problem] = []
    written: list[tuple[int, str]] = []  # the Markdown cell in the making, by line

    def end_text() -> None:
        if found := "\n".join(text for _, text in written).strip("\n"):
            parts.append(Text(written[0][0], found))
        written.clear()

    for match in _BLOCK_OR_LINE.finditer(text):
        line, number = match[0], text.count("\n", 0, match.start()) + 1
        info = (match["info"] or "").strip()
        if match["ticks"] and info in _CODE:
            end_text()
            parts.append(Code(number, match["code"].removesuffix("\n"), _CODE[info]))
        elif match["ticks"] and (predict := _PREDICT.fullmatch(info)):
            end_text()
            if question := _prediction(predict["number"], match["code"], number):
                parts.append(question)
            else:
                what = f"the question about task {predict['number']} is not complete"
                right = "write the question, choices `- [ ] …`, one of them `- [x] …`, and a line `Why: …`"
                problems.append(Problem(path, number, what, right))
        elif match["ticks"]:
            written.append((number, line))
        elif line.startswith("```"):
            ticks = line[: len(line) - len(line.lstrip("`"))]
            problems.append(Problem(path, number, "the block that begins here is not closed", f"close it with {ticks}"))
            break
        elif "{{" in line or line.rstrip().endswith("}}"):
            end_text()
            if part := _directive(line.strip(), number):
                parts.append(part)
            else:
                what = f"`{line.strip()[:60]}` is not a directive"
                problems.append(Problem(path, number, what, f"write {FORMS}"))
        else:
            if _HEADING.match(line):
                end_text()
            written.append((number, line))
    end_text()
    if problems:
        raise ReleaseError(problems)
    return parts


def _prediction(number: str, text: str, line: int) -> Predict | None:
    """The question in a block; None where something is missing."""
    choices = list(_CHOICE.finditer(text))
    right = [index for index, choice in enumerate(choices) if choice["mark"] == "x"]
    question, why = text.partition("- [")[0].strip(), text.partition("\nWhy: ")[2].strip()
    if not question or not why or len(right) != 1 or len(choices) < 2:
        return None
    return Predict(line, number, question, tuple(choice["text"] for choice in choices), right[0], why)


def _directive(line: str, number: int) -> Part | None:
    inner = line.removeprefix("{{").removesuffix("}}").strip() if line.endswith("}}") else ""
    if inner == "setup":
        return Setup(number)
    if match := _TASK.fullmatch(inner):
        return TaskHead(number, match["number"], int(match["difficulty"]), int(match["minutes"]))
    if match := _ANSWER.fullmatch(inner):
        return Answer(number, match["number"])
    return None
