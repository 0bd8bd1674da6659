"""The version of everything that decides marks: a record of another version is out of date."""

import hashlib
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from foundation.places import ROOT

ROOMS = ("assignment", "diagnosis", "grading", "intake", "rules", "sandbox", "scoring", "testing")
PACKAGES = ("torch", "numpy", "pytest", "sacrebleu", "safetensors")


def suite_version(assignment: Path, release: Path, references: Path) -> str:
    """Sixteen hex digits for the grader, its tests, these three paths and the packages.

    Args:
        assignment: the assignment's file.
        release: the skeleton's folder.
        references: of the test split; they may be missing.
    """
    digest = hashlib.sha256()
    for path in _deciding_files():
        digest.update(f"{path.relative_to(ROOT)} {_hash_of(path)}\n".encode())
    for path in [assignment, *sorted(release.glob("*.py")), references]:
        digest.update(f"{path.name} {_hash_of(path)}\n".encode("utf-8", "surrogateescape"))
    digest.update(f"python {platform.python_version()}\n".encode())
    for package in PACKAGES:
        digest.update(f"{package} {_version(package)}\n".encode())
    return digest.hexdigest()[:16]


def _deciding_files() -> Iterator[Path]:
    for folder in (ROOT / "foundation", *(ROOT / "autograder" / room for room in ROOMS)):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".ini", ".json", ".toml"):
                yield path


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
