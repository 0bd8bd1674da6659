"""What students write: the code of a submission without what was handed out, by component."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from foundation.contract import Contract
from foundation.sources import Sources

from ...intake import Intake
from ...intake.python_source import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
OTHER = "other code"
"""Of a module: what belongs to none of the contract's components, such as helpers."""
METHODS = frozenset({"forward", "__init__", "__call__"})


@dataclass(frozen=True)
class Answer:
    """What a student wrote in one function, or outside all functions.

    Attributes:
        component: "layers.LayerNorm", or "layers: other code".
        module: that contains it.
        body: the statements; those that were handed out are not among them.
        names: that the function binds, its parameters first.
    """

    component: str
    module: str
    body: list[ast.stmt]
    names: frozenset[str]


@dataclass(frozen=True)
class ModuleNames:
    """Names in a module that are not a function's own.

    Attributes:
        imported: local name -> the name that was imported; modules keep the last part of theirs.
        own: definitions, methods and attributes that the student has named.
    """

    imported: dict[str, str]
    own: frozenset[str]


Given = Mapping[str, Mapping[str, Sequence[str]]]
"""What was handed out: by module and function the statements, as text that shows no layout."""


def given_in(release: Sources, contract: Contract) -> Given:
    """What was handed out of the contract's modules."""
    trees = {module: parse(release[module][1]) for module in contract.modules if module in release}
    return {module: statements_in(tree) for module, tree in trees.items() if isinstance(tree, ast.Module)}


def answers_of(intake: Intake, contract: Contract, given: Given) -> Iterator[tuple[Answer, ModuleNames]]:
    """The answers in each module that a submission brings; modules that are not Python have none."""
    fixed = METHODS | frozenset(contract.methods)
    for module in sorted(intake.submitted):
        tree = parse(intake.sources[module][1])
        if not isinstance(tree, ast.Module):
            continue
        components = contract.modules.get(module, ())
        names = names_of(tree, fixed | frozenset(components))
        for place, body, own in blocks_of(tree):
            left = without_given(body, Counter(given.get(module, {}).get(place, ())))
            if left:
                top = place.partition(".")[0]
                component = f"{module}.{top}" if top in components else f"{module}: {OTHER}"
                yield Answer(component, module, left, own), names


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


def nodes_in(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, in no order; twice as fast as `ast.walk`."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        for field in one._fields:
            value = getattr(one, field, None)
            if isinstance(value, list):
                waiting += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST):
                waiting.append(value)


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


def statements_in(tree: ast.Module) -> dict[str, list[str]]:
    """The statements of each function, inner ones too, as text that shows no layout."""
    return {
        place: [ast.dump(part) for top in body for part in nodes_in(top) if isinstance(part, ast.stmt)]
        for place, body, _ in blocks_of(tree)
    }


def without_given(body: list[ast.stmt], given: Counter[str]) -> list[ast.stmt]:
    """The statements that were not handed out; of a compound one whatever is left in it. `given` is used up."""
    left: list[ast.stmt] = []
    for statement in body:
        dump = ast.dump(statement) if any(one.startswith(type(statement).__name__) for one in given) else ""
        if given[dump] > 0:
            given[dump] -= 1
            given += Counter()  # forgets those that are used up
            continue
        if given:
            take_given_out(statement, given)
        left.append(statement)
    return left


def take_given_out(node: ast.AST, given: Counter[str]) -> None:
    """Takes what was handed out from the blocks of a compound statement."""
    for field in BLOCKS:
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            if isinstance(block[0], ast.stmt):
                setattr(node, field, without_given(block, given))
            else:
                for part in block:
                    take_given_out(part, given)


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
