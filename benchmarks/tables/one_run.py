"""Trains one model and measures its BLEU; what is done already is kept.

The folder of a run is named after the settings that differ from the defaults, and its seed. It holds, for each length
that is asked for, the model (`epochs-10.pt`) and its result (`epochs-10.json`), and `last.pt` while it trains. The
learning rate is constant, so a run of 10 epochs is the beginning of one of 20: both come from one training, and
prolonging a run gives the same model as a run that was that long from the beginning.
"""

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import torch

from foundation.whole_files import write_whole
from given.building import build_model
from given.config import Config
from given.decoding import bleu, translate
from given.experiment import Experiment
from given.run_folder import Checkpoint, CheckpointError
from reference.data import Pair, read_pairs, take_census
from reference.vocab import join_subwords

from .columns import BASE

TRAIN_SAMPLE = 1_000
"""So many training pairs, always the same, stand for all of them in the training BLEU."""
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Corpus:
    """The pairs to train on, and those to measure on."""

    training: list[Pair]
    measured: dict[str, list[Pair]]  # by split: a sample of `train`, `dev`, and `test` if there is one

    @classmethod
    def read(cls, train: Path, dev: Path, test: Path | None) -> "Corpus":
        """Reads the files.

        Raises:
            DataError: if one of them cannot be used.
        """
        training = read_pairs(train)
        generator = random.Random(0)  # noqa: S311  # draws a sample
        measured = {"train": generator.sample(training, min(TRAIN_SAMPLE, len(training))), "dev": read_pairs(dev)}
        return cls(training, measured | ({"test": read_pairs(test)} if test else {}))

    @cached_property
    def marks(self) -> dict[str, str]:
        """A fingerprint of the training data and of each split that is measured."""
        return {"training": take_census(self.training).fingerprint} | {
            split: take_census(pairs).fingerprint for split, pairs in self.measured.items()
        }


@dataclass
class Result:
    """What is known of one model; all BLEU are between 0 and 1, of the model after its last epoch.

    Attributes:
        config: its settings.
        n_parameters: of the model.
        cpu_seconds: of training, without the measuring at the end.
        corpus: fingerprints, as in `Corpus.marks`.
        bleu: by split.
        translations: likewise, in the order of the pairs.
    """

    config: Config
    n_parameters: int
    cpu_seconds: float
    corpus: dict[str, str]
    bleu: dict[str, float]
    translations: dict[str, list[str]]

    def save(self, path: Path) -> None:
        """Writes the file whole."""
        write_whole(path, json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> "Result":
        """Reads what `save` wrote.

        Raises:
            CheckpointError: if it is something else.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return cls(**content | {"config": Config.from_dict(content["config"])})
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path}: not a result of these tables, remove it: {error}") from None


def place(config: Config, output: Path) -> Path:
    """Returns the folder of a run."""
    changes = [
        f"{name}-{value}"
        for name, value in asdict(config).items()
        if name not in ("epochs", "seed") and value != getattr(BASE, name)
    ]
    return output / "runs" / ("_".join(changes) or "defaults") / f"seed-{config.seed}"


def find_result(config: Config, corpus: Corpus, output: Path) -> Result | None:
    """Returns the result if it is there and has BLEU of all splits of this corpus.

    Raises:
        CheckpointError: if the folder has a result on other data.
    """
    path = place(config, output) / f"epochs-{config.epochs}.json"
    if not path.is_file():
        return None
    result = Result.load(path)
    marks = corpus.marks
    for split in sorted(result.corpus.keys() & marks.keys()):
        if result.corpus[split] != marks[split]:
            raise CheckpointError(f"{path}: is of another {split} file; give that one or another --output")
    return result if marks.keys() <= result.corpus.keys() else None


def make_results(configs: Sequence[Config], corpus: Corpus, output: Path) -> Iterator[int]:
    """Trains and measures models that differ in their length only, the shortest first.

    Yields:
        1 after each epoch.

    Raises:
        CheckpointError: if the folder has a run on other data.
    """
    for config in sorted(configs, key=lambda config: config.epochs):
        if find_result(config, corpus, output):
            continue
        folder = place(config, output)
        kept = folder / f"epochs-{config.epochs}.pt"
        if not kept.is_file():
            yield from train(config, corpus, folder, kept)
        result = folder / f"epochs-{config.epochs}.json"
        measure(kept, corpus, Result.load(result) if result.is_file() else None).save(result)


def train(config: Config, corpus: Corpus, folder: Path, kept: Path) -> Iterator[int]:
    """Trains to the end, from the longest shorter run that there is, and keeps the model as `kept`."""
    done = {path: Checkpoint.load(path).epoch for path in folder.glob("*.pt")}
    shorter = {path: epochs for path, epochs in done.items() if epochs <= config.epochs}
    if shorter:
        latest, longer = max(shorter, key=shorter.__getitem__), {"epochs": config.epochs}
        run = Experiment.resume(latest, corpus.training, corpus.measured["dev"], longer=longer)
    else:
        run = Experiment(config, corpus.training, corpus.measured["dev"])
    while not run.is_finished:
        start = time.process_time()
        run.run_epoch(progress=False)
        run.history[-1]["cpu_seconds"] = round(time.process_time() - start, 1)
        run.checkpoint().save(folder / "last.pt")
        yield 1
    run.checkpoint().save(kept)
    (folder / "last.pt").unlink(missing_ok=True)


@torch.no_grad()
def measure(checkpoint: Path, corpus: Corpus, known: Result | None) -> Result:
    """Measures the model on the splits whose BLEU is not known yet."""
    saved = Checkpoint.load(checkpoint)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab)).eval()
    saved.load_weights(model, checkpoint)
    result = known or Result(
        config=saved.config,
        n_parameters=sum(parameter.numel() for parameter in model.parameters()),
        cpu_seconds=round(sum(line["cpu_seconds"] for line in saved.history), 1),
        corpus={},
        bleu={},
        translations={},
    )
    for split, pairs in corpus.measured.items():
        if split not in result.bleu:
            translations = translate(
                model,
                [src for src, _ in pairs],
                saved.src_vocab,
                saved.tgt_vocab,
                saved.config,
                diagonal=saved.diagonal,
            )
            result.translations[split] = translations
            result.bleu[split] = round(bleu(translations, [join_subwords(tgt) for _, tgt in pairs]), 4)
    return replace(result, corpus=result.corpus | corpus.marks)
