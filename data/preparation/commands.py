"""The command `prepare`."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from foundation.command_line import at_least, positive

from ..fetching import read_table
from ..files import Commands, CorpusError, output_folder
from .corpus import MOST_TOKENS_READ, prepare, read_summary, replace_corpus, split_name, workspace
from .encodings import PRE_TOKENIZERS, SPLITS, Choices, Encodings, read_encoding
from .reading import TextPair, read_columns, read_dataset, read_files

DEFAULTS = Choices()
PRESETS = {name: corpus["choices"] for name, corpus in read_table().items() if "choices" in corpus}
EXAMPLES = """examples:
  python -m data prepare --train train.de.gz train.en.gz --dev-files val.de.gz val.en.gz --test 0 \\
      --vocabulary 18000 --joint --lowercase --languages de en --output corpora/deen
  python -m data prepare --preset opus-books-en-it --output corpora/enit
  python -m data prepare --preset wmt14-de-en --dataset folder/of/parquet --output corpora/wmt14
  python -m data prepare --pairs fra.txt --columns 2 1 --lowercase --output corpora/fren
then:
  python -m reference train --corpus corpora/deen --output runs/deen
"""


def add_prepare_command(commands: Commands) -> None:
    """Adds it."""
    what, raw = "turn parallel text into a corpus and its encodings", argparse.RawDescriptionHelpFormatter
    parser = commands.add_parser("prepare", help=what, description=what, epilog=EXAMPLES, formatter_class=raw)
    parser.set_defaults(run=run_prepare)
    parser.add_argument(
        "--preset", choices=PRESETS, help="choices to start from, as `train` has them; further options change them"
    )
    text = parser.add_mutually_exclusive_group()
    text.add_argument(
        "--train", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help="translations line by line; plain text or .gz"
    )
    text.add_argument("--pairs", type=Path, metavar="FILE", help="a pair per line, in columns; plain text or .gz")
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
        type=positive,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="columns of --pairs, from 1 (default: 1 2)",
    )
    between = "what separates the columns of --pairs (default: a tab)"
    parser.add_argument("--separator", type=separator, metavar="TEXT", help=between)
    parser.add_argument("--encoding", choices=("bpe", "words"), help="default: bpe")
    parser.add_argument(
        "--pre-tokenizer",
        choices=PRE_TOKENIZERS,
        help="what a word is: signs = letters and digits, or any other sign by itself (default); "
        "whitespace = as the library tokenizers has it, where signs that touch stay together",
    )
    for name, kind, what in (
        ("vocabulary", positive, "size of each encoding"),
        ("min-count", positive, "of whole words, those that occur less often are unknown"),
        ("most-tokens", positive, "drop pairs with a longer side"),
        ("dev", number_or_share, "pairs to draw if there is no dev split, or their share, such as 10%%"),
        ("test", number_or_share, "likewise if there is no test split"),
        ("seed", at_least(0), "seed for drawing them"),
    ):
        default = getattr(DEFAULTS, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=kind, metavar="N", help=f"{what} (default: {default})")
    for name, what in (
        ("joint", "one encoding for both languages"),
        ("lowercase", "no capital letters"),
        ("arrow", "a training split for memory mapping: millions of pairs need no more memory than a few"),
    ):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=what)
    parser.add_argument(
        "--learn-anew",
        action="store_true",
        help="learn the encodings even if the folder has some that were learnt with the same choices",
    )
    parser.add_argument("--output", type=output_folder, required=True, metavar="DIR", help="folder for the files")


def language(text: str) -> str:
    """Reads the code of a language: it becomes part of a file's name."""
    if not re.fullmatch(r"\w[\w-]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the code of a language, such as de")
    return text


def separator(text: str) -> str:
    """Reads what separates columns: at least one character."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; leave it out for a tab")
    return text


def number_or_share(text: str) -> int | str:
    """Reads a number of pairs, or their share: `500`, `10%`, `0.5%`."""
    if not text.endswith("%"):
        return at_least(0)(text)
    if not re.fullmatch(r"\d{1,2}(\.\d{1,9})?%", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a share below 100%, such as 10% or 0.5%")
    return text


def run_prepare(options: argparse.Namespace) -> int:
    """Writes the corpus and prints a summary."""
    choices = choose(options)
    earlier = read_summary(options.output)  # now, not after an hour of work
    known = None if options.learn_anew else find_encodings(options.output, earlier, choices)
    with (
        tqdm(desc="pairs", unit="pair", delay=2, leave=False, disable=None) as bar,
        workspace(options.output) as made,
    ):
        summary = prepare(read_text(options, choices), choices, made, known, bar.update)
        summary["preset"], summary["tokenizers"] = options.preset, "used again" if known else "learnt"
        removed = replace_corpus(options.output, made, summary, earlier.get("files", ()))
    print("\n".join(report(options.output, summary, removed)))
    return 0


def choose(options: argparse.Namespace) -> Choices:
    """Takes the choices of the command line, else of the preset, else the defaults; `options` gets the text's origin.

    Raises:
        CorpusError: if they do not go together.
    """
    preset = dict(PRESETS.get(options.preset, {}))
    dataset, config = preset.pop("source", None), preset.pop("config", None)
    if not (options.train or options.pairs or options.dataset):
        if not dataset:
            raise CorpusError("no text is named: --train, --pairs, --dataset, or a --preset with a dataset of its own")
        options.dataset, options.config = dataset, options.config or config
    given = {name: getattr(options, name) for name in vars(DEFAULTS) if getattr(options, name) is not None}
    choices = Choices(**{**preset, **given})
    choices = replace(choices, languages=(choices.languages[0], choices.languages[1]))
    if options.dataset and choices.languages == DEFAULTS.languages:
        raise CorpusError("--dataset: name the languages too: --languages de en")
    for name, needed in (("config", "dataset"), ("columns", "pairs"), ("separator", "pairs")):
        if getattr(options, name) is not None and not getattr(options, needed):
            raise CorpusError(f"--{name} needs --{needed}; leave it out")
    if options.min_count is not None and choices.encoding != "words":
        raise CorpusError(f"--min-count {options.min_count} needs --encoding words; leave it out")
    if len(set(choices.languages)) == 1 and not choices.joint:
        raise CorpusError(f"--languages {' '.join(choices.languages)}: two names for two encodings, or --joint")
    return choices


def read_text(options: argparse.Namespace, choices: Choices) -> dict[str, Iterable[TextPair]]:
    """Opens the texts by split."""
    named = {"train": options.train, "dev": options.dev_files, "test": options.test_files}
    splits: dict[str, Iterable[TextPair]] = {name: read_files(*paths) for name, paths in named.items() if paths}
    if options.pairs:
        splits["train"] = read_columns(options.pairs, tuple(options.columns or (1, 2)), options.separator or "\t")
    if options.dataset:
        theirs = read_dataset(options.dataset, options.config, choices.languages)
        splits = {**{name: rows for name, rows in theirs.items() if split_name(name) not in splits}, **splits}
    return splits


def find_encodings(folder: Path, earlier: dict[str, Any], choices: Choices) -> Encodings | None:
    """Returns the encodings that the folder has, if they were learnt with the same choices."""
    if any(earlier.get(name) != value for name, value in choices.of_encodings.items()):
        return None
    source, target = (read_encoding(folder / name) for name in choices.tokenizer_names)
    return source, target


def report(folder: Path, summary: dict[str, Any], removed: list[str]) -> Iterator[str]:
    """Yields the lines that say what was made."""
    counts, limit, longest = summary["pairs"], summary["most_tokens"], summary["longest"]
    yield f"{folder}: " + ", ".join(f"{counts.get(split, 0):,} {split}" for split in SPLITS)
    reasons = {"too long": f"too long (over {limit:,} tokens per side)"}
    dropped = (f"{count:,} {reasons.get(why, why)}" for why, count in summary["dropped"].items())
    yield "dropped: " + (", ".join(dropped) or "none")
    yield f"longest source: {longest['source']:,} tokens; longest target: {longest['target']:,}"
    if summary["tokenizers"] == "used again":
        names = ", ".join(name for name in summary["files"] if name.startswith("tokenizer"))
        yield f"{names}: used again, as found in the folder; --learn-anew replaces them"
    if removed:
        yield f"removed, since they belonged to the corpus that was here before: {', '.join(removed)}"
    if max(longest.values()) > MOST_TOKENS_READ:
        yield (
            f"note: the longest side has {max(longest.values()):,} tokens; python -m reference reads at most "
            f"{MOST_TOKENS_READ}, so prepare with --most-tokens {MOST_TOKENS_READ}"
        )
    if not counts["dev"]:
        yield "note: there is no dev split, which training needs: --dev N draws one"
        return
    preset = ["--preset", summary["preset"]] if summary["preset"] else []
    places = ["--corpus", str(folder), "--output", f"runs/{folder.name}"]
    yield f"next: {shlex.join(['python', '-m', 'reference', 'train', *preset, *places])}"
