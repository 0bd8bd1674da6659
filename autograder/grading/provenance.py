"""The origin of a mark: the seed of the tests' random inputs, the versions of all that decides it, and a seal.

The seed follows from the term's secret alone: all submissions of a term get the same inputs, so that the same mistake
costs two neighbours the same points, a disputed mark can be replayed, and the release proves with these very inputs
that the reference earns everything. A record holds only an id of the seed, and is sealed with the secret.

After a change of the grader's version a submission has to run again; after a change of the weighting its stored
outcomes are weighed anew. Reports, class pages and the command line are left out.
"""

from __future__ import annotations

import ast
import hashlib
import hmac
import json
import platform
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE, REFERENCE, ROOT, term_secret

if TYPE_CHECKING:
    from .record import Record

ROOMS = ("foundation", "autograder", "assignment")
FREE = ("assignment/outside/", *(f"autograder/{room}/" for room in ("classroom", "commands", "platforms", "reports")))
KINDS = (".py", ".ini", ".json", ".toml")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PACKAGES = ("torch", "numpy", "pytest", "sacrebleu")


@dataclass(frozen=True)
class Seeds:
    """The seeds of a term."""

    secret: bytes  # of the term
    fixed: int | None = None  # used instead of the term's own seed

    def seed_of(self, purpose: str) -> int:
        """The seed for a purpose; nobody can predict it without the secret."""
        return int(self._code_of(purpose)[:32], 16) if self.fixed is None else self.fixed

    @property
    def of_tests(self) -> int:
        """The seed of the component tests' inputs."""
        return self.seed_of("inputs of the component tests")

    @property
    def id_of_tests(self) -> str:
        """The name of that seed in a record: without the secret not even a short seed can be guessed from it."""
        return self._code_of(f"id of seed {self.of_tests}")[:12]

    def seal(self, record: Record) -> Record:
        """The record with a seal that only the holder of the secret can make."""
        blank = record.changed(seal="")
        return record.changed(seal=self._code_of(f"record\n{blank.model_dump_json()}"))

    def has_sealed(self, record: Record) -> bool:
        """True if a record is as this term's grader wrote it."""
        return hmac.compare_digest(record.seal, self.seal(record).seal)

    def _code_of(self, text: str) -> str:
        """A text's message authentication code in hexadecimal."""
        return hmac.digest(self.secret, text.encode(), hashlib.sha256).hex()


def seeds_of_term(root: Path, fixed: int | None = None) -> Seeds:
    """The seeds of the project in this folder."""
    return Seeds(term_secret(root), fixed)


def grader_version(assignment: Assignment, release: Path, references: Path) -> str:
    """Sixteen hex digits for the grader, its tests, the limits in force, these paths, Python and the packages.

    Points, thresholds and titles are left out; see `weighting_of`. `release` is the skeleton's folder.
    """
    is_own = assignment.folder == ASSIGNMENT
    folders = {room: ROOT / room for room in ROOMS}
    folders |= {} if is_own else {"another assignment": assignment.folder}
    folders |= {"the reference": REFERENCE if is_own else assignment.reference, "the release": release}
    deciding: dict[str, object] = {"Python": platform.python_version()}
    deciding |= {package: version(package) for package in PACKAGES}
    deciding |= {
        path: hashlib.sha256(file.read_bytes() if name in ROOMS else code_of(file.read_bytes())).hexdigest()
        for name, folder in folders.items()
        for file in folder.rglob("*")
        if file.suffix in KINDS
        and file.name != ASSIGNMENT_FILE.name
        and not (path := f"{name}/{file.relative_to(folder).as_posix()}").startswith(FREE)
    }
    deciding["references"] = hashlib.sha256(references.read_bytes()).hexdigest() if references.is_file() else "none"
    deciding |= {"limits": asdict(assignment.limits), "contract": asdict(assignment.contract)}
    deciding["tasks"] = [(task.number, task.components) for task in assignment.tasks]
    return _digits_of(deciding)


@cache
def code_of(content: bytes) -> bytes:
    """A module without comments and docstrings: mended texts change no mark."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # no Python, in whichever folder an option names
        return content
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            del node.body[0]
    return ast.dump(tree).encode()


def weighting_of(assignment: Assignment) -> str:
    """Sixteen hex digits for all of the assignment that decides the points for outcomes, and the names of parts."""
    tasks = [{**asdict(task), "components": None} for task in assignment.tasks]
    return _digits_of([assignment.title, assignment.credit, assignment.thresholds, tasks])


def _digits_of(content: object) -> str:
    text = json.dumps(content, sort_keys=True, default=sorted)  # the contract has sets
    return hashlib.sha256(text.encode()).hexdigest()[:16]
