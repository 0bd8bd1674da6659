"""Asks for a value of the student's code at a line: its shape, or its numbers in a call that one can compute by hand.

The answer comes from the code itself, cut short: the statement is followed by a `return` of the value, or replaced by
one, and what the call returns then is a value like any other. The other options are what other lines give, and what
this one would give if its axes had another order, or if a line above were changed.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

from torch import Tensor

from ..reports.html import code_line
from ..testing.case import Case
from .choosing import drawn_ranks, with_wrong
from .question import N_OPTIONS, Option, Question, excerpt_of, multiple_choice, place_of
from .student_lines import Statement, changes_of, expressions_in, own_statements, with_code

if TYPE_CHECKING:
    from ..assignment_parts import Scene, Understanding
    from .bench import Bench

MOST_SHAPES, MOST_VERSIONS = 7, 12
"""Values whose shapes are looked at; versions in which numbers are."""
MOST_CHARACTERS, MOST_NUMBERS = 60, 4
"""Of an expression that is asked about; of a value whose numbers are asked for."""
LOOPS = (ast.For, ast.While, ast.AsyncFor)
NOT_ONCE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)
"""What stands in them may not be evaluated, or more than once."""
UNUSUAL = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


@dataclass(frozen=True)
class Place:
    """A value that a statement computes: a variable that it sets, or an expression in it."""

    statement: Statement
    code: str
    is_named: bool


def shape_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A question about a component that works; None where no value has a shape worth asking for."""
    scene = understanding.SCENES[component](Case(bench.seed, f"a scene with {component}"))
    text, places = _places(bench, component, scene)
    given = {tuple(one.shape) for one in scene.inputs if isinstance(one, Tensor)}
    shapes: dict[Place, tuple[int, ...]] = {}
    for place in draw.sample(places, min(len(places), MOST_SHAPES)):
        shape = _look(bench, scene, place, text, _shape)
        if shape is not None and len(shape) > 1 and shape not in given:
            shapes[place] = shape
    for place in sorted(shapes, key=lambda one: -len(shapes[one]) - one.is_named):
        right = shapes[place]
        near = dict.fromkeys([*shapes.values(), *given, *permutations(right)])
        wrong = [one for one in near if len(one) == len(right) and one != right]
        if len(wrong) >= N_OPTIONS - 1:
            names = [scene.axes.get(size, "(an axis of length 1)" if size == 1 else "") for size in right]
            in_order = ", ".join(f"{size} {name}" for size, name in zip(right, names, strict=True))
            why = (f"In order: {in_order}.",) if all(names) else ()
            options = [Option(str(one)) for one in draw.sample([right, *wrong[: N_OPTIONS - 1]], N_OPTIONS)]
            asked = f"What is the shape of `{code_line(place.code)}` {_when(bench, place)}?"
            return _question("shape", bench, component, scene, place, asked, Option(str(right)), options, why)
    return None


def value_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A question about a component that works; None where no value has three wrong neighbours."""
    scene = understanding.BY_HAND[component](Case(bench.seed, f"a call of {component} by hand"))
    text, places = _places(bench, component, scene)
    values = {place: _look(bench, scene, place, text, _numbers) for place in places if place.is_named}
    changes = changes_of(text, [place.statement for place in places])
    for place, right in draw.sample([*values.items()], len(values)):
        if right is None or right in scene.told:
            continue
        above = [one for one in changes if one.line < place.statement.node.lineno]
        changed = draw.sample(above, min(len(above), MOST_VERSIONS))
        others = [*values.values(), *(_look(bench, scene, place, one.text, _numbers) for one in changed)]
        wrong = [one for one in others if one and one != right and one.count(",") == right.count(",")]
        if len({*wrong}) >= N_OPTIONS - 1:
            options = with_wrong(Option(right), map(Option, wrong), draw, drawn_ranks(draw))
            asked = f"Which numbers does `{place.code}` hold {_when(bench, place)}?"
            return _question("value", bench, component, scene, place, asked, Option(right), options)
    return None


def _question(
    kind: str,
    bench: Bench,
    component: str,
    scene: Scene,
    place: Place,
    asked: str,
    right: Option,
    options: list[Option],
    why: tuple[str, ...] = (),
) -> Question:
    text, shown = (f"The call is {scene.told}", asked), (excerpt_of(bench.intake, place.statement),)
    return multiple_choice(kind, component, text, right, options, shown, why=why)


def _when(bench: Bench, place: Place) -> str:
    statement, line = place.statement, place.statement.node.lineno
    loops = [node for node in ast.walk(statement.function) if isinstance(node, LOOPS)]
    is_repeated = any(loop.lineno <= line <= (loop.end_lineno or line) for loop in loops)
    number = place_of(bench.intake, statement.module, line)[1]
    if place.is_named:
        return f"once line {number} has run{' for the first time' if is_repeated else ''}"
    return f"in line {number}{', in the first round of the loop' if is_repeated else ''}"


def _places(bench: Bench, component: str, scene: Scene) -> tuple[str, list[Place]]:
    """The module's text, and the values in the function that the call begins with."""
    module, _, name = component.partition(".")
    entry = (name, scene.method) if scene.method else (name,)
    own = [one for one in own_statements(bench.intake, component) if one.names == entry]
    text = bench.intake.sources[module][1]
    return text, [place for statement in own for place in _values(text, statement)]


def _values(text: str, statement: Statement) -> Iterator[Place]:
    node, names = statement.node, list[str]()
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [one.id for one in targets if isinstance(one, ast.Name)]
    yield from (Place(statement, name, is_named=True) for name in names)
    inner = [*ast.walk(node)]
    if any(isinstance(one, UNUSUAL) for one in inner):
        return
    hidden = {id(one) for outer in inner if isinstance(outer, NOT_ONCE) for one in ast.walk(outer)}
    whole = getattr(node, "value", None) if names else None
    for part in expressions_in(node):
        if isinstance(part, (ast.Call, ast.BinOp)) and part is not whole and id(part) not in hidden:
            code = " ".join((ast.get_source_segment(text, part) or "").split())
            if 0 < len(code) <= MOST_CHARACTERS:
                yield Place(statement, code, is_named=False)


def _look(bench: Bench, scene: Scene, place: Place, text: str, tell: Callable[[Any], Any]) -> Any:
    """What is told of a value, in the code or in a version of it; None where there is nothing to tell."""
    node = place.statement.node
    segment = ast.get_source_segment(text, node)
    code = f"{segment}; return {place.code}" if place.is_named else f"return ({place.code})"
    cut = with_code(text, node, code)
    if cut is None:
        return None
    return bench.look(lambda sandbox: tell(scene.run(sandbox)), bench.changed(place.statement.module, cut))


def _shape(value: object) -> tuple[int, ...] | None:
    return tuple(value.shape) if isinstance(value, Tensor) else None


def _numbers(value: object) -> str | None:
    """The numbers as they are shown: at most a few, and finite."""
    numbers: list[Any] = value.detach().flatten().tolist() if isinstance(value, Tensor) else [value]
    if not 0 < len(numbers) <= MOST_NUMBERS or not all(isinstance(one, (int, float)) for one in numbers):
        return None
    if any(one != one or abs(one) > 1e6 for one in numbers):
        return None
    return ", ".join(f"{one:.2f}".rstrip("0").rstrip(".") for one in numbers)
