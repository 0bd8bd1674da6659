"""The one way from the engine to an assignment's own code: modules of its folder, found by name.

tests/             the component tests; pytest imports them
stand_ins/         run in the worker beside a submission; the worker loads them by itself
own_work/          questions and hunts about students' own code
proof/variants/    correct implementations that look different
"""

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

from foundation.assignment_file import Assignment
from foundation.command_line import UserError
from foundation.places import COMPONENT_TESTS, ROOT


def stand_ins_of(assignment: Assignment) -> ModuleType:
    """The package of stand-ins, to be used in this process; an empty one where the assignment has none."""
    return part_of(assignment, "stand_ins") or ModuleType("stand_ins")


def where_to_collect(assignment: Assignment) -> list[str]:
    """Arguments for pytest that collect the component tests, with their own configuration and no other."""
    claim_package(assignment.folder)
    tests = assignment.folder / "tests"
    settings = tests / "pytest.ini"
    if not tests.is_dir():
        tests = ROOT / COMPONENT_TESTS
    if not settings.is_file():  # students have it where they run pytest
        settings = ROOT / "pytest.ini"
    return [str(tests), "-c", str(settings), "--rootdir", str(tests), "--import-mode=importlib"]


def part_of(assignment: Assignment, name: str) -> ModuleType | None:
    """A module or package of the assignment, by its dotted name there; None where it has none."""
    folder = assignment.folder
    path = folder.joinpath(*name.split("."))
    if not (path / "__init__.py").is_file() and not path.with_suffix(".py").is_file():
        return None
    return importlib.import_module(f"{claim_package(folder)}.{name}")


def claim_package(folder: Path) -> str:
    """Makes an assignment's folder importable under the name that pytest gives it, and returns that name.

    The name begins with the outermost of the packages around the folder. Modules of another assignment with the same
    name are forgotten. Raises: UserError where the folder is not a package.
    """
    folder = folder.resolve()
    init = folder / "__init__.py"
    if not init.is_file():
        raise UserError(f"{folder}: __init__.py is missing: an assignment's folder is a Python package")
    packages = [folder, *takewhile(lambda outer: (outer / "__init__.py").is_file(), folder.parents)]
    name = ".".join(package.name for package in reversed(packages))
    known = sys.modules.get(name)
    if known is None or Path(known.__file__ or "").resolve() != init:
        for other in [other for other in sys.modules if other == name or other.startswith(f"{name}.")]:
            del sys.modules[other]
        spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(folder)])
        if spec is None or spec.loader is None:
            raise UserError(f"{init}: cannot be imported")
        sys.modules[name] = package = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(package)
        if parent := sys.modules.get(name.rpartition(".")[0]):
            setattr(parent, folder.name, package)
    return name


def table_of(assignment: Assignment, name: str) -> Mapping[str, Any]:
    """A table of the assignment's `own_work/calls.py`, by component; without it, tables are empty.

    SCENES has calls of a component to look into, BY_HAND some that can be computed: functions of a `Case` that make a
    scene. CALLS has calls that distinguish versions, by a description: functions of a submission and a `Case`.
    """
    return getattr(part_of(assignment, "own_work.calls"), name, {})


@dataclass(frozen=True)
class Cell:
    """A variant's part of one module, with what it imports."""

    name: str
    what: str
    module: str
    text: str
    path: Path


def read_cells(path: Path) -> Iterator[Cell]:
    """The variants in a file `MODULE.py`. Each begins with a line `# %% NAME` and a comment on what it is.

    In a file with any other name, that line is `# %% MODULE: NAME`. Imports stand at the top of the file. One from the
    module itself is left out: a cell becomes a part of it.
    """
    head, *cells = re.split(r"^# %% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for cell in cells:
        title, comment, _ = cell.split("\n", 2)
        named, _, name = title.rpartition(": ")
        module = named or path.stem
        imports = re.sub(rf"^from \.{module} import .*\n", "", head, flags=re.MULTILINE)
        yield Cell(name, comment.removeprefix("# "), module, f"{imports}# {cell}", path)
