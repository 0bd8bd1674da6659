"""A bug hunt on paper: the student's own component with one line changed, and what is seen of it.

Asked for are the line, the cause, a correction, and an input that shows the fault. Only changes serve that raise no
exception, leave all shapes as they are, and fail some test of the task.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ..reports.html import CodeLine, Excerpt, code_line
from ..testing.own_questions import lines_of
from ..testing.results import State
from .bench import Bench, Tried, try_changes
from .question import Question, place_of
from .symptoms import Symptoms
from .versions import Versions

if TYPE_CHECKING:
    from ..assignment_parts import Understanding

MOST_MISSED = 0.8
"""Of the component's tests: what fails more of them can hardly be overlooked."""


def hunt_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A hunt in a component that works; None where no change is quiet enough."""
    versions, symptoms = Versions(bench, component, understanding), Symptoms(bench, component, understanding)
    fitting: list[tuple[float, Tried, set[str]]] = []
    for tried in try_changes(bench, component, draw):
        outcomes, line = tried.trial.outcomes, tried.change.text.split("\n")[tried.change.line - 1]
        share = sum(one.state is not State.PASSED for one in outcomes) / len(outcomes)
        differing = versions.differing(tried.change.text)
        if 0 < share <= MOST_MISSED and differing and line.strip() != "pass" and versions.is_silent(tried.change.text):
            fitting.append((share + 0.2 * draw.random(), tried, differing))
    for _, tried, differing in sorted(fitting, key=lambda one: one[0]):
        seen, _ = symptoms.after(bench.changed(tried.change.module, tried.change.text))
        if seen:
            return _question(bench, component, tried, draw.choice(seen), sorted(differing))
    return None


def _question(bench: Bench, component: str, tried: Tried, symptom: str, differing: list[str]) -> Question:
    name, change = component.partition(".")[2], tried.change
    number = place_of(bench.intake, change.module, change.line)[1]
    text = (
        f"In your `{name}` one line was changed, and this is seen: {symptom}",
        "Which line is it? Why does it lead to this? What would be correct? Which input shows it? A point for each.",
    )
    why = (
        f"It was `{change.before}`; any other correction that passes the task's tests is correct as well.",
        f"It shows for: {'; '.join(differing)}.",
        f"It breaks {', '.join(f'`{test}`' for test in tried.trial.missed)}.",
    )
    answer = f"Line {number}: `{change.after}`"
    return Question("hunt", component, text, answer, (_whole(bench, component, tried),), why=why)


def _whole(bench: Bench, component: str, tried: Tried) -> Excerpt:
    """The changed component without what could tell what was there: its docstrings and comments."""
    module = component.partition(".")[0]
    numbered = lines_of(component, {module: ("", tried.change.text)}).items()
    shown = [
        CodeLine(place_of(bench.intake, module, n)[1], code_line(line.partition("  #")[0])) for n, line in numbered
    ]
    return Excerpt(place_of(bench.intake, module, next(iter(dict(numbered))))[0], tuple(shown))
