"""The version of everything that decides marks: a record of another version is out of date."""

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
DECIDING = ("*.py", "assignment.toml", "checking/*.py", "intake/*.py", "rules/*.py", "sandbox/*.py", "sandbox/*.json")
DECIDING += ("scoring/*.py", "tests/*.py", "worker/*.py")
PACKAGES = ("torch", "numpy", "pytest", "sacrebleu")


def suite_version(assignment: Path, release: Path, references: Path) -> str:
    """Sixteen hex digits for the grader, its tests, these three paths and the packages.

    Args:
        assignment: the assignment's file.
        release: the skeleton's folder.
        references: of the test split; they may be missing.
    """
    digest = hashlib.sha256()
    files = [path for pattern in DECIDING for path in sorted(HERE.glob(pattern))]
    for path in [*files, assignment, *sorted(release.glob("*.py")), references]:
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"
        digest.update(f"{path.name} {content}\n".encode("utf-8", "surrogateescape"))
    for package in PACKAGES:
        digest.update(f"{package} {_version(package)}\n".encode())
    return digest.hexdigest()[:16]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
