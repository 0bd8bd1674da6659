"""Situations with the sizes that stand in a component: a condition on them is met either way. See `code_numbers`."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from autograder.testing.case import Case
from autograder.testing.code_numbers import LEAST, numbers_of
from autograder.testing.under_test import SubmissionUnderTest

from .levels import FEW, LEARNING, NO_MASKS, PADDED, ROWS_OF_THEIR_OWN, Sizes

LONG, LONGEST = 150, 520
"""Positions: of those beyond the first number one sentence is enough; the model is made for 512."""
NUMBERS, LONG_ONES = 3, 2
"""At most so many small sizes that stand in a component's code are tried, so many larger ones, and one of a tensor."""
BUILT = 2
"""For at most so many of them objects are made."""
MOST_CALLS = 50
"""An object is called so often at most because a number in its code may count its calls."""
MASKS_IN_TURN = (NO_MASKS, PADDED, PADDED, NO_MASKS)
"""What rows in two modes take in turn, so that both modes meet both."""
MANY_HEADS, WIDEST = 64, 260
"""The most heads, and the most features of what has attention: with more, a grading would take seconds."""


def led_by_numbers(
    submission: SubmissionUnderTest, case: Case, component: str, features: int, **levels: Any
) -> list[dict[str, Any]]:
    """Rows with the sizes that stand in a component's code, and one more, so that a condition is met either way.

    A condition may also be about how often the object was called: there are more rows than one such number says.

    Args:
        submission: with this code.
        case: draws.
        component: "module.Name".
        features: of the tensors.
        levels: of all these rows.
    """
    sizes = case.shuffle(numbers_of(submission.sources, submission.contract.modules, component))
    small = [size for size in sizes if size <= LONG][:NUMBERS]
    chosen = [size for size in sizes if LONG < size <= LONGEST][:LONG_ONES]
    long = sorted({more for size in chosen for more in (size, size + 1)}, reverse=True)
    whole = [size // (4 * features) + 1 for size in sizes if size > LONGEST][:1]
    calls = [call for size in small for call in ((2, size, size + 1), (2, size + 1, size), (size + 1, 2, 3))]
    calls += [(1, 2, size) for size in long] + [(size, 4, 3) for size in whole]

    def rows(calls: Iterable[tuple[int, int, int]]) -> list[dict[str, Any]]:
        named = [{"shape": (b, q), "b": b, "q": q, "k": k, "s": k} for b, q, k in calls]
        return [LEARNING | FEW | levels | row for row in named]

    further = next((size + 1 for size in small if size <= MOST_CALLS), 0)
    again = [LEARNING | FEW | levels | {"gradients": "no_grad"}] * further
    return again + in_all_modes(rows(calls)) + sparingly(rows((1, size, 3) for size in long))


def built_by_numbers(
    submission: SubmissionUnderTest,
    case: Case,
    component: str,
    sizes_of: Callable[[int, int], Iterable[Sizes]],
    least: int = LEAST,
    most: int = LONGEST,
    **levels: Any,
) -> list[dict[str, Any]]:
    """Rows for objects with the sizes that stand in a component's code, and one more.

    Args:
        submission: with this code.
        case: draws.
        component: "module.Name".
        sizes_of: makes settings of two sizes.
        least: no smaller number counts.
        most: no larger number counts.
        levels: of all these rows.
    """
    chosen = numbers_tried(submission, case, component, least, most)
    made = [sizes for n in chosen for pair in ((n, n + 1), (n + 1, n)) for sizes in sizes_of(*pair)]
    return in_all_modes([LEARNING | FEW | levels | {"made": (sizes, "float64")} for sizes in made])


def in_all_modes(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each row with masks and without, with gradients in eval mode; then without gradients, and in train mode."""
    masks = itertools.cycle(MASKS_IN_TURN)
    modes = {"gradients": "no_grad"}, {"training": True}
    learning = [row | either for row in rows for either in (NO_MASKS, ROWS_OF_THEIR_OWN)]
    return learning + [row | mode | next(masks) for row in rows for mode in modes]


def sparingly(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each row in both modes, with masks or without; only the first with gradients, as graphs take much memory.

    In Gradescope's container there is little, and a right solution must not run out of it.
    """
    masks = itertools.cycle(MASKS_IN_TURN)
    calm = [row | {"gradients": "no_grad", "training": mode} for row in rows for mode in (False, True)]
    return [row | next(masks) for row in (*rows[:1], *calm)]


def numbers_tried(
    submission: SubmissionUnderTest, case: Case, component: str, least: int = LEAST, most: int = LONGEST
) -> list[int]:
    """Some numbers of a component's code, drawn from those between two others."""
    numbers = numbers_of(submission.sources, submission.contract.modules, component, least)
    return case.shuffle([number for number in numbers if number <= most])[:BUILT]


def heads_and_features(one: int, other: int) -> Iterator[tuple[int, int]]:
    """Heads, and features of each: one head with so many features, and so many heads."""
    yield 1, one
    if max(one, other) <= MANY_HEADS:
        yield one, 1
