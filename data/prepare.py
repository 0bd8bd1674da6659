"""The command `prepare`."""

from __future__ import annotations

import argparse
import json
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from foundation.command_line import positive

from . import files
from .encodings import SPLITS, Choices, Tokenizers
from .files import SEPARATOR, CorpusError, output_folder
from .parallel_text import TextPair, prepare, read_columns, read_dataset, read_files, split_name

SUMMARY = "summary.json"
DEFAULTS = Choices()
PRESETS: dict[str, tuple[str, str, Choices]] = {
    "wmt14-de-en": ("wmt14", "de-en", Choices(languages=("de", "en"), pre_tokenizer="whitespace", joint=True)),
    "opus-books-en-it": (
        "opus_books",
        "en-it",
        Choices("words", "whitespace", 30_000, min_count=2, most_tokens=350, dev="10%", test=0, languages=("en", "it")),
    ),
}
"""Dataset, configuration and choices by the name of the training preset that goes with them."""
EXAMPLES = """examples:
  python -m data prepare --train train.de.gz train.en.gz --dev-files val.de.gz val.en.gz --test 0 \\
      --vocabulary 18000 --joint --lowercase --languages de en --output corpora/deen
  python -m data prepare --preset opus-books-en-it --output corpora/enit
  python -m data prepare --preset wmt14-de-en --dataset folder/of/parquet --output corpora/wmt14
  python -m data prepare --pairs fra.txt --columns 2 1 --lowercase --output corpora/fren
then:
  python -m reference train --corpus corpora/deen --output runs/deen
"""


def add_prepare_options(parser: argparse.ArgumentParser) -> None:
    """Adds its options."""
    parser.epilog = EXAMPLES
    parser.set_defaults(run=run_prepare)
    sides = ("SOURCE", "TARGET")
    add = parser.add_argument
    add("--preset", choices=PRESETS, help="choices to start from, as `train` has them; further options change them")
    add("--train", type=Path, nargs=2, metavar=sides, help="translations line by line; plain text or .gz")
    add("--pairs", type=Path, metavar="FILE", help="lines with columns, separated by tabs; plain text or .gz")
    add("--dataset", metavar="NAME", help="a dataset on the Hugging Face hub, or a folder that `datasets` can read")
    for split in ("dev", "test"):
        more = f"likewise for the {split} split, instead of the dataset's; otherwise pairs are drawn"
        add(f"--{split}-files", type=Path, nargs=2, metavar=sides, help=more)
    add("--config", help="configuration of the dataset, such as de-en")
    add("--columns", type=positive, nargs=2, metavar=sides, default=(1, 2), help="of --pairs (default: 1 2)")
    for item in fields(Choices):
        text = f"{item.metadata['help']} (default: {item.default})"
        add("--" + item.name.replace("_", "-"), **{**item.metadata, "help": text})
    add("--as-course", action="store_true", help="also put it in data/, in place of the course's, for `make release`")
    add("--learn-anew", action="store_true", help="learn the encodings even if the folder has some of the same choices")
    add("--output", type=output_folder, required=True, metavar="DIR", help="folder for the files")


def run_prepare(options: argparse.Namespace) -> int:
    """Writes the corpus and prints a summary."""
    dataset, config, start = PRESETS.get(options.preset, (None, None, DEFAULTS))
    if not (options.train or options.pairs or options.dataset):
        options.dataset, options.config = dataset, options.config or config
    given = {name: getattr(options, name) for name in vars(DEFAULTS) if getattr(options, name) is not None}
    choices = replace(start, **given)
    choices = replace(choices, languages=(choices.languages[0], choices.languages[1]))
    folder = options.output
    earlier = read_summary(folder)  # now, not after an hour of work
    known = None if options.learn_anew else find_encodings(folder, earlier, choices)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".prepare-", dir=folder.parent) as made:
        summary = prepare(read_text(options, choices), choices, Path(made), known)
        summary["preset"], summary["tokenizers"] = options.preset, "used again" if known else "learnt"
        summary["files"] = sorted(file.name for file in Path(made).iterdir())
        (Path(made) / SUMMARY).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
        folder.mkdir(exist_ok=True)
        for name in earlier.get("files", ()):
            (folder / name).unlink(missing_ok=True)
        for name in [*summary["files"], SUMMARY]:
            (Path(made) / name).replace(folder / name)
    print("\n".join(report(folder, summary)))
    if options.as_course:
        put_in_course(folder, summary)
    return 0


def put_in_course(folder: Path, summary: Mapping[str, Any], data: Path = files.DATA_FOLDER) -> None:
    """Put a prepared corpus in the place of the course's; the references of its test split become private.

    Raises:
        CorpusError: where a split is missing.
    """
    texts = {}
    for split, name in (("train", files.TRAIN), ("dev", files.DEV), ("test", files.TEST)):
        if not summary["pairs"][split]:
            raise CorpusError(f"{folder}: has no {split} split, which a course needs; --{split} N draws one")
        texts[name] = (folder / f"{split}.{summary['encoding']}").read_text(encoding="utf-8")
    texts[files.TEST_SOURCE] = "".join(f"{line.partition(SEPARATOR)[0]}\n" for line in texts[files.TEST].splitlines())
    files.write_corpus(data, {name: text.encode() for name, text in texts.items()})
    print(f"in {data}: {', '.join(texts)}; `make release` uses them")


def read_text(options: argparse.Namespace, choices: Choices) -> dict[str, Iterable[TextPair]]:
    """Opens the texts by split. Raises: CorpusError where none is named."""
    named = {"train": options.train, "dev": options.dev_files, "test": options.test_files}
    splits: dict[str, Iterable[TextPair]] = {name: read_files(*paths) for name, paths in named.items() if paths}
    if options.pairs:
        splits["train"] = read_columns(options.pairs, tuple(options.columns))
    elif options.dataset:
        if choices.languages == DEFAULTS.languages:
            raise CorpusError("--dataset: name the languages too: --languages de en")
        theirs = read_dataset(options.dataset, options.config, choices.languages)
        splits = {**{name: rows for name, rows in theirs.items() if split_name(name) not in splits}, **splits}
    elif not options.train:
        raise CorpusError("no text is named: --train, --pairs, --dataset, or a --preset with a dataset of its own")
    return splits


def read_summary(folder: Path) -> dict[str, Any]:
    """Reads the record of an earlier `prepare` in a folder; nothing where it is empty or new.

    Raises:
        CorpusError: if there are other files in it.
    """
    path = folder / SUMMARY
    if path.is_file():
        return dict(json.loads(path.read_bytes()))
    if folder.exists() and any(folder.iterdir()):
        raise CorpusError(f"{folder}: has files that 'prepare' did not write; choose another --output")
    return {}


def find_encodings(folder: Path, earlier: dict[str, Any], choices: Choices) -> Tokenizers | None:
    """The encodings that the folder has, if they were learnt with the same choices."""
    if any(earlier.get(name) != value for name, value in choices.of_encodings.items()):
        return None
    try:
        source, target = (Tokenizer.from_file(str(folder / name)) for name in choices.tokenizer_names)
    except Exception as problem:  # the library raises plain ones
        raise CorpusError(f"{folder}: {problem}; --learn-anew makes its encodings again") from None
    source.encode_special_tokens = target.encode_special_tokens = True
    return source, target


def report(folder: Path, summary: dict[str, Any]) -> Iterator[str]:
    """Yields the lines that describe the corpus."""
    counts, longest = summary["pairs"], summary["longest"]
    yield f"{folder}: " + ", ".join(f"{counts[split]:,} {split}" for split in SPLITS)
    yield "dropped: " + (", ".join(f"{count:,} {why}" for why, count in summary["dropped"].items()) or "none")
    yield f"longest source: {longest['source']:,} tokens; longest target: {longest['target']:,}"
    if summary["tokenizers"] == "used again":
        names = ", ".join(name for name in summary["files"] if name.startswith("tokenizer"))
        yield f"{names}: used again, as found in the folder; --learn-anew replaces them"
    if not counts["dev"]:
        yield "note: there is no dev split, which training needs: --dev N draws one"
        return
    preset = ["--preset", summary["preset"]] if summary["preset"] else []
    places = ["--corpus", str(folder), "--output", f"runs/{folder.name}"]
    yield f"next: {shlex.join(['python', '-m', 'reference', 'train', *preset, *places])}"
