"""Release and autograder know each other as a command and as files, not as modules."""

import ast
from pathlib import Path

import pytest

from foundation.places import ROOT

APART = [("release", {"autograder", "validity", "benchmarks"}), ("autograder", {"release", "validity", "benchmarks"})]


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports absolutely."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize(("package", "others"), APART)
def test_no_file_imports_a_package_that_it_must_not_know(package: str, others: set[str]) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert len(files) > 20
    wrong = {path.relative_to(ROOT).as_posix(): imported(path) & others for path in files if imported(path) & others}
    assert wrong == {}
