"""The version of everything that decides marks: a record of another version is out of date.

Reports, class pages and the command line are left out: a change to them regrades nobody.
"""

import hashlib
import json
import platform
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.places import ASSIGNMENT, REFERENCE, ROOT

ROOMS = (
    "foundation",
    *(
        f"autograder/{room}"
        for room in ("assignment", "diagnosis", "grading", "intake", "rules", "sandbox", "scoring", "testing")
    ),
)
KINDS = (".py", ".ini", ".json", ".toml")
PACKAGES = ("torch", "numpy", "pytest", "sacrebleu", "safetensors")


def grader_version(assignment: Assignment, release: Path, references: Path) -> str:
    """Sixteen hex digits for the grader, its tests, the limits in force, these paths, Python and the packages.

    Args:
        assignment: as it is used; its limits may differ from its file's.
        release: the skeleton's folder.
        references: of the test split; they may be missing.

    Raises:
        FileNotFoundError: where a room of the grader has moved.
    """
    digest = hashlib.sha256()

    def add(kind: str, name: str, value: str) -> None:
        digest.update(f"{kind} {name} {value}\n".encode("utf-8", "surrogateescape"))

    for path in _deciding_files(ROOT):
        add("grader", path.relative_to(ROOT).as_posix(), _hash_of(path))
    if assignment.folder != ASSIGNMENT:
        for path in _deciding_files_in(assignment.folder):
            add("assignment", path.relative_to(assignment.folder).as_posix(), _hash_of(path))
    reference = REFERENCE if assignment.folder == ASSIGNMENT else assignment.reference
    if reference.is_dir():  # which the diagnosis compares with
        for path in sorted(reference.glob("*.py")):
            add("reference", path.name, _hash_of(path))
    for path in sorted(release.rglob("*.py")):
        add("release", path.relative_to(release).as_posix(), _hash_of(path))
    add("assignment", "file", _hash_of(assignment.path))
    add("assignment", "limits", json.dumps(asdict(assignment.limits), sort_keys=True))
    add("references", "file", _hash_of(references))
    add("python", "version", platform.python_version())
    for package in PACKAGES:
        add("package", package, _version(package))
    return digest.hexdigest()[:16]


def _deciding_files(root: Path) -> Iterator[Path]:
    for room in ROOMS:
        found = _deciding_files_in(root / room)
        if not found:
            raise FileNotFoundError(f"{root / room}: no such room of the grader")
        yield from found


def _deciding_files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in KINDS)


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
