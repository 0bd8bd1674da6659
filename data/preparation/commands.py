"""The commands `prepare` and `encode`."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from reference.translation.raw_text import LANGUAGES

from ..arguments import Commands, output_folder, whole_number
from ..files import CorpusError, write_files
from .encodings import PRE_TOKENIZERS, read_encoding
from .parallel import TextPair, read_columns, read_dataset, read_files, split_lines
from .prepare import MOST_TOKENS_READ, SPLITS, Choices, prepare, split_name, tokenizer_names
from .prepared_folder import SUMMARY, checksums, written_before

DEFAULTS = Choices()
LARGEST_VOCABULARY = 10_000_000  # the library reserves memory for all of it at once
MOST_COLUMNS = 1000
PREPARE_EXAMPLES = """examples:
  python -m data prepare --train train.de.gz train.en.gz --dev-files val.de.gz val.en.gz --test 0 \\
      --vocabulary 18000 --joint --lowercase --output corpora/deen
  python -m data prepare --dataset opus_books --config en-it --languages en it --encoding words --output corpora/enit
  python -m data prepare --pairs fra.txt --columns 2 1 --lowercase --output corpora/fren
then:
  python -m reference train --train corpora/deen/train.bpe --dev corpora/deen/dev.bpe --output runs/deen
"""
ENCODE_EXAMPLE = "example: python -m data encode --encoding corpora/deen/tokenizer.json < news.de > news.bpe"


def add_prepare_commands(commands: Commands) -> None:
    """Adds both."""

    def command(name: str, text: str, epilog: str) -> argparse.ArgumentParser:
        raw = argparse.RawDescriptionHelpFormatter
        return commands.add_parser(name, help=text, description=text, epilog=epilog, formatter_class=raw)

    parser = command("prepare", "turn parallel text into a corpus and its encodings", PREPARE_EXAMPLES)
    parser.set_defaults(run=run_prepare)
    text = parser.add_mutually_exclusive_group(required=True)
    text.add_argument(
        "--train", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help="translations line by line; plain text or .gz"
    )
    text.add_argument(
        "--pairs", type=Path, metavar="FILE", help="a pair per line, separated by a tab; plain text or .gz"
    )
    text.add_argument(
        "--dataset",
        metavar="NAME",
        help="name of a dataset on the Hugging Face hub, or a folder that the library datasets can read",
    )
    for split in ("dev", "test"):
        more = f"likewise for the {split} split, instead of the dataset's; otherwise pairs are drawn"
        parser.add_argument(f"--{split}-files", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help=more)
    parser.add_argument("--config", help="configuration of the dataset, such as de-en")
    parser.add_argument(
        "--languages",
        type=language,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="such as de en: fields of the dataset, and how raw text is cut and joined for the trained model",
    )
    parser.add_argument(
        "--columns",
        type=whole_number(1, MOST_COLUMNS),
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="columns of --pairs, from 1 (default: 1 2)",
    )
    parser.add_argument("--encoding", choices=("bpe", "words"), default=DEFAULTS.encoding, help="default: bpe")
    parser.add_argument(
        "--pre-tokenizer",
        choices=PRE_TOKENIZERS,
        default=DEFAULTS.pre_tokenizer,
        help="what a word is: signs = letters and digits, or any other sign by itself (default); "
        "whitespace = as the library tokenizers has it, where signs that touch stay together",
    )
    for name, number, what in (
        ("vocabulary", whole_number(1, LARGEST_VOCABULARY), "size of each encoding"),
        ("min-count", whole_number(1), "of whole words, those that occur less often are unknown"),
        ("most-tokens", whole_number(1), "drop pairs with a longer side"),
        ("dev", whole_number(0), "pairs to draw if there is no dev split"),
        ("test", whole_number(0), "pairs to draw if there is no test split"),
        ("seed", whole_number(0), "seed for drawing them"),
    ):
        default = getattr(DEFAULTS, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=number, default=default, metavar="N", help=f"{what} (default: {default})")
    parser.add_argument("--joint", action="store_true", help="one encoding for both languages")
    parser.add_argument("--lowercase", action="store_true", help="no capital letters")
    parser.add_argument("--output", type=output_folder, required=True, metavar="DIR", help="folder for the files")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    parser = command("encode", "encode text for a model that was trained on a prepared corpus", ENCODE_EXAMPLE)
    parser.set_defaults(run=run_encode)
    parser.add_argument("--encoding", type=Path, required=True, metavar="FILE", help="a file that `prepare` saved")


def language(text: str) -> str:
    """Reads the code of a language: it becomes part of a file's name."""
    if not re.fullmatch(r"\w[\w-]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the code of a language, such as de")
    return text


def run_prepare(options: argparse.Namespace) -> int:
    """Writes the corpus and prints a summary."""
    if options.dataset and not options.languages:
        raise CorpusError("--dataset: name the languages too: --languages de en")
    if options.config and not options.dataset:
        raise CorpusError("--config needs --dataset; leave it out")
    if options.columns and not options.pairs:
        raise CorpusError("--columns needs --pairs; leave it out")
    options.languages = tuple(options.languages or DEFAULTS.languages)
    if len(set(options.languages)) == 1 and not options.joint:
        raise CorpusError(f"--languages {' '.join(options.languages)}: two names for two encodings, or --joint")
    choices = Choices(**{name: getattr(options, name) for name in vars(DEFAULTS)})
    needed = {*tokenizer_names(choices), LANGUAGES}
    present = written_before(options.output, needed)  # now, not after an hour of work
    with tqdm(desc="pairs", unit="pair", delay=2, leave=False, disable=None) as bar:
        named = {"train": options.train, "dev": options.dev_files, "test": options.test_files}
        splits: dict[str, Iterable[TextPair]] = {name: read_files(*paths) for name, paths in named.items() if paths}
        if options.pairs:
            splits["train"] = read_columns(options.pairs, tuple(options.columns or (1, 2)))
        if options.dataset:
            theirs = read_dataset(options.dataset, options.config, options.languages)
            splits = {**{name: rows for name, rows in theirs.items() if split_name(name) not in splits}, **splits}
        files, summary = prepare(splits, choices, bar.update)
    summary["files"] = checksums(files)
    removed = [name for name in present if name not in files]
    files[SUMMARY] = (json.dumps(summary, indent=2) + "\n").encode()
    write_files(options.output, files, removed)
    if options.json:
        print(json.dumps({**summary, "removed": removed}))
    else:
        print("\n".join(_report(options.output, summary, removed)))
    return 0


def _report(folder: Path, summary: dict[str, Any], removed: list[str]) -> Iterator[str]:
    counts, limit, ending = summary["pairs"], summary["most_tokens"], summary["encoding"]
    yield f"{folder}: " + ", ".join(f"{counts.get(split, 0):,} {split}" for split in SPLITS)
    reasons = {"too long": f"too long (over {limit:,} tokens per side)"}
    dropped = (f"{count:,} {reasons.get(why, why)}" for why, count in summary["dropped"].items())
    yield "dropped: " + (", ".join(dropped) or "none")
    if removed:
        yield f"removed, since they belonged to the corpus that was here before: {', '.join(removed)}"
    if summary["longest"] > MOST_TOKENS_READ:
        yield (
            f"note: the longest side has {summary['longest']:,} tokens; python -m reference reads at most "
            f"{MOST_TOKENS_READ}, so prepare with --most-tokens {MOST_TOKENS_READ}"
        )
    if not counts["dev"]:
        yield "note: there is no dev split, which training needs: --dev N draws one"
        return
    train, dev = (folder / f"{split}.{ending}" for split in ("train", "dev"))
    yield f"next: python -m reference train --train {train} --dev {dev} --output runs/{folder.name}"


def run_encode(options: argparse.Namespace) -> int:
    """Encodes standard input, line by line; from bytes to bytes, so that no locale matters."""
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
        sys.stdout.buffer.write(" ".join(encoding.encode(line)).encode() + b"\n")
    return 0
