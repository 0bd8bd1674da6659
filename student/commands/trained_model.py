"""The model that `train` has saved, for the commands that use it."""

import argparse
import sys
from pathlib import Path

from ..model import Transformer
from ..running.building import build_model
from ..running.checkpoint import Checkpoint
from ..vocab import UNK_ID, Vocabulary

PACKAGE = __name__.rsplit(".", 2)[0]
MOST_UNKNOWN = 0.3  # share of the tokens; more are worth a note


def add_checkpoint_flag(parser: argparse.ArgumentParser) -> None:
    """Adds `--checkpoint`."""
    parser.add_argument(
        "--checkpoint", type=Path, default=Path("runs/latest/best.pt"), help="a file that `train` saved"
    )


def load_model(options: argparse.Namespace) -> tuple[Checkpoint, Transformer]:
    """Loads the checkpoint and its model, ready to translate.

    Raises:
        CheckpointError: if the file is missing, or does not fit the model.
    """
    saved = Checkpoint.load(options.checkpoint)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab)).to(options.device)
    saved.load_weights(model, options.checkpoint)
    return saved, model.eval()


def note_unknown(place: Path | str, sentences: list[list[str]], vocabulary: Vocabulary) -> None:
    """Prints a note if many tokens are unknown: their translation will be nonsense."""
    ids = [index for sentence in sentences for index in vocabulary.encode(sentence)]
    if ids.count(UNK_ID) > MOST_UNKNOWN * len(ids):
        why = "is the text from another corpus, or not split into the subwords of this one?"
        share = f"{ids.count(UNK_ID) / len(ids):.0%} of the tokens are not in the checkpoint's vocabulary"
        print(f"{PACKAGE}: note: {place}: {share}; {why}", file=sys.stderr)
