"""The prose of notebooks: Markdown, with lines in double braces where something is put in.

    {{setup}}                                      imports; once, before the first code
    {{task 1.2: difficulty 3, 30 minutes}}         heading of a task
    {{answer 1.2}}                                 its answer cells, one for each definition with a TODO, and its tests

A block fenced by ```python becomes a code cell; after ```python try a cell that needs answers, whose error does not
stop the cells below it. A block fenced by ```predict 1.2 is a question to answer before the task's tests run:

    Which of these sums to 1?
    - [x] the weights of one query
    - [ ] the weights of one key
    Why: the softmax runs over the keys.

Everything else is Markdown, one cell from heading to heading. Answer cells hold the definitions with TODOs, cut out of
the reference's modules.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .skeleton import ReleaseError, Skeleton, decode, first_line, last_line

FOLDER = "notebooks/prose"

_TASK = re.compile(r"task (?P<number>\S+): difficulty (?P<difficulty>[1-5]), (?P<minutes>\d+) minutes")
_ANSWER = re.compile(r"answer (?P<number>\S+)")
_BLOCK_OR_LINE = re.compile(
    r"^(?P<ticks>`{3,})(?P<info>.*)\n(?P<code>(?:.*\n)*?)(?P=ticks)`*[ \t]*$|^.*$", re.MULTILINE
)
_CHOICE = re.compile(r"- \[(?P<mark>[x ])\] (?P<text>.+)")
_HEADING = re.compile(r"#{1,3} ")
_CODE = {"python": "code", "python try": "try"}
IN_NOTEBOOKS = ("**How to work here.**", "**In this notebook.**", "**Save this notebook**")
"""How paragraphs begin that only the notebooks have."""
IN_FILES = ("**In files.**",)  # likewise, only the guide for those who work in files


@dataclass(frozen=True)
class Part:
    """A piece of prose."""

    kind: str  # "text", "code", "try" (code that may fail), "predict", "setup", "task" (its heading), or "answer"
    text: str = ""  # Markdown, code, or a question with its choices
    number: str = ""  # of the task
    difficulty: int = 0  # of a task, 1 to 5
    minutes: int = 0  # that a task takes
    letters: str = ""  # of a question's choices
    right: str = ""  # the letter of the right one
    why: str = ""  # shown once it was chosen

    @property
    def stars(self) -> str:
        """The difficulty as it is shown."""
        return "●" * self.difficulty + "○" * (5 - self.difficulty)


Prose = Mapping[str, Sequence[Part]]
"""The parts of each notebook, by the path of its prose from the project's root; none in a project without notebooks."""


def read_prose_folder(root: Path) -> Prose:
    """Read the prose of all notebooks. Raises: ReleaseError."""
    paths = {f"{FOLDER}/{path.name}": path for path in sorted((root / FOLDER).glob("*.md"))}
    return {name: read_prose(name, decode(name, path.read_bytes())) for name, path in paths.items()}


def parts_of_kind(prose: Prose, kind: str) -> list[Part]:
    """Return the parts of one kind, in order."""
    return [part for parts in prose.values() for part in parts if part.kind == kind]


def read_prose(path: str, text: str) -> list[Part]:
    """Return the parts of a notebook in order. Raises: ReleaseError for what is not understood, with its line."""
    parts: list[Part] = []
    written: list[str] = []  # the Markdown cell in the making

    def end_text() -> None:
        if text := "\n".join(written).strip("\n"):
            parts.append(Part("text", text))
        written.clear()

    for match in _BLOCK_OR_LINE.finditer(text):
        try:
            part = _part(match)
        except ValueError as error:
            line = text.count("\n", 0, match.start()) + 1
            raise ReleaseError(f"{path}:{line}: {error}; write it as at the top of release/prose.py") from None
        if part or _HEADING.match(match[0]):
            end_text()
        if part:
            parts.append(part)
        else:
            written.append(match[0])
    end_text()
    return parts


def without(text: str, beginnings: tuple[str, ...]) -> str:
    """Return the paragraphs of a text that begin otherwise."""
    return "\n\n".join(paragraph for paragraph in text.split("\n\n") if not paragraph.startswith(beginnings))


def _part(match: re.Match[str]) -> Part | None:
    """Return what a block or a line stands for, None for Markdown. Raises: ValueError where it is not understood."""
    line, info = match[0].strip(), (match["info"] or "").strip()
    if match["ticks"] and info in _CODE:
        return Part(_CODE[info], match["code"].removesuffix("\n"))
    if match["ticks"]:
        return _prediction(info.removeprefix("predict "), match["code"]) if info.startswith("predict ") else None
    if line.startswith("```"):
        raise ValueError("the block that begins here is not closed")
    if "{{" not in line and not line.endswith("}}"):
        return None
    inner = line.removeprefix("{{").removesuffix("}}").strip()
    if inner == "setup":
        return Part("setup")
    if task := _TASK.fullmatch(inner):
        difficulty, minutes = int(task["difficulty"]), int(task["minutes"])
        return Part("task", number=task["number"], difficulty=difficulty, minutes=minutes)
    if answer := _ANSWER.fullmatch(inner):
        return Part("answer", number=answer["number"])
    raise ValueError(f"`{line[:60]}` is not a directive")


def _prediction(number: str, text: str) -> Part:
    """The question in a block. Raises: ValueError where something is missing."""
    choices = dict(zip("abcdefgh", _CHOICE.finditer(text), strict=False))
    right = [letter for letter, choice in choices.items() if choice["mark"] == "x"]
    question, why = text.partition("- [")[0].strip(), text.partition("\nWhy: ")[2].strip()
    if not question or not why or len(right) != 1 or len(choices) < 2:
        raise ValueError(f"the question about task {number} is not complete")
    listed = "\n".join(f"- **{letter}** {choice['text']}" for letter, choice in choices.items())
    text = f"**Predict.** {question}\n\n{listed}"
    return Part("predict", text, number, letters="".join(choices), right=right[0], why=why)


@dataclass(frozen=True)
class Definition:
    """A class or function at the top level of a module that holds solutions."""

    module: str
    name: str
    task: str  # the first task of the assignment that has a TODO in it
    text: str  # as in the reference, with markers and solutions
    imports: tuple[tuple[str, str], ...]  # what it needs: ("student.masks", "causal_mask"), ("", "import math")


def find_definitions(skeleton: Skeleton) -> list[Definition]:
    """Find all definitions with TODOs, in the order of the modules' texts."""
    order = [task.number for task in skeleton.assignment.tasks]
    definitions = []
    for path, source in skeleton.sources.items():
        module = path.removesuffix(".py")
        bound = dict(_bound(source.tree, skeleton.assignment.package, module))
        for node in source.tree.body:
            first, last = first_line(node), last_line(node)
            inside = [region for region in source.regions if first <= region.begin <= last]
            if inside and isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)} - {node.name}
                task = min((region.number for region in inside), key=order.index)
                text = "".join(source.lines[first - 1 : max(last, inside[-1].end)]).rstrip("\n")
                imports = tuple(origin for name, origin in bound.items() if name in used)
                definitions.append(Definition(module, node.name, task, text, imports))
    return definitions


def _bound(tree: ast.Module, package: str, module: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each name that a module binds at its top level, with where a notebook imports it from, as in `Definition`."""
    for node in tree.body:
        match node:
            case ast.Import(names=[alias]):
                yield alias.asname or alias.name, ("", ast.unparse(node))
            case ast.ImportFrom(names=names, level=level):
                origin = ".".join(filter(None, (package if level else "", node.module)))
                yield from ((alias.asname or alias.name, (origin, ast.unparse(alias))) for alias in names)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name, (f"{package}.{module}", name)


def merge_imports(origins: Iterable[tuple[str, str]]) -> list[str]:
    """Return one statement for each module, in order: whole modules, then names."""
    names: dict[str, set[str]] = {}
    for origin, name in origins:
        names.setdefault(origin, set()).add(name)
    whole = names.pop("", set())
    return sorted(whole) + [f"from {origin} import {', '.join(sorted(names[origin]))}" for origin in sorted(names)]
