"""All passes over one folder: the reference in, the students' package out, both as bytes by path.

Every region becomes `raise NotImplementedError("TODO 1.3")`, and imports that only solutions used go; all else stays
byte for byte. `foundation/texts.py` has the words of the error, and of what students see when it is raised.
"""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from foundation.assignment_file import Assignment, Task
from foundation.places import ANSWERS

from .regions import Region, ReleaseError, Source, decode, find_regions, parse_source

TRANSLATIONS = "translations.txt"

IGNORED_FOLDERS = {"__pycache__", "runs"}

ASSIGNMENT_FILE = "assignment/assignment.toml"

_RUFF = ("-m", "ruff", "check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--select", "F401", "--fix", "-")


@dataclass(frozen=True)
class Skeleton:
    """The result of the passes, with what the gates compare it against.

    Args:
        files: what students get, by path within the package.
        sources: every Python file of the reference that is shipped stripped, by path.
        regions: all solutions, by path.
        given: the Python files that students get beside their package, by path.
    """

    files: Mapping[str, bytes]
    sources: Mapping[str, Source]
    regions: Mapping[str, Sequence[Region]]
    given: Mapping[str, Source]

    def files_of(self, number: str) -> list[str]:
        """Return the files that have a TODO of a task."""
        return sorted(path for path, inside in self.regions.items() if number in {region.number for region in inside})


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


def make_skeleton(
    reference: Mapping[str, bytes], assignment: Assignment, shown: str, given: Mapping[str, bytes] = {}
) -> Skeleton:
    """Strip every file of the reference; `shown` is its folder's name for messages, such as `reference`.

    Raises:
        ReleaseError: with every problem of every file.
    """
    problems: list[str] = []
    sources: dict[str, Source] = {}
    regions: dict[str, list[Region]] = {}
    tasks = coded_tasks(assignment)
    if assignment.written and ANSWERS not in reference:
        fault = f"task {assignment.written[0].number} is answered in writing, but there is no {ANSWERS}"
        problems.append(f"{shown}/{ANSWERS}: {fault}; write there what students find in it")
    for path, content in sorted(reference.items()):
        if path == TRANSLATIONS or (path == ANSWERS and assignment.written):
            continue  # of the instructor's own model: the gates count BLEU where they are; a form goes out as it is
        if not path.endswith(".py"):
            problems.append(f"{shown}/{path}: only Python files are made into the skeleton; move it out of the package")
            continue
        try:
            source = parse_source(f"{shown}/{path}", decode(f"{shown}/{path}", content))
            regions[path] = find_regions(source, [task.number for task in tasks])
            sources[path] = source
        except ReleaseError as error:
            problems.append(str(error))
    present = {region.number for inside in regions.values() for region in inside}
    for task in [] if problems else tasks:  # a fault in a region would show up here a second time
        if task.number not in present:
            fault = f"task {task.number} ({task.name}) has no `# TODO {task.number}:` region in {shown}/"
            problems.append(f"{ASSIGNMENT_FILE}: {fault}; mark its solution, or remove the task")
    if problems:
        raise ReleaseError("\n".join(problems))
    files = {path: text.encode("utf-8") for path, text in strip_files(sources, regions).items()}
    files |= {ANSWERS: reference[ANSWERS]} if assignment.written else {}
    beside = {path: parse_source(path, decode(path, text)) for path, text in given.items() if path.endswith(".py")}
    return Skeleton(files, sources, regions, beside)


def strip_files(sources: Mapping[str, Source], regions: Mapping[str, Sequence[Region]]) -> dict[str, str]:
    """Return the files without the solutions in these regions; a file without regions comes back as it is."""
    return {
        path: drop_unused_imports(strip_regions(source, regions[path])) if regions[path] else source.text
        for path, source in sources.items()
    }


def strip_regions(source: Source, regions: Sequence[Region]) -> str:
    """Return the text of the skeleton: hints stay, markers and solutions go."""
    parts: list[str] = []
    position = 0
    for region in regions:
        last = source.lines[region.end - 1]
        newline = last[len(last.rstrip("\r\n")) :]
        parts += source.lines[position : region.begin - 1]
        parts += [region.indent, raise_statement(region.number), newline]
        position = region.end
    return "".join([*parts, *source.lines[position:]])


def raise_statement(number: str) -> str:
    """Return the statement in the place of a solution; the hint above it says what to do."""
    return f'raise NotImplementedError("TODO {number}")'


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
