"""Gold word alignments, read off the meaning that both sides were written from.

Words with a common primary key are linked; a remaining word goes with the first of its fallback keys that has a
counterpart. In the corpus, each link of two words becomes links of all their BPE tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from .meaning.tokens import Key, Word

Link = tuple[int, int]


def align(source: Sequence[Word], target: Sequence[Word]) -> list[Link]:
    """Links between positions of words, sorted: (source, target)."""
    by_source, by_target = _index(source), _index(target)
    links = {(i, j) for key, positions in by_source.items() for i in positions for j in by_target.get(key, ())}
    linked_source, linked_target = {i for i, _ in links}, {j for _, j in links}
    extra: set[Link] = set()
    for i, found in enumerate(source):
        if i not in linked_source:
            extra |= {(i, j) for j in _fallback(found, by_target)}
    for j, found in enumerate(target):
        if j not in linked_target:
            extra |= {(i, j) for i in _fallback(found, by_source)}
    return sorted(links | extra)


def _index(words: Sequence[Word]) -> dict[Key, list[int]]:
    index: dict[Key, list[int]] = {}
    for position, found in enumerate(words):
        for key in found.keys:
            index.setdefault(key, []).append(position)
    return index


def _fallback(found: Word, index: dict[Key, list[int]]) -> list[int]:
    for key in found.fallback:
        if key in index:
            return index[key]
    return []


def spread(links: Sequence[Link], source_pieces: Sequence[int], target_pieces: Sequence[int]) -> list[Link]:
    """Links between BPE tokens, given how many tokens each word has."""
    source_start, target_start = _starts(source_pieces), _starts(target_pieces)
    return sorted(
        (source_start[i] + a, target_start[j] + b)
        for i, j in links
        for a in range(source_pieces[i])
        for b in range(target_pieces[j])
    )


def _starts(pieces: Sequence[int]) -> list[int]:
    starts = [0]
    for count in pieces:
        starts.append(starts[-1] + count)
    return starts


def to_pharaoh(links: Sequence[Link]) -> str:
    """One line of a file in Pharaoh format: `0-0 1-2 2-1`."""
    return " ".join(f"{i}-{j}" for i, j in links)
