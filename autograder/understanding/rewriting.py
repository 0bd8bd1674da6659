"""Asks which line may be written otherwise, or in another place: which change, or which swap, leaves all results equal.

Each version is run on the same calls as the code itself, so that what is right, and what is wrong, are results of
running.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .bench import Bench, try_changes
from .choosing import distance, drawn, drawn_ranks, with_wrong
from .question import N_OPTIONS, Option, Question, changed_line, excerpt_of, multiple_choice
from .student_lines import Statement, expressions_in, own_statements, with_expression
from .versions import Versions

if TYPE_CHECKING:
    from ..assignment_code import Understanding

MOST_REWRITTEN, MOST_PAIRS = 16, 10
"""Versions that are tried."""
MOST_WRONG = 8
"""Versions that are not equal, to choose from."""

Pair = tuple[Statement, Statement]


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
    for change, _ in try_changes(bench, component, draw) if equal else ():
        if len(wrong) < MOST_WRONG and versions.differing(change.text):
            wrong.append(bench.option(change))
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
    possible = list(neighbours(own_statements(bench.intake, component), versions.text))
    found: dict[bool, dict[Option, Pair]] = {True: {}, False: {}}
    for pair in draw.sample(possible, min(len(possible), MOST_PAIRS)):
        differing = versions.differing(_swapped(versions.text, *pair))
        if differing is not None:
            option = Option(f"lines {' and '.join(versions.number(one.node.lineno) for one in pair)}")
            found[bool(differing)][option] = pair
    harmless, harmful = [*found[False]], [*found[True]]
    for index, right, options in drawn([(harmless, harmful), (harmful, harmless)], draw):
        asked = "changes a result if its lines are swapped" if index else "may be swapped without any effect"
        text = (f"Of these pairs of lines of your `{component.partition('.')[2]}`, only one {asked}. Which?",)
        pairs = [{**found[True], **found[False]}[option] for option in options]
        lines = sorted({one.node.lineno for pair in pairs for one in pair})
        shown = (excerpt_of(bench.intake, pairs[0][0], lines),)
        return multiple_choice("order", component, text, right, options, shown)
    return None


def neighbours(own: Sequence[Statement], text: str) -> Iterator[Pair]:
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
