"""Asks for the value of a name at a line, in a call that one can compute by hand.

As for shapes, the code is cut short after the line, and returns the value. The other options are what other names hold,
and what this one would hold if a line above were changed.
"""

from __future__ import annotations

import ast
import random
from functools import partial
from typing import TYPE_CHECKING

from torch import Tensor

from ..testing.case import Case
from .choosing import drawn_ranks, with_wrong
from .question import N_OPTIONS, Option, Question, multiple_choice, place_of
from .shapes import excerpt_of
from .student_lines import Statement, changes_of, own_statements, with_code

if TYPE_CHECKING:
    from ..assignment_parts import Scene, Understanding
    from .bench import Bench

MOST_NUMBERS, MOST_TRIED = 4, 12
"""Of a value that is asked for; versions in which it is looked for."""


def value_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A question about a component that works; None where no value has three wrong neighbours."""
    make = understanding.BY_HAND.get(component)
    if make is None:
        return None
    scene = make(Case(bench.seed, f"a call of {component} by hand"))
    module, _, name = component.partition(".")
    text = bench.intake.sources[module][1]
    entry = (name, scene.method) if scene.method else (name,)
    own = [one for one in own_statements(bench.intake, component) if one.names == entry]
    named = [(statement, target) for statement in own if (target := _name_set(statement))]
    values = {(s.node.lineno, target): _look(bench, scene, s, target, text) for s, target in named}
    draw.shuffle(named)
    for statement, target in named:
        right = values[statement.node.lineno, target]
        if right is None:
            continue
        wrong = [one for one in values.values() if one]
        changes = [one for one in changes_of(text, own) if one.line < statement.node.lineno]
        for change in draw.sample(changes, min(len(changes), MOST_TRIED)):
            wrong += filter(None, [_look(bench, scene, statement, target, change.text)])
        fitting = [one for one in dict.fromkeys(wrong) if one != right and one.count(",") == right.count(",")]
        if len(fitting) >= N_OPTIONS - 1 and right not in scene.told:
            options = with_wrong(Option(right), map(Option, fitting), draw, drawn_ranks(draw))
            number = place_of(bench.intake, module, statement.node.lineno)[1]
            asked = f"Which numbers does `{target}` hold once line {number} has run?"
            text_of = (f"The call is {scene.told}", asked)
            return multiple_choice("value", component, text_of, Option(right), options, (excerpt_of(bench, statement),))
    return None


def _name_set(statement: Statement) -> str:
    """The name that a statement sets; "" where it sets none, or several."""
    match statement.node:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _look(bench: Bench, scene: Scene, statement: Statement, name: str, text: str) -> str | None:
    """What a name holds once a statement has run, in the code or in a version of it."""
    line = text.split("\n")[statement.node.lineno - 1 : statement.node.end_lineno]
    segment = "\n".join(line).strip() if len(line) > 1 else line[0][statement.node.col_offset :].partition("  #")[0]
    cut = with_code(text, statement.node, f"{segment}; return {name}")
    return bench.look(partial(_told, scene), bench.changed(statement.module, cut)) if cut else None


def _told(scene: Scene, sandbox: object) -> str | None:
    """The numbers that a call returns, as they are shown: at most a few, and finite."""
    value = scene.run(sandbox)
    numbers = value.detach().flatten().tolist() if isinstance(value, Tensor) else [value]
    if not 0 < len(numbers) <= MOST_NUMBERS or not all(isinstance(one, (int, float)) for one in numbers):
        return None
    if any(one != one or abs(one) > 1e6 for one in numbers):
        return None
    return ", ".join(f"{one:.2f}".rstrip("0").rstrip(".") for one in numbers)
