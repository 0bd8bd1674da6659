"""`align`: how well cross-attention aligns words, by layer and head."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from torch import Tensor

from ..data import DataError, Pair, read_pairs
from ..translation.alignment import Gold, Tally, read_alignments, score_heads, token_attention
from .drawing import check_format
from .trained_model import add_checkpoint_flag, load_model, note_unknown

CORPUS = Path("data/corpus")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    parser.add_argument("--pairs", type=Path, default=CORPUS / "fren.dev.bpe", help="`source|||target` lines")
    parser.add_argument(
        "--alignments",
        type=Path,
        default=CORPUS / "fren.dev.align",
        help="gold links of all pairs or the first ones, a line each: `0-0 1-2`",
    )
    text = (
        "whose row counts as a token's: that of the step that writes it, or of the one that reads it (default: write)"
    )
    parser.add_argument("--step", choices=("write", "read"), default="write", help=text)
    parser.add_argument("--output", type=Path, help="a picture: .png, .svg or .pdf (default: none)")
    parser.add_argument("--line", type=int, help="the pair whose map is drawn (default: 1)")
    parser.add_argument("--json", action="store_true", help="print all figures, for programs")


def run(options: argparse.Namespace) -> int:
    """Prints the table and draws the picture; returns the exit status."""
    if options.output:
        check_format(options.output, "--output")
    elif options.line is not None:
        raise DataError(f"--line {options.line} has no effect without --output, which names the picture")
    options.line = 1 if options.line is None else options.line
    pairs = read_pairs(options.pairs)
    gold = read_alignments(options.alignments, pairs)
    pairs = pairs[: len(gold)]
    if not 1 <= options.line <= len(pairs):
        raise DataError(f"--line {options.line}: {options.alignments} has {len(pairs)} lines")
    saved, model = load_model(options)
    note_unknown(options.pairs, [source for source, _ in pairs], saved.src_vocab)
    vocabularies = saved.src_vocab, saved.tgt_vocab
    when_read = options.step == "read"
    attention = token_attention(model, pairs, *vocabularies, saved.diagonal, when_read=when_read, progress=True)
    tallies = score_heads(attention, pairs, gold, progress=True)
    rows = as_rows(tallies)
    print(json.dumps({"step": options.step, "heads": rows}, indent=2) if options.json else as_table(rows))
    if options.output:
        draw(options, tallies, attention[options.line - 1], pairs[options.line - 1], gold[options.line - 1])
    return 0


def as_rows(tallies: list[list[Tally]]) -> list[dict[str, Any]]:
    """Returns a row for each layer and head; the head after the last is called "mean"."""
    return [
        {
            "layer": layer,
            "head": head if head < len(heads) else "mean",
            "aer": round(tally.error_rate, 4),
            "precision": round(tally.precision, 4),
            "recall": round(tally.recall, 4),
        }
        for layer, heads in enumerate(tallies, start=1)
        for head, tally in enumerate(heads, start=1)
    ]


def as_table(rows: list[dict[str, Any]]) -> str:
    """Formats the rows; a star marks the lowest error rate."""
    best = min(row["aer"] for row in rows)
    lines = ["layer  head   AER    precision  recall"]
    for row in rows:
        star = " *" if row["aer"] == best else ""
        figures = f"{row['aer']:.3f}  {row['precision']:.3f}      {row['recall']:.3f}{star}"
        lines.append(f"{row['layer']:<5}  {row['head']:<5}  {figures}")
    return "\n".join(lines)


def draw(options: argparse.Namespace, tallies: list[list[Tally]], weights: Tensor, pair: Pair, gold: Gold) -> None:
    """Draws the error rates, and one sentence in the head with the lowest."""
    from ..pictures.alignments import plot_alignments
    from ..pictures.saving import save_figure

    rates = [[tally.error_rate for tally in heads] for heads in tallies]
    rate, layer, head = min((rate, layer, head) for layer, row in enumerate(rates) for head, rate in enumerate(row))
    name = f"head {head + 1}" if head + 1 < len(rates[0]) else "mean of the heads"
    title = f"layer {layer + 1}, {name}"
    save_figure(plot_alignments(rates, weights[layer, head], gold.possible, *pair, title), options.output)
    print(f"line {options.line}, {title}, AER {rate:.3f}: {options.output}", file=sys.stderr)
