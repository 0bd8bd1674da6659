"""Reads the catalogue of misconceptions and applies its patches to sources.

A patch is one or more edits, `find` -> `replace`, within the definition of the fault's component (or of another
function, or a whole module: `within`). Each must apply exactly once, so that no fault silently tests nothing after a
change of the reference: a release asks `python -m autograder.course.catalogue REFERENCE`.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from foundation.assignment_file import Assignment, marker_of, read_assignment
from foundation.assignment_tables import TEXT, read_table, read_values, suggest
from foundation.command_line import UserError, run_command

from ..intake.sources import Source, Sources, read_modules

PATTERNS = "misconceptions/patterns.json"
"""In the assignment's folder: what tests see of each fault, by its id; `validity hints` writes it."""
FILE = {"component": TEXT, "task": TEXT}
_load = cache(tomllib.loads)


@dataclass(frozen=True)
class Edit:
    """One replacement within a definition "module.Name" or a whole "module"."""

    find: str
    replace: str
    within: str = ""


@dataclass(frozen=True)
class Fault:
    """One misconception."""

    id: str  # unique, for people and tables
    component: str  # of the contract, that has the fault
    task: str  # number of the one that must find it
    when: str  # completes "Your code behaves exactly like code that ...", in the third person
    hint: str  # what the student should look at; it leads and does not give the line away
    severity: Literal["blatant", "subtle", "edge", "conditional"]  # shown by any use, some, limits, or as coded
    edits: tuple[Edit, ...] = ()  # the patch
    file: str = ""  # in the catalogue


def faults_of(assignment: Assignment, kind: str = "fault") -> list[Fault]:
    """Reads the assignment's `misconceptions/` but those of tasks that were left out, in the order of the tasks.

    The kind is "fault", or "conditional": faults that show only under a condition, which only the proof looks at.
    Raises: UserError naming the file, the fault, and what would be right.
    """
    order = [task.number for task in assignment.tasks]
    faults: dict[str, Fault] = {}
    for path in sorted((assignment.folder / "misconceptions").glob("*.toml")):
        try:
            content = _load(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{path.name}: {error}") from None
        shared = read_values(FILE, content, f"{path.name}: ", ("fault", "conditional"))
        severity = {"severity": kind} if kind == "conditional" else {}
        for table in content.get(kind, ()):
            table = {**shared, **table, **severity}
            number = table.get("task")
            if isinstance(number, str) and number not in order and is_left_out(number, assignment):
                continue
            fault = _fault(table, path.name, assignment)
            if fault.id in faults:
                raise UserError(f"{path.name}: fault {fault.id}: the id also occurs in {faults[fault.id].file}")
            faults[fault.id] = fault
    return sorted(faults.values(), key=lambda fault: order.index(fault.task))


def is_left_out(number: str, assignment: Assignment) -> bool:
    """True if component tests are of a task that the assignment does not have; without tests, it is mistyped."""
    if (marker := marker_of(number)) in {task.marker for task in assignment.tasks}:
        return False
    mark = re.compile(rf"\b{re.escape(marker)}\b")
    return any(mark.search(path.read_text(encoding="utf-8")) for path in (assignment.folder / "tests").glob("*.py"))


def read_patterns(assignment: Assignment) -> dict[str, frozenset[str]]:
    """Read the pattern of each fault (see `at_home.hints`), by the fault's id; none where there is no such file."""
    path = assignment.folder / PATTERNS
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {fault: frozenset(seen.split()) for fault, seen in content.items()}


def _fault(table: Mapping[str, Any], file: str, assignment: Assignment) -> Fault:
    where = f"{file}: fault {table.get('id', '?')}: "
    fault = Fault(**read_table(Fault, {**table, "file": file}, where, ("find", "replace", "within", "also")))
    known = assignment.contract.components
    if fault.component not in known:
        raise UserError(f"{where}unknown component {fault.component!r}{suggest(fault.component, known)}")
    judging = [task.number for task in assignment.tasks if fault.component in task.components]
    if fault.task not in judging:
        likely = suggest(fault.task, judging) or ", and no other does"
        raise UserError(f"{where}task {fault.task} does not judge {fault.component}{likely}")
    own = {key: table[key] for key in ("find", "replace", "within") if key in table}
    edits = [Edit(**read_table(Edit, edit, where)) for edit in (own, *table.get("also", ()))]
    edits = [replace(edit, within=edit.within or fault.component) for edit in edits]
    for edit in edits:
        if edit.within.partition(".")[0] not in assignment.contract.modules:
            raise UserError(f"{where}within = {edit.within!r}: expected `module.Name` or `module`")
    return replace(fault, edits=tuple(edits))


def apply(fault: Fault, sources: Sources) -> dict[str, Source]:
    """The sources with the fault in them. Raises: UserError where an edit does not apply once, or breaks the code."""
    patched = dict(sources)
    where = f"{fault.file}: fault {fault.id}"
    for edit in fault.edits:
        module = edit.within.split(".")[0]
        path, text = patched[module]
        start, end = extent_of(text, edit.within, where)
        if (count := text.count(edit.find, start, end)) != 1:
            where += f": `find` occurs {count} times in {edit.within}"
            raise UserError(f"{where}; it must occur exactly once: {edit.find!r}")
        patched[module] = (path, text[:start] + text[start:end].replace(edit.find, edit.replace) + text[end:])
    for module in {edit.within.split(".")[0] for edit in fault.edits}:
        try:
            ast.parse(patched[module][1])
        except SyntaxError as error:
            line = (error.text or "").strip()
            raise UserError(f"{where}: the result is not Python: {error.msg}: {line!r}") from None
    return patched


def extent_of(text: str, within: str, where: str = "") -> tuple[int, int]:
    """The first and last offset of a definition in a module's text; a bare module is the whole text."""
    _, _, name = within.partition(".")
    if not name:
        return 0, len(text)
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return sum(map(len, lines[: first - 1])), sum(map(len, lines[: node.end_lineno]))
    raise UserError(f"{where}: there is no {name} in {within.split('.')[0]}.py")


def main() -> int:
    """Prints what does not fit the reference, one line for each misconception; the exit status is 1 if there is any."""
    sources, status = read_modules(Path(sys.argv[1])), 0
    for fault in faults_of(read_assignment()):
        try:
            apply(fault, sources)
        except UserError as error:
            print(error)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(run_command("catalogue", main))
