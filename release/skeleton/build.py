"""All passes over one folder: the reference in, the students' package out, both as bytes by path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment, Task

from ..problems import Problem, ReleaseError
from .regions import Region, find_regions
from .source import Source, read_source
from .strip import strip_regions
from .unused_imports import drop_unused_imports

TRANSLATIONS = "translations.txt"

IGNORED_FOLDERS = {"__pycache__", "runs"}


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
    regions: Mapping[str, tuple[Region, ...]]
    given: Mapping[str, Source]


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
    return [task for task in assignment.tasks if task.threshold is None]


def make_skeleton(
    reference: Mapping[str, bytes], assignment: Assignment, shown: str, given: Mapping[str, bytes] | None = None
) -> Skeleton:
    """Strips every file.

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
    regions: dict[str, tuple[Region, ...]] = {}
    numbers = [task.number for task in coded_tasks(assignment)]
    for path, content in sorted(reference.items()):
        if path == TRANSLATIONS:
            continue  # of the instructor's own model: the gates count BLEU where they are
        if not path.endswith(".py"):
            what = "only Python files are made into the skeleton"
            problems.append(Problem(f"{shown}/{path}", 0, what, "move it out of the package"))
            continue
        try:
            source = read_source(f"{shown}/{path}", content)
        except ReleaseError as error:
            problems += error.problems
            continue
        found, more = find_regions(source, numbers)
        problems += more
        sources[path], regions[path] = source, tuple(found)
    if not problems:  # a fault in a region would show up here a second time
        problems += _tasks_without_region(assignment, regions, shown)
    if problems:
        raise ReleaseError(problems)
    files = {path: text.encode("utf-8") for path, text in strip_files(sources, regions).items()}
    beside = {path: read_source(path, text) for path, text in (given or {}).items() if path.endswith(".py")}
    return Skeleton(files, sources, regions, beside)


def strip_files(sources: Mapping[str, Source], regions: Mapping[str, Sequence[Region]]) -> dict[str, str]:
    """The files without the solutions in these regions; a file without regions comes back as it is."""
    stripped = {path: strip_regions(sources[path], found) for path, found in regions.items() if found}
    return {path: source.text for path, source in sources.items()} | drop_unused_imports(stripped)


def _tasks_without_region(
    assignment: Assignment, regions: Mapping[str, tuple[Region, ...]], shown: str
) -> list[Problem]:
    present = {region.hint.number for found in regions.values() for region in found}
    return [
        Problem(
            "autograder/assignment/assignment.toml",
            0,
            f"task {task.number} ({task.name}) has no `# TODO {task.number}:` region in {shown}/",
            "mark its solution, or remove the task",
        )
        for task in coded_tasks(assignment)
        if task.number not in present
    ]
