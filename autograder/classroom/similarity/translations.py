"""Translations that a model of the student's own would hardly give: the references, or another student's.

Each line is compared in halves, so that one changed word in a line hides nothing. Nothing here is proof: the same code
with the same settings and the same seed gives the same translations, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...scoring import ScoringError, parse_translations, score, undo_bpe
from .chance import beyond
from .groups import connected

HIGHEST_BLEU = 0.75
"""What no model of the assignment reaches: the defaults give 0.61 to 0.63 over five seeds, a table of the training
sentences far less. An instructor with another corpus names another bound."""
LEAST_EQUAL = 0.5
"""Share of the references that is written out exactly, below which no file has such a BLEU; saves scoring them all."""
RARE = 0.1
"""A half line is rare that at most this share of the others has."""
FEW_RARE = 10
"""Fewer rare half lines of the references are luck."""
UNLIKE = 8.0
"""Median absolute deviations above the class's median, beyond which so many rare half lines are pointed out."""
NEARLY_ALL = 0.9
"""Share of equal half lines beyond which two files are nearly the same."""
FEW_FILES = 6
LEAST_SCALE = 0.01
"""Of the tail of these shares: where all files are much alike, a little more says nothing."""


@dataclass(frozen=True)
class Translated:
    """A file of translations.

    Attributes:
        halves: a number for each half of each line, equal for equal words.
        equal: for each half, whether it is the reference's.
        bleu: where it may be suspiciously high; otherwise None.
    """

    halves: tuple[int, ...]
    equal: tuple[bool, ...]
    bleu: float | None = None

    @property
    def share_equal(self) -> float:
        """The share of half lines that are the references'."""
        return sum(self.equal) / max(len(self.equal), 1)


@dataclass(frozen=True)
class SameTranslations:
    """Two files that agree more than chance explains.

    Attributes:
        left: the key of the first submission.
        right: of the second one.
        share: of half lines that are the same.
        usual: the median of that over the class's pairs.
    """

    left: str
    right: str
    share: float
    usual: float


@dataclass(frozen=True)
class SameGroup:
    """Files that such pairs connect: the submissions' keys, and the least and the highest share of those pairs."""

    keys: tuple[str, ...]
    least: float
    most: float


@dataclass(frozen=True)
class TranslationFindings:
    """What a comparison of translations has found.

    Attributes:
        compared: how many files there were.
        close_to_references: reasons by key.
        same: pairs, the most alike first.
    """

    compared: int
    close_to_references: Mapping[str, str]
    same: tuple[SameTranslations, ...]

    @property
    def usual(self) -> float:
        """The median share of equal half lines over the class's pairs; 0 where no pair is listed."""
        return self.same[0].usual if self.same else 0.0

    @property
    def groups(self) -> tuple[SameGroup, ...]:
        """What these pairs connect, the most alike first: a file that many have is one group, not many pairs."""
        found = []
        for keys in connected((one.left, one.right) for one in self.same):
            shares = [one.share for one in self.same if one.left in keys]
            found.append(SameGroup(keys, min(shares), max(shares)))
        return tuple(sorted(found, key=lambda group: (-group.most, -len(group.keys), group.keys)))


def translated(content: bytes | None, references: Sequence[str]) -> Translated | None:
    """A file of translations against the references; None where there is none, or it cannot be read as that."""
    if content is None or not references:
        return None
    try:
        lines = parse_translations(content, "translations.txt", expected=len(references))
    except ScoringError:
        return None
    ours, theirs = halves_of(lines), halves_of(references)
    equal = tuple(a == b for a, b in zip(ours, theirs, strict=True))
    made = Translated(tuple(ours), equal)
    if made.share_equal < LEAST_EQUAL:
        return made
    return Translated(made.halves, equal, score(lines, references, samples=100).bleu)


def halves_of(lines: Sequence[str]) -> list[int]:
    """A number for the first and one for the second half of each line's words; punctuation does not count."""
    found = []
    for line in lines:
        words = [word for word in undo_bpe(line).split() if any(map(str.isalnum, word))]
        middle = (len(words) + 1) // 2
        for half in (words[:middle], words[middle:]):
            digest = hashlib.blake2b(" ".join(half).encode("utf-8", "surrogatepass"), digest_size=8).digest()
            found.append(int.from_bytes(digest, "big") >> 1)
    return found


def compare_translations(
    files: Mapping[str, Translated], by_chance: float, highest_bleu: float = HIGHEST_BLEU
) -> TranslationFindings:
    """Compares the files of a class.

    Args:
        files: by the submission's key; all of equal length.
        by_chance: pairs are listed as long as chance would name at most this share of the students.
        highest_bleu: what no model reaches.
    """
    close: dict[str, str] = {}
    rare = rare_equals(list(files.values()))
    middle = float(np.median(rare)) if len(rare) else 0.0
    spread = 1.4826 * float(np.median(np.abs(rare - middle))) if len(rare) else 0.0
    for (key, one), count in zip(files.items(), rare, strict=True):
        if one.bleu is not None and one.bleu > highest_bleu:
            what = f"BLEU {one.bleu:.3f} is above {highest_bleu:g}, more than a model of this assignment gives"
            close[key] = f"{what}; {one.share_equal:.0%} of the half lines are the references', word for word"
        elif len(files) > 2 and count >= FEW_RARE and count > middle + UNLIKE * max(spread, 1.0):
            what = f"{count:.0f} half lines are the references', word for word, that hardly anybody else has"
            close[key] = f"{what}; the median of the class is {middle:.0f}"
    return TranslationFindings(len(files), close, same_translations(files, by_chance))


def rare_equals(files: Sequence[Translated]) -> NDArray[np.float64]:
    """For each file, how many half lines are the reference's that at most RARE of the others have so."""
    if len(files) < 2:
        return np.zeros(len(files))
    equal = np.array([one.equal for one in files], dtype=np.float64)
    others = (equal.sum(axis=0) - equal) / (len(files) - 1)
    found: NDArray[np.float64] = ((equal > 0) & (others <= RARE)).sum(axis=1).astype(np.float64)
    return found


def same_translations(files: Mapping[str, Translated], by_chance: float) -> tuple[SameTranslations, ...]:
    """Pairs of files that are nearly the same, as few other pairs of the class are."""
    keys = list(files)
    if len(keys) < 2:
        return ()
    halves = np.array([one.halves for one in files.values()])
    rows, columns = np.triu_indices(len(keys), 1)
    shares = np.concatenate([(halves[n + 1 :] == halves[n]).mean(axis=1) for n in range(len(keys) - 1)])
    usual = float(np.median(shares))
    expected = len(shares) * beyond(shares, LEAST_SCALE)
    if len(keys) < FEW_FILES:  # whose pairs tell nothing about chance
        is_listed = shares >= NEARLY_ALL
    else:
        is_listed = (expected <= by_chance * len(keys) / 2) | ((shares >= NEARLY_ALL) & (usual < NEARLY_ALL))
    found = [
        SameTranslations(keys[rows[n]], keys[columns[n]], float(shares[n]), usual) for n in np.flatnonzero(is_listed)
    ]
    return tuple(sorted(found, key=lambda one: (-one.share, one.left, one.right)))
