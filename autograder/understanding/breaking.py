"""Asks which of three one-line changes of the student's code breaks a certain test."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

from foundation.texts import first_of

from ..testing.results import LOOK_AT
from .bench import Bench, Tried, try_changes
from .choosing import distance, drawn_ranks
from .question import LETTERS, Question, multiple_choice

if TYPE_CHECKING:
    from ..assignment_parts import Understanding

NUMBERS = {3: "three", 4: "four"}
MOST_NAMED = 4
"""Tests that the answer names for each change."""
MOST_OTHERS = 6
"""Other inputs with which the right change must break the test, too."""


def breaking_question(
    bench: Bench, component: str, understanding: Understanding, draw: random.Random, n_options: int = 3
) -> Question | None:
    """A question about a component that works; None where no test tells so many changes apart."""
    tried = try_changes(bench, component, draw)
    told = understanding.TESTS
    best: tuple[float, tuple[Tried, ...], str] | None = None
    wanted, options = drawn_ranks(draw), {one.change: one.option(bench) for one in tried}
    for several in itertools.combinations(tried, n_options):
        if (
            len({one.change.after for one in several}) < n_options
            or sum(bool(one.trial.missed) for one in several) == 1
        ):
            continue  # what no test notices may stand in code that this task does not run
        for test in sorted({name for one in several for name in one.trial.rows}):
            broken = [one for one in several if test in one.trial.rows]
            if len(broken) == 1 and broken[0].trial.rows[test] and (function_of(test) in told or not told):
                worth = _worth(several, broken[0], test, tried)
                shown = [options[one.change] for one in several]
                worth += 0.5 * draw.random() - distance(options[broken[0].change], shown, wanted)
                if best is None or worth > best[0]:
                    best = worth, several, test
    if best is None or not all(_breaks_again(bench, component, one, best[2]) for one in best[1]):
        return None
    return _question(bench, component, list(best[1]), best[2], told.get(function_of(best[2]), ""), draw)


def _breaks_again(bench: Bench, component: str, one: Tried, test: str) -> bool:
    """Whether a change breaks a test, or does not, with other inputs too."""
    sources, breaks = bench.changed(one.change.module, one.change.text), test in one.trial.rows
    others = range(1, MOST_OTHERS + 1) if breaks else (1, 2)  # what is wrong may fail a test of gradients by chance
    return all((test in bench.judge(component, sources, others=other).rows) == breaks for other in others)


def function_of(test: str) -> str:
    """A test's name without its parameters."""
    return test.partition("[")[0]


def _worth(several: tuple[Tried, ...], broken: Tried, test: str, tried: list[Tried]) -> float:
    """How much there is to think about: specific tests, changes that break something else, in several lines.

    And how little the changes tell by themselves: one that detaches is always the one that breaks the gradients.
    """
    others = [one for one in several if one is not broken]
    often = sum(test in one.trial.rows for one in tried) / len(tried)
    return (
        sum(bool(one.trial.missed) for one in others)
        + len({one.change.line for one in several}) / 2
        + len({one.change.kind for one in several}) / 2
        - often
        - 2 * len(broken.trial.missed) / len({function_of(one.test) for one in broken.trial.outcomes})
        - sum(_raises(one) for one in several)
        - 2 * (len({one.change.kind == "detached" for one in several}) > 1)
    )


def _raises(one: Tried) -> bool:
    """Whether the changed code does nothing but raise exceptions."""
    return len(one.trial.missed) > 0 and all(o.state.value == "error" for o in one.trial.outcomes if o.is_missed)


def _question(
    bench: Bench, component: str, several: list[Tried], test: str, words: str, draw: random.Random
) -> Question:
    draw.shuffle(several)
    right = next(index for index, one in enumerate(several) if test in one.trial.rows)
    function, row = function_of(test), test.partition("[")[2].removesuffix("]")
    is_whole = sum(function in one.trial.missed for one in several) == 1
    checks = f"the test that checks {words}" if words else f"`{function}`"
    checks += "" if is_whole else f", in its case `{row}`"
    text = (
        f"Here are {NUMBERS[len(several)]} changes of your `{component.partition('.')[2]}`, each of one line and each "
        f"made by itself. Only one of them breaks {checks}. Which one, and why?",
        "Why do the others pass this test?",
    )
    hints = [line for line in several[right].trial.missed[function].split("\n") if line.startswith(LOOK_AT)]
    why = [f"The test, `{function}`, then says where to look: {hints[0].removeprefix(LOOK_AT)}."] if hints else []
    why += [f"{LETTERS[index]} {_breaks(one)}" for index, one in enumerate(several)]
    options = [one.option(bench) for one in several]
    return multiple_choice("breaking", component, text, options[right], options, why=tuple(why))


def _breaks(one: Tried) -> str:
    names = list(one.trial.missed)
    if not names:
        return "breaks none of the task's tests."
    return f"breaks {first_of([f'`{name}`' for name in names], MOST_NAMED)}."
