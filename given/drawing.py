"""`attention`: draws where a sentence and its translation attend."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from . import package
from .config import ConfigError
from .decoding import add_checkpoint_flag, forced_decode, load_model, note_unknown, translate
from .measuring import Watched
from .run_folder import Checkpoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .matrices import Matrices

KINDS = ("encoder", "decoder", "cross")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--sentence", help="source, in subwords")
    text = "draw the sentence that this run recorded (`train --attention-through-time`), at each report"
    what.add_argument("--through-time", type=Path, metavar="RUN", help=text)
    parser.add_argument("--target", help="target, in subwords; default: the model's own translation")
    parser.add_argument("--kind", choices=KINDS, default="cross", help="whose attention (default: cross)")
    parser.add_argument("--layer", default="-1", help="1 is the first, `all` one page of all; default: the last")
    parser.add_argument("--head", type=int, help="for --matrices (default: 1)")
    text = "draw Q, K, V, scores, weights and context of one head instead of the maps of all"
    parser.add_argument("--matrices", action="store_true", help=text)
    text = ".png, .svg or .pdf; with --through-time .gif too (default: attention.png)"
    parser.add_argument("--output", type=Path, help=text)


def run(options: argparse.Namespace) -> int:
    """Draws the maps; returns the exit status."""
    output = options.output or Path("attention.png")
    check_format(output, "attention", is_animated=bool(options.through_time))
    if options.through_time and (options.matrices or options.target is not None):
        raise ConfigError("--matrices and --target have no effect with --through-time, which draws what was recorded")
    if options.layer == "all" and (options.matrices or options.through_time):
        flag = "--matrices" if options.matrices else "--through-time"
        raise ConfigError(f"--layer all: with {flag}, name one layer")
    if options.head is not None and not options.matrices:
        raise ConfigError(f"--head {options.head} has no effect without --matrices: maps show all heads")
    if options.through_time:
        print(f"{draw_through_time(options, output)}: {output}")
        return 0
    from .pictures import save_figure

    figure = draw_sentence(options)
    save_figure(figure, output)
    print(f"{figure.get_suptitle()}: {output}")
    return 0


def check_format(output: Path, needed_for: str, is_animated: bool = False) -> None:
    """Raises a ConfigError if a picture, which may be animated, cannot be written to a file of that name."""
    os.environ.pop("MPLBACKEND", None)  # of a notebook's host, perhaps not installed here; pictures are only saved
    try:
        from .pictures import FORMATS
    except ImportError:
        raise ConfigError(f"{needed_for}: matplotlib is not installed; pip install matplotlib") from None
    formats = (*FORMATS, ".gif") if is_animated else FORMATS
    if output.suffix.lower() not in formats:
        raise ConfigError(f"--output {output}: expected a name that ends in {', '.join(formats)}")


def draw_sentence(options: argparse.Namespace) -> Figure:
    """Draws the maps of one sentence in one layer or in all, or what one head computes."""
    from .pictures import plot_attention, plot_page

    weights, caught, labels = attend(options)
    n_layers, n_heads = len(weights), weights[0].size(0)
    if options.layer == "all":
        rows = [f"layer {layer + 1}" for layer in range(n_layers)]
        columns = [f"head {head + 1}" for head in range(n_heads)]
        maps = [list(layer) for layer in weights]
        return plot_page(maps, rows, columns, *labels, f"{options.kind} attention, all layers")
    layer = find_layer(options.layer, n_layers)
    title = f"{options.kind} attention, layer {layer}"
    if not options.matrices:
        return plot_attention(weights[layer - 1], *labels, title)
    from .matrices import plot_matrices

    head = 1 if options.head is None else options.head
    if not 1 <= head <= n_heads:
        raise ConfigError(f"--head {head}: expected 1 to {n_heads}")
    if not caught or caught[layer - 1].weights.shape[1:] != weights[layer - 1].shape:
        raise ConfigError(
            "--matrices: this works only if MultiHeadedAttention calls scaled_dot_product_attention with each head"
        )
    return plot_matrices(caught[layer - 1].of_head(head - 1), *labels, f"{title}, head {head}")


def draw_through_time(options: argparse.Namespace, output: Path) -> str:
    """Draws the maps of one layer at each report; returns what is in the picture."""
    from .pictures import animate, plot_through_time, save_figure

    place = options.through_time / "last.pt"
    recorded = Checkpoint.load(place).watched
    if not recorded:
        hint = "`train --attention-through-time SENTENCE` records a sentence"
        raise ConfigError(f"{place}: this run recorded no attention; {hint}")
    watched = Watched(**recorded)
    layer = find_layer(options.layer, watched.weights[0][options.kind].size(0))
    weights = [report[options.kind][layer - 1] for report in watched.weights]
    times = [f"epoch {epoch:g}" if epoch else "before training" for epoch in watched.epochs]
    labels = label(options.kind, watched.source, watched.target)
    title = f"{options.kind} attention, layer {layer}"
    if output.suffix.lower() == ".gif":
        animate(weights, times, *labels, title, output)
    else:
        save_figure(plot_through_time(weights, times, *labels, title), output)
    return f"{title}, {len(times)} times"


def attend(options: argparse.Namespace) -> tuple[list[Tensor], list[Matrices], tuple[list[str], list[str]]]:
    """Runs the model on the sentence of `--sentence` and the target.

    Returns the weights of `--kind`, (h, q, k), and all matrices, of each layer; and the labels of queries and keys.
    """
    from .matrices import catching, join_heads

    source = options.sentence.split()
    if not source:
        raise package.data.DataError("--sentence: it has no tokens")
    package.data.check_length("--sentence", "source", source)
    saved, model = load_model(options)
    note_unknown("--sentence", [source], saved.src_vocab)
    if options.target is None:
        known = saved.src_vocab, saved.tgt_vocab, saved.config
        target = translate(model, [source], *known, diagonal=saved.diagonal, subwords=True)[0].split()
    else:
        target = options.target.split()
        package.data.check_length("--target", "target", target)
        note_unknown("--target", [target], saved.tgt_vocab)
    ids = [saved.src_vocab.encode(source)], [saved.tgt_vocab.encode(target)]
    batch = package.data.Batch.from_ids(*ids, saved.diagonal).to(options.device)
    with catching() as caught:
        weights = forced_decode(model, batch)[1][options.kind]
    n_layers = len(weights)
    of_kind = {"encoder": slice(n_layers), "decoder": slice(n_layers, None, 2), "cross": slice(n_layers + 1, None, 2)}
    matrices = join_heads(caught, 3 * n_layers)[of_kind[options.kind]]
    return [layer[0] for layer in weights], matrices, label(options.kind, source, target)


def label(kind: str, source: list[str], target: list[str]) -> tuple[list[str], list[str]]:
    """Returns the tokens that attend and those that are attended to."""
    read, written = source, [package.vocab.BOS, *target]
    return {"encoder": (read, read), "decoder": (written, written), "cross": (written, read)}[kind]


def find_layer(asked: str, n_layers: int) -> int:
    """Returns the layer's number, 1 for the first; -1 means the last."""
    try:
        number = int(asked)
    except ValueError:
        number = 0
    layer = number if number >= 0 else n_layers + 1 + number
    if not 1 <= layer <= n_layers:
        raise ConfigError(f"--layer {asked}: expected 1 to {n_layers}")
    return layer
