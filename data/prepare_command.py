"""The commands ``prepare`` and ``encode``: parallel text from elsewhere becomes a corpus."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tqdm import tqdm

from .arguments import output_folder, whole_number
from .encodings import read_encoding
from .files import CorpusError, write_files
from .parallel import read_dataset, read_files, split_lines
from .prepare import Choices, cut_words, prepare

DEFAULTS = Choices()
LARGEST_VOCABULARY = 10_000_000  # the library takes memory for all of it at once
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
    for name, number, what in (
        ("vocabulary", whole_number(1, LARGEST_VOCABULARY), "tokens of each encoding"),
        ("most-tokens", whole_number(1), "pairs with a longer side are dropped"),
        ("dev", whole_number(0), "pairs to draw where there is no dev split"),
        ("test", whole_number(0), "pairs to draw where there is no test split"),
        ("seed", whole_number(0), "of this drawing"),
    ):
        default = getattr(DEFAULTS, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=number, default=default, metavar="N", help=f"{what} (default: {default})")
    parser.add_argument("--joint", action="store_true", help="one encoding for both languages")
    parser.add_argument("--lowercase", action="store_true", help="no capital letters")
    parser.add_argument("--output", type=output_folder, required=True, metavar="DIR", help="folder for the files")
    parser.add_argument("--json", action="store_true", help="the summary as JSON")

    parser = command("encode", "encode text for a model that was trained on a prepared corpus", ENCODE_EXAMPLE)
    parser.set_defaults(run=run_encode)
    parser.add_argument("--encoding", type=Path, required=True, metavar="FILE", help="what `prepare` saved")
    parser.add_argument("--lowercase", action="store_true", help="as in `prepare`")


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
    """Encodes standard input, line by line; bytes to bytes, so that no locale has a say in it."""
    encoding = read_encoding(options.encoding)
    if sys.stdin is None or sys.stdout is None:
        raise CorpusError(f"standard {'input' if sys.stdin is None else 'output'}: it is closed")
    try:
        lines = split_lines(sys.stdin.buffer.read())
    except UnicodeDecodeError as problem:
        raise CorpusError(f"standard input: not UTF-8 text (byte {problem.start})") from None
    except OSError as problem:
        raise CorpusError(f"standard input: {problem.strerror or problem}") from None
    for line in lines:
        sys.stdout.buffer.write(encoding.encode(cut_words(line, options.lowercase)).encode() + b"\n")
    return 0
