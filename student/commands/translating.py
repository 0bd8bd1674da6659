"""`translate`: translates a file, or line by line what somebody types."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..data import LONGEST, DataError, read_lines
from ..running.checkpoint import Checkpoint
from ..running.config import Config, ConfigError
from ..translation.choosing import find_cached_search, has_cache
from ..translation.lines import LineTranslator, Translation
from ..translation.raw_text import LANGUAGES, TextTokenizer
from ..whole_files import in_one_piece, is_stream
from .trained_model import add_checkpoint_flag, load_model, note_unknown

PACKAGE = __name__.rsplit(".", 2)[0]
SOURCES = Path("data/corpus/fren.test.src.bpe")
TRANSLATIONS = Path("translations.txt")
STANDARD = Path("-")  # standard input or output
OF_TOKENS = (".bpe", ".words")  # endings of a corpus' files


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    add_checkpoint_flag(parser)
    text = "one sentence per line; - = standard input, line by line if somebody types"
    parser.add_argument("--input", type=Path, default=SOURCES, help=f"{text} (default: {SOURCES})")
    parser.add_argument("--output", type=Path, help=f"- = standard output (default: {TRANSLATIONS}, or - for input -)")
    parser.add_argument(
        "--tokens",
        action="store_true",
        help="the input is tokens, or `source|||target` lines, not raw text; assumed of files that end in .bpe or "
        ".words, and where the run has no tokenizer",
    )
    parser.add_argument("--beam-size", type=int, help="1 = greedy search (default: the run's setting, or --n-best)")
    parser.add_argument(
        "--length-penalty", type=float, help="higher = longer translations (default: the run's setting)"
    )
    parser.add_argument("--max-length", type=int, help="the most tokens of a translation (default: the run's setting)")
    parser.add_argument(
        "--n-best", type=int, metavar="N", help="N translations of each line, with scores, as Moses has"
    )
    parser.add_argument("--replace-unk", action="store_true", help="put the source word in the place of <unk>")
    parser.add_argument("--json", action="store_true", help="write lines of JSON")
    parser.add_argument(
        "--cached",
        action=argparse.BooleanOptionalAction,
        help="use the key/value cache; the result is the same (default: where there is one and it fits)",
    )


def run(options: argparse.Namespace) -> int:
    """Writes the translations, line to line; returns the exit status."""
    output = options.output or (STANDARD if options.input == STANDARD else TRANSLATIONS)
    saved, model = load_model(options)
    config = decoding_settings(saved.config, options)
    if config.cached and find_cached_search(model, 1, 0.0) is None:
        if options.cached:
            raise ConfigError(
                "--cached: only the reference has a key/value cache, for layers that are written as its own"
            )
        if has_cache():
            print(f"{PACKAGE}: note: these layers are not the reference's, so decoding takes longer", file=sys.stderr)
    is_raw = not options.tokens and options.input.suffix not in OF_TOKENS
    folder = options.checkpoint.parent
    tokenizer = TextTokenizer.load(folder) if is_raw and (folder / LANGUAGES).is_file() else None
    translator = LineTranslator(
        model, saved, config, tokenizer, n_best=options.n_best or 0, replaces_unknown=options.replace_unk
    )

    def shown(translation: Translation, number: int) -> str:
        if options.json:
            return translation.as_json(number)
        return translation.as_n_best(number) if options.n_best else translation.as_text()

    if options.input == STANDARD == output and sys.stdin and sys.stdin.isatty():
        print(f"{PACKAGE}: one sentence per line; Ctrl-D ends", file=sys.stderr)
        for number, line in enumerate(typed_lines()):
            [translation] = translator.translate([line])
            print(shown(translation, number), flush=True)
            add_notes(f"line {number + 1}", [translation], saved, config)
        return 0
    lines = list(typed_lines()) if options.input == STANDARD else read_lines(options.input)
    if output == STANDARD:
        translations = translator.translate(lines, progress=True)
        for number, translation in enumerate(translations):
            print(shown(translation, number))
    else:
        with in_one_piece(output) as unfinished:
            translations = translator.translate(lines, progress=True)
            text = "".join(shown(translation, number) + "\n" for number, translation in enumerate(translations))
            unfinished.write_text(text, encoding="utf-8")
        if not is_stream(output):  # there, everything but translations would be in the way
            print(f"{len(lines)} translations in {output}")
    add_notes("standard input" if options.input == STANDARD else options.input, translations, saved, config)
    return 0


def decoding_settings(config: Config, options: argparse.Namespace) -> Config:
    """Returns the run's settings with the changes of the flags.

    Raises:
        ConfigError: if they cannot be, or contradict each other.
    """
    given = {name: getattr(options, name) for name in ("beam_size", "length_penalty", "max_length")}
    changes = {name: value for name, value in given.items() if value is not None}
    changes["cached"] = options.cached is not False
    if options.n_best is not None:
        if options.n_best < 1:
            raise ConfigError(f"--n-best {options.n_best}: expected at least 1")
        beam_size = changes.setdefault("beam_size", max(config.beam_size, options.n_best))
        if options.n_best > beam_size:
            raise ConfigError(f"--n-best {options.n_best}: more than --beam-size {beam_size}")
        if options.cached is False:
            raise ConfigError("--n-best needs the key/value cache; leave out --no-cached")
    changed = replace(config, **changes)
    if options.length_penalty is not None and changed.beam_size == 1 and not options.n_best:
        why = f"--length-penalty {options.length_penalty} has no effect on greedy search"
        raise ConfigError(f"{why}: add --beam-size N")
    return changed


def typed_lines() -> Iterator[str]:
    r"""Yields the lines of standard input as they come; only "\n" (or "\r\n") ends a line.

    Raises:
        DataError: if it is closed, or not UTF-8.
    """
    if sys.stdin is None:
        raise DataError("standard input: it is closed")
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise DataError(f"standard input:{number}: not UTF-8 text (byte {error.start})") from None


def add_notes(place: Path | str, translations: list[Translation], saved: Checkpoint, config: Config) -> None:
    """Says what a reader of the translations should know: unknown tokens, and lines that are cut."""
    note_unknown(place, [translation.tokens for translation in translations], saved.src_vocab)
    long = [number for number, one in enumerate(translations, start=1) if len(one.tokens) > LONGEST["source"]]
    if long:
        why = f"too long, only the first {LONGEST['source']} tokens are translated"
        print(f"{PACKAGE}: note: {place}: {numbered(long)}: {why}", file=sys.stderr)
    cut = [number for number, one in enumerate(translations, start=1) if one.is_cut]
    if cut:
        why = f"the translation stops at {config.max_length} tokens; --max-length allows more"
        print(f"{PACKAGE}: note: {place}: {numbered(cut)}: {why}", file=sys.stderr)


def numbered(lines: list[int], most: int = 3) -> str:
    """Names lines: "lines 2, 5, 9 and 4 more"."""
    more = f" and {len(lines) - most} more" if len(lines) > most else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:most]))}{more}"
