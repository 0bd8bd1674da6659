"""A student's code as text: definitions, tests and TODOs, and changes of one line.

Changes are what the mutation operators make of simple statements, as far as somebody might write it.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foundation.texts import with_comment

from ..intake.meanings import imports_in, own_definitions
from ..intake.sources import Sources, file_of, in_module, tree_of
from ..testing.comparison import fail
from .operators import mutations, own_attribute

MOST_TESTS = 40
"""Of one class."""
COMMENT = re.compile(r"\s*(#.*)?\r?")
BEFORE_COMMENT = re.compile(r"""((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^#"'])*)#""")
"""Code up to a comment: no sign within quotation marks begins one."""

NESTED = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
WHOLE = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript)
"""Expressions that never need parentheses around them."""
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
NO_SLIPS = {"conditions", "indices", "orders"}
"""Mutations that seldom look as if somebody had written them."""
LIBRARIES = {"torch", "nn", "F", "math", "np", "self", "super"}
"""Names that are no tensors: what is called on them is no step that could be left out."""


def definition_of(component: str, sources: Sources) -> ast.FunctionDef | ast.ClassDef:
    """Return the last definition of a component's name, in its own module: see `place_of`.

    Raises: CheckFailed where its module is not Python; NotImplementedError where there is none.
    """
    module, _, name = component.rpartition(".")
    if module not in sources:
        raise NotImplementedError(f"{file_of(module)} is missing")
    tree = tree_of(sources[module][1])
    if isinstance(tree, SyntaxError):
        fail(f"your {file_of(module)}", "Python", f"{in_module(module, tree.lineno or 1)}: {tree.msg}")
    if (node := definitions_of(sources[module][1]).get(name)) is None:
        raise NotImplementedError(f"{name} is not defined in {file_of(module)}")
    return node


def place_of(component: str, sources: Sources) -> str:
    """Return a component by the module that defines it, and its name there: another one that its own imports it from.

    "helpers.Norm", for instance, of "layers.LayerNorm"; where no module defines it, its own name.
    """
    for module, name in own_definitions(component, sources):
        if definition := definitions_of(sources[module][1]).get(name):
            return f"{module}.{definition.name}"
    return component


def expect_no_own_imports(module: str, text: str, package: str) -> None:
    """Fail where a module imports from its package: when graded, a student's own tests are alone."""
    for imported in imports_in(text):
        if imported.level or imported.module.partition(".")[0] == package:
            none = "nothing of this package, which is not there when graded: a test gets what it tests as its argument"
            fail(f"what {module}.py imports", none, text.split("\n")[imported.line - 1].strip()[:80])


def definitions_of(text: str) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """Return the functions and classes at the top of a module by name, the last one unless an import replaces it."""
    definitions: dict[str, ast.FunctionDef | ast.ClassDef] = {}
    for node in getattr(tree_of(text), "body", ()):
        match node:
            case ast.FunctionDef(name) | ast.ClassDef(name):
                definitions[name] = node
            case ast.Assign([ast.Name(name)], ast.Name(other)) if other in definitions:
                definitions[name] = definitions[other]
            case ast.ImportFrom(names=names):
                for alias in names:
                    definitions.pop(alias.asname or alias.name, None)
    return definitions


def lines_of(component: str, sources: Sources) -> dict[int, str]:
    """Return a component's lines by their numbers in its module; not docstrings, imports, comments and blank lines.

    What would leave a block without any statement stays: the lines are Python.
    """
    definition = definition_of(component, sources)
    blocks = [getattr(node, name, []) for node in ast.walk(definition) for name in ("body", "orelse", "finalbody")]
    hidden = {
        number
        for block in blocks
        if isinstance(block, list) and not all(map(_says_nothing, block))
        for node in block
        if _says_nothing(node)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = sources[component.rpartition(".")[0]][1].split("\n")
    numbered = list(enumerate(lines, start=1))[definition.lineno - 1 : definition.end_lineno]
    return {n: line.rstrip() for n, line in numbered if n not in hidden and not COMMENT.fullmatch(line)}


def helpers_of(component: str, sources: Sources, known: Collection[str]) -> list[str]:
    """Return the other definitions of its module that a component needs, also by way of others, but known ones."""
    module, _, name = component.rpartition(".")
    definitions, needed = definitions_of(sources[module][1]), [name]
    for name in needed:  # which grows
        names = (node.id for node in ast.walk(definitions[name]) if isinstance(node, ast.Name))
        needed += dict.fromkeys(n for n in names if n in definitions and n not in known and n not in needed)
    return needed[1:]


def _says_nothing(node: ast.stmt) -> bool:
    """True of a docstring, another constant, or an import."""
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant or isinstance(node, (ast.Import, ast.ImportFrom))


def listing_of(lines: Mapping[int, str]) -> str:
    """Return lines as a text, numbered from 1."""
    return "\n".join(f"{number:>4}  {line}" for number, line in enumerate(lines.values(), start=1))


def todo_in(definition: ast.AST, lines: list[str]) -> str:
    """Return the TODO that is still in a definition; "" = none."""
    for node in ast.walk(definition):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"), args=[ast.Constant(value=str(todo))])):
                return with_comment(todo, lines, node.lineno) or "not implemented yet"
    return ""


def named_tests(text: str, name: str) -> dict[str, str]:
    """Return the tests of a class by name, in order, each with the TODO that is still in it; none without the class.

    Those that it inherits from other classes of the module come after its own.
    """
    definitions, tests, names = definitions_of(text), dict[str, str](), [name]
    for name in names:  # which grows
        definition = definitions.get(name)
        for method in getattr(definition, "body", ()):
            if isinstance(method, ast.FunctionDef) and method.name.startswith("test") and method.name not in tests:
                tests[method.name] = todo_in(method, text.split("\n"))
        bases = (base.id for base in getattr(definition, "bases", ()) if isinstance(base, ast.Name))
        names += (base for base in bases if base not in names)
    return tests


def statements_in(
    node: ast.stmt, function: ast.FunctionDef | None = None
) -> Iterator[tuple[ast.stmt, ast.FunctionDef]]:
    """Yield the simple statements of a definition without docstrings, each with the innermost function around it."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, SIMPLE) and not is_text and function is not None:
        yield node, function
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        function = node if isinstance(node, ast.FunctionDef) else None
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield from statements_in(child, function)


def with_code(text: str, node: ast.stmt | ast.expr, code: str) -> str | None:
    """Return a module's text with other code in the place of a statement or expression; None where it is not Python."""
    lines = text.split("\n")
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    changed = "\n".join([*lines[:first], before + code + after, *lines[last + 1 :]])
    return None if isinstance(tree_of(changed), SyntaxError) else changed


def with_part(text: str, part: ast.stmt | ast.expr, other: ast.AST) -> str | None:
    """Return a module's text with another statement or expression in place of a part; None where it is not Python.

    All else stays as it is written, and parentheses stand only where they are needed: the style of a line does not
    give a change away.
    """
    code = ast.unparse(AsWritten(text).visit(copy.deepcopy(other)))
    if not isinstance(part, ast.expr):
        return with_code(text, part, code)
    grouped, places = with_code(text, part, f"({code})"), [part]
    line, start, end = text.split("\n")[part.lineno - 1].encode(), part.col_offset, part.end_col_offset or 0
    if isinstance(other, WHOLE) and line[:start].endswith(b"(") and line[end:].startswith(b")"):
        wider = copy.copy(part)
        wider.col_offset, wider.end_col_offset = start - 1, end + 1
        places.insert(0, wider)
    for version in (with_code(text, place, code) for place in places):
        if version and grouped and ast.dump(ast.parse(version)) == ast.dump(ast.parse(grouped)):
            return version
    return grouped


class AsWritten(ast.NodeTransformer):
    """Leaves each number and each string of a module's text as it is written there: `-1e9`, "bhqk"."""

    def __init__(self, text: str) -> None:
        self._text = text

    def visit(self, node: ast.AST) -> Any:
        """Put its code in the place of a number or a string, unless it is a new one."""
        if not isinstance(node, (ast.Constant, ast.JoinedStr)):
            return self.generic_visit(node)
        segment = ast.get_source_segment(self._text, node) if hasattr(node, "lineno") else None
        return ast.Name(segment) if segment else node


@dataclass(frozen=True)
class Change:
    """A change of one line."""

    line: int  # its number
    before: str  # the line as it is
    after: str  # the line as it would be
    text: str  # the whole module with it
    kind: str  # of slip


def slips(statement: ast.stmt, function: ast.FunctionDef) -> Iterator[tuple[str, ast.stmt | ast.expr, ast.AST]]:
    """The kind of each slip in a statement of a function, the part that is replaced, and the code in its place."""
    if isinstance(statement, (ast.Expr, ast.AugAssign)):
        yield "statements", statement, ast.Pass()
    kinds = arguments_of(function)
    called = {own_attribute(call.func) for call in calls_in(function)} - {""}
    making = [call for call in calls_in(statement) if makes(call)]
    sizes = {id(size) for call in making for size in (*call.args, *(keyword.value for keyword in call.keywords))}
    # A tensor in place of several results is unpacked only if it has as many sentences.
    is_tuple = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)
    unpacked = statement.value if isinstance(statement, ast.Assign) and is_tuple else None

    for node in expressions_in(statement):
        # With a layer of other sizes nothing works.
        own = kinds.get(node.id) if isinstance(node, ast.Name) and id(node) not in sizes else None
        alike = [name for name in kinds if kinds[name] == own]
        for kind, other in mutations(node, alike, called):
            is_unpacked = node is unpacked and not isinstance(other, (ast.Call, ast.Tuple))
            if kind not in NO_SLIPS and isinstance(other, ast.expr) and is_plausible(node, other) and not is_unpacked:
                yield kind, node, other
        if own is not None and own.endswith("None"):
            yield "not_passed_on", node, ast.Constant(None)


def without_comment(line: str) -> str:
    """A line without the comment at its end."""
    code = BEFORE_COMMENT.match(line)
    return code[1].rstrip() if code else line


def changes_of(component: str, sources: Sources) -> list[Change]:
    """All slips in a component's statements of one line, each changed line once. Raises: see `definition_of`."""
    text = sources[component.rpartition(".")[0]][1]
    changes: dict[tuple[int, str], Change] = {}
    for statement, function in statements_in(definition_of(component, sources)):
        line = statement.lineno
        for kind, part, other in slips(statement, function) if statement.end_lineno == line else ():
            version = with_part(text, part, other) or text
            before, after = (module.split("\n")[line - 1].strip() for module in (text, version))
            if after != before and "--" not in after and version.count("\n") == text.count("\n"):
                changes.setdefault((line, after), Change(line, before, after, version, kind))
    return list(changes.values())


def is_plausible(node: ast.expr, other: ast.expr) -> bool:
    """True if the other expression might have been meant; a part of the first one is a step that was left out."""
    if isinstance(node, ast.Call) and makes(node):
        return False
    is_part = any(other is part for part in ast.walk(node))
    if not is_part:
        if isinstance(node, ast.Call) and isinstance(other, ast.Call):
            return len(other.args) >= len(node.args)
        if isinstance(node, ast.BinOp) and isinstance(other, ast.BinOp) and other.left is node.right:
            return not isinstance(node.op, (ast.Add, ast.Mult))
        return not (isinstance(other, ast.Constant) and other.value == 0)
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.MatMult)
    return is_tensor(other) if isinstance(node, ast.Call) else not isinstance(other, ast.Constant)


def arguments_of(function: ast.FunctionDef) -> dict[str, str]:
    """The arguments but `self`, with their annotations: only those of one kind are taken for one another."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {
        argument.arg: ast.unparse(argument.annotation or ast.Constant(""))
        for argument in every
        if argument.arg != "self"
    }


def expressions_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates in its own function, the outer ones first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*NESTED, ast.JoinedStr)):
            continue
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), (ast.Store, ast.Del)):
            yield child
        yield from expressions_in(child)


def calls_in(node: ast.AST) -> list[ast.Call]:
    """The calls in a statement."""
    return [part for part in ast.walk(node) if isinstance(part, ast.Call)]


def makes(node: ast.Call) -> bool:
    """True if a call makes a layer or a parameter: by its capital letter."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name[:1].isupper()


def is_tensor(node: ast.expr) -> bool:
    """True if a step of a computation may begin with an expression."""
    return (
        not isinstance(node, (ast.Constant, ast.Starred, ast.Attribute, ast.UnaryOp))
        and getattr(node, "id", "") not in LIBRARIES
    )


def mixed(changes: list[Change], draw: random.Random) -> list[Change]:
    """All changes, in an order in which lines and kinds take turns."""
    times: Counter[int | str] = Counter()

    def turn(change: Change) -> int:
        times.update((change.line, change.kind))
        return times[change.line] + times[change.kind]

    return sorted(draw.sample(changes, len(changes)), key=turn)
