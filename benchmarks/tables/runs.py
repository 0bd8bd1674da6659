"""Trains one model and measures its BLEU; what is done already is kept.

The folder of a run is named after the settings that differ from the defaults, and its seed. It is a run's folder as
`python -m reference train` writes it, with the result in `result.json`.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import torch

from foundation.whole_files import write_whole
from given.building import build_model
from given.decoding import bleu, translate
from given.run_folder import Checkpoint, CheckpointError
from reference.data import Pair, read_pairs, take_census
from reference.vocab import join_subwords

from ..training import run_reference
from .columns import Column

TRAIN_SAMPLE = 1_000
"""So many training pairs, always the same, stand for all of them in the training BLEU."""
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Corpus:
    """Files of pairs by split, `source|||target` lines: to train on, and to measure on."""

    files: dict[str, Path]

    @cached_property
    def measured(self) -> dict[str, list[Pair]]:
        """The pairs to measure on, by split: of those to train on, a sample.

        Raises:
            DataError: if a file cannot be used.
        """
        splits = {split: read_pairs(path) for split, path in self.files.items()}
        generator = random.Random(0)  # noqa: S311  # draws a sample
        return splits | {"train": generator.sample(splits["train"], min(TRAIN_SAMPLE, len(splits["train"])))}

    @cached_property
    def marks(self) -> dict[str, str]:
        """A fingerprint of each split."""
        return {split: take_census(read_pairs(path)).fingerprint for split, path in self.files.items()}


@dataclass
class Result:
    """What is known of one model."""

    n_parameters: int
    minutes: float  # of training
    corpus: dict[str, str]  # fingerprints, as in `Corpus.marks`
    bleu: dict[str, float]  # between 0 and 1, after the last epoch, by split


def place(column: Column, seed: int, output: Path) -> Path:
    """Returns the folder of a run."""
    changes = "_".join(f"{name}-{value}" for name, value in column.changes.items())
    return output / "runs" / (changes or "defaults") / f"seed-{seed}"


def find_result(folder: Path, corpus: Corpus) -> Result | None:
    """Returns the result of a run if it is there and has BLEU of all splits of this corpus.

    Raises:
        CheckpointError: if the file is no result, or one on other data.
    """
    path = folder / "result.json"
    if not path.is_file():
        return None
    try:
        result = Result(**json.loads(path.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: not a result of these tables, remove it: {error}") from None
    for split in sorted(result.corpus.keys() & corpus.marks.keys()):
        if result.corpus[split] != corpus.marks[split]:
            raise CheckpointError(f"{path}: is of another {split} file; give that one or another --output")
    return result if corpus.marks.keys() <= result.corpus.keys() else None


def make_result(column: Column, seed: int, folder: Path, corpus: Corpus) -> None:
    """Trains a model, or goes on where an earlier run was interrupted, and measures it.

    Raises:
        CheckpointError: if the folder has a run on other data.
        CommandError: if the run fails.
    """
    last = folder / "last.pt"
    run_reference(folder, *(corpus.files[split] for split in SPLITS[:2]), *flags_of(column, seed, last.is_file()))
    saved = Checkpoint.load(last)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab)).eval()
    saved.load_weights(model, last, last=True)
    scores = {}
    for split, pairs in corpus.measured.items():
        sources, references = [src for src, _ in pairs], [join_subwords(tgt) for _, tgt in pairs]
        with torch.no_grad():
            lines = translate(model, sources, saved.src_vocab, saved.tgt_vocab, saved.config, diagonal=saved.diagonal)
        scores[split] = round(bleu(lines, references), 4)
    size = sum(parameter.numel() for parameter in model.parameters())
    minutes = round(sum(line["seconds"] for line in saved.history) / 60, 2)
    write_whole(
        folder / "result.json", json.dumps(asdict(Result(size, minutes, corpus.marks, scores)), indent=1) + "\n"
    )


def flags_of(column: Column, seed: int, is_resumed: bool) -> Sequence[object]:
    """The options of `python -m reference train`; the cache changes how long decoding takes, not what it finds."""
    if is_resumed:
        return ["--resume"]
    changes = [part for name, value in column.changes.items() for part in (f"--{name.replace('_', '-')}", value)]
    return ["--preset", "course", "--cached", "--seed", seed, *changes]
