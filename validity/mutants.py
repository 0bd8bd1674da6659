"""Mutants: the reference with one small change in one of its solutions. Which of them pass the tests, and may they?"""

import ast
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.intake.sources import Sources, read_sources
from autograder.own_work.operators import mutations, own_attribute
from autograder.own_work.student_lines import with_code
from autograder.testing.results import State
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.whole_files import write_whole
from release.regions import Region, Source, find_regions, parse_source

from .report import table
from .run_tests import Version, finds_fault, markers_of_tasks, run_versions

KILLED, EQUIVALENT, SURVIVED = "killed", "equivalent", "survived"
COMPOUND = (ast.For, ast.If, ast.While)

Node = ast.expr | ast.stmt
"""A part of a syntax tree that has a place in the text."""


Key = tuple[str, str, str]
"""A mutant's name in `equivalents.toml`: where it is, and the line before and after; equal changes share it."""


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        module, function: where it is, `layers`, `EncoderLayer.forward`.
        task: number of the task of the solution.
        operator: name of the operator that made it.
        line: number of the changed line.
        before, after: the changed lines, without indentation and with single spaces.
        text: the whole module.
    """

    module: str
    function: str
    task: str
    operator: str
    line: int
    before: str
    after: str
    text: str = field(repr=False)

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


def make_mutants(sources: Sources, assignment: Assignment, task: str | None = None) -> list[Mutant]:
    """All mutants of all solutions (of one task), in the order of the lines; equal ones once.

    Tasks of understanding have none: what students hand in there are tests and answers, not code that is judged.

    Raises:
        ReleaseError: where the markers of the solutions are not sound.
    """
    numbers = [task.number for task in assignment.tasks]
    wanted = {one.number for one in assignment.tasks if not one.understanding and task in (None, one.number)}
    mutants: dict[tuple[str, str], Mutant] = {}
    for module in assignment.contract.modules:
        if module not in sources:
            continue
        path, text = sources[module]
        source = parse_source(path, text)
        for region in find_regions(source, numbers):
            if region.number not in wanted:
                continue
            for mutant, dump in _of_region(module, source, region):
                mutants.setdefault((f"{module}.{region.function}", dump), mutant)
    return list(mutants.values())


def _of_region(module: str, source: Source, region: Region) -> Iterator[tuple[Mutant, str]]:
    """The mutants of one solution, each with a dump of the changed definition, by which equal ones are known."""
    [place] = [n for n, one in enumerate(source.tree.body) if one.lineno <= region.begin <= end_line(one)]
    definition = source.tree.body[place]
    unchanged = ast.dump(definition)
    for node in _nodes(definition, region):
        for operator, other in mutations(node, *_names(definition, region, node.lineno)):
            text = _replaced(source.text, node, other)
            dump = ast.dump(ast.parse(text).body[place]) if text else unchanged
            if text and dump != unchanged:
                where = module, region.function, region.number, operator, node.lineno
                yield Mutant(*where, *_changed_lines(source.text, text), text), dump


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


def _nodes(definition: ast.stmt, region: Region) -> Iterator[Node]:
    """The nodes in the region, in order; without the inside of messages and annotations."""
    waiting: list[ast.AST] = [definition]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.JoinedStr, ast.Raise)):
            children: list[ast.AST] = []
        elif isinstance(node, ast.FunctionDef):
            children = [*node.body]
        elif isinstance(node, ast.AnnAssign):  # Python never evaluates the annotation of a local variable
            children = [child for child in (node.target, node.value) if child]
        else:
            children = list(ast.iter_child_nodes(node))
        waiting[:0] = children
        if isinstance(node, Node) and region.begin < node.lineno and end_line(node) < region.end:
            yield node


def _names(definition: ast.stmt, region: Region, line: int) -> tuple[set[str], set[str]]:
    """Variables that are bound above a line of the region, and the attributes of self that its class uses."""
    functions = [node for node in ast.walk(definition) if isinstance(node, ast.FunctionDef)]
    around = [node for node in functions if node.lineno <= region.begin <= end_line(node) + 1]
    variables = set()
    for node in itertools.chain.from_iterable(map(ast.walk, around)):
        if isinstance(node, ast.arg) and node.lineno < line:
            variables.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < line:
            variables.add(node.id)
    attributes = {name for node in ast.walk(definition) if (name := own_attribute(node))}
    return variables - {"self", "_"}, attributes


def _changed_lines(old: str, new: str) -> tuple[str, str]:
    """The lines in which two texts differ, each part as one line; without comments at their ends."""
    one, other = ([re.sub(r"\s+# .*", "", line) for line in text.split("\n")] for text in (old, new))
    while one and other and one[0] == other[0]:
        del one[0], other[0]
    while one and other and one[-1] == other[-1]:
        del one[-1], other[-1]
    return " ".join(" ".join(one).split()), " ".join(" ".join(other).split())


def read_equivalents(path: Path) -> dict[Key, str]:
    """Why mutants are right, or cannot be told from correct code, by their keys; none without the file."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"] if path.is_file() else []
    return {(one["within"], one["before"], after): one["reason"] for one in entries for after in one["after"]}


def mutate(
    task: str | None,
    text: str,
    every: int,
    start: int,
    jobs: int,
    output: Path | None,
    equivalents: Path | None,
    reference: Path,
    assignment: Path,
) -> int:
    """Runs the tests on the mutants that the options ask for; 0 where none survives, 1 where one does.

    Raises:
        UserError: where there are no such mutants.
        CollectionError: where the tests cannot be collected.
    """
    whole, sources = read_assignment(assignment), read_sources(reference, reference)
    mutants = [one for one in make_mutants(sources, whole, task) if text in one.name][start % every :: every]
    if not mutants:
        raise UserError("no mutant matches --task and --text")
    reasons = read_equivalents(equivalents or whole.folder / "proof" / "equivalents.toml")
    passed, broken = run_mutants(mutants, sources, whole, jobs)
    fates = {
        one: KILLED if one.name not in passed else EQUIVALENT if one.key in reasons else SURVIVED for one in mutants
    }
    if output is not None:
        write_whole(output / "mutation.md", mutation_page(fates, reasons))
    survivors = [f"SURVIVED {one.name}" for one, fate in fates.items() if fate == SURVIVED]
    totals = "mutants: {}, killed: {}, equivalent: {}, survivors: {}".format(*counts(fates))
    print("\n".join([*survivors, *(f"TEST BROKE {message}" for message in broken), totals]))
    return int(bool(survivors or broken))


def run_mutants(
    mutants: Sequence[Mutant], reference: Sources, assignment: Assignment, jobs: int
) -> tuple[set[str], list[str]]:
    """Runs the tests of each mutant's task, and of others that judge the same component, until one fails.

    Returns the names of those that pass all tests, and messages of tests that broke instead of failing.
    """
    versions = [
        Version(
            mutant.name,
            {**reference, mutant.module: (reference[mutant.module][0], mutant.text)},
            [0],
            markers_of_tasks(assignment, [mutant.component]),
            until_failure=True,
        )
        for mutant in mutants
    ]
    passed, messages = set(), []
    for run in run_versions(versions, reference, assignment, jobs, "mutate"):
        outcomes = [outcome for marked in run.outcomes.values() for outcome in marked]
        if not finds_fault(outcomes):
            passed.add(run.version)
        broken = [one for one in outcomes if one.state is State.GRADER_ERROR]
        messages += [f"{run.version}: {one.test}: {one.message}" for one in broken]
    return passed, messages


def counts(fates: Mapping[Mutant, str]) -> tuple[int, ...]:
    """How many mutants there are, are killed, equivalent, and survive."""
    return len(fates), *([*fates.values()].count(fate) for fate in (KILLED, EQUIVALENT, SURVIVED))


def counts_by(name: str, fates: Mapping[Mutant, str]) -> Iterator[tuple[str | int, ...]]:
    """Rows of these counts for each task, or each operator."""
    for value in dict.fromkeys(getattr(mutant, name) for mutant in fates):
        yield value, *counts({one: fate for one, fate in fates.items() if getattr(one, name) == value})


def mutation_page(fates: Mapping[Mutant, str], reasons: Mapping[Key, str]) -> str:
    """The report as a page for docs/proof."""
    head: Sequence[str] = "mutants", "killed", "equivalent", "survivors"
    equivalent: dict[str, list[str]] = {}
    for mutant, fate in fates.items():
        if fate == EQUIVALENT:
            equivalent.setdefault(reasons[mutant.key], []).append(mutant.name)
    parts = [
        "# Mutation testing of the solutions",
        "Written by `make proof`. Each mutant is the reference with one small change in a solution, made by the "
        "operators in `autograder/own_work/operators.py`, which know nothing of Transformers. It must fail a test "
        "of the task whose solution it changes (or, in a part that pre-norm shares, a test of E.2). A mutant that "
        "passes must be listed in `assignment/proof/equivalents.toml`, with the reason why it is right or "
        "cannot be told from correct code.",
        "{} mutants: {} killed, {} equivalent, {} survivors.".format(*counts(fates)),
        table(("task", *head), counts_by("task", fates)),
        table(("operator", *head), sorted(counts_by("operator", fates))),
        "## Equivalent mutants",
    ]
    for reason, names in equivalent.items():
        parts.append(f"{reason[0].upper()}{reason[1:]}:")
        parts.append("\n".join(f"- `{name}`" for name in names))
    return "\n\n".join(parts) + "\n"
