"""Pairs of submissions that have most of what their students wrote in common, with the places.

A statement weighs ln((n + 1) / holders): what many of a class of n have weighs little, and what more than half of it
has is common knowledge and weighs nothing. What two submissions share is compared with all that the smaller of the two
has, so that a copy cannot be thinned by code that is added to it. Mistakes in translations are compared likewise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .reading import Found, Written

ALIKE = 0.8
"""Pairs that share at least so much are listed: by `python -m benchmarks similarity` copies in disguise share 0.87 and
more, independent solutions up to 0.79."""
SAME_MISTAKES = 0.5
"""Likewise of the mistakes in translations, of which models with different seeds share a fifth."""
COMMON, FEW = 0.5, 4
"""What more than this share of a class has is common knowledge, but not what so few have."""
LEAST = 40.0
"""Weight of what a submission has, below which equal parts may be luck; an ordinary one has 150."""
MOST_PAIRS = 200


@dataclass(frozen=True)
class Place:
    """Lines of a module of one submission."""

    module: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Match:
    """What two submissions share in a component."""

    component: str  # of the contract, or "layers: other code"
    left: tuple[Place, ...]  # the places in the first submission, by module
    right: tuple[Place, ...]  # in the second one


@dataclass(frozen=True)
class Pair:
    """Two submissions that share much."""

    left: str  # the key of the first one
    right: str  # of the second one
    share: float  # of what the smaller of the two has
    matches: tuple[Match, ...] = ()  # the one with most lines first; none for translations


@dataclass(frozen=True)
class Findings:
    """What a comparison of a class has found."""

    compared: tuple[str, ...]  # the keys of the submissions that were compared
    pairs: tuple[Pair, ...]  # those that are listed, the most alike first
    unread: Mapping[str, str]  # reasons by key, of submissions that could not be compared
    translations: int  # how many files of translations were compared
    same_translations: tuple[tuple[str, ...], ...]  # keys of those that share their mistakes, the largest group first


def find_matches(written: Mapping[str, Written]) -> Findings:
    """Compares what the students of a class wrote, by the submission's key."""
    read = {key: one for key, one in written.items() if not one.problem}
    texts = {key: {one.text for one in own.statements} for key, own in read.items()}
    telling = holders_of(texts.values())
    pairs = []
    for left, right, share in alike(texts, ALIKE)[:MOST_PAIRS]:
        shared = texts[left] & texts[right] & telling.keys()
        pairs.append(Pair(left, right, share, matches_of(read[left].statements, read[right].statements, shared)))
    unread = {key: one.problem for key, one in written.items() if one.problem}
    mistakes = {key: one.mistakes for key, one in written.items() if one.mistakes}
    same = connected((left, right) for left, right, _ in alike(mistakes, SAME_MISTAKES))
    return Findings(tuple(read), tuple(pairs), unread, len(mistakes), same)


def alike(sets: Mapping[str, AbstractSet[int]], least: float) -> list[tuple[str, str, float]]:
    """Pairs of keys that share at least so much, with the share, the most alike first."""
    keys = list(sets)
    shares = shares_of(sets.values())
    rows, columns = np.nonzero(np.triu(shares >= least, 1))
    found = [(keys[i], keys[j], float(shares[i, j])) for i, j in zip(rows, columns, strict=True)]
    return sorted(found, key=lambda pair: (-pair[2], pair[:2]))


def holders_of(sets: Collection[AbstractSet[int]]) -> dict[int, list[int]]:
    """The numbers of the submissions that have it, for whatever is not common knowledge in a class."""
    holders: dict[int, list[int]] = {}
    for number, own in enumerate(sets):
        for one in own:
            holders.setdefault(one, []).append(number)
    return {one: numbers for one, numbers in holders.items() if len(numbers) <= max(FEW, COMMON * len(sets))}


def shares_of(sets: Collection[AbstractSet[int]]) -> NDArray[np.float64]:
    """How much each pair has in common, of what the smaller of the two has."""
    shared = np.zeros((len(sets), len(sets)))
    for numbers in holders_of(sets).values():
        shared[np.ix_(numbers, numbers)] += np.log((len(sets) + 1) / len(numbers))
    weights = np.diag(shared)
    shares: NDArray[np.float64] = shared / np.minimum.outer(weights, weights).clip(LEAST)
    return shares


def matches_of(left: Iterable[Found], right: Iterable[Found], shared: AbstractSet[int]) -> tuple[Match, ...]:
    """Where two submissions have the same statements, by component."""
    ours, theirs = places_of(left, shared), places_of(right, shared)
    found = [Match(component, ours[component], theirs[component]) for component in ours.keys() & theirs.keys()]
    return tuple(sorted(found, key=lambda one: (-sum(len(place.lines) for place in one.left), one.component)))


def places_of(statements: Iterable[Found], shared: AbstractSet[int]) -> dict[str, tuple[Place, ...]]:
    """Where the shared statements stand, by component and module."""
    lines: dict[str, dict[str, set[int]]] = {}
    for one in statements:
        if one.text in shared:
            lines.setdefault(one.component, {}).setdefault(one.module, set()).update(one.lines)
    return {
        component: tuple(Place(module, tuple(sorted(own))) for module, own in sorted(by_module.items()))
        for component, by_module in lines.items()
    }


def connected(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """What pairs connect, perhaps through others: each group in order, the largest one first."""
    group_of: dict[str, set[str]] = {}
    for left, right in pairs:
        joined = group_of.get(left, {left}) | group_of.get(right, {right})
        group_of.update(dict.fromkeys(joined, joined))
    groups = {tuple(sorted(group)) for group in group_of.values()}
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))
