"""What students' own tests are tried on: right and faulty implementations, as code that does not tell which is which.

`own_tests.toml` names them, by the component that is tested. Right ones are the reference and correct variants; faulty
ones are made of the reference by the catalogue. A server that has neither has them in one file instead, which
`python -m autograder.grading.implementations` prints; packed, so that nobody reads a solution there by chance.
"""

from __future__ import annotations

import ast
import base64
import json
import marshal
import sys
import tomllib
import zlib
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType

from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.command_line import UserError

from ..cells import read_cells
from ..diagnosis.catalogue import apply, faults_of
from ..sources import read_modules

FILE, PACKED = "own_tests.toml", "own_tests.packed"
REFERENCE = "reference"
WRAPPED = "\n\ndef implementation(*inputs, **options):\n    return {name}(*inputs, **options)\n"


@dataclass(frozen=True)
class Implementation:
    """One implementation of a component.

    Attributes:
        name: "reference", or of a correct variant; the id of a fault.
        text: Python that sets the name `implementation`.
        group: the item of the rubric that a faulty one belongs to; "" = it is right.
        law: of a right one: what a test has demanded that accepts either this one or the reference.
    """

    name: str
    text: str
    group: str = ""
    law: str = ""

    @property
    def code(self) -> str:
        """The compiled text in hexadecimal digits, which tells neither names of files nor lines."""
        return _compiled(self.text)


def implementations_of(task: Task, assignment: Assignment) -> dict[str, list[Implementation]]:
    """All implementations, by the component that is tested, the reference first.

    Raises:
        UserError: where the file names what is not there.
    """
    packed = assignment.folder / PACKED
    if packed.is_file():
        content = json.loads(zlib.decompress(base64.b85decode(packed.read_bytes())))
        return {component: [Implementation(**one) for one in content[component]] for component in task.tests_of}
    return {component: list(_made(component, task, assignment)) for component in task.tests_of}


def pack(assignment: Assignment) -> bytes:
    """All implementations in one file."""
    tasks = [task for task in assignment.tasks if task.tests_of]
    made = {component: known for task in tasks for component, known in implementations_of(task, assignment).items()}
    content = {component: [asdict(one) for one in known] for component, known in made.items()}
    return base64.b85encode(zlib.compress(json.dumps(content).encode(), 9))


def _made(component: str, task: Task, assignment: Assignment) -> Iterator[Implementation]:
    table = tomllib.loads((assignment.folder / FILE).read_text(encoding="utf-8"))[component]
    module, _, name = component.partition(".")
    sources = read_modules(assignment.reference)
    cells = {
        cell.name: cell.text
        for path in sorted((assignment.folder / "proof" / "variants").glob(f"{module}*.py"))
        for cell in read_cells(path)
    }
    faults = {fault.id: fault for fault in faults_of(assignment)}
    others = {one.partition(".")[2] for one in assignment.contract.components} - {name}
    for variant in table["right"]:
        if variant != REFERENCE and variant not in cells:
            raise UserError(f"{FILE}: {component}: right: there is no correct variant {variant!r}")
        text = sources[module][1] if variant == REFERENCE else cells[variant]
        yield Implementation(variant, _alone(text, name, others), law=table["laws"].get(variant, ""))
    for group, ids in table["groups"].items():
        if group not in {item.name for item in task.items}:
            raise UserError(f"{FILE}: {component}: groups: task {task.number} has no item {group!r}")
        for fault in ids:
            if fault not in faults:
                raise UserError(f"{FILE}: {component}: {group}: there is no fault {fault!r}")
            yield Implementation(fault, _alone(apply(faults[fault], sources)[module][1], name, others), group)


def _alone(text: str, name: str, others: Collection[str]) -> str:
    """One definition of a module and what it needs there, without docstrings and comments."""
    tree = ast.parse(text)
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and node.level) and getattr(node, "name", "") not in others
    ]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree) + WRAPPED.format(name=name)


@lru_cache(maxsize=512)
def _compiled(text: str) -> str:
    return marshal.dumps(_without_traces(compile(text, "", "exec", dont_inherit=True))).hex()


def _without_traces(code: CodeType) -> CodeType:
    inner = tuple(_without_traces(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_consts=inner, co_filename="", co_firstlineno=1, co_linetable=b"")


if __name__ == "__main__":
    sys.stdout.buffer.write(pack(read_assignment(Path(sys.argv[1]))))
