"""`attention`: draws the attention maps of one sentence."""

import argparse
from pathlib import Path

from ..data import Batch, DataError, check_length
from ..running.config import ConfigError
from ..translation.translate import forced_decode, translate
from ..vocab import BOS
from .trained_model import add_checkpoint_flag, load_model, note_unknown


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    parser.add_argument("--sentence", required=True, help="source, in subwords")
    parser.add_argument("--target", help="target, in subwords; default: the model's own translation")
    parser.add_argument("--kind", choices=("encoder", "decoder", "cross"), default="cross")
    parser.add_argument("--layer", type=int, default=-1, help="1 is the first; default: the last")
    parser.add_argument("--output", type=Path, default=Path("attention.png"), help=".png, .svg or .pdf")


def run(options: argparse.Namespace) -> int:
    """Draws the maps of one layer; returns the exit status."""
    try:
        from ..pictures.attention_maps import plot_attention
        from ..pictures.saving import FORMATS, save_figure
    except ImportError:
        raise ConfigError("attention: matplotlib is not installed; pip install matplotlib") from None

    if options.output.suffix.lower() not in FORMATS:
        raise ConfigError(f"--output {options.output}: expected a name that ends in {', '.join(FORMATS)}")
    source = options.sentence.split()
    if not source:
        raise DataError("--sentence: it has no tokens")
    check_length("--sentence", "source", source)
    saved, model = load_model(options)
    note_unknown("--sentence", [source], saved.src_vocab)
    if options.target is None:
        found = translate(
            model, [source], saved.src_vocab, saved.tgt_vocab, saved.config, diagonal=saved.diagonal, subwords=True
        )
        target = found[0].split()
    else:
        target = options.target.split()
        check_length("--target", "target", target)
        note_unknown("--target", [target], saved.tgt_vocab)
    batch = Batch.from_ids([saved.src_vocab.encode(source)], [saved.tgt_vocab.encode(target)], saved.diagonal)
    weights = forced_decode(model, batch.to(options.device))[1][options.kind]
    read, written = source, [BOS, *target]
    queries, keys = {"encoder": (read, read), "decoder": (written, written), "cross": (written, read)}[options.kind]
    layer = options.layer if options.layer > 0 else len(weights) + 1 + options.layer
    if not 1 <= layer <= len(weights):
        raise ConfigError(f"--layer {options.layer}: expected 1 to {len(weights)}")
    title = f"{options.kind} attention, layer {layer}"
    save_figure(plot_attention(weights[layer - 1][0], queries, keys, title), options.output)
    print(f"{title}: {options.output}")
    return 0
