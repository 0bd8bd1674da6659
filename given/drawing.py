"""`attention`: draws where a sentence and its translation attend, or the matrices of one head; `hunt`: bug hunts.

The matrices (Q, K, V, scores, weights, context) are caught while attention runs: nothing here computes it a second
time. This works with any code for tasks 1.2 and 1.3 in which `MultiHeadedAttention` calls
`scaled_dot_product_attention`, for all heads together or one after the other. The scores are what PyTorch's softmax is
given; code with a softmax of its own has none.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from foundation.assignment_file import read_assignment

from . import package
from .config import ConfigError
from .decoding import add_checkpoint_flag, forced_decode, load_model, note_unknown, translate
from .experiment import Watched
from .run_folder import Checkpoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("encoder", "decoder", "cross")
FORMATS = (".png", ".svg", ".pdf")
SOFTMAXES = (torch.softmax, torch.nn.functional.softmax, Tensor.softmax, torch.special.softmax)

Attend = Callable[..., tuple[Tensor, Tensor]]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--sentence", help="source, in subwords")
    text = "draw the sentence that this run recorded (`train --attention-through-time`), at each report"
    what.add_argument("--through-time", type=Path, metavar="RUN", help=text)
    parser.add_argument("--target", help="target, in subwords; default: the model's own translation")
    parser.add_argument("--kind", choices=KINDS, default="cross", help="whose attention (default: cross)")
    parser.add_argument("--layer", default="-1", help="1 = the first, `all` = one page with all; default: the last")
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
        title = draw_through_time(options, output)
    else:
        from .pictures import save_figure

        figure = draw_sentence(options)
        save_figure(figure, output)
        title = figure.get_suptitle()
    print(f"{title}: {output}")
    return 0


def check_format(output: Path, needed_for: str, is_animated: bool = False) -> None:
    """Raises a ConfigError if a picture, which may be animated, cannot be written to a file of that name."""
    os.environ.pop("MPLBACKEND", None)  # of a notebook's host, perhaps not installed here; pictures are only saved
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ConfigError(f"{needed_for}: matplotlib is not installed; pip install matplotlib") from None
    formats = (*FORMATS, ".gif") if is_animated else FORMATS
    if output.suffix.lower() not in formats:
        raise ConfigError(f"--output {output}: expected a name that ends in {', '.join(formats)}")


def draw_sentence(options: argparse.Namespace) -> Figure:
    """Draws the maps of one sentence in one layer or in all, or what one head computes."""
    from .pictures import plot_attention, plot_matrices, plot_page

    weights, caught, labels = attend(options)
    n_layers, n_heads = len(weights), weights[0].size(0)
    if options.layer == "all":
        rows = [f"layer {layer + 1}" for layer in range(n_layers)]
        columns = [f"head {head + 1}" for head in range(n_heads)]
        return plot_page(weights, rows, columns, *labels, f"{options.kind} attention, all layers")
    layer = find_layer(options.layer, n_layers)
    title = f"{options.kind} attention, layer {layer}"
    if not options.matrices:
        return plot_attention(weights[layer - 1], *labels, title)
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
    scores: Tensor | None  # (b, h, q, k), with a mask already applied
    weights: Tensor  # (b, h, q, k)
    context: Tensor  # (b, h, q, d_k)

    def of_head(self, head: int) -> Matrices:
        """Returns the matrices, (rows, columns), of one head of the first sentence."""
        matrices: list[Any] = [None if matrix is None else matrix[0, head] for matrix in vars(self).values()]
        return Matrices(*matrices)


class SoftmaxInputs(TorchFunctionMode):
    """While it is active, collects the inputs of every softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Tensor] = []

    def __torch_function__(
        self, function: Any, types: Any, arguments: tuple[Any, ...] = (), keywords: dict[str, Any] | None = None
    ) -> Any:
        """Calls the function as it is."""
        keywords = keywords or {}
        if function in SOFTMAXES:
            self.inputs.append(arguments[0] if arguments else keywords["input"])
        return function(*arguments, **keywords)


def catch(attend: Attend, query: Tensor, key: Tensor, value: Tensor, *others: Any, **named: Any) -> Matrices:
    """Calls a `scaled_dot_product_attention` and keeps what goes in, comes out and happens between."""
    with SoftmaxInputs() as softmax:
        context, weights = attend(query, key, value, *others, **named)
    scores = softmax.inputs[-1] if softmax.inputs and softmax.inputs[-1].shape == weights.shape else None
    return Matrices(query, key, value, scores, weights, context)


@contextmanager
def catching() -> Iterator[list[Matrices]]:
    """Within the block, keeps the matrices of each attention that a model computes, in order."""
    module: Any = sys.modules[package.attention.MultiHeadedAttention.__module__]
    attend: Attend = module.scaled_dot_product_attention
    caught: list[Matrices] = []

    def attend_and_keep(*arguments: Any, **named: Any) -> tuple[Tensor, Tensor]:
        caught.append(catch(attend, *arguments, **named))
        return caught[-1].context, caught[-1].weights

    module.scaled_dot_product_attention = attend_and_keep
    try:
        yield caught
    finally:
        module.scaled_dot_product_attention = attend


def join_heads(caught: list[Matrices], n_attentions: int) -> list[Matrices]:
    """Joins the calls for single heads, (b, rows, columns) or (b, 1, rows, columns), to one for each attention.

    The result is empty if the calls cannot be shared out among them.
    """
    n_calls = len(caught) // n_attentions
    if not n_calls or len(caught) % n_attentions or any(call.weights.dim() not in (3, 4) for call in caught):
        return []
    joined = []
    for start in range(0, len(caught), n_calls):
        columns = zip(*(vars(call).values() for call in caught[start : start + n_calls]), strict=True)
        joined.append(Matrices(*map(_join, columns)))
    return joined


def _join(parts: tuple[Tensor | None, ...]) -> Any:
    known = [part if part.dim() == 4 else part.unsqueeze(1) for part in parts if part is not None]
    return torch.cat(known, dim=1) if len(known) == len(parts) else None


def show_hunts(name: str, folder: Path = Path()) -> list[Path]:
    """Prints a student's bug hunts, and draws what a model with each mistake does where that was measured.

    Returns the pictures. Raises: UserError without a name.
    """
    from autograder.testing.hunts import read_hunts, tell  # the tests take a moment to load

    from .pictures import plot_symptom, save_figure

    assignment = read_assignment()
    print(tell(name, assignment), end="\n\n")
    pictures = []
    for hunt in read_hunts(assignment.folder).of(name):
        if hunt.shown:
            path = folder / f"hunt_{hunt.number}.png"
            save_figure(plot_symptom(hunt.shown, f"hunt {hunt.number}"), path)
            pictures.append(path)
            print(f"{path}: what a model with the mistake of hunt {hunt.number} does, beside one without it")
    return pictures
