"""`translate`: translates a file."""

import argparse
from dataclasses import replace
from pathlib import Path

from ..data import read_sources
from ..running.config import ConfigError
from ..translation.translate import find_cached_search, translate
from ..whole_files import in_one_piece, is_stream
from .trained_model import add_checkpoint_flag, load_model, note_unknown

SOURCES = Path("data/corpus/fren.test.src.bpe")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    parser.add_argument("--input", type=Path, default=SOURCES, help="subwords, or `source|||target` lines")
    parser.add_argument("--output", type=Path, default=Path("translations.txt"), help="plain text")
    parser.add_argument("--beam-size", type=int, help="1 = greedy search; default: the run's setting")
    parser.add_argument("--cached", action="store_true", help="use the key/value cache (reference only)")


def run(options: argparse.Namespace) -> int:
    """Writes one translation per line; returns the exit status."""
    saved, model = load_model(options)
    config = saved.config
    if options.beam_size is not None:
        config = replace(config, beam_size=options.beam_size)
    search = None
    if options.cached:
        if config.beam_size > 1:
            raise ConfigError(f"--cached searches greedily, not with beam_size = {config.beam_size}: add --beam-size 1")
        search = find_cached_search()
        if search is None:
            raise ConfigError("--cached: this package has no cached_greedy.py; only the reference does")
    sentences = read_sources(options.input)
    note_unknown(options.input, sentences, saved.src_vocab)
    with in_one_piece(options.output) as unfinished:
        lines = translate(
            model,
            sentences,
            saved.src_vocab,
            saved.tgt_vocab,
            config,
            diagonal=saved.diagonal,
            search=search,
            progress=True,
        )
        unfinished.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    if not is_stream(options.output):  # there, everything but translations would be in the way
        print(f"{len(lines)} translations in {options.output}")
    return 0
