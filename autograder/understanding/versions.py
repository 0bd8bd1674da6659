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

from ..reports.html import Excerpt, code_line
from ..testing.case import Case
from .bench import Bench, try_changes
from .own_code import Statement, expressions_in, own_statements, with_code, with_expression
from .question import N_OPTIONS, Option, Question, excerpt, multiple_choice, place_of, with_wrong

if TYPE_CHECKING:
    from ..assignment_parts import Understanding

MOST_REWRITTEN, MOST_PAIRS = 6, 10
"""Versions that are tried."""
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

    def option(self, line: int, text: str) -> Option:
        """A change of one line as an answer."""
        before, after = (code_line(lines.split("\n")[line - 1].strip()) for lines in (self.text, text))
        return Option(
            place=f"{place_of(self.bench.intake, self.module, line)[0]}, {self.line(line)}", before=before, after=after
        )

    def line(self, number: int) -> str:
        """Where the student finds a line: "line 12", of a file that is named elsewhere."""
        return f"line {place_of(self.bench.intake, self.module, number)[1]}"


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
    for tried in draw.sample(changes := try_changes(bench, component, draw), len(changes)):
        differing = versions.differing(tried.change.text)
        picked = _pick(differing, versions.usual, draw)
        if picked:
            right, options, is_odd = picked
            asked = "return something else" if is_odd else "still return the same"
            text = (
                f"This line of your `{component.partition('.')[2]}` is changed. Which of these calls would {asked}?",
            )
            return multiple_choice("input", component, text, right, options, change=tried.option(bench))
    return None


def branch_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """The call that runs a branch, or the only one that does not."""
    versions = Versions(bench, component, understanding)
    own = own_statements(bench.intake, component)
    branches = [one for one in own if _is_conditional(one)]
    for statement in draw.sample(branches, len(branches)):
        text = with_code(versions.text, statement.node, "raise RuntimeError")
        picked = _pick(versions.differing(text) if text else None, versions.usual, draw)
        if picked:
            right, options, is_odd = picked
            asked = f"{'runs' if is_odd else 'does not run'} {versions.line(statement.node.lineno)}"
            return multiple_choice(
                "branch",
                component,
                (f"Which of these calls of your `{component.partition('.')[2]}` {asked}?",),
                right,
                options,
                excerpts=(_excerpt(bench, statement, [statement.node.lineno]),),
            )
    return None


def equal_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """The only one of four rewritten lines that leaves all results equal.

    In the others a slip stands beside what is said in another way, where there is something to say in another way.
    """
    versions = Versions(bench, component, understanding)
    own = own_statements(bench.intake, component)
    wrong = []
    for tried in try_changes(bench, component, draw):
        line = tried.change.line
        again = [text for statement, text in _rewritten(tried.change.text, own) if statement.node.lineno == line]
        text = draw.choice(again) if again else tried.change.text
        if versions.differing(text):
            wrong.append(versions.option(line, text))
    rewritten = list(_rewritten(versions.text, own))
    for statement, text in draw.sample(rewritten, min(len(rewritten), MOST_REWRITTEN)):
        if len(wrong) >= N_OPTIONS - 1 and versions.differing(text) == set():
            right = versions.option(statement.node.lineno, text)
            asked = "Only one of these changes leaves all of its results as they are. Which one?"
            told = (f"Here are four changes of your `{component.partition('.')[2]}`, each made by itself. {asked}",)
            return multiple_choice("equal", component, told, right, with_wrong(right, wrong, draw))
    return None


def order_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """Which two lines may change places, or must not."""
    versions = Versions(bench, component, understanding)
    pairs = list(_pairs(own_statements(bench.intake, component), versions.text))
    found: dict[bool, list[tuple[Statement, Statement]]] = {True: [], False: []}
    for one, other in draw.sample(pairs, min(len(pairs), MOST_PAIRS)):
        differing = versions.differing(_swapped(versions.text, one, other))
        if differing is not None:
            found[bool(differing)].append((one, other))
    for is_harmful in (False, True):
        if found[is_harmful] and len(found[not is_harmful]) >= N_OPTIONS - 1:
            chosen = [found[is_harmful][0], *found[not is_harmful][: N_OPTIONS - 1]]
            options = [Option(_told(versions, *pair)) for pair in chosen]
            asked = "changes a result if its lines are swapped" if is_harmful else "may be swapped without any effect"
            text = (f"Of these pairs of lines of your `{component.partition('.')[2]}`, only one {asked}. Which?",)
            lines = sorted({one.node.lineno for pair in chosen for one in pair})
            shown = (_excerpt(bench, chosen[0][0], lines),)
            return multiple_choice("order", component, text, options[0], draw.sample(options, N_OPTIONS), shown)
    return None


def _pick(differing: set[str] | None, usual: Results, draw: random.Random) -> tuple[Option, list[Option], bool] | None:
    """One call that differs and three that do not, or the other way round; with whether the right one differs."""
    if differing is None:
        return None
    same = [told for told in usual if told not in differing]
    ways = ((sorted(differing), same, True), (same, sorted(differing), False))
    for odd, others, is_odd in draw.sample(ways, len(ways)):
        if odd and len(others) >= N_OPTIONS - 1:
            right = Option(draw.choice(odd))
            return right, with_wrong(right, [Option(told) for told in others], draw), is_odd
    return None


def _is_conditional(statement: Statement) -> bool:
    """Whether a statement is the first of a branch."""
    blocks = (
        block
        for node in ast.walk(statement.function)
        if isinstance(node, ast.If)
        for block in (node.body, node.orelse)
        if block
    )
    return any(block[0] is statement.node for block in blocks)


def _pairs(own: Sequence[Statement], text: str) -> Iterator[tuple[Statement, Statement]]:
    """Statements on lines of their own that stand below each other, or with one between them."""
    single = [one for one in own if len(one.lines) == 1 and not isinstance(one.node, ast.Return)]
    for index, one in enumerate(single):
        for other in single[index + 1 : index + 3]:
            is_computation = one.function.name != "__init__"  # there, the order decides which parameter is which
            if is_computation and one.function is other.function and one.node.col_offset == other.node.col_offset:
                yield one, other


def _swapped(text: str, one: Statement, other: Statement) -> str:
    lines = text.split("\n")
    a, b = one.node.lineno - 1, other.node.lineno - 1
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def _told(versions: Versions, one: Statement, other: Statement) -> str:
    numbers = (versions.line(each.node.lineno).removeprefix("line ") for each in (one, other))
    return f"lines {' and '.join(numbers)}"


METHODS = {"exp", "masked_fill", "matmul", "mean", "relu", "softmax", "sqrt", "square", "sum", "transpose"}
"""Of tensors, that are functions of PyTorch as well."""


def _rewritten(text: str, own: Sequence[Statement]) -> Iterator[tuple[Statement, str]]:
    """Versions in which a line says the same in another way, as far as one can tell; they are run before they count.

    The text may be that of the statements, or one in which lines of theirs are changed.
    """
    there = {(node.lineno, node.col_offset): node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    for statement in own:
        node = there.get((statement.node.lineno, statement.node.col_offset))
        if node is None or len(statement.lines) > 1:
            continue
        for part in expressions_in(node):
            for other in _said_otherwise(part):
                changed = with_expression(text, node, part, other)
                if changed is not None and changed != text:
                    yield statement, changed


def _said_otherwise(node: ast.expr) -> Iterator[ast.expr]:
    def of_torch(name: str, *arguments: ast.expr) -> ast.expr:
        return ast.Call(ast.Attribute(ast.Name("torch"), name), [*arguments], [])

    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() as op, right=right):
            yield ast.BinOp(right, op, left)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield ast.BinOp(left, ast.Mult(), ast.BinOp(ast.Constant(1), ast.Div(), right))
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield of_torch("matmul", left, right)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            yield of_torch("logical_not", operand)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), args=[first, *rest]) if (
            name in METHODS
        ):
            yield ast.Call(ast.Attribute(first, name), rest, node.keywords)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in METHODS:
            yield ast.Call(ast.Attribute(ast.Name("torch"), name), [value, *node.args], node.keywords)


def _excerpt(bench: Bench, statement: Statement, meant: Sequence[int]) -> Excerpt:
    function = statement.function
    first, last = function.body[0].lineno, function.end_lineno or function.lineno
    return excerpt(bench.intake, statement.module, first, last, meant, function.lineno)
