"""Asks how versions of a student's code differ: for which call, by which change, in which order, through which branch.

A version is the submission with a line changed, moved or replaced by an exception. Each is run on the same calls as the
code itself, so that what is right, and what is wrong, are results of running.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..testing.case import Case
from .bench import Bench, try_changes
from .choosing import Split, distance, drawn, drawn_ranks, with_wrong
from .question import N_OPTIONS, Option, Question, changed_line, multiple_choice, place_of
from .shapes import excerpt_of
from .student_lines import Statement, expressions_in, own_statements, with_code, with_expression

if TYPE_CHECKING:
    from ..assignment_parts import Understanding

MOST_REWRITTEN, MOST_PAIRS = 16, 10
"""Versions that are tried."""
MOST_WRONG = 8
"""Versions that are not equal, to choose from."""
EQUAL, CLEARLY = 1e-9, 1e-3
"""Differences, relative to 1 + the size of a result: below the first nobody sees one, above the second everybody."""

Results = Mapping[str, Sequence[Tensor] | None]


class Versions:
    """What calls of a component return in versions of it."""

    def __init__(self, bench: Bench, component: str, understanding: Understanding) -> None:
        self.bench, self.component, self.module = bench, component, component.partition(".")[0]
        self.text = bench.intake.sources[self.module][1]
        self._see = [partial(_results, understanding, component, bench.seed + n) for n in range(2)]
        self._both = [bench.look(see) or {} for see in self._see]
        self.usual: Results = self._both[0]

    def differing(self, text: str) -> set[str] | None:
        """The calls that return something else in a version with this text.

        None where that is not clear: a matter of rounding, or of the inputs.
        """
        seen: list[set[str]] = []
        for see, usual in zip(self._see, self._both, strict=True):
            found = self.bench.look(see, self.bench.changed(self.module, text))
            verdicts = {told: _differ(usual[told], found.get(told)) for told in usual} if found is not None else {}
            if not verdicts or None in verdicts.values():
                return None
            seen.append({told for told, differs in verdicts.items() if differs})
        return seen[0] if seen[0] == seen[1] else None

    def is_silent(self, text: str) -> bool:
        """Whether a version with this text raises no more exceptions, and leaves all shapes as they are."""
        found = self.bench.look(self._see[0], self.bench.changed(self.module, text))
        return found is not None and all(_shapes(found.get(told)) == _shapes(one) for told, one in self.usual.items())

    def number(self, line: int) -> str:
        """Of a line, where the student finds it: in a file that is named elsewhere."""
        return place_of(self.bench.intake, self.module, line)[1]


def _shapes(parts: Sequence[Tensor] | None) -> list[tuple[int, ...]] | None:
    return None if parts is None else [tuple(part.shape) for part in parts]


def _results(understanding: Understanding, component: str, seed: int, sandbox: object) -> Results:
    return understanding.results(component, sandbox, Case(seed, f"calls of {component}"))


def _differ(one: Sequence[Tensor] | None, other: Sequence[Tensor] | None) -> bool | None:
    """Whether two results differ; None where that is a matter of rounding."""
    if one is None or other is None:
        return (one is None) != (other is None)
    if [part.shape for part in one] != [part.shape for part in other]:
        return True
    largest = 0.0
    for a, b in zip(one, other, strict=True):
        if not torch.equal(a.isnan(), b.isnan()):
            return True
        error = (a - b).abs() / (1 + a.abs())
        largest = max(largest, float(error.nan_to_num(0.0).max())) if error.numel() else largest
    return True if largest > CLEARLY else False if largest < EQUAL else None


def input_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A call on which two versions differ, or the only one on which they agree."""
    versions = Versions(bench, component, understanding)
    tried = try_changes(bench, component, draw)
    for index, differs, right, options in _calls(versions, [one.change.text for one in tried], draw):
        asked = "return something else" if differs else "still return the same"
        text = (f"This line of your `{component.partition('.')[2]}` is changed. Which of these calls would {asked}?",)
        return multiple_choice("input", component, text, right, options, change=tried[index].option(bench))
    return None


def branch_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """The call that runs a branch, or the only one that does not."""
    versions = Versions(bench, component, understanding)
    own = own_statements(bench.intake, component)
    branches = [one for one in own if _is_conditional(one)]
    texts = [with_code(versions.text, one.node, "raise RuntimeError") for one in branches]
    for index, runs, right, options in _calls(versions, texts, draw):
        number, name = versions.number(branches[index].node.lineno), component.partition(".")[2]
        text = (f"Which of these calls of your `{name}` {'runs' if runs else 'does not run'} line {number}?",)
        return multiple_choice("branch", component, text, right, options, (excerpt_of(bench, branches[index]),))
    return None


def _calls(
    versions: Versions, texts: Sequence[str | None], draw: random.Random
) -> Iterator[tuple[int, bool, Option, list[Option]]]:
    """Versions, each with the only one of four calls on which it differs from the code, or on which it does not."""
    returning = [told for told, result in versions.usual.items() if result is not None]
    differing = [versions.differing(text) if text else None for text in texts]
    for differs in draw.sample((True, False), 2):
        splits: list[Split] = []
        for some in differing:
            right = [told for told in returning if some is not None and (told in some) is differs]
            wrong = [told for told in returning if some is not None and (told in some) is not differs]
            splits.append((right, wrong))
        for index, one, options in drawn(splits, draw):
            yield index, differs, one, options


def equal_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """The only one of four rewritten lines that leaves all results equal.

    The others are rewritten in the same ways, as far as there are enough, and by slips.
    """
    versions = Versions(bench, component, understanding)
    rewritten = list(_rewritten(versions.text, own_statements(bench.intake, component)))
    equal: list[Option] = []
    wrong: list[Option] = []
    for statement, text in draw.sample(rewritten, min(len(rewritten), MOST_REWRITTEN)):
        differing = versions.differing(text)
        if differing is not None:
            option = changed_line(bench.intake, versions.module, statement.node.lineno, text)
            (wrong if differing else equal).append(option)
    for tried in try_changes(bench, component, draw) if equal else ():
        if len(wrong) < MOST_WRONG and versions.differing(tried.change.text):
            wrong.append(tried.option(bench))
    if not equal or len(wrong) < N_OPTIONS - 1:
        return None
    wanted = drawn_ranks(draw)
    several = [(right, with_wrong(right, wrong, draw, wanted)) for right in equal]
    right, options = min(several, key=lambda one: distance(one[0], one[1], wanted))
    asked = "Only one of these changes leaves all of its results as they are. Which one?"
    told = (f"Here are four changes of your `{component.partition('.')[2]}`, each made by itself. {asked}",)
    return multiple_choice("equal", component, told, right, options)


def order_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """Which two lines may change places, or must not."""
    versions = Versions(bench, component, understanding)
    pairs = list(neighbours(own_statements(bench.intake, component), versions.text))
    found: dict[bool, list[tuple[Statement, Statement]]] = {True: [], False: []}
    for one, other in draw.sample(pairs, min(len(pairs), MOST_PAIRS)):
        differing = versions.differing(_swapped(versions.text, one, other))
        if differing is not None:
            found[bool(differing)].append((one, other))
    for is_harmful in (False, True):
        if found[is_harmful] and len(found[not is_harmful]) >= N_OPTIONS - 1:
            chosen = [found[is_harmful][0], *found[not is_harmful][: N_OPTIONS - 1]]
            options = [
                Option(f"lines {' and '.join(versions.number(one.node.lineno) for one in pair)}") for pair in chosen
            ]
            asked = "changes a result if its lines are swapped" if is_harmful else "may be swapped without any effect"
            text = (f"Of these pairs of lines of your `{component.partition('.')[2]}`, only one {asked}. Which?",)
            lines = sorted({one.node.lineno for pair in chosen for one in pair})
            shown = (excerpt_of(bench, chosen[0][0], lines),)
            return multiple_choice("order", component, text, options[0], draw.sample(options, N_OPTIONS), shown)
    return None


def _is_conditional(statement: Statement) -> bool:
    """Whether a statement is the first of a branch."""
    branching = [node for node in ast.walk(statement.function) if isinstance(node, ast.If)]
    return any(block[:1] == [statement.node] for node in branching for block in (node.body, node.orelse))


def neighbours(own: Sequence[Statement], text: str) -> Iterator[tuple[Statement, Statement]]:
    """Statements on different lines that stand below each other, or with one between them."""
    lines = text.split("\n")
    single = [one for one in own if len(one.lines) == 1 and not isinstance(one.node, ast.Return)]
    for index, one in enumerate(single):
        for other in single[index + 1 : index + 3]:
            is_computation = one.function.name != "__init__"  # there, the order decides which parameter is which
            is_level = one.function is other.function and one.node.col_offset == other.node.col_offset
            if is_computation and is_level and lines[one.node.lineno - 1] != lines[other.node.lineno - 1]:
                yield one, other


def _swapped(text: str, one: Statement, other: Statement) -> str:
    lines = text.split("\n")
    a, b = one.node.lineno - 1, other.node.lineno - 1
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


SAID = {
    "exp": (),
    "masked_fill": (),
    "matmul": ("a @ b", "b @ a"),
    "mean": (),
    "relu": ("a.clamp(min=0)", "a.clamp(max=0)"),
    "softmax": (),
    "sqrt": ("a ** 0.5", "a ** -0.5"),
    "square": ("a * a", "a ** 2", "a * 2"),
    "sum": (),
    "transpose": ("a.transpose(c, b)", "a.transpose(b, b)"),
}
"""Functions of PyTorch that tensors have as methods, and what else may be written for `f(a, b, c)` or `a.f(b, c)`."""


def _rewritten(text: str, own: Sequence[Statement]) -> Iterator[tuple[Statement, str]]:
    """Versions with a line that may say the same in another way: running them tells which do."""
    for statement in own:
        for part in expressions_in(statement.node) if len(statement.lines) == 1 else ():
            for other in _said_otherwise(part):
                changed = with_expression(text, statement.node, part, other)
                if changed is not None and changed != text:
                    yield statement, changed


def _said_otherwise(node: ast.expr) -> Iterator[ast.expr]:
    """What is sometimes equal to an expression: `b + a` is to `a + b`, `b - a` is not to `a - b`."""
    match node:
        case ast.BinOp(left=ast.BinOp(left=a, op=op, right=b), op=other, right=c):
            yield ast.BinOp(a, op, ast.BinOp(b, other, c))
    match node:
        case ast.BinOp(left=a, op=op, right=b):
            yield ast.BinOp(b, op, a)
            if isinstance(op, ast.Div):
                yield from (_filled(form, a, b) for form in ("a * (1 / b)", "1 / a * b"))
            if isinstance(op, ast.MatMult):
                yield from (_filled(form, a, b) for form in ("torch.matmul(a, b)", "torch.matmul(b, a)"))
        case ast.UnaryOp(op=ast.Invert(), operand=a):
            yield from (_filled(form, a) for form in ("torch.logical_not(a)", "a == 0", "a != 0"))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "math" as of), attr=name), args=[a, *rest]) if (
            name in SAID
        ):
            if of == "torch":
                yield ast.Call(ast.Attribute(a, name), rest, node.keywords)
            yield from (_filled(form, a, *rest) for form in SAID[name])
        case ast.Call(func=ast.Attribute(value=a, attr=name), args=rest) if name in SAID:
            yield ast.Call(ast.Attribute(ast.Name("torch"), name), [a, *rest], node.keywords)
            yield from (_filled(form, a, *rest) for form in SAID[name])


def _filled(form: str, *parts: ast.expr) -> ast.expr:
    """An expression with these parts for its `a`, `b` and `c`."""
    named = dict(zip("abc", parts, strict=False))

    class Filling(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802
            return named.get(node.id, node)

    filled: ast.expr = Filling().visit(ast.parse(form, mode="eval").body)
    return filled
