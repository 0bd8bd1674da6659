"""How much two submissions share, and how often chance alone would bring as much in this class.

1. In each component, what a pair shares is the cosine of its two sets of fingerprints. Each weighs ln(1 / share of
   the class that has it): what many have weighs little, and what more than COMMON of the class has is left out. What
   nobody else has is left out too, so that a copy cannot be thinned by code that is added to it.
2. The surprise at a pair in a component is -ln(share of the class's pairs that have at least as much in common there).
   So an answer that many find for themselves says little, in whichever class.
3. Surprises are added over the components, as in Fisher's test. A student's answers depend on one another, so the sum
   is not compared with Fisher's distribution but with the sums of this class's own pairs. Sums are standardised by the
   means and covariances of the components that both have answered (Brown 1975, "A method for combining
   non-independent, one-sided tests of significance"). The tail falls exponentially, as fast as it does between the
   quantiles TAIL, of which copies do not take part: an estimate that holds as long as few pairs are copies.

The share of pairs in the tail, times their number, is the number of pairs that chance would bring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COMMON = 0.5
"""What more of a class has is common knowledge."""
FEW = 4
"""In a class with fewer answers to a component, nothing is common."""
TAIL = 0.75, 0.95
"""Between these quantiles the pairs of a class tell how fast the tail falls; copies may be above."""

Floats = NDArray[np.float64]
Hashes = Mapping[str, AbstractSet[int]]
"""The fingerprints of a submission, by component."""


@dataclass(frozen=True)
class Chances:
    """All pairs of a class; the arrays have a row and a column for each submission, the mappings are by component."""

    expected: Floats  # pairs that chance would bring in this class with as much in common
    surprise: Mapping[str, Floats]  # -ln of the share of pairs with as much in common there, 0 where nothing is
    holders: Mapping[str, Counter[int]]  # how many submissions have a fingerprint
    common: Mapping[str, frozenset[int]]  # fingerprints that are common knowledge


def chances_of(submissions: Sequence[Hashes]) -> Chances:
    """Compares each submission with each other one."""
    n = len(submissions)
    n_pairs = max(1, n * (n - 1) // 2)
    components = sorted({component for hashes in submissions for component in hashes})
    holders, common, surprise, answered = {}, {}, {}, {}
    for component in components:
        own = [hashes.get(component, frozenset()) for hashes in submissions]
        holders[component] = counts = Counter(one for hashes in own for one in hashes)
        n_answers = sum(map(bool, own))
        most = max(FEW, COMMON * n_answers)
        common[component] = frozenset(one for one, times in counts.items() if times > most)
        shared = shared_in(own, counts, common[component], n_answers)
        both = np.array([bool(hashes) for hashes in own])
        answered[component] = np.outer(both, both)
        surprise[component] = surprise_of(shared, answered[component])
    expected = np.full((n, n), np.inf)
    if n > 1 and components:
        totals = sum(surprise.values(), np.zeros((n, n)))
        expected = n_pairs * tail_of(totals, [surprise[c] for c in components], [answered[c] for c in components])
    return Chances(expected, surprise, holders, common)


def shared_in(
    own: Sequence[AbstractSet[int]], counts: Counter[int], common: AbstractSet[int], n_answers: int
) -> Floats:
    """What each pair shares in a component: the cosine of what others have too, so that own code dilutes nothing."""
    telling = sorted(one for one, times in counts.items() if times > 1 and one not in common)
    places = {one: place for place, one in enumerate(telling)}
    matrix = np.zeros((len(own), len(places)))
    for row, hashes in enumerate(own):
        for one in hashes:
            if one in places:
                matrix[row, places[one]] = np.log((n_answers + 1) / counts[one]) ** 0.5
    matrix /= np.sqrt((matrix**2).sum(axis=1, keepdims=True)).clip(1e-9)
    shared: Floats = matrix @ matrix.T
    return shared


def surprise_of(shared: Floats, answered: NDArray[np.bool_]) -> Floats:
    """-ln of the share of pairs that have at least as much in common; 0 where nothing is."""
    rows, columns = np.triu_indices(len(shared), 1)
    values = np.sort(shared[rows, columns][answered[rows, columns]].round(9))
    found = np.zeros_like(shared)
    if len(values):
        at_least = len(values) - np.searchsorted(values, shared.round(9).ravel(), side="left")
        found = -np.log(np.maximum(at_least, 1) / len(values)).reshape(shared.shape)
    return np.where(answered & (shared > 0), found, 0.0)


def tail_of(totals: Floats, surprise: Sequence[Floats], answered: Sequence[NDArray[np.bool_]]) -> Floats:
    """The share of pairs with such totals that chance brings, from what the pairs below the highest ones show."""
    rows, columns = np.triu_indices(len(totals), 1)
    x = np.stack([one[rows, columns] for one in surprise])
    there = np.stack([one[rows, columns] for one in answered]).astype(np.float64)
    means = x.sum(axis=1) / there.sum(axis=1).clip(1)
    centred = (x - means[:, None]) * there
    covariance = centred @ centred.T / (there @ there.T).clip(1)
    mean = means @ there
    variance = np.einsum("ip,ij,jp->p", there, np.maximum(covariance, 0), there)
    found = np.ones_like(totals)
    found[rows, columns] = found[columns, rows] = beyond((x.sum(axis=0) - mean) / np.sqrt(variance.clip(1e-9)))
    return found


def beyond(values: Floats, least_scale: float = 1e-3) -> Floats:
    """The share of all pairs' values that chance brings as high as each, if the tail falls exponentially.

    Where the values hardly differ, the tail has the least scale.
    """
    low, high = np.quantile(values, TAIL)
    above = np.minimum(values[values > low], high) - low
    n_seen = max(1, int(((values > low) & (values <= high)).sum()))
    scale = max(float(above.sum()) / n_seen, least_scale)
    share: Floats = np.where(values > low, (1 - TAIL[0]) * np.exp(-(values - low) / scale), 1.0)
    return share


def connected(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """What pairs connect, perhaps through others: each group in order, the largest one first."""
    group_of: dict[str, set[str]] = {}
    for left, right in pairs:
        joined = group_of.get(left, {left}) | group_of.get(right, {right})
        group_of.update(dict.fromkeys(joined, joined))
    groups = {tuple(sorted(group)) for group in group_of.values()}
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))
