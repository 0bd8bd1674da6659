"""Draws dev and test pairs out of the training text and learns the encodings on the rest."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator

import numpy as np

from ..files import CorpusError
from .choices import Choices, count_of
from .encodings import Encoding, learn_bpe, learn_words
from .sentences import Chosen, SentencePairs

Encodings = tuple[Encoding, Encoding]


def draw(
    pairs: SentencePairs, missing: list[str], choices: Choices, known: Encodings | None = None
) -> tuple[dict[str, SentencePairs], Encodings]:
    """Takes the missing splits out of the training text and learns the encodings on the rest.

    Only the encodings tell which pairs are too long, and only the draw tells what they may learn from. So if drawn
    pairs turn out too long, more are drawn and the encodings learnt again, until there are as many as asked for.

    Args:
        pairs: the training text.
        missing: splits to draw.
        choices: how text becomes a corpus.
        known: encodings to use again, or None.

    Returns:
        The training split and those that were missing, and the encodings.

    Raises:
        CorpusError: if there are too few pairs.
    """
    sizes = {split: count_of(getattr(choices, split), len(pairs)) for split in missing}
    total = taken = sum(sizes.values())
    order = array("I", range(len(pairs)))
    random.Random(choices.seed).shuffle(order)  # noqa: S311  # nothing depends on its secrecy
    while True:
        if 4 * taken > 3 * len(pairs):
            wanted = " and ".join(f"{size:,} of them for {split}" for split, size in sizes.items() if size)
            smaller = " or ".join(f"--{split}" for split, size in sizes.items() if size)
            reason = f" with at most {choices.most_tokens:,} tokens per side" if taken > total else ""
            raise CorpusError(f"{len(pairs):,} pairs are too few to take {wanted}{reason}; name a smaller {smaller}")
        drawn = chosen_in(order[:taken], len(pairs))
        encodings = known or learn(pairs.choose(~drawn), choices)
        is_short = np.zeros(len(pairs), bool)
        is_short[drawn] = [longest_side(pair, encodings) <= choices.most_tokens for pair in pairs.choose(drawn)]
        short = [index for index in order[:taken] if is_short[index]]
        if len(short) >= total:
            break
        taken += 2 * (total - len(short))
    found = {}
    rest = np.ones(len(pairs), bool)
    for split, size in sizes.items():
        chosen = chosen_in([short.pop() for _ in range(size)], len(pairs))
        found[split] = pairs.choose(chosen)
        rest &= ~chosen
    return {"train": pairs.choose(rest), **found}, encodings


def chosen_in(indices: array[int] | list[int], total: int) -> Chosen:
    """Tells for each of `total` pairs whether its index is given."""
    chosen = np.zeros(total, bool)
    chosen[np.array(indices, np.int64)] = True
    return chosen


def learn(pairs: SentencePairs, choices: Choices) -> Encodings:
    """Learns the encodings of both sides."""

    def of(*sides: int) -> Encoding:
        def lines() -> Iterator[str]:
            return (pair[side] for side in sides for pair in pairs)

        rules = (choices.pre_tokenizer, choices.lowercase)
        if choices.encoding == "bpe":
            return learn_bpe(lines, choices.vocabulary, *rules)
        return learn_words(lines, choices.vocabulary, choices.min_count, *rules)

    if choices.joint:
        joint = of(0, 1)
        return joint, joint
    return of(0), of(1)


def longest_side(pair: tuple[str, str], encodings: Encodings) -> int:
    """Counts the tokens of the longer side."""
    return max(len(encoding.encode(side)) for encoding, side in zip(encodings, pair, strict=True))
