"""Asks for the shape of a value at a line of the student's code.

The answer comes from the code itself, cut short: the statement is followed by a `return` of the value, or replaced by
one, and what the call returns then is a tensor like any other.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

from torch import Tensor

from ..reports.html import Excerpt, code_line
from ..testing.case import Case
from .question import LETTERS, Option, Question, excerpt, place_of
from .student_lines import Statement, expressions_in, own_statements, with_code

if TYPE_CHECKING:
    from ..assignment_parts import Scene, Understanding
    from .bench import Bench

MOST_TRIED = 7
MOST_CHARACTERS = 60
"""Of an expression that is asked about."""
LOOPS = (ast.For, ast.While, ast.AsyncFor)


@dataclass(frozen=True)
class Value:
    """A value of the student's code.

    Attributes:
        statement: that computes it.
        code: of the value.
        text: of the module, cut short there.
        is_named: whether it is a variable that the statement sets.
    """

    statement: Statement
    code: str
    text: str
    is_named: bool


def shape_question(
    bench: Bench, component: str, understanding: Understanding, draw: random.Random, n_options: int = 0
) -> Question | None:
    """A question about a component that works; None where no value has a shape worth asking for.

    With options, the wrong ones are shapes of other values, or have their axes in another order.
    """
    make = understanding.SCENES.get(component)
    if make is None:
        return None
    scene = make(Case(bench.seed, f"a scene with {component}"))
    name = component.partition(".")[2]
    entry = (name, scene.method) if scene.method else (name,)
    module = component.partition(".")[0]
    text = bench.intake.sources[module][1]
    own = [one for one in own_statements(bench.intake, component) if one.names == entry]
    values = [value for statement in own for value in _values(text, statement)]
    draw.shuffle(values)
    given = {tuple(one.shape) for one in scene.inputs if isinstance(one, Tensor)}
    best: tuple[int, Value, tuple[int, ...]] | None = None
    seen: list[tuple[int, ...]] = []
    for value in values[:MOST_TRIED]:
        shape = bench.look(partial(_shape_at, scene), bench.changed(module, value.text))
        if shape is None or len(shape) < 2 or shape in given:
            continue
        seen.append(shape)
        interest = len(shape) + value.is_named
        if best is None or interest > best[0]:
            best = interest, value, shape
    if best is None:
        return None
    question = _question(bench, component, scene, best[1], best[2])
    return question if not n_options else _with_options(question, best[2], [*seen, *given], n_options, draw)


def _with_options(
    question: Question, right: tuple[int, ...], others: list[tuple[int, ...]], n_options: int, draw: random.Random
) -> Question | None:
    """The question as a choice."""
    near = [one for one in others if len(one) == len(right)] + [*permutations(right)]
    wrong = [one for one in dict.fromkeys(near) if one != right][: n_options - 1]
    if len(wrong) < n_options - 1:
        return None
    options = draw.sample([right, *wrong], n_options)
    index = options.index(right)
    text = (question.text[0], question.text[1].removesuffix(" Name each axis."))
    answer = f"{LETTERS[index]}: {right}"
    return replace(question, text=text, options=tuple(Option(str(one)) for one in options), right=index, answer=answer)


def _question(bench: Bench, component: str, scene: Scene, value: Value, shape: tuple[int, ...]) -> Question:
    statement = value.statement
    number = place_of(bench.intake, statement.module, statement.node.lineno)[1]
    code = code_line(" ".join(value.code.split()))
    is_repeated = any(
        isinstance(node, LOOPS) and node.lineno <= statement.node.lineno <= (node.end_lineno or 0)
        for node in ast.walk(statement.function)
    )
    first = " for the first time" if is_repeated else ""
    if value.is_named:
        asked = f"What is the shape of `{code}` once line {number} has run{first}?"
    else:
        asked = f"What is the shape of `{code}` in line {number}{', in the first round of the loop' if first else ''}?"
    names = [scene.axes.get(size, "(an axis of length 1)" if size == 1 else "") for size in shape]
    in_order = ", ".join(f"{size} {name}" for size, name in zip(shape, names, strict=True))
    why = [f"In order: {in_order}."] if all(names) else []
    text = (f"The call is {scene.told}", f"{asked} Name each axis.")
    return Question("shape", component, text, str(shape), (excerpt_of(bench, statement),), why=tuple(why))


def excerpt_of(bench: Bench, statement: Statement, meant: Sequence[int] = ()) -> Excerpt:
    """The lines around a statement, or around those that are meant, within its function, without the docstring."""
    function = statement.function
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    first = body[0].lineno if body else function.lineno
    last = function.end_lineno or function.lineno
    return excerpt(bench.intake, statement.module, first, last, meant or statement.lines, function.lineno)


def _values(text: str, statement: Statement) -> Iterator[Value]:
    """Values that the statement computes, each with the module's text cut short there."""
    node = statement.node
    segment = ast.get_source_segment(text, node)
    names: list[str] = []
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [one.id for one in targets if isinstance(one, ast.Name)]
    for name in names:
        if segment and (changed := with_code(text, node, f"{segment}; return {name}")):
            yield Value(statement, name, changed, is_named=True)
    if any(isinstance(one, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for one in ast.walk(node)):
        return
    whole = getattr(node, "value", None) if names else None
    for part in expressions_in(node):
        if isinstance(part, (ast.Call, ast.BinOp)) and part is not whole and not _is_inside(node, part):
            code = ast.get_source_segment(text, part)
            if (
                code
                and len(" ".join(code.split())) <= MOST_CHARACTERS
                and (changed := with_code(text, node, f"return ({code})"))
            ):
                yield Value(statement, code, changed, is_named=False)


def _is_inside(statement: ast.stmt, part: ast.expr) -> bool:
    """Whether an expression stands in a comprehension or a conditional: it may not be evaluated, or more than once."""
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)
    around = [one for one in ast.walk(statement) if isinstance(one, kinds)]
    return any(part is one for outer in around for one in ast.walk(outer))


def _shape_at(scene: Scene, sandbox: object) -> tuple[int, ...] | None:
    value = scene.run(sandbox)
    return tuple(value.shape) if isinstance(value, Tensor) else None
