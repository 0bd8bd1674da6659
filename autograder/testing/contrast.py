"""Compares the calls of a component that went wrong with those that went right: the line `only:` of a message.

Tests note what is known of each call that they judge: its masks, its mode, its dtype, its sizes. If all calls with one
property are wrong and all others are right, that property leads to the mistake more surely than any question.

    note(("in train mode", "without a mask"), {"axis 1 of x": 5}, is_right=True)
    only(calls, shown)    "in train mode: all 2 such calls are wrong, and all 9 others are right"
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

MOST_TRAITS = 2
"""That are named where all separate the same calls."""
FEWEST = 3
"""Calls that say nothing yet: it could be chance."""


@dataclass(frozen=True)
class Call:
    """A call that a test has judged."""

    traits: frozenset[str]  # in words, such as "in train mode"
    sizes: tuple[tuple[str, int], ...]  # of the axes of its arguments, by the axis in words
    is_right: bool
    kind: str = "values"  # of what was judged

    @property
    def group(self) -> tuple[str, ...]:
        """Calls of one group can be compared."""
        return self.kind, *dict(self.sizes)


_noted: list[Call] = []  # in the test that is running


def begin() -> None:
    """Forgets the calls of the test before."""
    _noted.clear()


def noted() -> tuple[Call, ...]:
    """Return the calls since the test began."""
    return tuple(_noted)


def note(traits: Iterable[str], sizes: Mapping[str, int] = {}, *, is_right: bool, kind: str = "values") -> None:
    """Notes a call."""
    _noted.append(Call(frozenset(traits), tuple(sizes.items()), is_right, kind))


@contextmanager
def judged(traits: Iterable[str]) -> Iterator[None]:
    """A block that judges a call with these traits."""
    is_right = False
    try:
        yield
        is_right = True
    finally:
        note(traits, is_right=is_right)


def only(calls: Collection[Call], shown: Iterable[Call]) -> str:
    """Return what all wrong calls have in common, and no right one; "" where there is nothing of the kind.

    Compares the calls of the groups that went wrong in the failure that is shown.
    """
    groups = dict.fromkeys(call.group for call in shown if not call.is_right)
    compared = ([call for call in calls if call.group == group] for group in groups)
    return next((text for several in compared if (text := separating(several))), "")


def separating(calls: Sequence[Call]) -> str:
    """Return the property of the wrong ones among calls of one group, with how many have it."""
    wrong, right = ([call for call in calls if call.is_right is good] for good in (False, True))
    if not right or len(calls) <= FEWEST:
        return ""
    shared = frozenset.intersection(*(call.traits for call in wrong))
    traits = sorted(sorted(shared.difference(*(call.traits for call in right))), key=rank) or beyond(wrong, right)
    if not traits:
        return ""
    such = f"all {len(wrong)} such calls are" if len(wrong) > 1 else "the one such call is"
    others = f"all {len(right)} others are" if len(right) > 1 else "the other is"
    best = [trait for trait in traits if rank(trait) == rank(traits[0])][:MOST_TRAITS]
    return f"{' and '.join(best)}: {such} wrong, and {others} right"


def rank(trait: str) -> int:
    """Sorts what a call is given before what follows from that, and before how its sizes happen to be."""
    return next((number for number, sign in enumerate((" axes", "where axis"), 1) if sign in trait), 0)


def beyond(wrong: Sequence[Call], right: Sequence[Call]) -> list[str]:
    """Return the axes that are longer in each wrong call than in any right one."""
    traits = []
    for axis in dict(wrong[0].sizes):
        shortest = min(dict(call.sizes)[axis] for call in wrong)
        longest = max(dict(call.sizes)[axis] for call in right)
        if len(right) > 1 and shortest > 2 * longest:
            traits.append(f"where {axis} is longer than {longest}")
    return traits
