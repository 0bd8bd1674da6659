"""Reasons for a low BLEU that a file of translations shows, and that are not the model's.

notes = why_low(translations, references, sources)      a sentence each, [] where none shows
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence

from sacrebleu.metrics.bleu import BLEU

from .scoring import undo_bpe

MARKS = {
    "<s>, <pad> or other special tokens: leave them out": re.compile(r"<(?:/?s|sos|bos|eos|pad|unk)>", re.IGNORECASE),
    "▁: join the pieces of words, and put spaces for it": re.compile("▁"),
    "@@ inside or before words: byte-pair marks stand at the end of a piece": re.compile("@@"),
}
SIGN = re.compile(r"""(?<=\w)([.,!?;:'’"])|([.,!?;:'’"])(?=\w)""")
"""A sign that is attached to a word."""
FEW = 0.05
"""The share of lines below which a habit explains little, and the gain in BLEU likewise."""
SAMPLED, LEAST_WORDS = 100, 3
ALIKE, UNLIKE = 0.6, 0.3
"""The share of words that a line has in common with a reference that it fits, and with one that it does not."""


def why_low(translations: Sequence[str], references: Sequence[str], sources: Sequence[str] = ()) -> list[str]:
    """The reasons, as sentences; there are as many references, and as many sources or none."""
    lines, targets = ([undo_bpe(line) for line in texts] for texts in (translations, references))
    return [*_habits(lines, targets), *_places(lines, targets, [undo_bpe(line) for line in sources])]


def _habits(lines: Sequence[str], targets: Sequence[str]) -> Iterator[str]:
    """Habits in the writing of lines."""
    of = f"of {len(lines)} lines"
    for habit, mark in MARKS.items():
        if (number := sum(bool(mark.search(line)) for line in lines)) > FEW * len(lines):
            yield f"{number} {of} have {habit}"
    bleu = _bleu(lines, targets)
    changes: dict[str, Callable[[str], str]] = {
        "capital letters": str.lower,
        "signs attached to words": lambda line: " ".join(SIGN.sub(r" \1\2 ", line).split()),
    }
    for habit, change in changes.items():
        number = sum(change(line) != line for line in lines)
        if number <= FEW * len(lines):
            continue
        if (gain := _bleu([*map(change, lines)], [*map(change, targets)])) > bleu + FEW:
            gained = f"without that, BLEU is {gain:.2f} instead of {bleu:.2f}"
            yield f"{number} {of} have {habit}, unlike the references: {gained}"


def _bleu(lines: Sequence[str], targets: Sequence[str]) -> float:
    return float(BLEU(tokenize="none", force=True).corpus_score(lines, [targets]).score) / 100


def _places(lines: Sequence[str], targets: Sequence[str], sources: Sequence[str]) -> Iterator[str]:
    """Lines in other places than their sentences."""
    if sum(map(operator.eq, lines, sources)) > len(lines) / 2:
        yield "most lines are the source sentences"
        return
    words = [frozenset(line.split()) for line in targets]
    moved: list[tuple[int, int]] = []
    step = max(1, len(lines) // SAMPLED)
    sampled = [at for at in range(0, len(lines), step) if len(lines[at].split()) >= LEAST_WORDS]
    for at in sampled:
        own = frozenset(lines[at].split())
        best, share = max(((place, _share(own, other)) for place, other in enumerate(words)), key=lambda pair: pair[1])
        if share >= ALIKE and _share(own, words[at]) < UNLIKE:
            moved.append((at, best))
    if len({best for _, best in moved}) <= len(sampled) * 2 * FEW:  # a bad model's few sentences fit the same ones
        return
    (first, place), shifts = moved[0], {best - at for at, best in moved}
    common = max(shifts, key=[best - at for at, best in moved].count)
    if sum(best - at == common for at, best in moved) > 0.7 * len(moved) and abs(common) <= 5:
        slip = "missing" if common > 0 else "too many"
        number = f"{abs(common)} line{'s are' if abs(common) > 1 else ' is'}"
        yield f"{number} {slip} before line {first + 1}: from there on, lines fit other references"
    else:
        yield f"the lines are in another order: line {first + 1} fits reference {place + 1}"


def _share(line: frozenset[str], other: frozenset[str]) -> float:
    return len(line & other) / max(1, len(line | other))
