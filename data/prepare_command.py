"""The commands ``prepare`` and ``encode``: parallel text from elsewhere becomes a corpus."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from tqdm import tqdm

from .encodings import read_encoding
from .files import CorpusError, write_files
from .parallel import read_dataset, read_files
from .prepare import Choices, cut_words, prepare

DEFAULTS = Choices()
PREPARE_EXAMPLES = """examples:
  python -m data prepare --train train.de.gz train.en.gz --dev-files val.de.gz val.en.gz --test 0 \\
      --vocabulary 18000 --joint --lowercase --output corpora/deen
  python -m data prepare --dataset opus_books --config en-it --languages en it --encoding words --output corpora/enit
then:
  python -m reference train --train corpora/deen/train.bpe --dev corpora/deen/dev.bpe --output runs/deen
"""
ENCODE_EXAMPLE = "example: python -m data encode --encoding corpora/deen/tokenizer.json < news.de > news.bpe"


def add_prepare_commands(commands: argparse._SubParsersAction) -> None:
    """Adds both."""

    def command(name: str, text: str, epilog: str) -> argparse.ArgumentParser:
        raw = argparse.RawDescriptionHelpFormatter
        return commands.add_parser(name, help=text, description=text, epilog=epilog, formatter_class=raw)

    parser = command("prepare", "turn parallel text into a corpus and its encodings", PREPARE_EXAMPLES)
    parser.set_defaults(run=run_prepare)
    text = parser.add_mutually_exclusive_group(required=True)
    text.add_argument("--train", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help="line by line; .gz or not")
    text.add_argument("--dataset", metavar="NAME", help="of the library datasets, or a folder that it can read")
    for split in ("dev", "test"):
        more = f"likewise for the {split} split; without it, pairs are drawn from the training text"
        parser.add_argument(f"--{split}-files", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help=more)
    parser.add_argument("--config", help="of the dataset, such as de-en")
    parser.add_argument("--languages", nargs=2, metavar=("SOURCE", "TARGET"), help="of the dataset, such as de en")
    parser.add_argument("--encoding", choices=("bpe", "words"), default=DEFAULTS.encoding, help="default: bpe")
    for name, what in (
        ("vocabulary", "tokens of each encoding"),
        ("most-tokens", "pairs with a longer side are dropped"),
        ("dev", "pairs to draw where there is no dev split"),
        ("test", "pairs to draw where there is no test split"),
        ("seed", "of this drawing"),
    ):
        default = getattr(DEFAULTS, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=_count, default=default, metavar="N", help=f"{what} (default: {default})")
    parser.add_argument("--joint", action="store_true", help="one encoding for both languages")
    parser.add_argument("--lowercase", action="store_true", help="no capital letters")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="folder for the files")
    parser.add_argument("--json", action="store_true", help="the summary as JSON")

    parser = command("encode", "encode text for a model that was trained on a prepared corpus", ENCODE_EXAMPLE)
    parser.set_defaults(run=run_encode)
    parser.add_argument("--encoding", type=Path, required=True, metavar="FILE", help="what `prepare` saved")
    parser.add_argument("--lowercase", action="store_true", help="as in `prepare`")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def run_prepare(options: argparse.Namespace) -> int:
    """Writes the corpus; prints what came out."""
    if options.dataset and not options.languages:
        raise CorpusError("--dataset: name the languages too: --languages de en")
    choices = Choices(**{name: getattr(options, name) for name in vars(DEFAULTS)})
    with tqdm(desc="pairs", unit="pair", delay=2, leave=False, disable=None) as bar:
        if options.dataset:
            splits = read_dataset(options.dataset, options.config, tuple(options.languages))
        else:
            named = {"train": options.train, "dev": options.dev_files, "test": options.test_files}
            splits = {name: read_files(*paths) for name, paths in named.items() if paths}
        files, summary = prepare(splits, choices, bar.update)
    files["summary.json"] = (json.dumps(summary, indent=2) + "\n").encode()
    write_files(options.output, files)
    if options.json:
        print(json.dumps(summary))
        return 0
    print(f"{options.output}: " + ", ".join(f"{count:,} {split}" for split, count in summary["pairs"].items()))
    print("dropped: " + (", ".join(f"{count:,} {why}" for why, count in summary["dropped"].items()) or "none"))
    ending = summary["encoding"]
    train, dev = (options.output / f"{split}.{ending}" for split in ("train", "dev"))
    print(f"next: python -m reference train --train {train} --dev {dev} --output runs/{options.output.name}")
    return 0


def run_encode(options: argparse.Namespace) -> int:
    """Encodes standard input, line by line."""
    encoding = read_encoding(options.encoding)
    try:
        for line in sys.stdin.buffer.read().decode("utf-8-sig").splitlines():
            print(encoding.encode(cut_words(line, options.lowercase)))
    except UnicodeDecodeError as problem:
        raise CorpusError(f"standard input: not UTF-8 text (byte {problem.start})") from None
    except BrokenPipeError:  # the reader has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
