"""Implementations that students' own tests are tried on, made of the reference and the catalogue.

`own_tests.toml` names them. A grading server, which has neither reference nor catalogue, gets them in a file:

    python -m autograder.own_work.made_code FILE         prints what a server tries own tests on
"""

from __future__ import annotations

import ast
import base64
import json
import sys
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.command_line import UserError

from ..course.assignment_code import read_cells
from ..course.catalogue import apply, faults_of
from ..intake.sources import read_modules

OWN_TESTS, PACKED = "own_tests.toml", "own_tests.packed"
REFERENCE = "reference"


def read_table(assignment: Assignment, file: str) -> Mapping[str, Any]:
    """Read a file of the assignment."""
    return tomllib.loads((assignment.folder / file).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Implementation:
    """One implementation of a component."""

    name: str  # "reference", or of a correct variant; the id of a fault
    text: str  # Python that sets the name `implementation`
    group: str = ""  # the item of the rubric that a faulty one belongs to; "" = it is right
    law: str = ""  # of a right one: what a test has demanded that accepts either this one or the reference


def implementations_of(task: Task, assignment: Assignment) -> dict[str, list[Implementation]]:
    """All implementations, by component, the reference first. Raises: UserError where the file names an unknown one."""
    packed = assignment.folder / PACKED
    if packed.is_file():
        content = json.loads(zlib.decompress(base64.b85decode(packed.read_bytes())))
        return {component: [Implementation(**row) for row in content[component]] for component in task.tests_of}
    return {component: list(_made(component, task, assignment)) for component in task.tests_of}


def _made(component: str, task: Task, assignment: Assignment) -> Iterator[Implementation]:
    table = read_table(assignment, OWN_TESTS)[component]
    module = component.partition(".")[0]
    sources = read_modules(assignment.reference)
    if module not in sources:
        raise UserError(f"{assignment.reference}: no {module}.py in it; expected the solution, beside the assignment")
    cells = {
        cell.name: cell.text
        for path in sorted((assignment.folder / "proof" / "variants").glob(f"{module}*.py"))
        for cell in read_cells(path)
    }
    faults = {fault.id: fault for fault in faults_of(assignment)}
    for variant in table["right"]:
        if variant != REFERENCE and variant not in cells:
            raise UserError(f"{OWN_TESTS}: {component}: right: there is no correct variant {variant!r}")
        text = sources[module][1] if variant == REFERENCE else cells[variant]
        yield Implementation(variant, _alone(component, text), law=table["laws"].get(variant, ""))
    for group, ids in table["groups"].items():
        if group not in {item.name for item in task.items}:
            raise UserError(f"{OWN_TESTS}: {component}: groups: task {task.number} has no item {group!r}")
        for fault in ids:
            if fault not in faults:
                raise UserError(f"{OWN_TESTS}: {component}: {group}: there is no fault {fault!r}")
            yield Implementation(fault, _alone(component, apply(faults[fault], sources)[module][1]), group)


def _alone(component: str, text: str) -> str:
    """A module with this text as an implementation of a component: without its own package, and without comments."""
    module = ast.parse(text)
    module.body = [node for node in module.body if not (isinstance(node, ast.ImportFrom) and node.level)]
    return f"{ast.unparse(module)}\n\nimplementation = {component.partition('.')[2]}\n"


def pack(assignment: Assignment) -> bytes:
    """All implementations in one file."""
    tasks = [task for task in assignment.tasks if task.tests_of]
    made = [component for task in tasks for component in implementations_of(task, assignment).items()]
    content = {name: [*map(asdict, implementations)] for name, implementations in made}
    return base64.b85encode(zlib.compress(json.dumps(content, ensure_ascii=False).encode(), 9))


if __name__ == "__main__":
    sys.stdout.buffer.write(pack(read_assignment(Path(sys.argv[1]))))
