"""Mutants: the reference with one small change in one of its solutions, and the list of those that are right."""

import ast
import itertools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.sources import Sources
from autograder.understanding.operators import OPERATORS, Names, own_attribute
from foundation.assignment_file import Assignment
from release.regions import Region, ReleaseError, Source, find_regions, parse_source

COMPOUND = (ast.For, ast.If, ast.While)

Node = ast.expr | ast.stmt
"""A part of a syntax tree that has a place in the text."""


class MutationError(ValueError):
    """Mutants cannot be made or judged; the message says where and why."""


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
    def key(self) -> tuple[str, str, str]:
        """Its name in `equivalents.toml`; equal changes of equal lines share it."""
        return f"{self.module}.{self.function}", self.before, self.after


def make_mutants(sources: Sources, assignment: Assignment, task: str | None = None) -> list[Mutant]:
    """All mutants of all solutions (of one task), in the order of the lines; equal ones once.

    Tasks of understanding have none: what students hand in there are tests and answers, not code that is judged.

    Raises:
        MutationError: where the markers of the solutions are not sound.
    """
    numbers = [task.number for task in assignment.tasks]
    wanted = {one.number for one in assignment.tasks if not one.understanding and task in (None, one.number)}
    mutants: dict[tuple[str, str], Mutant] = {}
    for module in assignment.contract.modules:
        if module not in sources:
            continue
        path, text = sources[module]
        try:
            source = parse_source(path, text)
            regions = find_regions(source, numbers)
        except ReleaseError as error:
            raise MutationError(str(error)) from None
        for region in regions:
            if region.hint.number not in wanted:
                continue
            for mutant, dump in _of_region(module, source, region):
                mutants.setdefault((f"{module}.{region.function}", dump), mutant)
    return list(mutants.values())


def _of_region(module: str, source: Source, region: Region) -> Iterator[tuple[Mutant, str]]:
    """The mutants of one solution, each with a dump of the changed definition, by which equal ones are known."""
    [definition] = [node for node in source.tree.body if node.lineno <= region.begin <= end_line(node)]
    lines = source.text.splitlines(keepends=True)[definition.lineno - 1 : definition.end_lineno]
    before_it, after_it = source.text.split("".join(lines))
    starts = list(itertools.accumulate((len(line.encode()) for line in lines), initial=0))
    content = "".join(lines).encode()
    unchanged = ast.dump(definition)
    for node in _nodes(definition, region):
        start, end, before_body = (
            starts[line - definition.lineno] + column
            for line, column in (
                (node.lineno, node.col_offset),
                (end_line(node), node.end_col_offset or 0),
                (_line_of_body(node), -1),  # of a compound statement: the newline before its body
            )
        )
        names = _names(definition, region, node.lineno)
        for operator in OPERATORS:
            for other in operator(node, names):
                is_head = isinstance(node, COMPOUND) and type(other) is type(node)
                code = _as_text(other, node)
                code = code.partition("\n")[0] if is_head else code
                text = (content[:start] + code.encode() + content[before_body if is_head else end :]).decode()
                try:
                    dump = ast.dump(ast.parse(text).body[0])
                except SyntaxError:
                    continue  # such as a statement where only a name may stand
                if dump != unchanged:
                    place = module, region.function, region.hint.number, operator.__name__, node.lineno
                    yield Mutant(*place, *_changed_lines("".join(lines), text), before_it + text + after_it), dump


def end_line(node: Node) -> int:
    """The last line of a node that was parsed."""
    return node.end_lineno or node.lineno


def _line_of_body(node: Node) -> int:
    return node.body[0].lineno if isinstance(node, COMPOUND) else node.lineno


def _as_text(node: ast.AST, replaced: Node) -> str:
    """Code that may stand where another node stood."""
    code = ast.unparse(ast.fix_missing_locations(node)).replace("\n", "\n" + " " * replaced.col_offset)
    is_whole = isinstance(node, (ast.stmt, ast.Slice, ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript))
    return code if is_whole else f"({code})"


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


def _names(definition: ast.stmt, region: Region, line: int) -> Names:
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
    return Names(frozenset(variables - {"self", "_"}), frozenset(attributes))


def _changed_lines(old: str, new: str) -> tuple[str, str]:
    """The lines in which two texts differ, each part as one line; without comments at their ends."""
    one, other = ([re.sub(r"\s+# .*", "", line) for line in text.split("\n")] for text in (old, new))
    while one and other and one[0] == other[0]:
        del one[0], other[0]
    while one and other and one[-1] == other[-1]:
        del one[-1], other[-1]
    return " ".join(" ".join(one).split()), " ".join(" ".join(other).split())


@dataclass(frozen=True)
class Equivalent:
    """Mutants that are right or cannot be told from correct code, and why."""

    within: str
    before: str
    after: str
    reason: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the mutants that it explains."""
        return self.within, self.before, self.after


def read_equivalents(path: Path) -> list[Equivalent]:
    """Reads the list.

    Raises:
        MutationError: naming the entry, and what would be right.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    except (OSError, ValueError) as error:
        raise MutationError(f"{path}: {error}") from None
    found = []
    for number, entry in enumerate(entries, start=1):
        texts = [entry.get(key) for key in ("within", "before", "reason")]
        changes = entry.get("after")
        texts += changes if isinstance(changes, list) and changes else [None]
        if len(entry) != 4 or not all(isinstance(text, str) and text.strip() for text in texts):
            right = "the texts within, before and reason, and after, a list of texts"
            raise MutationError(f"{path}: equivalent {number}: expected {right}")
        found += [Equivalent(texts[0], texts[1], after, texts[2]) for after in changes]
    return found


def without_mutant(equivalents: Sequence[Equivalent], mutants: Sequence[Mutant]) -> list[Equivalent]:
    """Entries that name no mutant: the reference has moved on."""
    known = {mutant.key for mutant in mutants}
    return [entry for entry in equivalents if entry.key not in known]
