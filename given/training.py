"""`train`: trains a model from the beginning, or resumes a run."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from foundation.whole_files import make_folder

from . import decoding, package
from .building import extra
from .config import (
    LANGUAGES,
    LENGTHS,
    Config,
    ConfigError,
    add_config_flags,
    config_flags_in,
    config_from_flags,
    read_thresholds,
)
from .experiment import Experiment, find_pair
from .run_folder import Checkpoint, find_kept, rewind

FILES = {split: Path(f"data/corpus/fren.{split}.bpe") for split in ("train", "dev")}
AGAIN = "keep_epochs tensorboard thresholds samples sample_marks test_file out_file device threads"
"""What a command that resumes the run names again."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="a folder that `data prepare` wrote: its training and dev split"
    )
    text = f"`source|||target` lines (default: {FILES['train']})"
    parser.add_argument("--train", type=Path, help=text)
    parser.add_argument("--dev", type=Path, help=f"likewise (default: {FILES['dev']})")
    parser.add_argument("--output", type=Path, default=Path("runs/latest"), help="the run's folder")
    text = "resume from last.pt in the run's folder; --epochs, --max-steps or --patience prolong the run"
    parser.add_argument("--resume", action="store_true", help=text)
    text = "with --resume: from a checkpoint that --keep-epochs kept, such as epoch-02; later ones are removed"
    parser.add_argument("--from", dest="start", metavar="NAME", help=text)
    parser.add_argument("--keep-epochs", action="store_true", help="keep the checkpoint of every epoch")
    parser.add_argument("--tensorboard", action="store_true", help="also write curves for `tensorboard --logdir DIR`")
    text = (
        "record the attention in this sentence, before the first step and at each report, for `attention "
        "--through-time`; a source of the corpus, in subwords, or `source|||target`"
    )
    parser.add_argument("--attention-through-time", metavar="SENTENCE", help=text)
    text = "draw the table [thresholds] of this file into curves.png (default: the assignment's, if it is there)"
    parser.add_argument("--thresholds", type=Path, metavar="FILE", help=text)
    text = "dev sentences to show at each report, drawn at random (default: 3)"
    parser.add_argument("--samples", type=int, default=3, metavar="N", help=text)
    parser.add_argument("--sample-marks", action="store_true", help="show them with their byte-pair marks")
    text = "translate this file with the best model at the end, as `translate` does"
    parser.add_argument("--test-file", type=Path, metavar="FILE", help=text)
    parser.add_argument("--out-file", type=Path, metavar="FILE", help="default: translations.txt in the run")
    add_config_flags(parser)


def run(options: argparse.Namespace) -> int:
    """Trains; returns the exit status. What can be wrong is found before the training, not after it."""
    if options.samples < 0:
        raise ConfigError(f"--samples {options.samples}: expected at least 0")
    if options.out_file and not options.test_file:
        raise ConfigError("--out-file has no effect without --test-file: give both or neither")
    if options.test_file:
        package.data.read_sources(options.test_file)
        options.out_file = options.out_file or options.output / "translations.txt"
    thresholds = read_thresholds(options.thresholds)
    files = corpus_files(options)
    start = find_start(options)
    config = Checkpoint.load(start).config if start else config_from_flags(options)
    longer = {name: getattr(options, name) for name in LENGTHS if getattr(options, name) is not None}
    if "epochs" in longer and (max_steps := longer.get("max_steps", config.max_steps)):
        raise ConfigError(f"--epochs {options.epochs} has no effect: max_steps = {max_steps} counts in its place")
    train_pairs, dev_pairs = (read_split(path, config) for path in files)
    make_folder(options.output)
    if options.out_file:
        make_folder(options.out_file.parent)
    if start:
        experiment = Experiment.resume(start, train_pairs, dev_pairs, options.device, longer)
    else:
        experiment = Experiment(config, train_pairs, dev_pairs, options.device)
    if options.attention_through_time is not None:
        watch(experiment, options.attention_through_time, chain(dev_pairs, train_pairs))
    if start and options.start:
        rewind(options.output, start)
    longest, vocabularies = experiment.longest, (len(experiment.src_vocab), len(experiment.tgt_vocab))
    n_parameters = sum(parameter.numel() for parameter in experiment.model.parameters())
    print(
        f"{len(train_pairs)} training and {len(dev_pairs)} dev pairs of up to {longest[0]} and {longest[1]} tokens, "
        f"vocabularies {vocabularies[0]} and {vocabularies[1]}, {n_parameters:,} parameters"
    )
    if experiment.is_finished:
        print(how_to_prolong(experiment))
    try:
        experiment.run(
            options.output,
            samples=options.samples,
            marks=options.sample_marks,
            keep_epochs=options.keep_epochs,
            tensorboard=options.tensorboard,
            tokenizers=read_tokenizers(files[0].parent),
            thresholds=thresholds,
        )
    except KeyboardInterrupt:
        is_saved = experiment.step and (options.output / "last.pt").is_file()
        raise KeyboardInterrupt(how_to_resume(options) if is_saved else "") from None
    print(f"best dev BLEU {max(line['dev_bleu'] for line in experiment.history):.3f}; saved in {options.output}")
    best = ["--checkpoint", str(options.output / "best.pt")]
    if options.test_file:
        parser = argparse.ArgumentParser()
        decoding.add_flags(parser)
        words = [*best, "--input", str(options.test_file), "--output", str(options.out_file)]
        return decoding.run(parser.parse_args(words, argparse.Namespace(device=options.device)))
    words = ["python", "-m", package.name(), "translate", *best, "--output", f"{package.name()}/translations.txt"]
    print(f"next: {shlex.join(words)}")
    return 0


def find_start(options: argparse.Namespace) -> Path | None:
    """Returns the checkpoint to resume from; None for a new run.

    Raises: ConfigError if flags contradict it, or nothing can be resumed from there.
    """
    if not options.resume:
        if options.start:
            raise ConfigError("--from goes on with an earlier run: add --resume")
        return None
    for flag in config_flags_in(options):
        if flag.removeprefix("--").replace("-", "_") not in LENGTHS:
            raise ConfigError(f"--resume keeps the settings of the run but its length; leave out {flag}")
    if not options.start:
        return Path(options.output / "last.pt")
    start = find_kept(options.output, options.start)
    if not Checkpoint.load(start).history:
        where = f"--from {options.start}: {start} has no report yet"
        raise ConfigError(f"{where}; --resume alone goes on from last.pt")
    return start


def watch(experiment: Experiment, sentence: str, pairs: Iterable[package.data.Pair]) -> None:
    """Lets a run record the attention in a sentence.

    Raises: ConfigError if it records another one already, or is finished.
    """
    watched, before = find_pair(sentence, pairs), experiment.watched
    if before and (before.source, before.target) != (watched.source, watched.target):
        raise ConfigError(f"--resume: this run records the attention in {' '.join(before.source)!r} already")
    if not before and experiment.is_finished:
        raise ConfigError(f"--attention-through-time records during training; {how_to_prolong(experiment)}")
    experiment.watched = before or watched


def how_to_prolong(experiment: Experiment) -> str:
    """Says that the run is finished, why, and which flags prolong it."""
    if experiment.step < experiment.total_steps:
        return "the run is finished: dev BLEU has stopped improving; a higher --patience prolongs it"
    flags = "--max-steps N prolongs it" if experiment.config.max_steps else "--epochs N or --max-steps N prolong it"
    return f"the run is finished; {flags}"


def corpus_files(options: argparse.Namespace) -> list[Path]:
    """Returns the files of the training and the dev pairs, whatever their encoding.

    Raises: ConfigError if they are named twice; DataError if the folder of `--corpus` lacks one, or has two.
    """
    given = {split: getattr(options, split) for split in FILES if getattr(options, split)}
    if not options.corpus:
        return [given.get(split, FILES[split]) for split in FILES]
    if given:
        raise ConfigError(f"--corpus has both splits; leave it out, or {' and '.join(f'--{split}' for split in given)}")
    files = []
    for split in FILES:
        found = sorted(options.corpus.glob(f"{split}.*"))
        if len(found) != 1:
            names = " and ".join(path.name for path in found) or "no such file"
            wanted = f"expected one file {split}.bpe, .words or .arrow"
            raise package.data.DataError(f"{options.corpus}: {wanted}; found {names}")
        files += found
    return files


def read_tokenizers(corpus: Path) -> dict[str, bytes]:
    """Reads the files with which the model will translate raw text; only a prepared corpus has them."""
    if not (corpus / LANGUAGES).is_file():
        return {}
    files: dict[str, bytes] = extra("raw_text", str(corpus / LANGUAGES)).tokenizer_files(corpus)
    return files


def read_split(path: Path, config: Config) -> Sequence[package.data.Pair]:
    """Reads pairs, without those that are longer than the configuration allows."""
    if path.suffix == ".arrow":
        pairs: Sequence[package.data.Pair] = extra("arrow_corpus", str(path)).ArrowPairs(path, config.most_tokens)
        return pairs
    return package.data.read_pairs(path, config.most_tokens or None)


def how_to_resume(options: argparse.Namespace) -> str:
    """Returns the command; the checkpoint has the settings, and the other flags are those that were given."""
    words = ["python", "-m", package.name(), "train", "--resume", "--output", options.output]
    origin = ["corpus"] if options.corpus else ["train", "dev"]
    for name in [*origin, *AGAIN.split()]:
        if (value := getattr(options, name)) != options.parser.get_default(name):
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
    return f"; resume with: {shlex.join(map(str, words))}"
