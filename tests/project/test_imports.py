"""Who may import whom: the engine stands apart from the assignment, the worker from everything. What the maps name.

A map is the list of modules in a package's docstring: it names every module, and nothing that is not there.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from foundation.places import ROOT

OURS = ("autograder", "benchmarks", "data", "foundation", "given", "notebooks", "reference", "release", "validity")
INTERFACE = "autograder/course/assignment_code.py"


def files_in(*folders: str, without: tuple[str, ...] = ()) -> list[str]:
    """Paths of modules, relative to the root."""
    paths = (path.relative_to(ROOT).as_posix() for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return [path for path in paths if not path.startswith(without)]


@cache
def imports_of(path: str) -> list[str]:
    """Absolute names of what a file imports, anywhere in it; `from a import b` gives `a.b`."""
    parts, found = Path(path).with_suffix("").parts, []
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            module = ".".join(filter(None, (origin, node.module)))
            found += [f"{module}.{alias.name}" for alias in node.names]
    return found


def importing(paths: list[str], *names: str) -> list[str]:
    """What these files import of some packages."""
    return [
        f"{path} imports {name}"
        for path in paths
        for name in imports_of(path)
        if any(f"{name}.".startswith(f"{package}.") for package in names)
    ]


ENGINE = files_in("autograder", without=("assignment/",))
APART = {  # files, and packages that they must not import
    "the engine from the assignment": (ENGINE + files_in("validity", "release"), ["assignment"]),
    "the grader from the reference, which may have other modules": (ENGINE, ["reference"]),
    "the grader from what makes and proves": (files_in("autograder"), ["release", "validity", "benchmarks"]),
    "the release from the grader": (files_in("release"), ["autograder", "validity", "benchmarks"]),
    "the foundation from all": (files_in("foundation"), [name for name in OURS if name != "foundation"]),
}


@pytest.mark.parametrize("what", APART)
def test_packages_that_stand_apart(what):
    files, others = APART[what]
    assert len(files) > 5 and importing(files, *others) == []


def test_only_the_interface_imports_by_computed_names():
    engine = files_in("autograder", without=("autograder/sandbox/worker/",))
    assert [path for path in engine if "import_module(f" in (ROOT / path).read_text(encoding="utf-8")] == [INTERFACE]


@pytest.mark.parametrize("folder", ["autograder/sandbox/worker", "assignment/stand_ins"])
def test_what_runs_in_the_worker_imports_itself_and_libraries_only(folder):
    allowed = (folder.replace("/", "."), "torch", "numpy", "matplotlib", *sys.stdlib_module_names)
    for path in files_in(folder):
        for name in imports_of(path):
            assert any(f"{name}.".startswith(f"{package}.") for package in allowed), f"{path} imports {name}"


def test_an_assignment_imports_only_what_the_guide_names():
    """Its code stands on the engine's tests and sandbox, never on grading, reports or releases."""
    paths = files_in("assignment", without=("assignment/proof/variants/",))
    allowed = (
        "assignment",
        "autograder.course.assignment_code",
        "autograder.own_work.boxes",
        "autograder.own_work.student_lines",
        "autograder.own_work.traced_questions",
        "autograder.testing",
        "autograder.intake.sources",
        "foundation",
    )
    ours = [line for line in importing(paths, *OURS) if not line.partition(" imports ")[2].startswith(allowed)]
    assert ours == []


def chart_of(folder: Path) -> str:
    """The indented lines of a package's docstring."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")), clean=False)
    return "\n".join(line for line in (text or "").splitlines() if line.startswith("    "))


def listed_in(folder: Path) -> set[str]:
    """What the lines of a chart begin with."""
    return set(re.findall(r"^    (\w+(?:\.(?:py|md|toml)\b|/))", chart_of(folder), re.MULTILINE))


MADE = ("student", "notebooks", "build")
FOLDERS = [path.parent for path in sorted(ROOT.glob("[!.]*/**/__init__.py"))]
FOLDERS = [folder for folder in FOLDERS if folder.relative_to(ROOT).parts[0] not in MADE]
CHARTED = [folder for folder in FOLDERS if any((folder / name).is_file() for name in listed_in(folder))]


@pytest.mark.parametrize("folder", CHARTED, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_a_map_is_complete(folder):
    named = set(re.findall(r"\b[\w]+\.(?:py|md|toml)\b|\b\w+/(?=\s)", chart_of(folder)))
    there = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    there |= {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    assert there <= named
    for name in listed_in(folder) - there:
        assert (folder / name).exists() or (ROOT / name).exists(), name
