"""From a submission to the fingerprints of its answers: what was handed out is not among them.

Nothing of a submission is run or imported: it is parsed, in a child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract
from foundation.child_processes import Ended, ask_forked

from ...intake import Intake, IntakeError, take_in
from ...intake.modules import read_release
from ...sources import parse
from ..entries import Entry
from .one_form import LENGTH, ModuleNames, Reader, fingerprints, in_one_form, nodes_in
from .translations import Translated, translated

SECONDS = 30.0
"""Wall time of a child; a large submission takes a tenth of a second."""
MOST_FINGERPRINTS = 20_000
"""Of a submission; an ordinary one has 600."""
NESTED = "its code is nested too deeply to be compared"
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
OTHER = "other code"
"""Of a module: what belongs to none of the contract's components, such as helpers."""
METHODS = frozenset({"forward", "__init__", "__call__"})


@dataclass(frozen=True)
class Answer:
    """What stands in one function, or outside all functions."""

    component: str  # "layers.LayerNorm", or "layers: other code"
    module: str  # that contains it
    body: list[ast.stmt]
    reader: Reader  # knows the names of the module and of the function


@dataclass(frozen=True)
class Print:
    """A fingerprint, the module where it was found, and the lines on which its tokens stand."""

    hash: int
    module: str
    lines: tuple[int, ...]


@dataclass
class Written:
    """What a student wrote, by component or by module."""

    prints: dict[str, list[Print]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)  # the lines of each module that the submission brings
    places: dict[str, list[str]] = field(default_factory=dict)  # of each line that stands in no file of its own
    problem: str = ""  # why nothing can be compared, or ""
    translations: Translated | None = None  # None where there are none, or they cannot be read


def handed_out(release: Path, contract: Contract) -> frozenset[int]:
    """The fingerprints of what was handed out; what a student has renamed there is still given."""
    sources = read_release(release, contract)
    everything = written_in(Intake("release", dict(sources), set(sources)), contract, frozenset())
    return frozenset(one.hash for prints in everything.prints.values() for one in prints)


def written_in(intake: Intake, contract: Contract, given: frozenset[int]) -> Written:
    """The fingerprints of a submission's answers, without those of what was handed out."""
    written = Written()
    count = 0
    for answer in answers_of(intake, contract):
        tokens, lines = answer.reader.read(in_one_form(answer.body, answer.reader.nameless))
        for start, found in fingerprints(tokens):
            if found in given:
                continue
            own = tuple(sorted(set(lines[start : start + LENGTH])))
            written.prints.setdefault(answer.component, []).append(Print(found, answer.module, own))
            count += 1
            if count > MOST_FINGERPRINTS:
                return Written(problem=f"it has more than {MOST_FINGERPRINTS:,} places to compare")
    modules = {one.module for prints in written.prints.values() for one in prints}
    written.texts = {module: intake.sources[module][1].split("\n") for module in modules}
    written.places = {module: intake.origins[module] for module in modules if module in intake.origins}
    return written


def read_class(
    entries: Sequence[Entry],
    release: Path,
    assignment: Assignment,
    references: Sequence[str] = (),
    n_children: int = 1,
    show_progress: bool = False,
) -> Mapping[Entry, Written]:
    """What each student wrote, read in children: whatever is wrong with a submission stops no other.

    Without references of the test split, translations are not compared.
    """
    given = handed_out(release, assignment.contract)

    def read(entry: Entry) -> Written:
        try:
            intake = take_in(entry.source, release, assignment)
        except IntakeError as error:
            return Written(problem=error.reason)
        try:
            written = written_in(intake, assignment.contract, given)
        except RecursionError:
            written = Written(problem=NESTED)
        written.translations = translated(intake.translations, references)
        return written

    found: dict[Entry, Written] = {}
    with tqdm(desc="reading", unit="submission", total=len(entries), disable=not show_progress) as bar:
        for entry, answer in ask_forked(entries, read, SECONDS, n_children):
            if isinstance(answer, Ended):
                answer = Written(problem=answer.reason or "nothing came back")
            found[entry] = answer
            bar.update()
    return found


def answers_of(intake: Intake, contract: Contract) -> Iterator[Answer]:
    """The answers in each module that a submission brings; modules that are not Python have none."""
    fixed = METHODS | frozenset(contract.methods)
    for module in sorted(intake.submitted):
        tree = parse(intake.sources[module][1])
        if not isinstance(tree, ast.Module):
            continue
        components = contract.modules.get(module, ())
        names = names_of(tree, fixed | frozenset(components))
        for place, body, own in blocks_of(tree):
            if body:
                top = place.partition(".")[0]
                component = f"{module}.{top}" if top in components else f"{module}: {OTHER}"
                yield Answer(component, module, body, Reader(names, own))


def blocks_of(tree: ast.Module) -> Iterator[tuple[str, list[ast.stmt], frozenset[str]]]:
    """The statements of each function, and those outside functions, with the qualified name and the names bound."""
    waiting: list[tuple[str, list[ast.stmt]]] = [("", tree.body)]
    while waiting:
        place, body = waiting.pop()
        rest: list[ast.stmt] = []
        for statement in body:
            name = ".".join(filter(None, [place, getattr(statement, "name", "")]))
            if isinstance(statement, ast.ClassDef):
                waiting.append((name, statement.body))
            elif isinstance(statement, Function):
                yield name, statement.body, bound_in(statement)
            elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
                rest.append(statement)
        yield place, rest, frozenset().union(*map(bound_in, rest))


def bound_in(node: ast.AST) -> frozenset[str]:
    """The names that are bound anywhere in a node."""
    found = set()
    for part in nodes_in(node):
        if isinstance(part, ast.arg):
            found.add(part.arg)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, Definition) and part is not node:
            found.add(part.name)
    return frozenset(found)


def names_of(tree: ast.Module, fixed: frozenset[str]) -> ModuleNames:
    """The names of a module; those of the contract in `fixed` are nobody's own."""
    imported: dict[str, str] = {}
    own: set[str] = set()
    for node in nodes_in(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                imported[local] = alias.name.rpartition(".")[2] if alias.asname else local
        elif isinstance(node, Definition):
            own.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.attr)
    return ModuleNames(imported, frozenset(own - fixed))
