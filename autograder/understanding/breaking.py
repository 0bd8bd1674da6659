"""Asks which of three one-line changes of the student's code breaks a certain test."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

from foundation.texts import first_of

from ..testing.results import LOOK_AT
from .bench import Bench, Tried, try_changes
from .question import LETTERS, Question

if TYPE_CHECKING:
    from ..assignment_parts import Understanding

MOST_NAMED = 4
"""Tests that the answer names for each change."""


def breaking_question(
    bench: Bench, component: str, understanding: Understanding, draw: random.Random
) -> Question | None:
    """A question about a component that works; None where no test tells three changes apart."""
    tried = try_changes(bench, component, draw)
    told = understanding.TESTS
    best: tuple[float, tuple[Tried, ...], str] | None = None
    for three in itertools.combinations(tried, 3):
        if len({one.change.after for one in three}) < 3 or sum(bool(one.trial.missed) for one in three) == 1:
            continue  # what no test notices may stand in code that this task does not run
        for test in sorted({name for one in three for name in one.trial.rows}):
            broken = [one for one in three if test in one.trial.rows]
            if len(broken) == 1 and broken[0].trial.rows[test] and (function_of(test) in told or not told):
                worth = _worth(three, broken[0], test, tried) + 0.5 * draw.random()
                if best is None or worth > best[0]:
                    best = worth, three, test
    if best is None:
        return None
    return _question(bench, component, list(best[1]), best[2], told.get(function_of(best[2]), ""), draw)


def function_of(test: str) -> str:
    """A test's name without its parameters."""
    return test.partition("[")[0]


def _worth(three: tuple[Tried, ...], broken: Tried, test: str, tried: list[Tried]) -> float:
    """How much there is to think about: specific tests, changes that break something else, in several lines."""
    others = [one for one in three if one is not broken]
    often = sum(test in one.trial.rows for one in tried) / len(tried)
    return (
        sum(bool(one.trial.missed) for one in others)
        + len({one.change.line for one in three}) / 2
        + len({one.change.kind for one in three}) / 2
        - often
        - 2 * len(broken.trial.missed) / len({function_of(one.test) for one in broken.trial.outcomes})
        - sum(_raises(one) for one in three)
    )


def _raises(one: Tried) -> bool:
    """Whether the changed code does nothing but raise exceptions."""
    return len(one.trial.missed) > 0 and all(o.state.value == "error" for o in one.trial.outcomes if o.is_missed)


def _question(bench: Bench, component: str, three: list[Tried], test: str, words: str, draw: random.Random) -> Question:
    draw.shuffle(three)
    right = next(index for index, one in enumerate(three) if test in one.trial.rows)
    function, row = function_of(test), test.partition("[")[2].removesuffix("]")
    is_whole = sum(function in one.trial.missed for one in three) == 1
    checks = f"the test that checks {words}" if words else f"`{function}`"
    checks += "" if is_whole else f", in its case `{row}`"
    text = (
        f"Here are three changes of your `{component.partition('.')[2]}`, each of one line and each made by itself. "
        f"Only one of them breaks {checks}. Which one, and why?",
        "Why do the other two pass this test?",
    )
    hints = [line for line in three[right].trial.missed[function].split("\n") if line.startswith(LOOK_AT)]
    why = [f"The test, `{function}`, then says where to look: {hints[0].removeprefix(LOOK_AT)}."] if hints else []
    why += [f"{LETTERS[index]} {_breaks(one)}" for index, one in enumerate(three)]
    return Question(
        "breaking",
        component,
        text,
        LETTERS[right],
        options=tuple(one.option(bench) for one in three),
        right=right,
        why=tuple(why),
    )


def _breaks(one: Tried) -> str:
    names = list(one.trial.missed)
    if not names:
        return "breaks none of the task's tests."
    return f"breaks {first_of([f'`{name}`' for name in names], MOST_NAMED)}."
