"""Mutants: code with one small change, in the reference's solutions or anywhere else in the kit."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from autograder.intake.sources import Sources
from autograder.own_work.operators import mutations, own_attribute
from autograder.own_work.student_lines import with_code
from foundation.assignment_file import Assignment
from foundation.places import ROOT
from release.skeleton import Region, Source, find_regions, is_text, parse_source

COMPOUND = (ast.For, ast.If, ast.While)

Node = ast.expr | ast.stmt
"""A part of a syntax tree that has a place in the text."""

Change = tuple[Node, str, ast.AST]
"""A node, the operator, and what stands there after the mistake."""

Key = tuple[str, str, str]
"""A mutant's name in `equivalents.toml`: where it is, and the line before and after; equal changes share it."""


@dataclass(frozen=True)
class Mutant:
    """One change."""

    module: str  # `layers`; outside of solutions, the path of a file
    function: str  # `EncoderLayer.forward`
    task: str  # number of the task of the solution, or ""
    operator: str  # name of the operator that made it
    line: int
    before: str  # the changed lines, without indentation and with single spaces
    after: str
    text: str = field(repr=False)  # of the whole module
    dump: str = field(repr=False)  # of the changed definition, by which equal mutants are known

    @property
    def name(self) -> str:
        """The change in one line, for reports."""
        file = self.module if self.module.endswith(".py") else f"{self.module}.py"
        return f"{file}:{self.line} {self.function}: {self.before} -> {self.after}"

    @property
    def component(self) -> str:
        """The class or function around it."""
        return f"{self.module}.{self.function.split('.')[0]}"

    @property
    def key(self) -> Key:
        """Its name in `equivalents.toml`."""
        return f"{self.module}.{self.function}", self.before, self.after


def make_mutants(sources: Sources, assignment: Assignment, task: str | None = None) -> list[Mutant]:
    """All mutants of all solutions (of one task), in the order of the lines; equal ones once.

    Tasks of understanding have none: what students hand in there are tests and answers, not code that is judged.

    Raises:
        ReleaseError: where the markers of the solutions are not sound.
    """
    numbers = [task.number for task in assignment.tasks]
    wanted = {each.number for each in assignment.tasks if not each.understanding and task in (None, each.number)}
    mutants: dict[tuple[str, str, str], Mutant] = {}
    for module in assignment.contract.modules:
        if module not in sources:
            continue
        source = parse_source(sources[module][0], sources[module][1])
        for region in find_regions(source, numbers):
            if region.number in wanted:
                [definition] = [node for node in source.tree.body if node.lineno <= region.begin <= end_line(node)]
                for mutant in _made(module, source, region, definition, _changes(definition, region)):
                    mutants.setdefault((module, region.function, mutant.dump), mutant)
    return list(mutants.values())


def functions_in(file: Path) -> Iterator[tuple[str, Callable[[random.Random], Mutant | None]]]:
    """The functions of a file of the kit; each with its name, and what draws one of its mutants, if there are any."""
    source = parse_source(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    for definition in source.tree.body:
        for function in definition.body if isinstance(definition, ast.ClassDef) else [definition]:
            if isinstance(function, ast.FunctionDef):
                name = f"{definition.name}.{function.name}" if isinstance(definition, ast.ClassDef) else function.name
                region = Region("", function.lineno, end_line(function) + 1, name)
                yield f"{source.path} {name}", partial(_draw, source, region, definition)


def _draw(source: Source, region: Region, definition: ast.stmt, chance: random.Random) -> Mutant | None:
    changes = list(_changes(definition, region))
    chance.shuffle(changes)
    return next(_made(source.path, source, region, definition, changes), None)


def _changes(definition: ast.stmt, region: Region) -> Iterator[Change]:
    """All changes in a region."""
    for node in _nodes(definition, region):
        for operator, other in mutations(node, *_names(definition, region, node.lineno)):
            yield node, operator, other


def _made(
    module: str, source: Source, region: Region, definition: ast.stmt, changes: Iterable[Change]
) -> Iterator[Mutant]:
    """The mutants with these changes, without those that are no change."""
    unchanged, place = ast.dump(definition), source.tree.body.index(definition)
    for node, operator, other in changes:
        text = _replaced(source.text, node, other)
        dump = ast.dump(ast.parse(text).body[place]) if text else unchanged
        if text and dump != unchanged:
            lines = _changed_lines(source.text, text)
            yield Mutant(module, region.function, region.number, operator, node.lineno, *lines, text, dump)


def end_line(node: Node) -> int:
    """The last line of a node that was parsed."""
    return node.end_lineno or node.lineno


def _replaced(text: str, node: Node, other: ast.AST) -> str | None:
    """The text with other code in the place of a node; None where that is not Python."""
    code = ast.unparse(ast.fix_missing_locations(other)).replace("\n", "\n" + " " * node.col_offset)
    if isinstance(node, COMPOUND) and type(other) is type(node):  # only what stands before its body has changed
        last = node.body[0].lineno - 1
        end = {"end_lineno": last, "end_col_offset": len(text.split("\n")[last - 1].encode())}
        return with_code(text, ast.Pass(lineno=node.lineno, col_offset=node.col_offset, **end), code.partition("\n")[0])
    is_whole = isinstance(other, (ast.stmt, ast.Slice, ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript))
    return with_code(text, node, code if is_whole else f"({code})")


def _nodes(definition: ast.stmt, region: Region) -> list[Node]:
    """The nodes in the region, in order; without the inside of messages and annotations."""
    hidden = set[ast.AST]()
    for node in ast.walk(definition):
        if isinstance(node, (ast.JoinedStr, ast.Raise)):
            hidden |= {*ast.walk(node)} - {node}
        elif isinstance(node, ast.FunctionDef):
            hidden |= {*ast.walk(node.args), *(ast.walk(node.returns) if node.returns else ())}
        elif isinstance(node, ast.AnnAssign):
            hidden |= {*ast.walk(node.annotation)}
        elif is_text(node):
            hidden |= {*ast.walk(node)}
    nodes = [node for node in ast.walk(definition) if isinstance(node, Node) and node not in hidden]
    inside = [node for node in nodes if region.begin < node.lineno and end_line(node) < region.end]
    return sorted(inside, key=lambda node: (node.lineno, node.col_offset))


def _names(definition: ast.stmt, region: Region, line: int) -> tuple[set[str], set[str]]:
    """Variables that are bound above a line of the region, and the attributes of self that its class uses."""
    variables = set()
    for function in ast.walk(definition):
        if isinstance(function, ast.FunctionDef) and function.lineno <= region.begin <= end_line(function) + 1:
            for node in ast.walk(function):
                if isinstance(node, ast.arg) and node.lineno < line:
                    variables.add(node.arg)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < line:
                    variables.add(node.id)
    attributes = {name for node in ast.walk(definition) if (name := own_attribute(node))}
    return variables - {"self", "_"}, attributes


def _changed_lines(old: str, new: str) -> tuple[str, str]:
    """The lines in which two texts differ, each part as one line; without comments at their ends."""
    before, after = ([re.sub(r"\s+# .*", "", line) for line in text.split("\n")] for text in (old, new))
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return " ".join(" ".join(before).split()), " ".join(" ".join(after).split())
