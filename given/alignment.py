"""`align`: word alignments read off cross-attention, and their error rate against gold ones.

A link (i, j) says that source word i and target word j translate each other, counted from 0. For the links A of a model
and the gold links S, summed over all sentences (Och and Ney 2003, section 5, where all gold links are sure):

    precision = |A ∩ S| / |A|     recall = |A ∩ S| / |S|     AER = 1 - 2 |A ∩ S| / (|A| + |S|)
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from foundation.command_line import at_least

from .building import Setup
from .decoding import add_checkpoint_flag, forced_decode, load_model
from .drawing import check_format
from .package import Package

if TYPE_CHECKING:
    from .package import Pair, Transformer

Links = set[tuple[int, int]]
Head = tuple[int, int]
"""The number of a layer and of a head in it, from 0; the head after the last is the mean of the others."""
Counts = tuple[int, int, int]
"""The numbers of links |A|, |S| and |A ∩ S|."""
CORPUS = Path("data/corpus")


def error_rate(n_links: int, n_gold: int, n_right: int) -> float:
    """Computes the AER, between 0 and 1 (lower is better), from |A|, |S| and |A ∩ S|."""
    return 1 - 2 * n_right / max(1, n_links + n_gold)


def read_alignments(package: Package, path: Path) -> list[Links]:
    """Reads lines of links, such as `3-4`, between tokens. Raises: DataError if a link is malformed."""
    gold = []
    for number, line in enumerate(package.data.read_lines(path), start=1):
        try:
            pairs = (word.split("-") for word in line.split())
            gold.append({(int(source), int(target)) for source, target in pairs})
        except ValueError:
            raise package.data.DataError(f"{path}:{number}: expected links source-target, such as 3-4") from None
    return gold


def join_links(links: Iterable[tuple[int, int]], pair: Pair, mark: str) -> Links:
    """Turns links between subwords into links between words: two words are linked if any of their pieces are.

    `mark` ends a piece that goes on.
    """
    ends = [[not token.endswith(mark) for token in tokens] for tokens in pair]
    return {(sum(ends[0][:i]), sum(ends[1][:j])) for i, j in links}  # so many words have ended before the piece


@torch.no_grad()
def token_attention(model: Transformer, pairs: list[Pair], setup: Setup, when_read: bool = False) -> list[Tensor]:
    """Computes the cross-attention of each target token, with the true target given to the decoder.

    With `when_read`, it is that of the step that reads the token, not of the one that predicts it. Returns (layers,
    heads + 1, target tokens, source tokens) for each pair; the last head is the mean of the others.
    """
    device = next(model.parameters()).device
    first = int(when_read)  # the decoder reads bos first, and predicts the first token there
    attention = []
    for pair in pairs:
        weights = torch.cat(forced_decode(model, setup.batch([pair], device))[1]["cross"]).cpu()  # (layers, h, t, s)
        weights = torch.cat([weights, weights.mean(dim=1, keepdim=True)], dim=1)
        attention.append(weights[:, :, first : first + len(pair[1])])
    return attention


def score_heads(attention: list[Tensor], pairs: list[Pair], gold: list[Links], mark: str) -> dict[Head, Counts]:
    """Compares the links of each head with the gold ones, over words; `attention` is what `token_attention` returns."""
    true = [join_links(links, pair, mark) for pair, links in zip(pairs, gold, strict=True)]
    counts = {}
    for layer, head in product(*map(range, attention[0].shape[:2])):
        links_of_head = [
            join_links(((i, j) for j, i in enumerate(weights[layer, head].argmax(dim=1).tolist())), pair, mark)
            for weights, pair in zip(attention, pairs, strict=True)  # a source token for each target token
        ]
        right = sum(len(links & others) for links, others in zip(links_of_head, true, strict=True))
        counts[layer, head] = sum(map(len, links_of_head)), sum(map(len, true)), right
    return counts


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    parser.add_argument("--pairs", type=Path, default=CORPUS / "fren.dev.bpe", help="`source|||target` lines")
    text = "gold links of all pairs or the first ones, one line per pair: `0-0 1-2`"
    parser.add_argument("--alignments", type=Path, default=CORPUS / "fren.dev.align", help=text)
    text = "which row counts for a token: that of the step that writes the token, or that reads it (default: write)"
    parser.add_argument("--step", choices=("write", "read"), default="write", help=text)
    parser.add_argument("--output", type=Path, help="a picture of the best head: .png, .svg or .pdf (default: none)")
    parser.add_argument("--line", type=at_least(1), default=1, help="the pair that is drawn (default: 1)")


def run(options: argparse.Namespace) -> int:
    """Prints the table and draws the picture; returns the exit status."""
    if options.output:
        check_format(options.output)
    package: Package = options.package
    pairs, gold = package.data.read_pairs(options.pairs), read_alignments(package, options.alignments)
    if not options.line <= len(gold) <= len(pairs):
        numbers = f"{len(gold)} lines of links for {len(pairs)} pairs, and --line {options.line}"
        raise package.data.DataError(f"{options.alignments}: {numbers}")
    pairs = pairs[: len(gold)]
    saved, model = load_model(options)
    attention = token_attention(model, pairs, saved, when_read=options.step == "read")
    counts = score_heads(attention, pairs, gold, package.vocab.CONTINUES)
    best = min(counts, key=lambda head: error_rate(*counts[head]))
    names = [str(head + 1) for head in range(saved.config.n_heads)] + ["mean"]
    print("layer  head   AER    precision  recall")
    for (layer, head), (n_found, n_gold, n_right) in counts.items():
        aer = error_rate(n_found, n_gold, n_right)
        figures = f"{aer:.3f}  {n_right / max(1, n_found):.3f}      {n_right / max(1, n_gold):.3f}"
        print(f"{layer + 1:<5}  {names[head]:<5}  {figures}{' *' if (layer, head) == best else ''}")
    if options.output:
        from .pictures import plot_alignment, save_figure

        layer, head = best
        title = f"line {options.line}, layer {layer + 1}, head {names[head]}, AER {error_rate(*counts[best]):.3f}"
        place = options.line - 1
        source, target = pairs[place]
        save_figure(plot_alignment(attention[place][best], gold[place], source, target, title), options.output)
        print(f"{title}: {options.output}")
    return 0
