"""The one way from the engine to an assignment's own code: modules of its folder, found by name.

    tests/             the component tests; pytest imports them
    stand_ins/         run in the worker beside a submission; the worker loads them by itself

`assignment_parts.py` has what only staff use. All else that an assignment has is data: `foundation.assignment_file`,
and files below `Assignment.folder`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from foundation.assignment_file import Assignment, AssignmentError
from foundation.places import ROOT

NO_STAND_INS = ModuleType("stand_ins")


def stand_ins_of(assignment: Assignment) -> ModuleType:
    """The package of stand-ins, to be used in this process; an empty one where the assignment has none."""
    return part_of(assignment, "stand_ins") or NO_STAND_INS


def where_to_collect(assignment: Assignment) -> list[str]:
    """Arguments for pytest that collect the component tests, with their own configuration and no other.

    Raises:
        AssignmentError: where the assignment's folder is not a package.
    """
    claim_package(assignment.folder)
    tests = assignment.folder / "tests"
    settings = tests / "pytest.ini"
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
    name are forgotten: a process works with one of them at a time.

    Raises:
        AssignmentError: where the folder is not a package.
    """
    folder = folder.resolve()
    init = folder / "__init__.py"
    if not init.is_file():
        raise AssignmentError(f"{folder}: __init__.py is missing: an assignment's folder is a Python package")
    parts = [folder.name]
    for outer in folder.parents:
        if not (outer / "__init__.py").is_file():
            break
        parts.insert(0, outer.name)
    name = ".".join(parts)
    known = sys.modules.get(name)
    if known is None or Path(known.__file__ or "").resolve() != init:
        for other in [other for other in sys.modules if other == name or other.startswith(f"{name}.")]:
            del sys.modules[other]
        spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(folder)])
        if spec is None or spec.loader is None:
            raise AssignmentError(f"{init}: cannot be imported")
        sys.modules[name] = package = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(package)
        if len(parts) > 1 and (parent := sys.modules.get(name.rpartition(".")[0])):
            setattr(parent, parts[-1], package)
    return name
