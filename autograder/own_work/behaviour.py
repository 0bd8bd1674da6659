"""Asks what a student's code does: which values it holds, what its calls return, what one sees of a slip.

Each function makes a question about a component that works, or None where none fits. The answer comes from running the
code or a version of it, and so do the other options: what other lines hold, what other calls do, what is not seen.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from ..course.assignment_code import Choice
from ..testing.case import Case
from .bench import Component
from .question import N_OPTIONS, Option, Question, Split, drawn, drawn_ranks, multiple_choice, with_wrong
from .student_lines import Changing, Statement, changes_of, lines_of, mixed, slips, with_code, without
from .traced_questions import Place, Scene, Sight, about_numbers, about_shape, numbers_in, places_in, shapes_in, watch

MOST_VERSIONS = 12
"""In which numbers are looked at, or of which it is observed what one sees."""


def shape_question(one: Component) -> Question | None:
    """Ask for the shape of a value at a line."""
    scene: Scene = one.tables["SCENES"][one.name](Case(one.seed, f"a scene with {one.name}"))
    own = _own_places(one)
    given = {tuple(tensor.shape) for tensor in scene.tensors}
    seen = [it for it in shapes_in(scene, _sights(one, scene, [*own]), one.draw) if it[1] not in given]
    for sight, right in seen:
        near = dict.fromkeys([*(shape for _, shape in seen), *given, *permutations(right)])
        wrong = [shape for shape in near if len(shape) == len(right) and shape != right]
        if len(right) > 1 and len(wrong) >= N_OPTIONS - 1:
            names = [scene.axes.get(size, "(an axis of length 1)" if size == 1 else "") for size in right]
            in_order = ", ".join(f"{size} {name}" for size, name in zip(right, names, strict=True))
            why = (f"In order: {in_order}.",) if all(names) else ()
            options = [Option(str(shape)) for shape in one.draw.sample([right, *wrong[: N_OPTIONS - 1]], N_OPTIONS)]
            text = (scene.call, about_shape(sight, one.number(sight.place.first)))
            shown = (one.excerpt(own[sight.place]),)
            return multiple_choice("shape", one.name, text, Option(str(right)), options, shown, why=why)
    return None


def value_question(one: Component) -> Question | None:
    """Ask for the numbers that a name holds after a line; wrong are those of other lines, and after a slip above."""
    scene: Scene = one.tables["BY_HAND"][one.name](Case(one.seed, f"a call of {one.name} by hand"))
    own = {place: statement for place, statement in _own_places(one).items() if place.is_after}
    values = [*numbers_in(scene, _sights(one, scene, [*own]), one.draw)]
    changes = changes_of(one.text, [*own.values()])
    for place, numbers in values:
        right = _shown(numbers)
        above = [change for change in changes if change.line < place.first]
        changed = one.draw.sample(above, min(len(above), MOST_VERSIONS))
        others = [numbers_in(scene, _sights(one, scene, [place], change.text), one.draw) for change in changed]
        wrong = [_shown(held) for _, held in itertools.chain(values, *others) if len(held) == len(numbers)]
        wrong = [text for text in wrong if text != right]
        if right not in scene.told and len({*wrong}) >= N_OPTIONS - 1:
            options = with_wrong(Option(right), map(Option, wrong), one.draw, drawn_ranks(one.draw))
            text, shown = (scene.call, about_numbers(place, one.number(place.first))), (one.excerpt(own[place]),)
            return multiple_choice("value", one.name, text, Option(right), options, shown)
    return None


def _shown(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.2f}".rstrip("0").rstrip(".") for number in numbers)


def _own_places(one: Component) -> dict[Place, Statement]:
    """Where the student's own lines can be looked at, with the statements that stand there."""
    own = {statement.node.lineno: statement for statement in one.own}
    places = places_in(lines_of(one.name, one.intake.sources))
    return {place: own[place.first] for place in places if place.first in own}


def _sights(one: Component, scene: Scene, places: Sequence[Place], text: str | None = None) -> list[Sight]:
    """What the places hold in the code, or in a version of it; nothing where it raises an exception."""

    def see(sandbox: Any) -> list[Sight]:
        return watch(sandbox, scene, scene.subject(sandbox), places)

    return one.look(see, text) or []


def choice_question(one: Component) -> Question | None:
    """What the assignment itself asks about a component."""
    makers = one.tables["CHOICES"][one.name]
    for make in one.draw.sample(makers, len(makers)):
        case = Case(one.seed, f"a question about {one.name}")
        choice: Choice | None = one.look(lambda sandbox, make=make, case=case: make(sandbox, case))  # type: ignore[misc]
        if choice is not None and len(choice.options) >= N_OPTIONS:
            right, *wrong = map(Option, choice.options)
            options = with_wrong(right, wrong, one.draw, drawn_ranks(one.draw))
            return multiple_choice("choice", one.name, tuple(choice.text), right, options, why=(choice.why,))
    return None


def input_question(one: Component) -> Question | None:
    """A call on which a version differs, or the only one on which it does not."""
    changes = [change for change, _ in one.tried]
    for index, differs, right, options in _calls(one, [change.text for change in changes]):
        asked = "no longer return the same" if differs else "still return the same"
        # Numbers that a module has learned are drawn at random for the calls, as calls.py says.
        learned = " All its learned numbers are random, and the same before and after, except in a fresh layer."
        learned = learned if one.title[0].isupper() else ""
        text = (f"This line of your `{one.title}` is changed.{learned} Which of these calls would {asked}?",)
        change = one.option(changes[index].line, changes[index].text)
        return multiple_choice("input", one.name, text, right, options, change=change)
    return None


def branch_question(one: Component) -> Question | None:
    """The call that runs a branch, or the only one that does not."""
    branches = [statement for statement in one.own if _is_conditional(statement)]
    texts = [with_code(one.text, statement.node, "raise RuntimeError") for statement in branches]
    for index, runs, right, options in _calls(one, texts):
        line, asked = one.number(branches[index].node.lineno), "runs" if runs else "does not run"
        text = (f"Which of these calls of your `{one.title}` {asked} line {line}?",)
        return multiple_choice("branch", one.name, text, right, options, (one.excerpt(branches[index]),))
    return None


def _calls(one: Component, texts: Sequence[str | None]) -> Iterator[tuple[int, bool, Option, list[Option]]]:
    """Versions, each with the only one of four calls on which it differs from the code, or on which it does not."""
    returning = [told for told, result in one.usual[0].items() if result is not None]
    differing = [one.differing(text) if text else None for text in texts]
    for differs in one.draw.sample((True, False), 2):
        splits: list[Split] = []
        for some in differing:
            right = [Option(told) for told in returning if some is not None and (told in some) is differs]
            wrong = [Option(told) for told in returning if some is not None and (told in some) is not differs]
            splits.append((right, wrong))
        for index, option, options in drawn(splits, one.draw):
            yield index, differs, option, options


def _is_conditional(statement: Statement) -> bool:
    """Whether a statement is the first of a branch."""
    branching = [node for node in ast.walk(statement.function) if isinstance(node, ast.If)]
    return any(block[:1] == [statement.node] for node in branching for block in (node.body, node.orelse))


def symptom_question(one: Component) -> Question | None:
    """What is seen of a slip in one line."""
    asked = "Somebody changes one line of your `{name}`. Only one of these can then be observed. Which one, and why?"
    return _seen_question("symptom", slips, asked, one)


def purpose_question(one: Component) -> Question | None:
    """What a line, or a step of it, is for: what is seen without it."""
    asked = "{what} of your `{name}` is left out. What was it for: what is seen without it?"
    return _seen_question("purpose", without, asked, one)


def _seen_question(kind: str, changing: Changing, asked: str, one: Component) -> Question | None:
    changes = mixed(changes_of(one.text, one.own, changing), one.draw)[:MOST_VERSIONS]
    for index, right, options in drawn([one.seen(change.text) for change in changes], one.draw):
        line, shown = changes[index].line, one.option(changes[index].line, changes[index].text)
        what = f"Line {one.number(line)}" if shown.after == "pass" else f"A step of line {one.number(line)}"
        return multiple_choice(kind, one.name, (asked.format(name=one.title, what=what),), right, options, change=shown)
    return None
