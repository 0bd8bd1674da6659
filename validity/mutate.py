"""Mutation testing: which mutants pass the tests, and may they?

A mutant is a small change of a solution, which runs the component tests of its task; or of any other code of the kit,
which runs the fast tests of its module in a clone: `autograder/intake/tree.py` has those in
`tests/autograder/intake/test_tree.py`, or else in that file's folder.
"""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.intake.sources import Sources, read_sources
from autograder.own_work.operators import mutations, own_attribute
from autograder.own_work.student_lines import WHOLE, with_code
from autograder.testing.results import State
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE, ROOT
from release.skeleton import Region, Source, find_regions, is_text, parse_source

from .console import table, write_page
from .run_tests import Version, finds_fault, markers_of_tasks, run_versions

KILLED, EQUIVALENT, SURVIVED = "killed", "equivalent", "survived"
COMPOUND = (ast.For, ast.If, ast.While)
NO_TESTS, SECONDS = 5, 600
"""The exit status of pytest where it runs none; wall time of a module's fast tests."""
KIT = "autograder", "benchmarks", "data", "foundation", "given", "release", "validity"
LEAST_KILLED = 1 / 3
"""Of the kit's mutants: many change nothing that matters, and a sample is small."""

Node = ast.expr | ast.stmt
"""A part of a syntax tree that has a place in the text."""

Key = tuple[str, str, str]
"""A mutant's name in `equivalents.toml`: where it is, and the line before and after; equal changes share it."""


@dataclass(frozen=True)
class Mutant:
    """One change."""

    module: str  # `layers`; of the kit's own code, the path without .py
    function: str  # `EncoderLayer.forward`
    task: str  # number of the task of the solution; "" elsewhere
    operator: str  # name of the operator that made it
    line: int
    before: str  # the changed lines, without indentation and with single spaces
    after: str
    text: str = field(repr=False)  # of the whole module
    dump: str = field(repr=False)  # of the changed definition, by which equal mutants are known

    @property
    def name(self) -> str:
        """The change in one line, for reports."""
        return f"{self.module}.py:{self.line} {self.function}: {self.before} -> {self.after}"

    @property
    def component(self) -> str:
        """The class or function around it."""
        return f"{self.module}.{self.function.split('.')[0]}"

    @property
    def key(self) -> Key:
        """Its name in `equivalents.toml`."""
        return f"{self.module}.{self.function}", self.before, self.after


def mutate(task: str | None, text: str, every: int, start: int, jobs: int, kit: bool, output: Path | None) -> int:
    """Prove the component tests with mutants of the solutions.

    Run the component tests on small changes of the reference's solutions: each must fail a test of its task, or be
    listed as equivalent. With --kit, run the fast tests on a small change of every N-th function of the kit, as it is
    committed: a third of them must fail a test.
    """
    if kit:
        return mutate_kit(text, every, start)
    assignment, sources = read_assignment(), read_sources(REFERENCE, REFERENCE)
    matching = [mutant for mutant in make_mutants(sources, assignment, task) if text in mutant.name]
    if not (mutants := matching[start % every :: every]):
        raise UserError("no mutant matches --task and --text")
    reasons = read_equivalents(assignment)
    versions = [
        Version(
            mutant.name,
            {**sources, mutant.module: (sources[mutant.module][0], mutant.text)},
            [0],
            markers_of_tasks(assignment, [mutant.component]),
            until_failure=True,
        )
        for mutant in mutants
    ]
    by_name, fates, broken = {mutant.name: mutant for mutant in mutants}, dict.fromkeys(mutants, KILLED), []
    for run in run_versions(versions, sources, assignment, jobs, "mutate"):
        if not finds_fault(run.all_outcomes):
            mutant = by_name[run.version]
            fates[mutant] = EQUIVALENT if mutant.key in reasons else SURVIVED
        errors = [outcome for outcome in run.all_outcomes if outcome.state is State.GRADER_ERROR]
        broken += [f"TEST BROKE {run.version}: {error.test}: {error.message}" for error in errors]
    if output is not None:
        write_mutation_page(output, fates, reasons)
    survivors = [f"SURVIVED {mutant.name}" for mutant, fate in fates.items() if fate == SURVIVED]
    totals = "mutants: {}, killed: {}, equivalent: {}, survivors: {}".format(*counts(fates.values()))
    print(*survivors, *broken, totals, sep="\n")
    return int(bool(survivors or broken))


def read_equivalents(assignment: Assignment) -> dict[Key, str]:
    """The reasons why mutants are right, or cannot be distinguished from correct code; none without the file."""
    path = assignment.folder / "proof" / "equivalents.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"] if path.is_file() else []
    return {(entry["within"], entry["before"], after): entry["reason"] for entry in entries for after in entry["after"]}


def counts(fates: Iterable[str]) -> tuple[int, ...]:
    """The numbers of mutants that there are, are killed, are equivalent, and survive."""
    known = [*fates]
    return len(known), *(known.count(fate) for fate in (KILLED, EQUIVALENT, SURVIVED))


def write_mutation_page(folder: Path, fates: Mapping[Mutant, str], reasons: Mapping[Key, str]) -> None:
    """Write the report as a page for docs/proof."""

    def table_by(name: str, is_sorted: bool) -> str:
        groups: dict[str, list[str]] = {}
        for mutant, fate in fates.items():
            groups.setdefault(getattr(mutant, name), []).append(fate)
        rows = [(group, *counts(of_group)) for group, of_group in groups.items()]
        return table((name, "mutants", "killed", "equivalent", "survivors"), sorted(rows) if is_sorted else rows)

    equivalent: dict[str, list[str]] = {}
    for mutant in (mutant for mutant, fate in fates.items() if fate == EQUIVALENT):
        equivalent.setdefault(reasons[mutant.key], []).append(mutant.name)
    totals = "{} mutants: {} killed, {} equivalent, {} survivors.".format(*counts(fates.values()))
    tables = {"by_task": table_by("task", False), "by_operator": table_by("operator", True)}
    write_page(folder, "mutation", totals=totals, equivalent=equivalent, **tables)


def mutate_kit(text: str, every: int, start: int) -> int:
    """Run the fast tests on a mutant of each of some functions of the kit; 1 if they find fewer than a third.

    Raises: UserError where no function matches, or tests fail without a mutant.
    """
    chance, sound, fates = random.Random(start), set[str](), list[str]()  # noqa: S311  no secret
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        clone = Path(name, "kit")
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(clone)], check=True)  # noqa: S603, S607
        for private in ("corpus", "private"):
            (clone / "data" / private).symlink_to(ROOT / "data" / private)
        paths = (path for package in KIT for path in sorted((clone / package).rglob("*.py")))
        chosen = (path for path in paths if text in path.relative_to(clone).as_posix())
        functions = [place for path in chosen for place in functions_in(path, clone)]
        if not functions:
            raise UserError("no function of the kit matches --text")
        for source, region in functions[start % every :: every]:
            tests = tests_of(Path(source.path))
            several = _mutants_in(source.path.removesuffix(".py"), source, region, chance)
            mutant = next(several, None) if tests else None
            if mutant is None:
                continue
            if tests not in sound and (failure := run_tests(clone, tests)):
                raise UserError(f"{tests} fails without a mutant: {failure}")
            sound.add(tests)
            (clone / source.path).write_text(mutant.text, encoding="utf-8")
            fates.append(KILLED if run_tests(clone, tests) else SURVIVED)
            (clone / source.path).write_text(source.text, encoding="utf-8")
            print(f"{fates[-1].upper()} {mutant.name}", flush=True)
    print("mutants of the kit: {0}, killed: {1}, survivors: {3}".format(*counts(fates)))
    return int(fates.count(KILLED) < LEAST_KILLED * len(fates))


def functions_in(path: Path, root: Path) -> Iterator[tuple[Source, Region]]:
    """Yield the functions of a module and of its classes."""
    source = parse_source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    for definition in source.tree.body:
        for function in definition.body if isinstance(definition, ast.ClassDef) else [definition]:
            if isinstance(function, ast.FunctionDef):
                yield source, Region("", function.lineno, end_line(function) + 1, function.name)


def tests_of(path: Path) -> str:
    """The tests of a module, by the mirror of `tests/`: its own file, or else the folder; "" for none."""
    folder = Path("tests") / path.parent
    places = (folder / f"test_{path.stem}.py", folder, folder.parent)
    whole = Path("tests"), Path("tests/autograder")
    return next((place.as_posix() for place in places if (ROOT / place).exists() and place not in whole), "")


def run_tests(clone: Path, tests: str) -> str:
    """The last line of fast tests that fail in a clone; "" where all pass, or all are slow."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests]
    options: dict[str, Any] = {"capture_output": True, "text": True, "check": False, "timeout": SECONDS}
    try:
        run = subprocess.run(command, cwd=clone, **options)  # noqa: S603
    except subprocess.TimeoutExpired as error:  # a mutant that never ends is found
        return str(error)
    return run.stdout.strip().rpartition("\n")[2] if run.returncode not in (0, NO_TESTS) else ""


def make_mutants(sources: Sources, assignment: Assignment, task: str | None = None) -> list[Mutant]:
    """All mutants of all solutions (of one task), in the order of the lines; equal ones once.

    Tasks of understanding have none: what students hand in there are tests and answers, not code that is judged.

    Raises: ReleaseError where the markers of the solutions are not sound.
    """
    numbers = [task.number for task in assignment.tasks]
    wanted = {each.number for each in assignment.tasks if not each.understanding and task in (None, each.number)}
    mutants: dict[tuple[str, str, str], Mutant] = {}
    for module in assignment.contract.modules:
        if module not in sources:
            continue
        source = parse_source(sources[module][0], sources[module][1])
        for region in find_regions(source, numbers):
            for mutant in _mutants_in(module, source, region) if region.number in wanted else ():
                mutants.setdefault((module, region.function, mutant.dump), mutant)
    return list(mutants.values())


def _mutants_in(module: str, source: Source, region: Region, chance: random.Random | None = None) -> Iterator[Mutant]:
    """Yield all mutants of a region, without those that are no change: in order, or as `chance` shuffles them."""
    body = source.tree.body
    [place] = [place for place, node in enumerate(body) if node.lineno <= region.begin <= end_line(node)]
    definition, unchanged = body[place], ast.dump(body[place])
    changes = [
        (node, operator, other)
        for node in _nodes(definition, region)
        for operator, other in mutations(node, *_names(definition, region, node.lineno))
    ]
    if chance is not None:
        chance.shuffle(changes)
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
    is_whole = isinstance(other, (ast.stmt, ast.Slice, *WHOLE))
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
