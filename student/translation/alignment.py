"""Word alignments read off cross-attention, and their error rate against gold ones.

A link (i, j) says that source word i and target word j translate each other, counted from 0. Gold links are *sure* or
only *possible*; every sure one is also possible.

    precision = |A ∩ P| / |A|     recall = |A ∩ S| / |S|     AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

for the links A of a model, the sure links S and the possible links P (Och and Ney 2003, section 5), summed over all
sentences. If all links are sure, AER is 1 minus the F-score.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from ..data import Batch, DataError, Pair, read_lines
from ..model import Transformer
from ..vocab import CONTINUES, Vocabulary
from .translate import forced_decode

Links = set[tuple[int, int]]
BATCH_SIZE = 128


@dataclass(frozen=True)
class Gold:
    """The true links of one sentence pair."""

    sure: Links
    possible: Links  # the sure ones among them


@dataclass
class Tally:
    """Counts over all sentences; see the module's docstring for A, S and P."""

    found: int = 0  # |A|
    sure: int = 0  # |S|
    found_sure: int = 0  # |A ∩ S|
    found_possible: int = 0  # |A ∩ P|

    def add(self, links: Links, gold: Gold) -> None:
        """Counts one more sentence."""
        self.found += len(links)
        self.sure += len(gold.sure)
        self.found_sure += len(links & gold.sure)
        self.found_possible += len(links & gold.possible)

    @property
    def precision(self) -> float:
        """Share of the model's links that are possible."""
        return self.found_possible / max(1, self.found)

    @property
    def recall(self) -> float:
        """Share of the sure links that the model found."""
        return self.found_sure / max(1, self.sure)

    @property
    def error_rate(self) -> float:
        """AER, between 0 and 1; lower is better."""
        return 1 - (self.found_sure + self.found_possible) / max(1, self.found + self.sure)


def read_alignments(path: Path, pairs: list[Pair]) -> list[Gold]:
    """Reads a line of links for each of the first pairs, over the same tokens: `3-4` is sure, `3?4` is possible.

    Raises:
        DataError: if there are no lines or more than pairs, or a link is malformed or outside its sentence.
    """
    lines = read_lines(path)
    if not 1 <= len(lines) <= len(pairs):
        raise DataError(f"{path}: {len(lines)} lines of links for {len(pairs)} pairs")
    gold = []
    for number, (line, (source, target)) in enumerate(zip(lines, pairs, strict=False), start=1):
        sure, possible = set(), set()
        for word in line.split():
            match = re.fullmatch(r"(\d+)([-?])(\d+)", word)
            if not match:
                raise DataError(f"{path}:{number}: {word!r}: expected source-target, such as 3-4")
            link = int(match[1]), int(match[3])
            if link[0] >= len(source) or link[1] >= len(target):
                raise DataError(f"{path}:{number}: {word}: this pair has {len(source)} and {len(target)} tokens")
            possible.add(link)
            if match[2] == "-":
                sure.add(link)
        gold.append(Gold(sure, possible))
    return gold


def words_of(tokens: list[str]) -> list[int]:
    """Returns the number of the word that each subword belongs to, the first word being 0."""
    numbers, word = [], 0
    for token in tokens:
        numbers.append(word)
        word += not token.endswith(CONTINUES)
    return numbers


def join_links(links: Links, source: list[str], target: list[str]) -> Links:
    """Turns links between subwords into links between words: two words are linked if any of their pieces are."""
    source_words, target_words = words_of(source), words_of(target)
    return {(source_words[i], target_words[j]) for i, j in links}


def strongest_links(weights: Tensor) -> Links:
    """Links each target token to the source token with the highest weight.

    Args:
        weights: (target tokens, source tokens).
    """
    return {(i, j) for j, i in enumerate(weights.argmax(dim=1).tolist())}


@torch.no_grad()
def token_attention(
    model: Transformer,
    pairs: list[Pair],
    src_vocab: Vocabulary,
    tgt_vocab: Vocabulary,
    diagonal: Tensor | None = None,
    *,
    when_read: bool = False,
    progress: bool = False,
) -> list[Tensor]:
    """Computes the cross-attention of each target token, with the true target given to the decoder.

    Args:
        model: in eval mode from here on.
        pairs: sources and targets.
        src_vocab: of the model.
        tgt_vocab: of the model.
        diagonal: the mask that the model was trained with, or None.
        when_read: take the weights of the step that reads the token, not of the one that predicts it.
        progress: show a progress bar.

    Returns:
        For each pair (layers, heads + 1, target tokens, source tokens); the last head is the mean of the others.
    """
    device = next(model.parameters()).device
    found = []
    starts = range(0, len(pairs), BATCH_SIZE)
    for start in tqdm(starts, "attention", unit="batch", leave=False, disable=not progress):
        chunk = pairs[start : start + BATCH_SIZE]
        sources, targets = [src_vocab.encode(src) for src, _ in chunk], [tgt_vocab.encode(tgt) for _, tgt in chunk]
        batch = Batch.from_ids(sources, targets, diagonal).to(device)
        weights = torch.stack(forced_decode(model, batch)[1]["cross"], dim=1).cpu()  # (b, layers, h, t, s)
        weights = torch.cat([weights, weights.mean(dim=2, keepdim=True)], dim=2)
        for row, (source, target) in enumerate(chunk):
            first = int(when_read)  # the decoder reads bos first, and predicts the first token there
            found.append(weights[row, :, :, first : first + len(target), : len(source)])
    return found


def score_heads(
    attention: list[Tensor], pairs: list[Pair], gold: list[Gold], progress: bool = False
) -> list[list[Tally]]:
    """Compares the links of each head with the gold ones, over words.

    Args:
        attention: for each pair (layers, heads, target tokens, source tokens).
        pairs: sources and targets in subwords.
        gold: links over subwords.
        progress: show a progress bar.

    Returns:
        By layer and head.
    """
    n_layers, n_heads = attention[0].shape[:2]
    tallies = [[Tally() for _ in range(n_heads)] for _ in range(n_layers)]
    both = zip(attention, pairs, gold, strict=True)
    bar = tqdm(both, "alignments", len(pairs), unit="pair", leave=False, disable=not progress)
    for weights, (source, target), links in bar:
        true = Gold(join_links(links.sure, source, target), join_links(links.possible, source, target))
        for layer in range(n_layers):
            for head in range(n_heads):
                guessed = join_links(strongest_links(weights[layer, head]), source, target)
                tallies[layer][head].add(guessed, true)
    return tallies
