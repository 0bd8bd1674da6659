"""All passes over one folder: the reference in, the students' package out, both as bytes by path.

Every region becomes `raise NotImplementedError("TODO 1.3")`, and imports that only solutions used go; all else stays
byte for byte. `foundation/texts.py` has the words of the error, and of what students see when it is raised.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment, Task
from foundation.places import ANSWERS
from foundation.texts import label_of

from .regions import Problem, Region, ReleaseError, Source, find_regions, read_source

TRANSLATIONS = "translations.txt"

IGNORED_FOLDERS = {"__pycache__", "runs"}

ASSIGNMENT_FILE = "autograder/assignment/assignment.toml"

SECONDS = 60
_RUFF = ("-m", "ruff", "check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--select", "F401", "--fix")


@dataclass(frozen=True)
class Skeleton:
    """What the passes made, with what the gates compare it against.

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

    def numbers_in(self, path: str) -> set[str]:
        """The tasks that have a TODO in a file."""
        return {region.hint.number for region in self.regions[path]}

    def files_of(self, number: str) -> list[str]:
        """The files that have a TODO of a task."""
        return [path for path in sorted(self.regions) if number in self.numbers_in(path)]


def read_folder(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its relative path, in order; caches and hidden files left out."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") or part in IGNORED_FOLDERS for part in parts):
            files["/".join(parts)] = path.read_bytes()
    return files


def coded_tasks(assignment: Assignment) -> list[Task]:
    """The tasks that are judged by code, and therefore have a TODO; the others are judged by translations."""
    return [task for task in assignment.tasks if task.components]


def make_skeleton(
    reference: Mapping[str, bytes], assignment: Assignment, shown: str, given: Mapping[str, bytes] | None = None
) -> Skeleton:
    """Strips every file of the reference.

    Args:
        reference: the folder's files.
        assignment: has the tasks.
        shown: the folder's name for messages, such as `reference`.
        given: files that students get beside the package, by path.

    Raises:
        ReleaseError: with every problem of every file.
    """
    problems: list[Problem] = []
    sources: dict[str, Source] = {}
    regions: dict[str, list[Region]] = {}
    tasks = coded_tasks(assignment)
    if assignment.written and ANSWERS not in reference:
        what = f"task {assignment.written[0].number} is answered in writing, but there is no {ANSWERS}"
        problems.append(Problem(f"{shown}/{ANSWERS}", 0, what, "write there what students find in it"))
    for path, content in sorted(reference.items()):
        if path == TRANSLATIONS or (path == ANSWERS and assignment.written):
            continue  # of the instructor's own model: the gates count BLEU where they are; a form goes out as it is
        if not path.endswith(".py"):
            what = "only Python files are made into the skeleton"
            problems.append(Problem(f"{shown}/{path}", 0, what, "move it out of the package"))
            continue
        try:
            source = read_source(f"{shown}/{path}", content)
            regions[path] = find_regions(source, [task.number for task in tasks])
            sources[path] = source
        except ReleaseError as error:
            problems += error.problems
    present = {region.hint.number for found in regions.values() for region in found}
    for task in [] if problems else tasks:  # a fault in a region would show up here a second time
        if task.number not in present:
            what = f"task {task.number} ({task.name}) has no `# TODO {task.number}:` region in {shown}/"
            problems.append(Problem(ASSIGNMENT_FILE, 0, what, "mark its solution, or remove the task"))
    if problems:
        raise ReleaseError(problems)
    files = {path: text.encode("utf-8") for path, text in strip_files(sources, regions).items()}
    files |= {ANSWERS: reference[ANSWERS]} if assignment.written else {}
    beside = {path: read_source(path, text) for path, text in (given or {}).items() if path.endswith(".py")}
    return Skeleton(files, sources, regions, beside)


def strip_files(sources: Mapping[str, Source], regions: Mapping[str, Sequence[Region]]) -> dict[str, str]:
    """The files without the solutions in these regions; a file without regions comes back as it is."""
    stripped = {path: strip_regions(sources[path], found) for path, found in regions.items() if found}
    return {path: source.text for path, source in sources.items()} | drop_unused_imports(stripped)


def strip_regions(source: Source, regions: Sequence[Region]) -> str:
    """The text of the skeleton: hints stay, markers and solutions go."""
    parts: list[str] = []
    position = 0
    for region in regions:
        last = source.lines[region.end - 1]
        newline = last[len(last.rstrip("\r\n")) :]
        parts += [
            *source.lines[position : region.begin - 1],
            region.indent,
            raise_statement(region.hint.number),
            newline,
        ]
        position = region.end
    return "".join([*parts, *source.lines[position:]])


def raise_statement(number: str) -> str:
    """What stands in the place of a solution; the hint above it says what to do."""
    return f'raise NotImplementedError("{label_of(number)}")'


def drop_unused_imports(files: Mapping[str, str]) -> dict[str, str]:
    """Removes every import that its file does not use, by ruff; all else stays byte for byte.

    An import that nothing uses but that has to stay, for its effect, is marked in the reference: `# noqa: F401`.
    """
    with tempfile.TemporaryDirectory(prefix="stripped-") as name:
        folder = Path(name)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text.encode("utf-8"))
        command = [sys.executable, *_RUFF, name]
        finished = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603 (fixed but for the folder)
        if finished.returncode:
            said = finished.stderr.strip().split("\n")[-1]
            raise ReleaseError(f"ruff, which removes unused imports, failed ({said}); install it: make install")
        return {path: _close_gaps((folder / path).read_bytes().decode("utf-8")) for path in files}


def _close_gaps(text: str) -> str:
    """Where a whole paragraph of imports went, one of the two blank lines around it goes too."""
    return re.sub(r"\n{4,}", "\n\n\n", re.sub(r"\n{3,}(?=import |from )", "\n\n", text))
