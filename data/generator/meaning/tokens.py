"""Words of either language with the links that align them.

A key is a node of the meaning and the role a word plays for it. Words of the two languages with one primary
key are translations of each other. A word whose primary key has no counterpart (French *le* in *j'aime le
chocolat*, English *do*) goes with the first of its fallback keys that has one.
"""

from __future__ import annotations

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
