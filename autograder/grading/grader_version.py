"""Two versions that a record keeps: of all that decides the outcomes of tests, and of the points for outcomes.

After a change of the first a submission has to run again; after a change of the second its stored outcomes are
weighed anew. Reports, class pages, the command line and public code are left out: a change to them concerns no mark.
"""

import hashlib
import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE, REFERENCE, ROOT

ROOMS = ("foundation", "autograder", "assignment")
FREE = ("assignment/outside/", *(f"autograder/{room}/" for room in ("classroom", "commands", "platforms", "reports")))
KINDS = (".py", ".ini", ".json", ".toml")
PACKAGES = ("torch", "numpy", "pytest", "sacrebleu")


def grader_version(assignment: Assignment, release: Path, references: Path) -> str:
    """Sixteen hex digits for the grader, its tests, the limits in force, these paths, Python and the packages.

    Points, thresholds and titles are left out; see `weighting_of`. `release` is the skeleton's folder.
    """
    deciding = {"Python": platform.python_version(), **{package: version(package) for package in PACKAGES}}
    is_own = assignment.folder == ASSIGNMENT
    folders = {room: ROOT / room for room in ROOMS}
    folders |= {} if is_own else {"another assignment": assignment.folder}
    folders |= {"the reference": REFERENCE if is_own else assignment.reference, "the release": release}
    for name, folder in folders.items():
        paths = (path for path in folder.rglob("*") if path.suffix in KINDS and path.name != ASSIGNMENT_FILE.name)
        hashes = {f"{name}/{path.relative_to(folder).as_posix()}": _hash_of(path) for path in paths}
        deciding |= {path: digest for path, digest in hashes.items() if not path.startswith(FREE)}
    deciding["references"] = _hash_of(references) if references.is_file() else "none"
    deciding["limits"] = _as_text(asdict(assignment.limits))
    deciding["contract"] = _as_text(asdict(assignment.contract))
    deciding["tasks"] = _as_text([(task.number, task.components) for task in assignment.tasks])
    return hashlib.sha256(_as_text(deciding).encode()).hexdigest()[:16]


def weighting_of(assignment: Assignment) -> str:
    """Sixteen hex digits for all of the assignment that decides the points for outcomes, and the names of parts."""
    tasks = [{**asdict(task), "components": None} for task in assignment.tasks]
    content = _as_text([assignment.title, assignment.credit, assignment.thresholds, tasks])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _as_text(content: object) -> str:
    return json.dumps(content, sort_keys=True, default=sorted)  # the contract has sets


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
