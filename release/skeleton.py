"""The marked reference in, the students' package out, both as bytes by path.

A solution is a marked region with a hint above it:

    # TODO 1.3: project query, key and value, split them into heads,
    # and attend in every head.
    ### BEGIN SOLUTION
    ...
    ### END SOLUTION

A region is whole statements of one block in one function. A misspelled marker leaves its partner or a hint alone, which
is a problem: the solution would stand in the students' copy. Every region becomes `raise NotImplementedError("TODO
1.3")`, and imports that only solutions used go; all else stays byte for byte.
"""

import ast
import io
import re
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeGuard

from foundation.assignment_file import Assignment, Task
from foundation.command_line import UserError
from foundation.places import ANSWERS
from foundation.texts import COMMENT, hint_above, line_of

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
HINT_FORM = "`# TODO 1.3: what to do`"
WHOLE = "a region is whole statements of one block in a function, below its docstring"
TRANSLATIONS = "translations.txt"
IGNORED_FOLDERS = {"__pycache__", "runs"}
ASSIGNMENT_FILE = "assignment/assignment.toml"
REFERENCE = "reference"

_RUFF = ("-m", "ruff", "check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--select", "F401", "--fix", "-")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class ReleaseError(UserError):
    """The input does not allow a release: one line for each problem, `file:line: what is wrong; what is right`."""


@dataclass(frozen=True)
class Project:
    """Where the kit is, which gets `student/` and `dist/`; the index of CPU-only PyTorch, "" for pip's own."""

    root: Path
    index: str = ""

    @property
    def reference(self) -> Path:
        """The folder of the marked solution."""
        return self.root / REFERENCE


@dataclass(frozen=True)
class Region:
    """One solution, and the lines of its markers."""

    number: str  # of the task, from the hint above it
    begin: int
    end: int
    function: str  # the qualified name of the one around it, such as `EncoderLayer.forward`


@dataclass(frozen=True)
class Source:
    """A file that is valid Python: its path as shown to the user; its text, also cut after each newline; its tree."""

    path: str
    text: str
    lines: tuple[str, ...]
    tree: ast.Module
    regions: Sequence[Region] = ()


@dataclass(frozen=True)
class Skeleton:
    """The result of the passes, by path, with what the gates compare it against."""

    assignment: Assignment
    files: Mapping[str, bytes]  # what students get
    sources: Mapping[str, Source]  # every Python file of the reference that is shipped stripped, with its solutions
    given: Mapping[str, Source]  # the Python files that students get beside their package

    @property
    def placed(self) -> dict[str, bytes]:
        """The files by path from the folder that the package lies in."""
        return {f"{self.assignment.package}/{path}": content for path, content in self.files.items()}

    def files_of(self, number: str) -> list[str]:
        """Return the files that have a TODO of a task."""
        return [path for path, source in self.sources.items() if number in {part.number for part in source.regions}]


def decode(name: str, content: bytes) -> str:
    """Decode the content of a file. Raises: ReleaseError where it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{name}:{line_of(error)}: is not UTF-8 ({error.reason}); save it as UTF-8") from None


def parse_source(path: str, text: str) -> Source:
    """Parse a text. Raises: ReleaseError where it is not valid Python."""
    try:
        tree = ast.parse(text, filename=path)
    except (SyntaxError, ValueError) as error:
        place = f"{path}:{getattr(error, 'lineno', None) or 1}"
        raise ReleaseError(f"{place}: is not valid Python ({getattr(error, 'msg', error)}); correct it") from None
    return Source(path, text, tuple(io.StringIO(text, newline="\n")), tree)


def find_regions(source: Source, tasks: Collection[str]) -> list[Region]:
    """Find all regions of a file, in order, of these tasks. Raises: ReleaseError with everything that is wrong."""
    problems, regions = list[str](), list[Region]()
    hints, begin = 0, 0  # the line of the last BEGIN, until its END
    for number, line in enumerate(source.lines, start=1):
        marker = line.strip()
        hints += COMMENT.fullmatch(marker) is not None
        if marker == (BEGIN if begin else END):
            fault = f"`{BEGIN}` inside a region" if begin else f"`{END}` without a `{BEGIN}` before it"
            problems.append(f"{source.path}:{number}: {fault}; each region has one of both")
        elif marker == BEGIN:
            begin = number
        elif marker == END:
            try:
                regions.append(_region(source, begin, number, tasks))
            except ReleaseError as error:
                problems.append(str(error))
            begin = 0
    if begin:
        fault = f"`{BEGIN}` without an `{END}` after it"
        problems.append(f"{source.path}:{begin}: {fault}; put `{END}` below the solution")
    if hints != len(regions) and not problems:
        fault = f"has {hints} hints, but {len(regions)} solutions"
        problems.append(f"{source.path}: {fault}; `{BEGIN}` has to follow {HINT_FORM} in the next line")
    if problems:
        raise ReleaseError("\n".join(problems))
    return regions


def _region(source: Source, begin: int, end: int, tasks: Collection[str]) -> Region:
    """Return the region between two markers. Raises: ReleaseError unless it has a hint, and is whole statements."""

    def refusal(fault: str, line: int = begin) -> ReleaseError:
        return ReleaseError(f"{source.path}:{line}: {fault}")

    number, _ = hint_above(source.lines, begin) or ("", "")
    if not number:
        raise refusal(f"`{BEGIN}` without a hint directly above it; put {HINT_FORM} in the line above")
    if number not in tasks:
        raise refusal(f"there is no task {number}; assignment.toml lists the tasks")
    statements = [node for node in ast.walk(source.tree) if isinstance(node, ast.stmt)]
    around = [node for node in statements if isinstance(node, Definition) and node.lineno < begin < last_line(node)]
    inside = sorted((node for node in statements if begin < first_line(node) and last_line(node) < end), key=first_line)
    block = [node for node in inside if node.col_offset >= inside[0].col_offset]
    if block and source.lines[block[0].lineno - 1].lstrip().startswith("elif"):
        block = []
    covered = {line for node in block for line in range(first_line(node), last_line(node) + 1)}
    for line in range(begin + 1, end):
        written = source.lines[line - 1].strip()
        if written and not written.startswith("#") and line not in covered:
            raise refusal(f"here the region cuts a statement or leaves its block; {WHOLE}", line)
    is_in_function = bool(around) and not isinstance(around[-1], ast.ClassDef)
    if not inside or not is_in_function or (is_text(inside[0]) and inside[0] is around[-1].body[0]):
        raise refusal(f"the region is empty, outside any function, or begins with its docstring; {WHOLE}")
    names = [node.name if isinstance(node, ast.ClassDef) else f"{node.name}.<locals>" for node in around]
    return Region(number, begin, end, ".".join(names).removesuffix(".<locals>"))


def is_text(statement: ast.AST) -> TypeGuard[ast.Expr]:
    """True if a statement is nothing but a string, as a docstring is."""
    return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)


def first_line(statement: ast.stmt) -> int:
    """Return the line in which a statement begins, with its decorators."""
    decorators = statement.decorator_list if isinstance(statement, Definition) else []
    return min([statement.lineno, *(node.lineno for node in decorators)])


def last_line(statement: ast.stmt) -> int:
    """Return the line in which a statement ends."""
    return statement.end_lineno or statement.lineno


def read_folder(folder: Path) -> dict[str, bytes]:
    """Read every file below a folder by its relative path, in order; caches and hidden files left out."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") or part in IGNORED_FOLDERS for part in parts):
            files["/".join(parts)] = path.read_bytes()
    return files


def coded_tasks(assignment: Assignment) -> list[Task]:
    """Return the tasks that are judged by code, and therefore have a TODO; the others are judged by translations."""
    return [task for task in assignment.tasks if task.components]


def make_skeleton(reference: Mapping[str, bytes], assignment: Assignment, given: Mapping[str, bytes] = {}) -> Skeleton:
    """Strip every file of the reference. Raises: ReleaseError with every problem of every file."""
    problems: list[str] = []
    sources: dict[str, Source] = {}
    tasks = coded_tasks(assignment)
    if assignment.written and ANSWERS not in reference:
        fault = f"task {assignment.written[0].number} is answered in writing, but there is no {ANSWERS}"
        problems.append(f"{REFERENCE}/{ANSWERS}: {fault}; write there what students find in it")
    for path, content in sorted(reference.items()):
        if path == TRANSLATIONS or (path == ANSWERS and assignment.written):
            continue  # of the instructor's own model: the gates count BLEU where they are; a form goes out as it is
        if not path.endswith(".py"):
            fault = "only Python files are made into the skeleton; move it out of the package"
            problems.append(f"{REFERENCE}/{path}: {fault}")
            continue
        try:
            source = parse_source(f"{REFERENCE}/{path}", decode(f"{REFERENCE}/{path}", content))
            sources[path] = replace(source, regions=find_regions(source, [task.number for task in tasks]))
        except ReleaseError as error:
            problems.append(str(error))
    present = {region.number for source in sources.values() for region in source.regions}
    for task in [] if problems else tasks:  # a fault in a region would show up here a second time
        if task.number not in present:
            fault = f"task {task.number} ({task.name}) has no `# TODO {task.number}:` region in {REFERENCE}/"
            problems.append(f"{ASSIGNMENT_FILE}: {fault}; mark its solution, or remove the task")
    if problems:
        raise ReleaseError("\n".join(problems))
    files = strip_files(sources) | ({ANSWERS: reference[ANSWERS]} if assignment.written else {})
    beside = {path: parse_source(path, decode(path, text)) for path, text in given.items() if path.endswith(".py")}
    return Skeleton(assignment, files, sources, beside)


def strip_files(sources: Mapping[str, Source], solved: Collection[str] = ()) -> dict[str, bytes]:
    """Return the files without their solutions, but for those of some tasks."""
    return {path: strip_regions(source, solved).encode() for path, source in sources.items()}


def strip_regions(source: Source, solved: Collection[str] = ()) -> str:
    """Return the text of the skeleton: hints stay; markers, solutions and imports that only these used go."""
    parts: list[str] = []
    position = 0
    open_regions = [region for region in source.regions if region.number not in solved]
    for region in open_regions:
        inside = source.lines[region.begin : region.end - 1]
        first = next(line for line in inside if line.strip() and not line.strip().startswith("#"))
        newline = re.search(r"[\r\n]*$", source.lines[region.end - 1])
        parts += source.lines[position : region.begin - 1]
        parts += [raise_statement(region.number, first), newline[0] if newline else ""]
        position = region.end
    text = "".join([*parts, *source.lines[position:]])
    return drop_unused_imports(text) if open_regions else text


def raise_statement(number: str, solution: str) -> str:
    """Return the statement in the place of a solution, indented as it is; the hint above it says what to do."""
    return f'{solution[: len(solution) - len(solution.lstrip())]}raise NotImplementedError("TODO {number}")'


@cache
def drop_unused_imports(text: str) -> str:
    """Remove every import that a file does not use, by ruff; all else stays byte for byte.

    An import that nothing uses but that has to stay, for its effect, is marked in the reference: `# noqa: F401`.
    """
    done = subprocess.run([sys.executable, *_RUFF], input=text.encode(), capture_output=True, check=False)  # noqa: S603 (fixed)
    if done.returncode:
        reason = done.stderr.decode().strip().split("\n")[-1]
        raise ReleaseError(f"ruff, which removes unused imports, failed ({reason}); install it: make install")
    # Where a whole paragraph of imports went, one of the two blank lines around it goes too.
    return re.sub(r"\n{4,}", "\n\n\n", re.sub(r"\n{3,}(?=import |from )", "\n\n", done.stdout.decode()))
