"""Words of either language, and the gold alignments that are read off the meaning both sides were written from.

A key is a node of the meaning and the role a word plays for it. Words of the two languages with one primary key are
translations of each other, and linked. A word whose primary key has no counterpart (French *le* in *j'aime le
chocolat*, English *do*) goes with the first of its fallback keys that has one. In the corpus, each link of two words
becomes links of all their BPE tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

Key = tuple[object, str]


@dataclass(frozen=True)
class Word:
    """One word as a realizer writes it, before elision and contraction.

    `before_vowel` is its form before a vowel sound (*le* -> *l*, *ma* -> *mon*); `role` marks what
    elision and contraction must know (*article*, *preposition*).
    """

    text: str
    keys: frozenset[Key]
    fallback: tuple[Key, ...] = ()
    before_vowel: str = ""
    is_aspirated: bool = False
    role: str = ""

    def joined(self, other: Word, text: str) -> Word:
        """One word in the place of two (*de* + *le* -> *du*), with the keys of both."""
        return replace(
            self,
            text=text,
            keys=self.keys | other.keys,
            fallback=self.fallback + other.fallback,
            before_vowel="",
            role="",
        )


def word(text: str, node: object, role: str, *fallback: Key, before_vowel: str = "", kind: str = "") -> Word:
    """A word that plays `role` for `node`; `kind` is the word's own role in elision."""
    return Word(text, frozenset({(node, role)}), tuple(fallback), before_vowel, role=kind)


def words(text: str, node: object, role: str, *fallback: Key) -> list[Word]:
    """Several words that play one role together, such as *every day*."""
    return [word(part, node, role, *fallback) for part in text.split()]


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
