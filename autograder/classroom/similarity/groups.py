"""Submissions that pairs connect."""

from __future__ import annotations

from collections.abc import Iterable


def connected(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """What pairs connect, perhaps through others: each group in order, the largest one first."""
    group_of: dict[str, set[str]] = {}
    for left, right in pairs:
        joined = group_of.get(left, {left}) | group_of.get(right, {right})
        group_of.update(dict.fromkeys(joined, joined))
    groups = {tuple(sorted(group)) for group in group_of.values()}
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))
