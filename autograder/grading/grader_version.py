"""Two versions that a record keeps: of what decides the outcomes of tests, and of what outcomes are worth.

After a change of the first a submission has to run again; after a change of the second its stored outcomes are
weighed anew. Reports, class pages and the command line are left out: a change to them concerns no mark.
"""

import hashlib
import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE, REFERENCE, ROOT

ROOMS = (
    "foundation",
    *(f"autograder/{file}.py" for file in ("adapters", "assignment_code", "rules", "sources")),
    *(
        f"autograder/{room}"
        for room in ("assignment", "diagnosis", "grading", "intake", "sandbox", "scoring", "testing")
    ),
)
KINDS = (".py", ".ini", ".json", ".toml")
PACKAGES = ("torch", "numpy", "pytest", "sacrebleu", "safetensors")


def grader_version(assignment: Assignment, release: Path, references: Path) -> str:
    """Sixteen hex digits for the grader, its tests, the limits in force, these paths, Python and the packages.

    Points, thresholds and titles are left out; see `weighting_of`.

    Args:
        assignment: as it is used; its limits may differ from its file's.
        release: the skeleton's folder.
        references: of the test split; they may be missing.

    Raises:
        FileNotFoundError: where a room of the grader has moved.
    """
    deciding = {"Python": platform.python_version(), **{package: _version(package) for package in PACKAGES}}
    for path in _deciding_files(ROOT, ROOMS):
        deciding[path.relative_to(ROOT).as_posix()] = _hash_of(path)
    if assignment.folder != ASSIGNMENT:
        for path in _deciding_files_in(assignment.folder):
            deciding[f"assignment {path.relative_to(assignment.folder).as_posix()}"] = _hash_of(path)
    reference = REFERENCE if assignment.folder == ASSIGNMENT else assignment.reference
    if reference.is_dir():  # which the diagnosis compares with
        for path in sorted(reference.glob("*.py")):
            deciding[f"reference {path.name}"] = _hash_of(path)
    for path in sorted(release.rglob("*.py")):
        deciding[f"release {path.relative_to(release).as_posix()}"] = _hash_of(path)
    deciding["references"] = _hash_of(references)
    deciding["limits"] = _as_text(asdict(assignment.limits))
    deciding["contract"] = _as_text(asdict(assignment.contract))
    deciding["tasks"] = _as_text([(task.number, task.components) for task in assignment.tasks])
    digest = hashlib.sha256()
    for name, value in deciding.items():
        digest.update(f"{name} {value}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def weighting_of(assignment: Assignment) -> str:
    """Sixteen hex digits for all of the assignment that decides what outcomes are worth, and how parts are called."""
    tasks = [{**asdict(task), "components": None} for task in assignment.tasks]
    content = _as_text([assignment.title, assignment.credit, assignment.thresholds, tasks])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _deciding_files(root: Path, rooms: Sequence[str]) -> Iterator[Path]:
    for room in rooms:
        found = _deciding_files_in(root / room)
        if not found:
            raise FileNotFoundError(f"{root / room}: no such room of the grader")
        yield from found


def _deciding_files_in(folder: Path) -> list[Path]:
    paths = [folder] if folder.is_file() else folder.rglob("*")
    found = sorted(path for path in paths if path.suffix in KINDS)
    return [path for path in found if path.name != ASSIGNMENT_FILE.name]  # whose content is told apart


def _as_text(content: object) -> str:
    return json.dumps(content, sort_keys=True, default=sorted)  # the contract has sets


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
