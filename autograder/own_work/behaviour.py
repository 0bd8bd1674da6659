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

from ..testing.case import Case
from .bench import Component
from .hunts import quiet_changes
from .question import N_OPTIONS, Question, Split, drawn, drawn_ranks, multiple_choice, with_wrong
from .student_lines import Change, Statement, changes_of, lines_of, mixed, with_code
from .traced_questions import Place, Scene, Sight, about_numbers, about_shape, numbers_in, places_in, shapes_in, watch

MOST_VERSIONS = 12
"""In which numbers are looked at, or of which it is observed what one sees."""


def shape_question(component: Component) -> Question | None:
    """Ask for the shape of a value at a line."""
    scene: Scene = component.tables["SCENES"][component.name](Case(component.seed, f"a scene with {component.name}"))
    own = _own_places(component)
    given = {tuple(tensor.shape) for tensor in scene.tensors}
    shapes = shapes_in(scene, _sights(component, scene, [*own]), component.draw)
    seen = [(sight, shape) for sight, shape in shapes if shape not in given]
    for sight, right in seen:
        near = dict.fromkeys([*(shape for _, shape in seen), *given, *permutations(right)])
        wrong = [shape for shape in near if len(shape) == len(right) and shape != right]
        if len(right) > 1 and len(wrong) >= N_OPTIONS - 1:
            names = [scene.axes.get(size, "(an axis of length 1)" if size == 1 else "") for size in right]
            in_order = ", ".join(f"{size} {name}" for size, name in zip(right, names, strict=True))
            why = (f"In order: {in_order}.",) if all(names) else ()
            options = [str(shape) for shape in component.draw.sample([right, *wrong[: N_OPTIONS - 1]], N_OPTIONS)]
            text = (scene.call, about_shape(sight, component.number(sight.place.first)))
            shown = (component.excerpt(own[sight.place]),)
            return multiple_choice("shape", component.name, text, str(right), options, shown, why=why)
    return None


def value_question(component: Component) -> Question | None:
    """Ask for the numbers that a name holds after a line; wrong are those of other lines, and after a slip above."""
    scene: Scene = component.tables["BY_HAND"][component.name](
        Case(component.seed, f"a call of {component.name} by hand")
    )
    own = {place: statement for place, statement in _own_places(component).items() if place.is_after}
    values = [*numbers_in(scene, _sights(component, scene, [*own]), component.draw)]
    changes = changes_of(component.text, [*own.values()])
    for place, numbers in values:
        right = _shown(numbers)
        above = [change for change in changes if change.line < place.first]
        changed = component.draw.sample(above, min(len(above), MOST_VERSIONS))
        others = [
            numbers_in(scene, _sights(component, scene, [place], change.text), component.draw) for change in changed
        ]
        wrong = [_shown(held) for _, held in itertools.chain(values, *others) if len(held) == len(numbers)]
        wrong = [text for text in wrong if text != right]
        if right not in scene.told and len({*wrong}) >= N_OPTIONS - 1:
            options = with_wrong(right, wrong, component.draw, drawn_ranks(component.draw))
            text, shown = (
                (scene.call, about_numbers(place, component.number(place.first))),
                (component.excerpt(own[place]),),
            )
            return multiple_choice("value", component.name, text, right, options, shown)
    return None


def _shown(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.2f}".rstrip("0").rstrip(".") for number in numbers)


def _own_places(component: Component) -> dict[Place, Statement]:
    """Return where the student's own lines can be looked at, with the statements that stand there."""
    own = {statement.node.lineno: statement for statement in component.own}
    places = places_in(lines_of(component.name, component.intake.sources))
    return {place: own[place.first] for place in places if place.first in own}


def _sights(component: Component, scene: Scene, places: Sequence[Place], text: str | None = None) -> list[Sight]:
    """Look at places in the code, or in a version of it; nothing is seen where it raises an exception."""

    def see(sandbox: Any) -> list[Sight]:
        return watch(sandbox, scene, scene.subject(sandbox), places)

    return component.look(see, text) or []


def input_question(component: Component) -> Question | None:
    """Ask for the only call on which a version differs, or does not."""
    texts = [change.text for change in component.changes]
    for index, differs, right, options in _calls(component, texts):
        asked = "no longer return the same" if differs else "still return the same"
        # Numbers that a module has learned are drawn at random for the calls, as calls.py says.
        learned = " All its learned numbers are random, and the same before and after, except in a fresh layer."
        learned = learned if component.title[0].isupper() else ""
        text = (f"This line of your `{component.title}` is changed.{learned} Which of these calls would {asked}?",)
        change = component.changed_line(component.changes[index])
        return multiple_choice("input", component.name, text, right, options, change=change)
    return None


def branch_question(component: Component) -> Question | None:
    """Ask for the only call that runs a branch, or does not."""
    branches = [statement for statement in component.own if _is_conditional(statement)]
    texts = [with_code(component.text, statement.node, "raise RuntimeError") for statement in branches]
    for index, runs, right, options in _calls(component, texts):
        line, asked = component.number(branches[index].node.lineno), "runs" if runs else "does not run"
        text = (f"Which of these calls of your `{component.title}` {asked} line {line}?",)
        return multiple_choice("branch", component.name, text, right, options, (component.excerpt(branches[index]),))
    return None


def _calls(component: Component, texts: Sequence[str | None]) -> Iterator[tuple[int, bool, str, list[str]]]:
    """Yield versions, each with the only one of four calls on which it differs from the code, or does not."""
    returning = [call for call, result in component.usual[0].items() if result is not None]
    differing = [component.differing(text) if text else None for text in texts]
    for differs in component.draw.sample((True, False), 2):
        splits: list[Split] = []
        for some in differing:
            right = [call for call in returning if some is not None and (call in some) is differs]
            wrong = [call for call in returning if some is not None and (call in some) is not differs]
            splits.append((right, wrong))
        for index, option, options in drawn(splits, component.draw):
            yield index, differs, option, options


def _is_conditional(statement: Statement) -> bool:
    """True if a statement is the first of a branch."""
    branching = [node for node in ast.walk(statement.function) if isinstance(node, ast.If)]
    return any(block[:1] == [statement.node] for node in branching for block in (node.body, node.orelse))


def symptom_question(component: Component) -> Question | None:
    """Ask for the symptom of a slip in one line."""
    text = f"Somebody changes one line of your `{component.title}`. Only one of these is then seen. Which, and why?"
    return _seen_question("symptom", text, changes_of(component.text, component.own), component)


def purpose_question(component: Component) -> Question | None:
    """Ask for the purpose of a line, or of a step of it, by what is seen without it."""
    text = f"This line, or a step of it, is left out in your `{component.title}`. What is seen without it, and why?"
    changes = [change for change in changes_of(component.text, component.own) if change.leaves_out]
    return _seen_question("purpose", text, changes, component)


def _seen_question(kind: str, text: str, changes: list[Change], component: Component) -> Question | None:
    some = mixed(changes, component.draw)[:MOST_VERSIONS]
    for index, right, options in drawn([component.seen(change.text) for change in some], component.draw):
        shown = component.changed_line(some[index])
        return multiple_choice(kind, component.name, (text,), right, options, change=shown)
    return None


def hunt_question(component: Component) -> Question | None:
    """A hunt on paper: a changed line, and what is seen of it; None where no change is quiet enough."""
    asked = "Which line is it? Why does it lead to this? What would be correct? Which input shows it? A point for each."
    for change, trial, differing in quiet_changes(component, component.changes):
        seen, _ = component.seen(change.text)
        if not seen:
            continue
        text = (
            f"In your `{component.title}` one line was changed, and this is seen: {component.draw.choice(seen)}",
            asked,
        )
        why = (
            f"It was `{change.before}`; any other correction that passes the task's tests is correct as well.",
            f"It shows for: {'; '.join(sorted(differing))}.",
            f"It breaks {', '.join(f'`{test}`' for test in trial.missed)}.",
        )
        answer = f"Line {component.number(change.line)}: `{change.after.partition('  #')[0]}`"
        # Docstrings and comments could tell what was there.
        numbered = lines_of(component.name, {component.module: ("", change.text)}).items()
        lines = {number: line.partition("  #")[0] for number, line in numbered}
        return Question("hunt", component.name, text, answer, (component.lines(lines),), why=why)
    return None
