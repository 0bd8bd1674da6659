"""Makes the boxes of bug hunts of the catalogue and the reference, and packs them for those who have neither.

`hunts.toml` names the faults; `hunts.json`, which `python -m validity hunts` measures, says how hard they are to see. A
server gets everything; students get no kinds, and boxes that a right component of theirs opens.

    python -m autograder.grading.hunts FILE students        prints what students get
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import sys
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.term_secret import term_secret

from ..diagnosis.catalogue import Edit, Fault, apply, faults_of
from ..sources import Sources, read_modules
from ..testing.hunts import LEVELS, Hunt, Hunts, defined, key_to, lock

FILE, MEASURED, SYMPTOMS = "hunts.toml", "hunts.json", "symptoms.jsonl"


def read_file(assignment: Assignment) -> Mapping[str, Any]:
    """What `hunts.toml` says."""
    return tomllib.loads((assignment.folder / FILE).read_text(encoding="utf-8"))


def faults(assignment: Assignment) -> Iterator[Fault]:
    """The faults of all hunts. Raises: UserError where one is not in the catalogue."""
    known = {fault.id: fault for fault in faults_of(assignment)}
    for table in read_file(assignment)["hunt"]:
        if "find" in table:  # in what students are given, which has no misconceptions
            edit = Edit(table["find"], table["replace"], table["component"])
            yield Fault(table["id"], table["component"], "", "", "", "", (edit,), FILE)
        elif table["id"] in known:
            yield known[table["id"]]
        else:
            raise UserError(f"{FILE}: there is no fault {table['id']!r}")


def trained(assignment: Assignment) -> list[tuple[str, Mapping[str, Any]]]:
    """The models that symptoms are taken from: the faults, "" for none, each with the settings that differ."""
    tables = [table for table in read_file(assignment)["hunt"] if "shows" in table]
    found = [(name, table["shows"]) for table in tables for name in ("", table["id"])]
    return [one for place, one in enumerate(found) if one not in found[:place]]


def make(assignment: Assignment) -> Hunts:
    """All hunts, as they are graded."""
    content = read_file(assignment)
    measured = json.loads((assignment.folder / MEASURED).read_text(encoding="utf-8"))
    order = sorted(measured, key=lambda one: (-sum(measured[one].values()), one))
    seen = [json.loads(line) for line in (assignment.folder / SYMPTOMS).read_text(encoding="utf-8").splitlines()]
    hunts = []
    for table, hunt in zip(content["hunt"], boxes(assignment), strict=True):
        level = LEVELS[order.index(table["id"]) * len(LEVELS) // len(order)]
        rows = [row for row in seen if row["settings"] == table.get("shows")]
        pair = [row for name in (table["id"], "") for row in rows if row["fault"] == name]
        shown = [{name: value for name, value in row.items() if name != "fault"} for row in pair]
        hunts.append(replace(hunt, level=level, shown=shown))
    term = hashlib.sha256(b"hunts " + term_secret(assignment.folder.parents[1])).hexdigest()[:16]
    return Hunts(term, content["kinds"], hunts)


def boxes(assignment: Assignment) -> Iterator[Hunt]:
    """All hunts without what is measured: their level, and what is shown of trained models."""
    sources = read_modules(assignment.reference)
    tables = read_file(assignment)["hunt"]
    for number, (table, fault) in enumerate(zip(tables, faults(assignment), strict=True), start=1):
        box = table.get("box", fault.component)
        code, right = (definition_of(box, one) for one in (apply(fault, sources), sources))
        yield Hunt(number, box, table["symptom"], "", code, right, table["kinds"])


def definition_of(component: str, sources: Sources) -> str:
    """A component and all that it needs of the sources, in one text without docstrings, annotations and comments."""
    nodes = {name: node for _, text in sources.values() for name, node in _bare(text).items()}
    needed, waiting = set[str](), {component.partition(".")[2]}
    while waiting:
        needed |= waiting
        named = {part.id for one in waiting for part in ast.walk(nodes[one]) if isinstance(part, ast.Name)}
        waiting = (named & nodes.keys()) - needed
    return "\n".join(dict.fromkeys(ast.unparse(node) for name, node in nodes.items() if name in needed))


@lru_cache
def _bare(text: str) -> Mapping[str, ast.stmt]:
    """The statements of a module that define a name each."""
    nodes: dict[str, ast.stmt] = {}
    for node in ast.parse(text).body:
        for part in ast.walk(node):
            if isinstance(part, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(part) is not None:
                part.body[0] = ast.Pass()
            if isinstance(part, ast.FunctionDef):
                part.returns = None
            if isinstance(part, ast.arg):
                part.annotation = None
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names, level=0):
                nodes |= {one.asname or one.name.partition(".")[0]: node for one in names}
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                nodes[name] = node
    return nodes


def pack(assignment: Assignment, for_students: bool) -> bytes:
    """All hunts in one file."""
    known = make(assignment)
    hunts = [asdict(_locked(one, assignment) if for_students else one) for one in known.hunts]
    content = {"term": known.term, "kinds": known.kinds, "hunts": hunts}
    return base64.b85encode(zlib.compress(json.dumps(content, ensure_ascii=False).encode(), 9))


def _locked(hunt: Hunt, assignment: Assignment) -> Hunt:
    key = key_to(hunt.component, defined(hunt.right, hunt.name), assignment)
    code = base64.b85encode(lock(zlib.compress(json.dumps([hunt.code, hunt.right]).encode(), 9), key)).decode()
    return replace(hunt, code=code, right="", kinds=())


if __name__ == "__main__":
    sys.stdout.buffer.write(pack(read_assignment(Path(sys.argv[1])), sys.argv[2:] == ["students"]))
