"""`train`: trains a model from the beginning, or resumes a run.

The pairs of a large file are read from the disk as training asks for them: 4.5 million take little more memory than a
few, and the run is the same, to the last bit, as with the pairs in memory.
"""

import argparse
import mmap
import shlex
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from foundation.whole_files import make_folder

from . import decoding
from .config import LANGUAGES, LENGTHS, Config, ConfigError, config_from_flags, settings_in
from .experiment import Experiment
from .package import Package, Pair
from .run_folder import Checkpoint, Watched

LARGE = 50_000_000  # bytes; in memory, a file takes thirty times as many
FILES = {split: Path(f"data/corpus/fren.{split}.bpe") for split in ("train", "dev")}


def run(options: argparse.Namespace) -> int:
    """Trains a model and measures its dev BLEU after every epoch.

    What can be wrong is found before the training, not after it.
    """
    package: Package = options.package
    if options.out_file and not options.test_file:
        raise ConfigError(f"--out-file {options.out_file} has no effect without --test-file, the file to translate")
    if options.test_file:
        decoding.sources_of(package, package.data.read_lines(options.test_file), options.test_file)
        options.out_file = options.out_file or options.output / "translations.txt"
        make_folder(options.out_file.parent)
    experiment, tokenizers = prepare(options)
    longest, vocabularies = experiment.longest, (len(experiment.src_vocab), len(experiment.tgt_vocab))
    n_parameters = sum(parameter.numel() for parameter in experiment.model.parameters())
    print(
        f"{len(experiment.loader.pairs)} training and {len(experiment.dev_pairs)} dev pairs of up to {longest[0]} and "
        f"{longest[1]} tokens, vocabularies {vocabularies[0]} and {vocabularies[1]}, {n_parameters:,} parameters"
    )
    if experiment.is_finished:
        print("the run is finished; a higher --epochs or --max-steps prolongs it")
    kept = {"keep_epochs": options.keep_epochs, "tensorboard": options.tensorboard, "tokenizers": tokenizers}
    try:
        experiment.run(options.output, samples=options.samples, marks=options.sample_marks, **kept)
    except KeyboardInterrupt:
        is_saved = experiment.step and (options.output / "last.pt").is_file()
        raise KeyboardInterrupt("; --resume, with the same --output, goes on" if is_saved else "") from None
    print(f"best dev BLEU {max(line['dev_bleu'] for line in experiment.history):.3f}; saved in {options.output}")
    best = options.output / "best.pt"
    if options.test_file:
        options.checkpoint, options.input, options.output = best, options.test_file, options.out_file
        return decoding.run(options)
    words = ["python", "-m", package.name, "translate", "--checkpoint", str(best)]
    print(f"next: {shlex.join([*words, '--output', f'{package.name}/translations.txt'])}")
    return 0


def changing_flag(options: argparse.Namespace, config: Config) -> str:
    """Returns a flag that asks for another setting than the run's, except for its length; "" if none does."""
    for name, value in settings_in(options).items():
        if name not in LENGTHS and value != getattr(config, name):
            return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
    length = {name: getattr(config, name) for name in LENGTHS}
    return "--preset" if options.preset and replace(config_from_flags(options), **length) != config else ""


def prepare(options: argparse.Namespace) -> tuple[Experiment, dict[str, bytes]]:
    """Makes the run that the options ask for, fresh or resumed, and reads the tokenizers of its corpus, if it has any.

    Raises: ConfigError if flags contradict each other or the run; CheckpointError if nothing can be resumed from.
    """
    package: Package = options.package
    is_resumed, given = options.resume or options.start, settings_in(options)
    start = options.output / f"{options.start or 'last'}.pt"
    if options.start and not start.is_file():
        kept = ", ".join(sorted(path.stem for path in options.output.glob("*.pt"))) or "no checkpoint"
        raise ConfigError(f"--from {options.start}: {options.output} has {kept}")
    if is_resumed:
        saved = Checkpoint.load(package, start)
        if flag := changing_flag(options, saved.config):
            raise ConfigError(f"--resume keeps the settings of the run but its length; leave out {flag}")
        config, remembered = replace(saved.config, **given), saved.files
    else:
        config, remembered = config_from_flags(options), {}
    if "epochs" in given and config.max_steps:
        raise ConfigError(
            f"--epochs {options.epochs} has no effect: max_steps = {config.max_steps} counts in its place"
        )
    if options.corpus:
        files = {split: find_split(package, options.corpus, split) for split in FILES}
    else:
        files = {split: getattr(options, split) or Path(remembered.get(split, FILES[split])) for split in FILES}
    train_pairs, dev_pairs = (read_split(package, path, config) for path in files.values())
    make_folder(options.output)
    experiment = Experiment(package, config, train_pairs, dev_pairs, options.device)
    if is_resumed:
        experiment.restore(saved, start)
    experiment.files = {split: str(path) for split, path in files.items()}
    if options.attention_through_time is not None and not experiment.watched:
        pairs = chain(dev_pairs, train_pairs)
        experiment.watched = find_pair(package, options.attention_through_time, pairs)
    folder = files["train"].parent
    paths = [folder / LANGUAGES, *folder.glob("tokenizer*.json")] if (folder / LANGUAGES).is_file() else []
    return experiment, {path.name: path.read_bytes() for path in paths}


def find_pair(package: Package, sentence: str, pairs: Iterable[Pair]) -> Watched:
    """Makes the pair to watch from `source|||target`, or from the source of one of `pairs`.

    Raises: ConfigError if there is no target; DataError if a side is empty or too long.
    """
    if package.data.SEPARATOR in sentence:
        return Watched(*package.data.parse_pair(sentence, "--attention-through-time", None))
    source = sentence.split()
    for pair in pairs:
        if pair[0] == source:
            return Watched(*pair)
    where = "is not a source of the training or dev pairs"
    raise ConfigError(f"{sentence!r} {where}: add its translation, as `source|||target`")


def find_split(package: Package, corpus: Path, split: str) -> Path:
    """Returns the file of a split, whatever its encoding. Raises: DataError if the folder lacks it, or has two."""
    paths = sorted(corpus.glob(f"{split}.*"))
    if len(paths) != 1:
        names = " and ".join(path.name for path in paths) or "no such file"
        raise package.data.DataError(f"{corpus}: expected one file {split}.bpe or {split}.words; found {names}")
    return paths[0]


def read_split(package: Package, path: Path, config: Config) -> Sequence[Pair]:
    """Reads pairs, without those that are longer than the configuration allows; a large file stays on the disk."""
    most_tokens = config.most_tokens or None
    if path.is_file() and path.stat().st_size > LARGE:
        return PairsOnDisk(package, path, most_tokens)
    pairs: Sequence[Pair] = package.data.read_pairs(path, most_tokens)
    return pairs


class PairsOnDisk(Sequence[Pair]):
    """The pairs of a file; of each only its place is in memory."""

    def __init__(self, package: Package, path: Path, most_tokens: int | None = None) -> None:
        """Reads the file once, to check it; arguments and errors as for `read_pairs` of the package."""
        self._separator: str = package.data.SEPARATOR
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._places = array("Q")
        number, place = 0, 0
        for number, line in enumerate(iter(self._map.readline, b""), start=1):
            if package.data.parse_pair(decoded(line), f"{path}:{number}", most_tokens):
                self._places.append(place)
            place += len(line)
        package.data.note_left_out(path, number - len(self), number, most_tokens)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> Pair:  # type: ignore[override]  # nobody slices
        """Reads a pair. Raises: IndexError behind the last, which ends a loop."""
        self._map.seek(self._places[index])
        source, target = decoded(self._map.readline()).split(self._separator)
        return source.split(), target.split()


def decoded(line: bytes) -> str:
    """Returns the text of a line."""
    return line.decode("utf-8-sig", "replace")
