"""Pairs and groups of submissions that share more than chance explains, with the places of what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .chance import Chances, chances_of, connected
from .reading import Print, Written
from .translations import HIGHEST_BLEU, TranslationFindings, compare_translations

BY_CHANCE = 0.01
"""Pairs are listed as long as chance would name at most this share of the students."""
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
    one_in: float  # in how many of the class's pairs one shares as much there
    others: tuple[int, int]  # how many other submissions have the least, and the most frequent piece of it


@dataclass(frozen=True)
class Pair:
    """Two submissions that share more than chance explains."""

    left: str  # the key of the first one
    right: str  # of the second one
    expected: float  # pairs with as much in common that chance would bring in this class
    matches: tuple[Match, ...]  # the most telling one first


@dataclass(frozen=True)
class Findings:
    """What a comparison of a class has found."""

    compared: tuple[str, ...]  # the keys of the submissions that were compared
    pairs: tuple[Pair, ...]  # those that are listed, the least probable one first
    groups: tuple[tuple[str, ...], ...]  # submissions that are connected by listed pairs, where there are three or more
    unread: Mapping[str, str]  # reasons by key, of submissions that could not be compared
    translations: TranslationFindings  # what their translations show


def find_matches(
    written: Mapping[str, Written], by_chance: float = BY_CHANCE, highest_bleu: float = HIGHEST_BLEU
) -> Findings:
    """Compares what the students of a class wrote, by the submission's key.

    Pairs are listed as long as chance would name at most `by_chance` of the students; no model reaches `highest_bleu`.
    """
    keys = [key for key, one in written.items() if not one.problem]
    hashes = [{name: {one.hash for one in prints} for name, prints in written[key].prints.items()} for key in keys]
    chances = chances_of(hashes)
    most = by_chance * len(keys) / 2  # a pair names two
    rows, columns = np.nonzero(np.triu(chances.expected <= most, 1))
    order = np.argsort(chances.expected[rows, columns], kind="stable")[:MOST_PAIRS]
    pairs = []
    for i, j in ((int(rows[n]), int(columns[n])) for n in order):
        matches = matches_of(written[keys[i]], written[keys[j]], chances, (i, j))
        pairs.append(Pair(keys[i], keys[j], float(chances.expected[i, j]), matches))
    unread = {key: one.problem for key, one in written.items() if one.problem}
    files = {key: one.translations for key, one in written.items() if one.translations}
    translations = compare_translations(files, by_chance, highest_bleu)
    groups = tuple(group for group in connected((pair.left, pair.right) for pair in pairs) if len(group) > 2)
    return Findings(tuple(keys), tuple(pairs), groups, unread, translations)


def matches_of(left: Written, right: Written, chances: Chances, place: tuple[int, int]) -> tuple[Match, ...]:
    """What two submissions share, by component."""
    found = []
    for component in left.prints.keys() & right.prints.keys():
        ours, theirs = left.prints[component], right.prints[component]
        shared = {one.hash for one in ours} & {one.hash for one in theirs}
        shared -= chances.common[component]
        if shared:
            others = [chances.holders[component][one] - 2 for one in shared]
            one_in = float(np.exp(chances.surprise[component][place]))
            both = places_of(ours, shared), places_of(theirs, shared)
            found.append(Match(component, *both, one_in, (min(others), max(others))))
    return tuple(sorted(found, key=lambda one: (-one.one_in, one.component)))


def places_of(prints: Sequence[Print], shared: set[int]) -> tuple[Place, ...]:
    """Where the shared fingerprints stand, by module."""
    lines: dict[str, set[int]] = {}
    for one in prints:
        if one.hash in shared:
            lines.setdefault(one.module, set()).update(one.lines)
    return tuple(Place(module, tuple(sorted(own))) for module, own in sorted(lines.items()))
