"""`attention`: where a sentence and its translation attend, or the matrices of one head; `align`; `hunt`: bug hunts.

`align` reads word alignments off cross-attention, and measures their error rate against gold ones. A link (i, j) says
that source word i and target word j translate each other, counted from 0. For the links A of a model and the gold links
S, summed over all sentences (Och and Ney 2003, section 5, where all gold links are sure):

    precision = |A ∩ S| / |A|     recall = |A ∩ S| / |S|     AER = 1 - 2 |A ∩ S| / (|A| + |S|)
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from foundation.assignment_file import read_assignment
from foundation.command_line import at_least

from .config import ConfigError
from .decoding import add_checkpoint_flag, forced_decode, load_model, note_unknown, translate
from .package import Package, Setup
from .run_folder import Checkpoint
from .watching import Matrices, Watched, catching

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .package import Pair, Transformer

KINDS = ("encoder", "decoder", "cross")
FORMATS = (".png", ".svg", ".pdf")
Labels = tuple[list[str], list[str]]
"""The tokens that attend, and those that are attended to."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--sentence", help="source, in subwords")
    text = "draw the sentence that this run recorded (`train --attention-through-time`), at each report"
    wanted.add_argument("--through-time", type=Path, metavar="RUN", help=text)
    parser.add_argument("--target", help="target, in subwords; default: the model's own translation")
    parser.add_argument("--kind", choices=KINDS, default="cross", help="whose attention (default: cross)")
    parser.add_argument("--layer", default="-1", help="1 = the first, `all` = one page with all; default: the last")
    parser.add_argument("--head", type=int, default=1, help="for --matrices (default: 1)")
    text = "draw Q, K, V, scores, weights and context of one head instead of the maps of all"
    parser.add_argument("--matrices", action="store_true", help=text)
    text = ".png, .svg or .pdf; with --through-time .gif too (default: attention.png)"
    parser.add_argument("--output", type=Path, default=Path("attention.png"), help=text)


def run(options: argparse.Namespace) -> int:
    """Draws the maps; returns the exit status."""
    check_format(options.output, (*FORMATS, ".gif") if options.through_time else FORMATS)
    if options.through_time:
        title = draw_through_time(options)
    else:
        from .pictures import save_figure

        figure = draw_sentence(options)
        save_figure(figure, options.output)
        title = figure.get_suptitle()
    print(f"{title}: {options.output}")
    return 0


def check_format(output: Path, formats: tuple[str, ...] = FORMATS) -> None:
    """Raises a ConfigError if a picture cannot be written to a file of that name."""
    os.environ.pop("MPLBACKEND", None)  # of a notebook's host, perhaps not installed here; pictures are only saved
    if output.suffix.lower() not in formats:
        raise ConfigError(f"--output {output}: expected a name that ends in {', '.join(formats)}")


def draw_sentence(options: argparse.Namespace) -> Figure:
    """Draws the maps of one sentence in one layer or in all, or what one head computes."""
    from .pictures import plot_matrices, plot_page

    weights, caught, labels = attend(options)
    heads = [f"head {head + 1}" for head in range(weights[0].size(0))]
    if options.layer == "all" and not options.matrices:
        rows = [f"layer {layer + 1}" for layer in range(len(weights))]
        return plot_page(weights, rows, heads, *labels, f"{options.kind} attention, all layers")
    layer = find_layer(options.layer, len(weights))
    title = f"{options.kind} attention, layer {layer}"
    if not options.matrices:
        return plot_page([weights[layer - 1]], [""], heads, *labels, title)
    if not 1 <= options.head <= len(heads):
        raise ConfigError(f"--head {options.head}: expected 1 to {len(heads)}")
    if not caught or caught[layer - 1].weights.shape[1:] != weights[layer - 1].shape:
        condition = "MultiHeadedAttention calls scaled_dot_product_attention once, with all heads"
        raise ConfigError(f"--matrices: this works only if {condition}")
    return plot_matrices(caught[layer - 1].of_head(options.head - 1), *labels, f"{title}, head {options.head}")


def draw_through_time(options: argparse.Namespace) -> str:
    """Draws the maps of one layer at each report; returns what is in the picture."""
    from .pictures import animate, plot_through_time, save_figure

    place = options.through_time / "last.pt"
    recorded = Checkpoint.load(options.package, place).watched
    if not recorded:
        hint = "`train --attention-through-time SENTENCE` records a sentence"
        raise ConfigError(f"{place}: this run recorded no attention; {hint}")
    watched = Watched(**recorded)
    layer = find_layer(options.layer, watched.weights[0][options.kind].size(0))
    weights = [report[options.kind][layer - 1] for report in watched.weights]
    times = [f"epoch {epoch:g}" if epoch else "before training" for epoch in watched.epochs]
    labels = label(options.kind, watched.source, [options.package.vocab.BOS, *watched.target])
    title = f"{options.kind} attention, layer {layer}"
    if options.output.suffix.lower() == ".gif":
        animate(weights, times, *labels, title, options.output)
    else:
        save_figure(plot_through_time(weights, times, *labels, title), options.output)
    return f"{title}, {len(times)} times"


def attend(options: argparse.Namespace) -> tuple[list[Tensor], list[Matrices], Labels]:
    """Runs the model on the sentence of `--sentence` and the target.

    Returns the weights of `--kind`, (h, q, k), and all matrices, of each layer, or none; and the labels.
    """
    source, data = options.sentence.split(), options.package.data
    if not source:
        raise data.DataError("--sentence: it has no tokens")
    data.check_length("--sentence", "source", source)
    saved, model = load_model(options)
    note_unknown([source], saved)
    if options.target is None:
        target = translate(model, [source], saved)[0]
    else:
        target = options.target.split()
        data.check_length("--target", "target", target)
    batch = saved.batch([(source, target)], options.device)
    within: AbstractContextManager[list[Matrices]] = catching(saved.package) if options.matrices else nullcontext([])
    with within as caught:
        weights = forced_decode(model, batch)[1][options.kind]
    n_layers = len(weights)
    of_kind = {"encoder": slice(n_layers), "decoder": slice(n_layers, None, 2), "cross": slice(n_layers + 1, None, 2)}
    matrices = caught[of_kind[options.kind]] if len(caught) == 3 * n_layers else []
    labels = label(options.kind, source, [saved.package.vocab.BOS, *target])
    return [layer[0] for layer in weights], matrices, labels


def label(kind: str, read: list[str], written: list[str]) -> Labels:
    """Returns the tokens that attend and those that are attended to."""
    return {"encoder": (read, read), "decoder": (written, written), "cross": (written, read)}[kind]


def find_layer(asked: str, n_layers: int) -> int:
    """Returns the layer's number, 1 for the first; -1 means the last."""
    layers = {str(number): number for number in range(1, n_layers + 1)} | {"-1": n_layers}
    if asked not in layers:
        raise ConfigError(f"--layer {asked}: expected 1 to {n_layers}")
    return layers[asked]


def show_hunts(
    student: str, sources: Mapping[str, tuple[str, str]], answer: str = "", folder: Path = Path()
) -> list[Path]:
    """Print a student's bug hunts, and a trained model with a mistake, which is drawn; or the reply to an answer.

    `sources` are the student's modules. Returns the pictures. Raises: UserError where something is missing for a hunt.
    """
    from autograder.own_work.boxes import describe_hunts, draw_model  # the tests take a moment to load

    from .pictures import plot_mistake, save_figure

    assignment = read_assignment()
    model = draw_model(student, assignment)
    if model and answer:
        print(model.reply(answer))
        return []
    print(describe_hunts(student, sources, assignment))
    if model is None:
        return []
    path = folder / "hunt.png"
    save_figure(plot_mistake(model.rows), path)
    print(f"\n{model.describe()}\n{path}: its loss, and where it looks; --answer LETTER checks an answer")
    return [path]


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


def add_align_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    parser.add_argument("--pairs", type=Path, default=CORPUS / "fren.dev.bpe", help="`source|||target` lines")
    text = "gold links of all pairs or the first ones, one line per pair: `0-0 1-2`"
    parser.add_argument("--alignments", type=Path, default=CORPUS / "fren.dev.align", help=text)
    text = "which row counts for a token: that of the step that writes the token, or that reads it (default: write)"
    parser.add_argument("--step", choices=("write", "read"), default="write", help=text)
    parser.add_argument("--output", type=Path, help="a picture of the best head: .png, .svg or .pdf (default: none)")
    parser.add_argument("--line", type=at_least(1), default=1, help="the pair that is drawn (default: 1)")


def align(options: argparse.Namespace) -> int:
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
