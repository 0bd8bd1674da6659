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
from .chance import Floats, beyond, connected

HIGHEST_BLEU = 0.75
"""What no model of the assignment reaches: the defaults give 0.61 to 0.63 over five seeds, a table of the training
sentences far less. An instructor with another corpus names another bound."""
LEAST_EQUAL = 0.5
"""Share of the references that is written out exactly, below which no file has such a BLEU; saves scoring them all."""
RARE, SOME = 0.1, 0.35
"""At most the first share of the others has a rare half line; more, up to the second, have one that some have."""
MORE = 1.5
"""How many times as many rare half lines as expected a model may have whose settings suit them."""
UNLIKE = 4.0
"""Standard deviations above that, beyond which a file is pointed out."""
FEW_RARE = 10
"""Fewer rare half lines of the references are luck."""
FEW_WRONG = 50
"""Of fewer half lines that two files got wrong, equal ones are luck."""
HALF = 0.5
"""Share of equal half lines, of those that are wrong, beyond which two files have more than a model in common."""
FEW_FILES = 6
"""The pairs of fewer tell nothing about chance."""
FEW_MODELS = 12
"""Among fewer, one good model looks as if it had the references."""
LEAST_SCALE = 0.01
"""Of the tail of these shares: where all files are much alike, a little more says nothing."""


@dataclass(frozen=True)
class Translated:
    """A file of translations."""

    halves: tuple[int, ...]  # a number for each half of each line, equal for equal words
    equal: tuple[bool, ...]  # for each half, whether it is the reference's
    bleu: float | None = None  # where it may be suspiciously high; otherwise None

    @property
    def share_equal(self) -> float:
        """The share of half lines that are the references'."""
        return sum(self.equal) / max(len(self.equal), 1)


@dataclass(frozen=True)
class SameTranslations:
    """Two files that agree more than chance explains."""

    left: str  # the key of the first submission
    right: str  # of the second one
    share: float  # of the half lines that not both got right: those that are the same
    usual: float  # the median of that over the class's pairs


@dataclass(frozen=True)
class SameGroup:
    """Files that such pairs connect: the submissions' keys, and the least and the highest share of those pairs."""

    keys: tuple[str, ...]
    least: float
    most: float


@dataclass(frozen=True)
class TranslationFindings:
    """What a comparison of translations has found."""

    compared: int  # how many files there were
    close_to_references: Mapping[str, str]  # reasons by key
    same: tuple[SameTranslations, ...]  # pairs, the most alike first

    @property
    def usual(self) -> float:
        """The median share over the class's pairs; 0 where no pair is listed."""
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
    """Compares the files of a class, by the submission's key and all of equal length; see `find_matches`."""
    close: dict[str, str] = {}
    rare, expected = rare_equals(list(files.values()))
    for (key, one), count, usual in zip(files.items(), rare, expected, strict=True):
        if one.bleu is not None and one.bleu > highest_bleu:
            what = f"BLEU {one.bleu:.3f} is above {highest_bleu:g}, more than a model of this assignment gives"
            close[key] = f"{what}; {one.share_equal:.0%} of the half lines are the references', word for word"
        elif count >= FEW_RARE and count > MORE * usual + UNLIKE * np.sqrt(usual + 1):
            what = f"{count:.0f} half lines are the references', word for word, that hardly anybody else has"
            close[key] = f"{what}; a model as good as this one would have about {usual:.0f}"
    return TranslationFindings(len(files), close, same_translations(files, by_chance))


def rare_equals(files: Sequence[Translated]) -> tuple[Floats, Floats]:
    """For each file, how many half lines are the references' that hardly any other has, and how many one expects.

    A better model has more of them, so the share of such half lines that a file has is compared with its share of those
    that some others have: the odds of the one are as many times the odds of the other in all models of a class, good
    or bad. References that are mixed in are as frequent among hard sentences as among easy ones.
    """
    n = len(files)
    if n < FEW_MODELS:
        return np.zeros(n), np.zeros(n)
    equal = np.array([one.equal for one in files])
    others = equal.sum(axis=0) - equal
    few = int(RARE * (n - 1))
    least = max(2, few + 1)  # one cheat's half lines are another's, too
    rare, some = others <= few, (others >= least) & (others <= max(least, SOME * (n - 1)))
    found, n_rare = (equal & rare).sum(axis=1), rare.sum(axis=1)
    odds = odds_of((equal & some).sum(axis=1), some.sum(axis=1))
    odds *= np.median(odds_of(found, n_rare) / odds)
    return found.astype(np.float64), n_rare * odds / (1 + odds)


def odds_of(found: NDArray[np.int64], of: NDArray[np.int64]) -> Floats:
    """The odds of having a half line, never 0 or infinite."""
    odds: Floats = (found + 0.5) / (of - found + 0.5)
    return odds


def same_translations(files: Mapping[str, Translated], by_chance: float) -> tuple[SameTranslations, ...]:
    """Pairs of files with more mistakes in common than other pairs of the class; what both got right says nothing."""
    keys = list(files)
    if len(keys) < 2:
        return ()
    halves, equal = np.array([one.halves for one in files.values()]), np.array([one.equal for one in files.values()])
    rows, columns = np.triu_indices(len(keys), 1)
    shares = np.concatenate([shared_mistakes(halves[n:], equal[n:]) for n in range(len(keys) - 1)])
    usual = float(np.median(shares))
    expected = len(shares) * beyond(shares, LEAST_SCALE)
    if len(keys) < FEW_FILES:
        is_listed = shares >= HALF
    else:
        is_listed = (expected <= by_chance * len(keys) / 2) | ((shares >= HALF) & (usual < HALF))
    found = [
        SameTranslations(keys[rows[n]], keys[columns[n]], float(shares[n]), usual) for n in np.flatnonzero(is_listed)
    ]
    return tuple(sorted(found, key=lambda one: (-one.share, one.left, one.right)))


def shared_mistakes(halves: NDArray[np.int64], equal: NDArray[np.bool_]) -> Floats:
    """How much the first file shares with each of the others, of the half lines that not both got right."""
    wrong = ~(equal[1:] & equal[0])
    same = (halves[1:] == halves[0]) & wrong
    shares: Floats = same.sum(axis=1) / wrong.sum(axis=1).clip(FEW_WRONG)
    return shares
