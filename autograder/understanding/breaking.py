"""Asks about one-line changes that tests notice: which of them breaks a certain test; and a bug hunt on paper.

A hunt shows the student's own component with one line changed, and what is seen of it. Asked for are the line, the
cause, a correction, and an input that shows the fault. Only changes serve that raise no exception, leave all shapes as
they are, and fail some test of the task.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

from foundation.texts import first_of

from ..testing.own_questions import lines_of
from .bench import Bench, Trial, function_of, try_changes
from .choosing import drawn
from .question import LETTERS, Question, excerpt, multiple_choice, place_of
from .student_lines import Change
from .versions import Versions

if TYPE_CHECKING:
    from ..assignment_code import Understanding

MOST_NAMED = 4
"""Tests that the answer names for each change."""
MOST_CHECKED, MOST_OTHERS = 2, 6
"""Questions that are tried with other inputs; and the inputs with which the right change must break the test, too."""
MOST_MISSED = 0.8
"""Of the component's tests: what fails more of them can hardly be overlooked."""


def breaking_question(
    bench: Bench, component: str, understanding: Understanding, draw: random.Random
) -> Question | None:
    """A question about a component that works; None where no test tells so many changes apart.

    What no test notices may stand in code that this task does not run: it is no option.
    """
    tried = {bench.option(change): (change, trial) for change, trial in try_changes(bench, component, draw)}
    noticed = {option: trial.rows for option, (_, trial) in tried.items() if trial.missed}
    specific = {option for option, (_, trial) in tried.items() if trial.share <= MOST_MISSED}
    words = understanding.TESTS
    tests = sorted({test for rows in noticed.values() for test in rows if not words or function_of(test) in words})
    splits = [
        (
            [one for one, rows in noticed.items() if rows.get(test) and one in specific],
            [one for one in noticed if test not in noticed[one]],
        )
        for test in tests
    ]
    for index, right, options in itertools.islice(drawn(splits, draw), MOST_CHECKED):
        test, trials = tests[index], [tried[one][1] for one in options]
        if not all(_does_again(bench, component, *tried[one], test) for one in options):
            continue
        function, row = function_of(test), test.partition("[")[2].removesuffix("]")
        checks = f"the test that checks {words[function]}" if words else f"`{function}`"
        is_whole = sum(function in trial.missed for trial in trials) == 1
        checks += "" if is_whole else f", in its case `{row}`"
        text = (
            f"Here are four changes of your `{component.partition('.')[2]}`, each of one line and each made by itself. "
            f"Only one of them breaks {checks}. Which one, and why?",
            "Why do the others pass this test?",
        )
        why = tuple(f"{letter} breaks {_names(trial)}." for letter, trial in zip(LETTERS, trials, strict=True))
        return multiple_choice("breaking", component, text, right, options, why=why)
    return None


def _does_again(bench: Bench, component: str, change: Change, trial: Trial, test: str) -> bool:
    """Whether a change breaks a test, or does not, with other inputs too."""
    sources, breaks = bench.changed(change.module, change.text), test in trial.rows
    others = range(1, MOST_OTHERS + 1) if breaks else (1, 2)  # what is wrong may fail a test of gradients by chance
    return all((test in bench.judge(component, sources, other).rows) == breaks for other in others)


def _names(trial: Trial) -> str:
    return first_of([f"`{name}`" for name in trial.missed], MOST_NAMED)


def hunt_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A hunt in a component that works; None where no change is quiet enough."""
    versions = Versions(bench, component, understanding)
    fitting: list[tuple[float, Change, Trial, set[str]]] = []
    for change, trial in try_changes(bench, component, draw):
        differing = versions.differing(change.text)
        if 0 < trial.share <= MOST_MISSED and differing and change.after != "pass" and versions.is_silent(change.text):
            fitting.append((trial.share + 0.2 * draw.random(), change, trial, differing))
    for _, change, trial, differing in sorted(fitting, key=lambda one: one[0]):
        seen, _ = versions.seen(change.text)
        if seen:
            return _hunt(bench, component, change, trial, draw.choice(seen).text, differing)
    return None


def _hunt(bench: Bench, component: str, change: Change, trial: Trial, symptom: str, differing: set[str]) -> Question:
    text = (
        f"In your `{component.partition('.')[2]}` one line was changed, and this is seen: {symptom}",
        "Which line is it? Why does it lead to this? What would be correct? Which input shows it? A point for each.",
    )
    why = (
        f"It was `{change.before}`; any other correction that passes the task's tests is correct as well.",
        f"It shows for: {'; '.join(sorted(differing))}.",
        f"It breaks {', '.join(f'`{test}`' for test in trial.missed)}.",
    )
    number, after = place_of(bench.intake, change.module, change.line)[1], change.after.partition("  #")[0]
    # Docstrings and comments could tell what was there.
    lines = {n: line.partition("  #")[0] for n, line in lines_of(component, {change.module: ("", change.text)}).items()}
    return Question(
        "hunt", component, text, f"Line {number}: `{after}`", (excerpt(bench.intake, change.module, lines),), why=why
    )
