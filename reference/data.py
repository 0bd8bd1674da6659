"""From `source|||target` lines to batches with masks.

Shapes: b batch · s source length · t target length (with bos or eos).
"""

import hashlib
import json
import random
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch
from torch import Tensor

from .masks import causal_mask, padding_mask
from .vocab import BOS_ID, EOS_ID, PAD_ID, SEPARATOR, Vocabulary

LONGEST = {"source": 512, "target": 511}  # tokens; there are 512 positions, and bos takes one of the target's

Pair = tuple[list[str], list[str]]


class DataError(ValueError):
    """A corpus that cannot be used; the message says where and why."""


def read_lines(path: Path | str) -> list[str]:
    r"""Reads the lines of a UTF-8 text file; only "\n" (or "\r\n") ends a line.

    Raises:
        DataError: if the file is missing, is not UTF-8, or has no lines.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if lines == [""]:
        raise DataError(f"{path}: the file is empty")
    return lines


def read_pairs(path: Path | str, most_tokens: int | None = None) -> list[Pair]:
    """Reads lines `source|||target`, each side's tokens separated by spaces.

    Args:
        path: of the file.
        most_tokens: pairs with a longer side are left out, and their number is printed; None = a side that the model
            cannot read is an error.

    Raises:
        DataError: if a line does not have exactly two sides, if one is empty or too long, or if no pair is left.
    """
    lines = read_lines(path)
    parsed = [parse_pair(line, f"{path}:{number}", most_tokens) for number, line in enumerate(lines, start=1)]
    pairs = [pair for pair in parsed if pair]
    note_left_out(path, len(lines) - len(pairs), len(lines), most_tokens)
    return pairs


def parse_pair(line: str, place: str, most_tokens: int | None) -> Pair | None:
    """Reads one line of a corpus; returns None if the pair is left out. Arguments and errors as for `read_pairs`."""
    sides = [side.split() for side in line.split(SEPARATOR)]
    if len(sides) != 2 or not all(sides):
        raise DataError(f"{place}: expected `source{SEPARATOR}target`, found {line[:80]!r}")
    if most_tokens is None:
        for side, tokens in zip(LONGEST, sides, strict=True):
            check_length(place, side, tokens)
    elif max(map(len, sides)) > most_tokens:
        return None
    return sides[0], sides[1]


def note_left_out(path: Path | str, n_long: int, n_lines: int, most_tokens: int | None) -> None:
    """Prints how many pairs of a file were too long. Raises: DataError if all were."""
    if n_long == n_lines:
        raise DataError(f"{path}: no pair has at most {most_tokens} tokens per side")
    if n_long:
        print(f"{path}: left out {n_long} of {n_lines} pairs, with more than {most_tokens} tokens on a side")


def check_length(place: str, side: str, tokens: list[str]) -> None:
    """Raises a DataError if a `source` or `target` has more tokens than the model can read."""
    if len(tokens) > LONGEST[side]:
        raise DataError(f"{place}: a {side} of {len(tokens)} tokens, expected at most {LONGEST[side]}")


@dataclass(frozen=True)
class Census:
    """Sizes that a run has to know of all its pairs."""

    counts: tuple[Counter[str], Counter[str]]  # how often each token occurs in the sources, and in the targets
    longest: tuple[int, int]  # tokens of the longest source and the longest target
    fingerprint: str  # a hash that only the same pairs in the same order have


def take_census(pairs: Sequence[Pair]) -> Census:
    """Counts the tokens of a corpus, which need not fit into memory."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    longest, fingerprint = [0, 0], hashlib.sha256()
    for pair in pairs:
        fingerprint.update(json.dumps(pair).encode())
        for side, tokens in enumerate(pair):
            counts[side].update(tokens)
            longest[side] = max(longest[side], len(tokens))
    return Census(counts, (longest[0], longest[1]), fingerprint.hexdigest())


@dataclass(frozen=True)
class Batch:
    """Sentence pairs as padded tensors, with their masks.

    The model reads `tgt_input` (bos, then the sentence) and learns to predict `labels` (the sentence, then eos).
    """

    src: Tensor  # int64 (b, s)
    src_mask: Tensor  # bool (b, 1, 1, s): no attention to padding
    encoder_mask: Tensor  # for the encoder's self-attention: src_mask or, with a diagonal mask, (b, 1, s, s)
    tgt_input: Tensor  # int64 (b, t)
    tgt_mask: Tensor  # bool (b, 1, t, t): no attention to padding and later positions
    labels: Tensor  # int64 (b, t)

    @classmethod
    def from_ids(
        cls, sources: Sequence[list[int]], targets: Sequence[list[int]], diagonal: Tensor | None = None
    ) -> "Batch":
        """Pads sentences (ids without bos and eos) to one length and creates the masks."""
        src = pad_ids(sources)
        tgt_input = pad_ids([[BOS_ID, *target] for target in targets])
        labels = pad_ids([[*target, EOS_ID] for target in targets])
        src_mask = padding_mask(src, PAD_ID)
        return cls(
            src=src,
            src_mask=src_mask,
            encoder_mask=restrict_to_diagonal(src_mask, diagonal),
            tgt_input=tgt_input,
            tgt_mask=padding_mask(tgt_input, PAD_ID) & causal_mask(tgt_input.size(1)),
            labels=labels,
        )

    def to(self, device: torch.device | str) -> "Batch":
        """Returns the same batch on `device`."""
        return replace(self, **{field.name: getattr(self, field.name).to(device) for field in fields(self)})


def pad_ids(sequences: Sequence[list[int]]) -> Tensor:
    """Converts lists of ids to one int64 tensor (b, longest), filled up with PAD_ID."""
    longest = max(map(len, sequences))
    return torch.tensor([[*ids, *[PAD_ID] * (longest - len(ids))] for ids in sequences], dtype=torch.int64)


def restrict_to_diagonal(src_mask: Tensor, diagonal: Tensor | None) -> Tensor:
    """Makes the mask of the encoder's self-attention.

    Args:
        src_mask: (b, 1, 1, s).
        diagonal: one mask drawn for the greatest length, bool (n, n) with n >= s, or None. It is cut
            to size, so that a position sees the same neighbours in training and in decoding.

    Returns:
        src_mask itself, or bool (b, 1, s, s), where padding may have nothing left to attend to.
    """
    if diagonal is None:
        return src_mask
    length = src_mask.size(-1)
    return src_mask & diagonal[:length, :length].to(src_mask.device)


class BatchLoader:
    """Cuts a corpus into batches, in a new order for each epoch.

    The order depends only on the seed and the number of the epoch, so that a resumed run sees the same batches
    as an uninterrupted one.
    """

    POOL = 20  # this many batches are sorted by length together

    def __init__(
        self,
        pairs: Sequence[Pair],
        src_vocab: Vocabulary,
        tgt_vocab: Vocabulary,
        batch_size: int,
        *,
        bucketing: bool = False,
        diagonal: Tensor | None = None,
        seed: int = 0,
    ) -> None:
        """Takes the corpus; with `bucketing`, sentences of similar length share a batch, which saves padding."""
        self.pairs = pairs  # they are encoded when a batch needs them: a corpus need not fit into memory
        self.src_vocab, self.tgt_vocab = src_vocab, tgt_vocab
        self.batch_size, self.bucketing, self.diagonal, self.seed = batch_size, bucketing, diagonal, seed

    def __len__(self) -> int:
        """Returns the number of batches in an epoch."""
        return -(-len(self.pairs) // self.batch_size)

    def epoch(self, number: int, start: int = 0) -> Iterator[Batch]:
        """Yields the batches of epoch `number` (0 is the first), from batch `start` on."""
        shuffler = random.Random(f"{self.seed}/{number}")  # noqa: S311  # shuffles; nothing depends on its secrecy
        order = array("I", shuffler.sample(range(len(self.pairs)), len(self.pairs)))  # a list would take more memory
        if self.bucketing:
            for first in range(0, len(order), self.POOL * self.batch_size):
                pool = slice(first, first + self.POOL * self.batch_size)
                order[pool] = array("I", sorted(order[pool], key=self._length))
        firsts = list(range(0, len(order), self.batch_size))
        if self.bucketing:
            shuffler.shuffle(firsts)
        for first in firsts[start:]:
            pairs = [self.pairs[index] for index in order[first : first + self.batch_size]]
            sources = [self.src_vocab.encode(source) for source, _ in pairs]
            yield Batch.from_ids(sources, [self.tgt_vocab.encode(target) for _, target in pairs], self.diagonal)

    def _length(self, index: int) -> tuple[int, int]:
        source, target = self.pairs[index]
        return len(target), len(source)
