"""Who may import whom: the engine stands apart from the assignment, the worker from everything. What the maps name.

A map is the list of modules in a package's docstring: it names every module, and nothing that is not there. Code is as
a count shows it: names that name nothing, docstrings that talk, component tests that end early.
"""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from foundation.places import ASSIGNMENT, ROOT

COMMAND = [sys.executable, "-m", "ruff", "analyze", "graph", "--isolated", "--quiet", "."]
GRAPH: dict[str, list[str]] = json.loads(subprocess.run(COMMAND, cwd=ROOT, capture_output=True, check=True).stdout)
"""The kit's files that each of its files imports, anywhere in it."""
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["packages"]
OURS = tuple(f"{name}/" for name in (*PACKAGES, "notebooks") if name != "assignment")
INTERFACE = "autograder/course/assignment_code.py"


def imports_of(folder: str, without: str = "no such folder") -> list[tuple[str, str]]:
    """What the files of a folder import of the kit: pairs of files."""
    files = [path for path in GRAPH if path.startswith(folder) and not path.startswith(without)]
    assert len(files) > 1
    return [(path, imported) for path in files for imported in GRAPH[path]]


@pytest.mark.parametrize(
    "folder, others",
    [
        ("autograder/", ("assignment/", "reference/", "release/", "validity/", "benchmarks/")),
        ("validity/", ("assignment/",)),
        ("release/", ("assignment/", "autograder/", "validity/", "benchmarks/")),
        ("foundation/", ("assignment/", *(name for name in OURS if name != "foundation/"))),
    ],
)
def test_packages_that_stand_apart(folder, others):
    assert [pair for pair in imports_of(folder) if pair[1].startswith(others)] == []


def test_only_the_interface_imports_by_computed_names():
    engine = [path for path in GRAPH if re.match(r"autograder/(?!sandbox/worker/)", path)]
    computing = [path for path in engine if b"import_module(f" in (ROOT / path).read_bytes()]
    assert computing == [INTERFACE]


@pytest.mark.parametrize("folder", ["autograder/sandbox/worker/", "assignment/stand_ins/"])
def test_what_runs_in_the_worker_imports_itself_and_libraries_only(folder):
    packages = {f"{'/'.join(folder.split('/')[:depth])}/__init__.py" for depth in (1, 2)}
    assert [pair for pair in imports_of(folder) if not pair[1].startswith(folder) and pair[1] not in packages] == []
    for path in (ROOT / folder).glob("*.py"):
        named = set(re.findall(r"^ *(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert named <= {"torch", "numpy", "matplotlib", *sys.stdlib_module_names}, path


def test_an_assignment_imports_only_what_the_guide_names():
    """Its code stands on the engine's tests and sandbox, never on grading, reports or releases."""
    own_work = (f"own_work/{module}.py" for module in ("boxes", "questions", "student_lines"))
    named = (*own_work, "course/assignment_code", "testing/", "intake/sources")
    allowed = ("foundation/", *(f"autograder/{name}" for name in named))
    pairs = imports_of("assignment/", without="assignment/proof/variants/")
    assert [pair for pair in pairs if pair[1].startswith(OURS) and not pair[1].startswith(allowed)] == []


def chart_of(folder: Path) -> str:
    """The indented lines of a package's docstring."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_bytes()), clean=False)
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


NO_NAMES = {"it", "one", "found", "what", "told", "said"}
TALK = re.compile(r"(What|Whether)\b|(?s:.*)\b(tells?|told|says)\b")
MOST_NAMES, MOST_DOCSTRINGS = 4, 29
"""As many as there are; both may only fall."""


def test_variables_are_named_after_what_they_hold_and_docstrings_do_not_talk():
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "variants" not in path.parts]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_bytes()))]
    names = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names += [node.arg for node in nodes if isinstance(node, ast.arg)]
    assert sum(name in NO_NAMES for name in names) <= MOST_NAMES
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, documented)]
    assert sum(TALK.match(docstring) is not None for docstring in docstrings) <= MOST_DOCSTRINGS


@pytest.mark.parametrize("path", sorted((ASSIGNMENT / "tests").glob("test_*.py")), ids=lambda path: path.stem)
def test_no_component_test_returns_early(path):
    """It judges or says that it cannot: whatever follows would pass unseen."""
    returns = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Return)]
    assert [node.lineno for node in returns if node.value is None] == []
