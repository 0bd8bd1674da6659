"""The maps in the packages' docstrings name every module, and nothing that is not there."""

import ast
import re
from pathlib import Path

import pytest

from foundation.places import ROOT


def chart_of(package: str) -> str:
    """The indented lines of a package's docstring."""
    text = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8")), clean=False)
    return "\n".join(line for line in (text or "").splitlines() if line.startswith("    "))


def listed_in(package: str) -> set[str]:
    """What the lines of a chart begin with."""
    return set(re.findall(r"^    (\w+(?:\.(?:py|md|toml)\b|/))", chart_of(package), re.MULTILINE))


def has_map(folder: Path) -> bool:
    return any((ROOT / folder / name).is_file() for name in listed_in(str(folder)))


FOLDERS = [path.parent.relative_to(ROOT) for path in sorted(ROOT.glob("[!.]*/**/__init__.py"))]
PACKAGES = [
    str(folder) for folder in FOLDERS if folder.parts[0] not in ("student", "notebooks", "build") and has_map(folder)
]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_map_is_complete(package):
    folder = ROOT / package
    named = set(re.findall(r"\b[\w]+\.(?:py|md|toml)\b|\b\w+/(?=\s)", chart_of(package)))
    there = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    there |= {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    assert there <= named
    for name in listed_in(package) - there:
        assert (folder / name).exists() or (ROOT / name).exists(), name


def test_large_packages_have_maps():
    assert {"autograder", "data", "foundation", "reference", "release", "validity"} <= {*PACKAGES}
