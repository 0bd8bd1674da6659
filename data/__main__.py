"""The command line: `python -m data generate | prepare`."""

import argparse
import hashlib
import json
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from foundation.command_line import Commands, Parser, UserError, add_commands, print_anywhere, run_command
from foundation.whole_files import check_folder, write_whole
from reference.vocab import SEPARATOR

from .encodings import SPLITS, Choices, Tokenizers, language, number_or_share
from .generator.build import DEV, TEST, TEST_SOURCE, TRAIN, build, contents_of, vocabulary_of
from .generator.chance import read_settings
from .generator.entries import Lexicon
from .parallel_text import TextPair, prepare, read_columns, read_dataset, read_files, split_name

DATA_FOLDER = Path(__file__).resolve().parent
MANIFEST = "manifest.json"
"""Seeds and sizes of the course's corpus, and a checksum of each file."""
GENERATED = "private/generated.json"
"""The same of the last corpus that `generate` wrote, recorded as the course's or not."""
GUESSED = 2**40
"""Whoever has the kit can try all test seeds below."""
SUMMARY = "summary.json"
"""What `prepare` made in a folder."""


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit status: 0, or 2 for wrong input."""
    print_anywhere()
    about = "Makes the bundled French-English corpus; prepares others."
    path, types = Path(__file__).with_name("flags.toml"), {"language": language, "share": number_or_share}
    examples = tomllib.loads(path.read_text(encoding="utf-8"))["examples"]
    parser = Parser(prog="python -m data", description=about, epilog=examples["generate"])
    for name, command in add_commands(parser, COMMANDS, path, {"folder": output_folder, **types}).items():
        command.epilog = examples[name]
    options = parser.parse_args(arguments)
    return run_command("data", lambda: int(options.run(options)))


def output_folder(text: str) -> Path:
    """Reads the name of a folder to write to; refuses an empty one (from an unset shell variable)."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; write '.' for the current folder")
    return Path(text)


def write_corpus(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Writes the files of a course's corpus; the word alignments that earlier versions of the kit put there go."""
    for old in folder.glob("*/fren.*.align"):
        old.unlink()
    for name, content in contents.items():
        write_whole(folder / name, content)


# -- the bundled corpus ---------------------------------------------------------------------------------


def generate(options: argparse.Namespace) -> int:
    """Draw the corpus and write its files.

    The course's corpus is compared with the committed manifest.
    """
    options.output = options.output or DATA_FOLDER
    check_folder(options.output)  # before the work, not after it
    is_default_place = options.output.resolve() == DATA_FOLDER
    if is_default_place and (own := files_of_others()):
        print(f"{', '.join(own)}: a corpus of your own, not made by 'generate': it stays until you move it away")
        return 0
    recorded = json.loads((DATA_FOLDER / MANIFEST).read_bytes())
    seed, test_seed = recorded["seed"], recorded["test_seed"]
    if options.seed is not None:
        seed = test_seed = options.seed
    test_seed = test_seed if options.test_seed is None else options.test_seed
    corpus = build(Lexicon(), read_settings(), seed, test_seed)
    contents = contents_of(corpus)
    manifest = {
        "seed": seed,
        "test_seed": test_seed,
        "counts": {split: len(pairs) for split, pairs in corpus.items()},
        "vocabulary": vocabulary_of(corpus),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
    }
    is_recorded = (seed, test_seed) == (recorded["seed"], recorded["test_seed"])
    changed = [name for name, digest in manifest["files"].items() if digest != recorded["files"].get(name)]
    if is_default_place and is_recorded and not options.update_manifest and changed:
        fault = "the lexicon, grammar or settings no longer give the corpus in data/manifest.json"
        remedy = "if that is meant, run 'python -m data generate --update-manifest'"
        raise UserError(f"{', '.join(changed)}: {fault}; {remedy}")
    record = f"{json.dumps(manifest, indent=2, sort_keys=True)}\n".encode()
    if options.update_manifest or not is_default_place:
        contents = {MANIFEST: record, **contents}  # first: make takes what is older than it for outdated
    if is_default_place:
        contents[GENERATED] = record
    write_corpus(options.output, contents)
    counts = ", ".join(f"{count} {split}" for split, count in manifest["counts"].items())
    print(f"{options.output}: {counts} pairs from seed {seed}, test seed {test_seed}")
    print("vocabulary: {french} French, {english} English subwords".format(**manifest["vocabulary"]))
    if not is_recorded and abs(test_seed) < GUESSED:
        print("note: so short a test seed can be guessed: draw a longer one, as new-term.md explains", file=sys.stderr)
    if is_default_place and not is_recorded and not options.update_manifest:
        print("note: not the corpus that data/manifest.json records; --update-manifest makes it so")
    return 0


def files_of_others() -> list[str]:
    """The names of files in `data/` that a corpus consists of and that the generator has not written."""
    records = [DATA_FOLDER / name for name in (MANIFEST, GENERATED) if (DATA_FOLDER / name).is_file()]
    known = {(name, digest) for record in records for name, digest in json.loads(record.read_bytes())["files"].items()}
    present = [name for name in (TRAIN, DEV, TEST_SOURCE, TEST) if (DATA_FOLDER / name).is_file()]
    digests = [hashlib.sha256((DATA_FOLDER / name).read_bytes()).hexdigest() for name in present]
    return [name for name, digest in zip(present, digests, strict=True) if (name, digest) not in known]


# -- other text -----------------------------------------------------------------------------------------


def run_prepare(options: argparse.Namespace) -> int:
    """Turn parallel text into a corpus and its encodings."""
    presets = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
    given: dict[str, Any] = presets.get(options.preset, {})
    dataset, config = given.pop("dataset", None), given.pop("config", None)
    if not (options.train or options.pairs or options.dataset):
        options.dataset, options.config = dataset, options.config or config
    given |= {name: getattr(options, name) for name in vars(Choices()) if getattr(options, name) is not None}
    choices = Choices(**given | {"languages": tuple(given.get("languages", Choices.languages))})
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


def put_in_course(folder: Path, summary: Mapping[str, Any]) -> None:
    """Puts a prepared corpus in the place of the course's; the references of its test split become private.

    Raises: UserError where a split is missing.
    """
    contents = {}
    for split, name in zip(SPLITS, (TRAIN, DEV, TEST), strict=True):
        if not summary["pairs"][split]:
            raise UserError(f"{folder}: has no {split} split, which a course needs; --{split} N draws one")
        contents[name] = (folder / f"{split}.{summary['encoding']}").read_bytes()
    references = contents[TEST].decode().splitlines()
    contents[TEST_SOURCE] = "".join(f"{line.partition(SEPARATOR)[0]}\n" for line in references).encode()
    write_corpus(DATA_FOLDER, contents)
    print(f"in {DATA_FOLDER}: {', '.join(contents)}; `make release` uses them")


def read_text(options: argparse.Namespace, choices: Choices) -> dict[str, Iterable[TextPair]]:
    """Opens the texts by split. Raises: UserError where none is named."""
    named = {"train": options.train, "dev": options.dev_files, "test": options.test_files}
    splits: dict[str, Iterable[TextPair]] = {name: read_files(*paths) for name, paths in named.items() if paths}
    if options.pairs:
        splits["train"] = read_columns(options.pairs, tuple(options.columns))
    elif options.dataset:
        if choices.languages == Choices.languages:
            raise UserError("--dataset: name the languages too: --languages de en")
        theirs = read_dataset(options.dataset, options.config, choices.languages)
        splits = {**{name: rows for name, rows in theirs.items() if split_name(name) not in splits}, **splits}
    elif not options.train:
        raise UserError("no text is named: --train, --pairs, --dataset, or a --preset with a dataset of its own")
    return splits


def read_summary(folder: Path) -> dict[str, Any]:
    """Reads the record of an earlier `prepare`, if any. Raises: UserError where the folder has other files."""
    path = folder / SUMMARY
    if path.is_file():
        return dict(json.loads(path.read_bytes()))
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder}: has files that 'prepare' did not write; choose another --output")
    return {}


def find_encodings(folder: Path, earlier: dict[str, Any], choices: Choices) -> Tokenizers | None:
    """The encodings that the folder has, if they were learnt with the same choices."""
    if any(earlier.get(name) != value for name, value in choices.of_encodings.items()):
        return None
    try:
        source, target = (Tokenizer.from_file(str(folder / name)) for name in choices.tokenizer_names)
    except Exception as problem:  # the library raises plain ones
        raise UserError(f"{folder}: {problem}; --learn-anew makes its encodings again") from None
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


COMMANDS: Commands = {
    "generate": (generate, "", ("generate",)),
    "prepare": (run_prepare, "", ("prepare",)),
}
"""Their examples, of several lines, stand in `flags.toml`."""


if __name__ == "__main__":
    sys.exit(main())
