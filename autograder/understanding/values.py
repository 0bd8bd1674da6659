"""Asks for a value of the student's code at a line: its shape, or its numbers in a call that one can compute by hand.

The answer is what a debugger would show there, see `testing/own_questions.py`. The other options are what other lines
hold, and what this one would hold if its axes had another order, or if a line above were changed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

from torch import Tensor

from ..sources import Sources
from ..testing.case import Case
from ..testing.own_questions import MOST_NUMBERS, Place, lines_of, places_in, watch, where
from .choosing import drawn_ranks, with_wrong
from .question import N_OPTIONS, Option, Question, excerpt_of, multiple_choice, place_of
from .student_lines import Statement, changes_of, own_statements

if TYPE_CHECKING:
    from ..assignment_code import Scene, Understanding
    from .bench import Bench

MOST_VERSIONS = 12
"""In which numbers are looked at."""
Own = dict[Place, Statement]
"""Where the student's own lines can be looked at, with the statements that stand there."""


def shape_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A question about a component that works; None where no value has a shape worth asking for."""
    scene = understanding.SCENES[component](Case(bench.seed, f"a scene with {component}"))
    own = _own_places(bench, component)
    facts, times = _look(bench, scene, [*own]) or ([], [])
    given = {tuple(one.shape) for one in scene.inputs if isinstance(one, Tensor)}
    held = {place: tuple(fact.shape) for place, fact in zip(own, facts, strict=False) if fact is not None}
    shapes = {place: shape for place, shape in held.items() if len(shape) > 1 and shape not in given}
    for place in sorted(draw.sample([*shapes], len(shapes)), key=lambda one: -len(shapes[one]) - one.is_after):
        right = shapes[place]
        near = dict.fromkeys([*shapes.values(), *given, *permutations(right)])
        wrong = [one for one in near if len(one) == len(right) and one != right]
        if len(wrong) >= N_OPTIONS - 1:
            names = [scene.axes.get(size, "(an axis of length 1)" if size == 1 else "") for size in right]
            in_order = ", ".join(f"{size} {name}" for size, name in zip(right, names, strict=True))
            why = (f"In order: {in_order}.",) if all(names) else ()
            options = [Option(str(one)) for one in draw.sample([right, *wrong[: N_OPTIONS - 1]], N_OPTIONS)]
            first = " for the first time" * (times[[*own].index(place)] > 1)
            asked = f"What is the shape of {_where(bench, own[place], place)}{first}?"
            text, shown = (f"The call is {scene.told}", asked), (excerpt_of(bench.intake, own[place]),)
            return multiple_choice("shape", component, text, Option(str(right)), options, shown, why=why)
    return None


def value_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A question about a component that works; None where no value has three wrong neighbours."""
    scene = understanding.BY_HAND[component](Case(bench.seed, f"a call of {component} by hand"))
    own = {place: statement for place, statement in _own_places(bench, component).items() if place.is_after}
    values = _numbers(bench, scene, [*own])
    module = component.partition(".")[0]
    changes = changes_of(bench.intake.sources[module][1], [*own.values()])
    for place, right in draw.sample([*values.items()], len(values)):
        if right in scene.told:
            continue
        above = [one for one in changes if one.line < place.first]
        changed = [bench.changed(module, one.text) for one in draw.sample(above, min(len(above), MOST_VERSIONS))]
        others = [*values.values(), *(_numbers(bench, scene, [place], one).get(place) for one in changed)]
        wrong = [one for one in others if one and one != right and one.count(",") == right.count(",")]
        if len({*wrong}) >= N_OPTIONS - 1:
            options = with_wrong(Option(right), map(Option, wrong), draw, drawn_ranks(draw))
            asked = f"Which numbers are in {_where(bench, own[place], place)}?"
            text, shown = (f"The call is {scene.told}", asked), (excerpt_of(bench.intake, own[place]),)
            return multiple_choice("value", component, text, Option(right), options, shown)
    return None


def _own_places(bench: Bench, component: str) -> Own:
    own = {one.node.lineno: one for one in own_statements(bench.intake, component)}
    places = places_in(lines_of(component, bench.intake.sources))
    return {place: own[place.first] for place in places if place.first in own}


def _where(bench: Bench, statement: Statement, place: Place) -> str:
    return where(place, place_of(bench.intake, statement.module, place.first)[1])


def _look(
    bench: Bench, scene: Scene, places: Sequence[Place], sources: Sources | None = None
) -> tuple[list[Tensor | None], list[int]] | None:
    """What the places hold in the code, or in a version of it, and how often they are run; None where it raises."""

    def see(sandbox: Any) -> tuple[list[Tensor | None], list[int]]:
        return watch(sandbox, scene, scene.subject(sandbox), places)

    return bench.look(see, sources)


def _numbers(bench: Bench, scene: Scene, places: Sequence[Place], sources: Sources | None = None) -> dict[Place, str]:
    """The numbers in each place as they are shown, where they are at most a few, and finite."""
    facts, _ = _look(bench, scene, places, sources) or ([], [])
    found = {}
    for place, fact in zip(places, facts, strict=False):
        numbers: list[Any] = [] if fact is None else fact.flatten().tolist()
        if 0 < len(numbers) <= MOST_NUMBERS and all(abs(one) <= 1e6 for one in numbers):
            found[place] = ", ".join(f"{one:.2f}".rstrip("0").rstrip(".") for one in numbers)
    return found
