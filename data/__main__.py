"""The command line: `python -m data generate | prepare`."""

from __future__ import annotations

import argparse
import json
import sys

from foundation.command_line import Parser, print_anywhere, run_command
from foundation.whole_files import check_folder

from . import files
from .files import CorpusError, files_of_others, output_folder, read_manifest
from .generator.build import build
from .generator.chance import read_settings
from .generator.entries import read_lexicon
from .prepare import add_prepare_options

EXAMPLES = """examples:
  python -m data generate                          the course's corpus, as data/manifest.json records it
  python -m data generate --test-seed 7            the same, but a fresh hidden test set
  python -m data generate --seed 7 --output other  a new corpus, in the folder 'other'
  python -m data prepare --help                    a corpus of your own, from any parallel text
"""
SEED_HELP = "seed of the whole corpus (default: the one in data/manifest.json)"
TEST_SEED_HELP = "seed of the test split only; training split, dev split and BPE stay as they are"
OUTPUT_HELP = "folder for corpus/, private/ and manifest.json (default: data/)"
UPDATE_HELP = "make this the course's corpus: record its seeds and checksums in data/manifest.json"
CHANGED = (
    "the lexicon, grammar or settings no longer give the corpus in data/manifest.json; if that is meant, run "
    "'python -m data generate --update-manifest'"
)


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit status: 0, or 2 for wrong input."""
    print_anywhere()
    options = _parser().parse_args(arguments)
    return run_command("data", lambda: int(options.run(options)))


def _parser() -> argparse.ArgumentParser:
    shape = argparse.RawDescriptionHelpFormatter
    about = "Makes the bundled French-English corpus; prepares others."
    parser = Parser(prog="python -m data", description=about, epilog=EXAMPLES, formatter_class=shape)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    about = "draw the corpus and write its files"
    command = commands.add_parser("generate", help=about, description=about, epilog=EXAMPLES, formatter_class=shape)
    command.set_defaults(run=generate)
    command.add_argument("--output", type=output_folder, default=files.DATA_FOLDER, metavar="DIR", help=OUTPUT_HELP)
    command.add_argument("--seed", type=int, metavar="N", help=SEED_HELP)
    command.add_argument("--test-seed", type=int, metavar="N", help=TEST_SEED_HELP)
    command.add_argument("--update-manifest", action="store_true", help=UPDATE_HELP)
    about = "turn parallel text into a corpus and its encodings"
    add_prepare_options(commands.add_parser("prepare", help=about, description=about, formatter_class=shape))
    return parser


def generate(options: argparse.Namespace) -> int:
    """Draws a corpus and writes it; for the default corpus, compares it with the committed manifest."""
    check_folder(options.output)  # before the work, not after it
    recorded = read_manifest()
    is_default_place = options.output.resolve() == files.DATA_FOLDER
    own = files_of_others() if is_default_place else []
    if own:
        print(f"{', '.join(own)}: a corpus of your own, not made by 'generate': it stays until you move it away")
        return 0
    seed, test_seed = recorded["seed"], recorded["test_seed"]
    if options.seed is not None:
        seed = test_seed = options.seed
    test_seed = test_seed if options.test_seed is None else options.test_seed
    corpus = build(read_lexicon(), read_settings(), seed, test_seed)
    contents = corpus.contents()
    manifest = {
        "seed": seed,
        "test_seed": test_seed,
        "counts": {split: len(getattr(corpus, split)) for split in ("train", "dev", "test")},
        "vocabulary": corpus.vocabulary(),
        "files": {name: files.checksum(content) for name, content in contents.items()},
    }
    is_recorded = (seed, test_seed) == (recorded["seed"], recorded["test_seed"])
    changed = [name for name in contents if manifest["files"][name] != recorded["files"].get(name)]
    if is_default_place and is_recorded and not options.update_manifest and changed:
        raise CorpusError(f"{', '.join(changed)}: {CHANGED}")
    record = f"{json.dumps(manifest, indent=2, sort_keys=True)}\n".encode()
    if options.update_manifest or not is_default_place:
        contents[files.MANIFEST] = record
    if is_default_place:
        contents[files.GENERATED] = record
    files.write_corpus(options.output, contents)
    counts = ", ".join(f"{count} {split}" for split, count in manifest["counts"].items())
    print(f"{options.output}: {counts} pairs from seed {seed}, test seed {test_seed}")
    print("vocabulary: {french} French, {english} English subwords".format(**manifest["vocabulary"]))
    if is_default_place and not is_recorded and not options.update_manifest:
        print("note: not the corpus that data/manifest.json records; --update-manifest makes it so")
    return 0


if __name__ == "__main__":
    sys.exit(main())
