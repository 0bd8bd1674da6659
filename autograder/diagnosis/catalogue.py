"""Reads the catalogue of misconceptions and applies its patches to sources.

A patch is one or more edits, `find` -> `replace`, within the definition of the fault's component (or of another
function, or a whole module: `within`). Each must apply exactly once: where the reference has changed, the error names
file and fault, so that no fault silently tests nothing.
"""

import ast
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from foundation.assignment_file import Assignment, read_assignment
from foundation.assignment_tables import suggest
from foundation.command_line import UserError

from ..sources import Source, Sources

PATTERNS = "misconceptions/patterns.json"
"""In the assignment's folder: what tests see of each fault, by its id; `validity hints` writes it."""
SEVERITIES = ("blatant", "subtle", "edge", "conditional")
Table = Mapping[str, Any]
"""Of a catalogue's file."""


class CatalogueError(UserError):
    """The catalogue cannot be used; the message says where and why."""


@dataclass(frozen=True)
class Edit:
    """One replacement within a definition "module.Name" or a whole "module"."""

    find: str
    replace: str
    within: str


@dataclass(frozen=True)
class Fault:
    """One misconception.

    Attributes:
        id: unique, for people and tables.
        component: the component of the contract that has the fault.
        task: number of the task that must find it.
        when: completes "Your code behaves exactly like code that ...": a verb phrase in the third person.
        hint: what the student should look at; it leads and does not give the line away.
        severity: "blatant" (any use shows it), "subtle" (only some uses), "edge" (only limits such as length
            one), "conditional" (only a condition that the code names, such as a size or a counted call).
        edits: the patch.
        file: name of the file in the catalogue.
    """

    id: str
    component: str
    task: str
    when: str
    hint: str
    severity: str
    edits: tuple[Edit, ...]
    file: str


def read_catalogue(
    folder: Path | None = None,
    assignment: Assignment | None = None,
    skip_other_tasks: bool = False,
    kind: str = "fault",
) -> list[Fault]:
    """Reads all files, in the order of the tasks.

    Args:
        folder: with the files; None: the assignment's `misconceptions/`.
        assignment: whose tasks and components they name; None: the kit's own.
        skip_other_tasks: leaves out faults of tasks that the assignment lacks, for grading with fewer tasks than the
            catalogue was written for; otherwise such a fault is an error.
        kind: "fault", or "conditional": faults that show only under a condition, which only the proof looks at.

    Raises:
        CatalogueError: naming the file, the fault, and what would be right.
    """
    assignment = assignment or read_assignment()
    folder = folder or assignment.folder / "misconceptions"
    order = [task.number for task in assignment.tasks]
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            content = _content(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CatalogueError(f"{path.name}: {error}") from None
        _check_keys(content, {"component", "task", "fault"}, {"conditional"}, path.name)
        if skip_other_tasks and content["task"] not in order:
            continue
        for table in content.get(kind, ()):
            severity = {"severity": kind} if kind == "conditional" else {}
            faults.append(_fault({**table, **severity}, content, path.name, assignment))
    seen: dict[str, str] = {}
    for fault in faults:
        if fault.id in seen:
            raise CatalogueError(f"{fault.file}: fault {fault.id}: the id also occurs in {seen[fault.id]}")
        seen[fault.id] = fault.file
    if not faults and not skip_other_tasks and kind == "fault":
        raise CatalogueError(f"{folder}: no faults: expected files *.toml with [[fault]] tables")
    return sorted(faults, key=lambda fault: order.index(fault.task))


@cache
def _content(text: str) -> Table:
    return tomllib.loads(text)


def faults_of(assignment: Assignment) -> list[Fault]:
    """The assignment's catalogue, as far as it has the tasks; none where it has no folder of misconceptions."""
    folder = assignment.folder / "misconceptions"
    return read_catalogue(folder, assignment, skip_other_tasks=True) if folder.is_dir() else []


def read_patterns(assignment: Assignment) -> dict[str, frozenset[str]]:
    """What tests see of each fault (see `testing.hints`), by the fault's id; none where there is no such file."""
    path = assignment.folder / PATTERNS
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {fault: frozenset(seen.split()) for fault, seen in content.items()}


def _fault(table: Table, content: Table, file: str, assignment: Assignment) -> Fault:
    where = f"{file}: fault {table.get('id', '?')}"
    required = {"id", "when", "hint", "severity", "find", "replace"}
    _check_keys(table, required, {"component", "within", "also"}, where)
    component, task = table.get("component", content["component"]), content["task"]
    known = assignment.contract.components
    if component not in known:
        raise CatalogueError(f"{where}: unknown component {component!r}{suggest(component, known)}")
    judged = {t.number: t.components for t in assignment.tasks}
    if task not in judged:
        raise CatalogueError(f"{where}: assignment.toml has no task {task!r}; correct the number, or remove the file")
    if component not in judged[task]:
        raise CatalogueError(f"{where}: task {task} does not judge {component}")
    if table["severity"] not in SEVERITIES:
        raise CatalogueError(f"{where}: severity = {table['severity']!r}: expected one of {', '.join(SEVERITIES)}")
    edits = []
    for edit in (table, *table.get("also", ())):
        if edit is not table:
            _check_keys(edit, {"find", "replace"}, {"within"}, where)
        within = edit.get("within", component)
        if within.split(".")[0] not in assignment.contract.modules:
            raise CatalogueError(f"{where}: within = {within!r}: expected `module.Name` or `module`")
        edits.append(Edit(edit["find"], edit["replace"], within))
    texts = (table["id"], table["when"], table["hint"])
    return Fault(texts[0], component, task, texts[1], texts[2], table["severity"], tuple(edits), file)


def apply(fault: Fault, sources: Sources) -> dict[str, Source]:
    """The sources with the fault in them.

    Raises:
        CatalogueError: where an edit does not apply exactly once, or the result is not Python.
    """
    patched = dict(sources)
    where = f"{fault.file}: fault {fault.id}"
    for edit in fault.edits:
        module = edit.within.split(".")[0]
        path, text = patched[module]
        start, end = _extent(text, edit.within, where)
        scope = text[start:end]
        count = scope.count(edit.find)
        if count != 1:
            raise CatalogueError(
                f"{where}: `find` occurs {count} times in {edit.within}; it must occur exactly once: {edit.find!r}"
            )
        patched[module] = (path, text[:start] + scope.replace(edit.find, edit.replace) + text[end:])
        if edit.find == edit.replace:
            raise CatalogueError(f"{where}: `replace` is the same as `find`")
    for module in {edit.within.split(".")[0] for edit in fault.edits}:
        try:
            ast.parse(patched[module][1])
        except SyntaxError as error:
            line = (error.text or "").strip()
            raise CatalogueError(f"{where}: the result is not Python: {error.msg}: {line!r}") from None
    return patched


def definition(text: str, within: str) -> str:
    """The source of one definition of a module's text; a bare module is the whole text."""
    start, end = _extent(text, within, "definition")
    return text[start:end]


def _extent(text: str, within: str, where: str) -> tuple[int, int]:
    """The first and last offset of a definition in a module's text; a bare module is the whole text."""
    _, _, name = within.partition(".")
    if not name:
        return 0, len(text)
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return sum(map(len, lines[: first - 1])), sum(map(len, lines[: node.end_lineno]))
    raise CatalogueError(f"{where}: there is no {name} in {within.split('.')[0]}.py")


def _check_keys(table: Table, required: set[str], optional: set[str], where: str) -> None:
    for key in table:
        if key not in required | optional:
            raise CatalogueError(f"{where}: unknown key {key!r}{suggest(key, sorted(required | optional))}")
    for key in sorted(required):
        if key not in table:
            raise CatalogueError(f"{where}: {key} is missing")
        expected = list if key == "fault" else str
        if not isinstance(table[key], expected):
            raise CatalogueError(f"{where}: {key}: expected a {'list' if expected is list else 'string'}")
