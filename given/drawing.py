"""`attention`: draws where a sentence and its translation attend, or the matrices of one head; `hunt`: bug hunts."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from foundation.assignment_file import read_assignment

from .config import ConfigError
from .decoding import add_checkpoint_flag, forced_decode, load_model, note_unknown, translate
from .run_folder import Checkpoint
from .watching import Matrices, Watched, catching

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
