"""`attention`: where a sentence and its translation attend, or the matrices of one head.

The matrices (Q, K, V, weights, context) are caught while attention runs. This works with any code for tasks 1.2 and 1.3
in which `MultiHeadedAttention` calls `scaled_dot_product_attention` once, for all heads together.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional

from .config import ConfigError
from .decoding import forced_decode, load_model, translate
from .package import Package
from .run_folder import Checkpoint, Watched

FORMATS = (".png", ".svg", ".pdf")
MOST_COLUMNS = 12  # maps side by side; of more reports, evenly spaced ones are drawn
Labels = tuple[list[str], list[str]]
"""Of rows and columns: the tokens that attend, and those that are attended to."""


def run(options: argparse.Namespace) -> int:
    """Draws where a sentence and its translation attend."""
    os.environ.pop("MPLBACKEND", None)  # of a notebook's host, perhaps not installed here; pictures are only saved
    if (options.sentence is None) == (options.through_time is None):
        raise ConfigError("one of --sentence and --through-time is needed")
    formats, draw = ((*FORMATS, ".gif"), draw_through_time) if options.through_time else (FORMATS, draw_sentence)
    if options.output.suffix.lower() not in formats:
        raise ConfigError(f"--output {options.output}: expected a name that ends in {', '.join(formats)}")
    if options.head is not None and not options.matrices:
        raise ConfigError(f"--head {options.head} has no effect without --matrices")
    if options.matrices and options.through_time:
        raise ConfigError("--matrices needs --sentence: a run records no matrices")
    options.head = 1 if options.head is None else options.head
    print(f"{draw(options)}: {options.output}")
    return 0


def draw_sentence(options: argparse.Namespace) -> str:
    """Draws the maps of one sentence in one layer or in all, or what one head computes; returns what is drawn."""
    from .pictures import plot_matrices, plot_page, save_figure

    kind, source, data = options.kind, options.sentence.split(), options.package.data
    if not source:
        raise data.DataError("--sentence: it has no tokens")
    data.check_length("--sentence", "source", source)
    saved, model = load_model(options)
    target = translate(model, [source], saved)[0]
    batch = saved.batch([(source, target)], options.device)
    within: AbstractContextManager[list[Matrices]] = catching(saved.package) if options.matrices else nullcontext([])
    with within as caught:
        weights = [layer[0] for layer in forced_decode(model, batch)[1][kind]]
    tokens, heads = label(kind, source, [saved.package.vocab.BOS, *target]), numbered("head", len(weights[0]))
    if options.layer == "all" and not options.matrices:
        title = f"{kind} attention, all layers"
        figure = plot_page(weights, (numbered("layer", len(weights)), heads), tokens, title)
    else:
        layer = find_layer(options.layer, len(weights))
        title = f"{kind} attention, layer {layer}{f', head {options.head}' if options.matrices else ''}"
        if options.matrices:
            figure = plot_matrices(find_matrices(options, caught, layer, len(weights)), *tokens, title)
        else:
            figure = plot_page([weights[layer - 1]], ([""], heads), tokens, title)
    save_figure(figure, options.output)
    return title


def draw_through_time(options: argparse.Namespace) -> str:
    """Draws the maps of one layer at each report; returns what is in the picture."""
    from .pictures import animate, plot_page, save_figure

    place = options.through_time / "last.pt"
    recorded = Checkpoint.load(options.package, place).watched
    if not recorded:
        hint = "`train --attention-through-time SENTENCE` records a sentence"
        raise ConfigError(f"{place}: this run recorded no attention; {hint}")
    watched = Watched(**recorded)
    layer = find_layer(options.layer, watched.weights[0][options.kind].size(0))
    weights = [report[options.kind][layer - 1] for report in watched.weights]
    times = [f"epoch {epoch:g}" if epoch else "before training" for epoch in watched.epochs]
    tokens = label(options.kind, watched.source, [options.package.vocab.BOS, *watched.target])
    title = f"{options.kind} attention, layer {layer}"
    if options.output.suffix.lower() == ".gif":
        animate(weights, times, tokens, title, options.output)
    else:
        shown = torch.linspace(0, len(times) - 1, min(len(times), MOST_COLUMNS)).round().int().tolist()
        maps = [[weights[report][head] for report in shown] for head in range(len(weights[0]))]
        names = numbered("head", len(maps)), [times[report] for report in shown]
        save_figure(plot_page(maps, names, tokens, title), options.output)
    return f"{title}, {len(times)} times"


def find_matrices(options: argparse.Namespace, caught: list[Matrices], layer: int, n_layers: int) -> Matrices:
    """Returns those of one head; the encoder's layers come first, then self-attention and cross-attention in turn."""
    if len(caught) != 3 * n_layers or caught[0].weights.dim() != 4:
        condition = "MultiHeadedAttention calls scaled_dot_product_attention once, with all heads"
        raise ConfigError(f"--matrices: this works only if {condition}")
    number = {"encoder": layer - 1, "decoder": n_layers + 2 * layer - 2, "cross": n_layers + 2 * layer - 1}
    matrices = caught[number[options.kind]]
    if not 1 <= options.head <= matrices.weights.size(1):
        raise ConfigError(f"--head {options.head}: expected 1 to {matrices.weights.size(1)}")
    return matrices.of_head(options.head - 1)


def numbered(kind: str, count: int) -> list[str]:
    """Returns "head 1", "head 2", ..."""
    return [f"{kind} {number}" for number in range(1, count + 1)]


def label(kind: str, read: list[str], written: list[str]) -> Labels:
    """Returns the tokens that attend and those that are attended to."""
    return {"encoder": (read, read), "decoder": (written, written), "cross": (written, read)}[kind]


def find_layer(asked: str, n_layers: int) -> int:
    """Returns the layer's number, 1 for the first; -1 means the last."""
    layers = {str(number): number for number in range(1, n_layers + 1)} | {"-1": n_layers}
    if asked not in layers:
        raise ConfigError(f"--layer {asked}: expected 1 to {n_layers}")
    return layers[asked]


@dataclass
class Matrices:
    """All matrices of one call, (b, h, rows, columns)."""

    query: Tensor  # (b, h, q, d_k)
    key: Tensor  # (b, h, k, d_k)
    value: Tensor  # (b, h, k, d_k)
    scores: Tensor  # (b, h, q, k), of which the softmax is taken
    weights: Tensor  # (b, h, q, k)
    context: Tensor  # (b, h, q, d_k)

    def of_head(self, head: int) -> Matrices:
        """Returns the matrices, (rows, columns), of one head of the first sentence."""
        return Matrices(*(matrix[0, head] for matrix in vars(self).values()))


def catch(
    attend: Callable[..., tuple[Tensor, Tensor]], query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Matrices:
    """Calls a `scaled_dot_product_attention`, and keeps what goes in and comes out; the scores are the formula's."""
    context, weights = attend(query, key, value, mask)
    given, keys = query.detach().cpu().double(), functional.pad(key.detach().cpu().double(), (0, 0, 1, 0))
    units = torch.eye(keys.size(-2), dtype=keys.dtype).expand(*keys.shape[:-1], -1)
    allowed = None if mask is None else functional.pad(mask.cpu(), (1, 0), value=True)
    shares = functional.scaled_dot_product_attention(given, keys, units, allowed)  # first of a key with the score 0
    return Matrices(query, key, value, (shares[..., 1:] / shares[..., :1]).log(), weights, context)


@contextmanager
def catching(package: Package) -> Iterator[list[Matrices]]:
    """Within the block, keeps the matrices of each attention that a model computes, in order."""
    module: Any = sys.modules[package.attention.MultiHeadedAttention.__module__]
    attend = module.scaled_dot_product_attention
    caught: list[Matrices] = []

    def attend_and_keep(*arguments: Any, **named: Any) -> tuple[Tensor, Tensor]:
        caught.append(catch(attend, *arguments, **named))
        return caught[-1].context, caught[-1].weights

    with patch.object(module, "scaled_dot_product_attention", attend_and_keep):
        yield caught
