"""`align`: word alignments read off cross-attention, and their error rate against gold ones.

A link (i, j) says that source word i and target word j translate each other, counted from 0. For the links A of a model
and the gold links S, summed over all sentences (Och and Ney 2003, section 5, where all gold links are sure):

    precision = |A ∩ S| / |A|     recall = |A ∩ S| / |S|     AER = 1 - 2 |A ∩ S| / (|A| + |S|)
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from . import package
from .decoding import add_checkpoint_flag, forced_decode, load_model, note_unknown
from .drawing import check_format
from .run_folder import Checkpoint

Links = set[tuple[int, int]]
CORPUS = Path("data/corpus")


def error_rates(found: int, gold: int, right: int) -> dict[str, float]:
    """Returns AER, between 0 and 1 (lower is better), precision and recall from |A|, |S| and |A ∩ S|."""
    aer = 1 - 2 * right / max(1, found + gold)
    return {
        "aer": round(aer, 4),
        "precision": round(right / max(1, found), 4),
        "recall": round(right / max(1, gold), 4),
    }


def read_alignments(path: Path, pairs: list[package.data.Pair]) -> list[Links]:
    """Reads a line of links, such as `3-4`, for each of the first pairs, over the same tokens.

    Raises: DataError if there are no lines or more than pairs, or a link is malformed or outside its sentence.
    """
    lines = package.data.read_lines(path)
    if not 1 <= len(lines) <= len(pairs):
        raise package.data.DataError(f"{path}: {len(lines)} lines of links for {len(pairs)} pairs")
    gold = []
    for number, (line, (source, target)) in enumerate(zip(lines, pairs, strict=False), start=1):
        links: Links = set()
        for word in line.split():
            match = re.fullmatch(r"(\d+)-(\d+)", word)
            if not match:
                raise package.data.DataError(f"{path}:{number}: {word!r}: expected source-target, such as 3-4")
            link = int(match[1]), int(match[2])
            if link[0] >= len(source) or link[1] >= len(target):
                sizes = f"this pair has {len(source)} and {len(target)} tokens"
                raise package.data.DataError(f"{path}:{number}: {word}: {sizes}")
            links.add(link)
        gold.append(links)
    return gold


def join_links(links: Iterable[tuple[int, int]], source: list[str], target: list[str]) -> Links:
    """Turns links between subwords into links between words: two words are linked if any of their pieces are."""
    ends = [[not token.endswith(package.vocab.CONTINUES) for token in tokens] for tokens in (source, target)]
    return {(sum(ends[0][:i]), sum(ends[1][:j])) for i, j in links}  # so many words have ended before the piece


@torch.no_grad()
def token_attention(
    model: package.model.Transformer, pairs: list[package.data.Pair], saved: Checkpoint, when_read: bool = False
) -> list[Tensor]:
    """Computes the cross-attention of each target token, with the true target given to the decoder.

    With `when_read`, it is that of the step that reads the token, not of the one that predicts it. Returns (layers,
    heads + 1, target tokens, source tokens) for each pair; the last head is the mean of the others.
    """
    device = next(model.parameters()).device
    first = int(when_read)  # the decoder reads bos first, and predicts the first token there
    found = []
    for source, target in pairs:
        ids = [saved.src_vocab.encode(source)], [saved.tgt_vocab.encode(target)]
        batch = package.data.Batch.from_ids(*ids, saved.diagonal).to(device)
        weights = torch.cat(forced_decode(model, batch)[1]["cross"]).cpu()  # (layers, h, t, s)
        weights = torch.cat([weights, weights.mean(dim=1, keepdim=True)], dim=1)
        found.append(weights[:, :, first : first + len(target)])
    return found


def score_heads(attention: list[Tensor], pairs: list[package.data.Pair], gold: list[Links]) -> list[dict[str, Any]]:
    """Compares the links of each head with the gold ones, over words; `attention` is what `token_attention` returns.

    Returns a row for each layer and head, both from 1; the head after the last is called "mean".
    """
    n_layers, n_heads = attention[0].shape[:2]
    true = [join_links(links, *pair) for pair, links in zip(pairs, gold, strict=True)]
    rows = []
    for layer, head in product(range(n_layers), range(n_heads)):
        found = [
            join_links(((i, j) for j, i in enumerate(weights[layer, head].argmax(dim=1).tolist())), *pair)
            for weights, pair in zip(attention, pairs, strict=True)  # a source token for each target token
        ]
        n_right = sum(len(one & other) for one, other in zip(found, true, strict=True))
        rates = error_rates(sum(map(len, found)), sum(map(len, true)), n_right)
        rows.append({"layer": layer + 1, "head": head + 1 if head + 1 < n_heads else "mean", **rates})
    return rows


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    parser.add_argument("--pairs", type=Path, default=CORPUS / "fren.dev.bpe", help="`source|||target` lines")
    text = "gold links of all pairs or the first ones, one line per pair: `0-0 1-2`"
    parser.add_argument("--alignments", type=Path, default=CORPUS / "fren.dev.align", help=text)
    text = "which row counts for a token: that of the step that writes the token, or that reads it (default: write)"
    parser.add_argument("--step", choices=("write", "read"), default="write", help=text)
    parser.add_argument("--output", type=Path, help="a picture: .png, .svg or .pdf (default: none)")
    parser.add_argument("--line", type=int, help="the pair whose map is drawn (default: 1)")
    parser.add_argument("--json", action="store_true", help="print all figures, for programs")


def run(options: argparse.Namespace) -> int:
    """Prints the table and draws the picture; returns the exit status."""
    if options.output:
        check_format(options.output, "--output")
    elif options.line is not None:
        raise package.data.DataError(f"--line {options.line} has no effect without --output, which names the picture")
    line = 1 if options.line is None else options.line
    pairs = package.data.read_pairs(options.pairs)
    gold = read_alignments(options.alignments, pairs)
    pairs = pairs[: len(gold)]
    if not 1 <= line <= len(pairs):
        raise package.data.DataError(f"--line {line}: {options.alignments} has {len(pairs)} lines")
    saved, model = load_model(options)
    note_unknown(options.pairs, [source for source, _ in pairs], saved.src_vocab)
    attention = token_attention(model, pairs, saved, when_read=options.step == "read")
    rows = score_heads(attention, pairs, gold)
    print(json.dumps({"step": options.step, "heads": rows}, indent=2) if options.json else as_table(rows))
    if options.output:
        from .pictures import plot_alignments, save_figure

        n_heads = attention[0].size(1)
        best = min(range(len(rows)), key=lambda index: rows[index]["aer"])
        layer, head = divmod(best, n_heads)
        name = f"layer {layer + 1}, {'mean of the heads' if head + 1 == n_heads else f'head {head + 1}'}"
        rates = torch.tensor([row["aer"] for row in rows]).view(-1, n_heads)
        weights, links = attention[line - 1][layer, head], gold[line - 1]
        save_figure(plot_alignments(rates.tolist(), weights, links, *pairs[line - 1], name), options.output)
        print(f"line {line}, {name}, AER {rows[best]['aer']:.3f}: {options.output}", file=sys.stderr)
    return 0


def as_table(rows: list[dict[str, Any]]) -> str:
    """Formats the rows; a star marks the lowest error rate."""
    best = min(row["aer"] for row in rows)
    lines = ["layer  head   AER    precision  recall"]
    for row in rows:
        star = " *" if row["aer"] == best else ""
        figures = f"{row['aer']:.3f}  {row['precision']:.3f}      {row['recall']:.3f}{star}"
        lines.append(f"{row['layer']:<5}  {row['head']:<5}  {figures}")
    return "\n".join(lines)
