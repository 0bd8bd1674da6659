"""`translate`: translates the lines of a file, or line by line what somebody types."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foundation.whole_files import in_one_piece, is_stream

from . import package
from .building import extra
from .config import LANGUAGES, Config, ConfigError
from .decoding import (
    add_checkpoint_flag,
    choose_search,
    decode_all,
    find_cached_search,
    has_cache,
    load_model,
    note,
    note_unknown,
)
from .run_folder import Checkpoint

SOURCES = Path("data/corpus/fren.test.src.bpe")
TRANSLATIONS = Path("translations.txt")
STANDARD = Path("-")  # standard input or output
OF_TOKENS = (".bpe", ".words")  # endings of a corpus' files


@dataclass(frozen=True)
class Translation:
    """A line with its translation; that of an empty line is empty."""

    tokens: list[str]
    text: str
    is_cut: bool = False  # whether it ends only because it may not be longer


class LineTranslator:
    """Translates lines with a trained model."""

    def __init__(
        self, model: package.model.Transformer, saved: Checkpoint, config: Config, tokenizer: Any = None
    ) -> None:
        """Chooses the search.

        Args:
            model: in eval mode.
            saved: has its vocabularies and its diagonal mask.
            config: how to decode.
            tokenizer: `TextTokenizer` for raw text; None = lines are tokens, or `source|||target`.
        """
        self.model, self.saved, self.config = model, saved, config
        self._search = choose_search(model, config.beam_size, config.length_penalty, config.cached)
        self._split: Callable[[str], list[str]] = tokenizer.split if tokenizer else split_tokens
        self._join: Callable[[list[str]], str] = tokenizer.join if tokenizer else package.vocab.join_subwords

    def translate(self, lines: list[str], progress: bool = False) -> list[Translation]:
        """Translates lines; of one that the model cannot read as a whole, the first tokens."""
        saved, all_tokens = self.saved, [self._split(line) for line in lines]
        sources = [tokens[: package.data.LONGEST["source"]] for tokens in all_tokens]
        found = decode_all(
            self.model, sources, saved.src_vocab, self.config, self._search, diagonal=saved.diagonal, progress=progress
        )
        return [
            Translation(tokens, self._join(saved.tgt_vocab.decode(ids or [])), len(ids or []) == self.config.max_length)
            for tokens, ids in zip(all_tokens, found, strict=True)
        ]


def split_tokens(line: str) -> list[str]:
    """Returns the source tokens of a corpus' line."""
    return line.split(package.data.SEPARATOR)[0].split()


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
    parser.add_argument("--beam-size", type=int, help="1 = greedy search (default: the run's setting)")
    parser.add_argument(
        "--length-penalty", type=float, help="higher = longer translations (default: the run's setting)"
    )
    parser.add_argument("--max-length", type=int, help="the most tokens of a translation (default: the run's setting)")
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
            note("these layers are not the reference's, so decoding takes longer")
    is_raw = not options.tokens and options.input.suffix not in OF_TOKENS
    folder, tokenizer = options.checkpoint.parent, None
    if is_raw and (folder / LANGUAGES).is_file():
        tokenizer = extra("raw_text", str(folder / LANGUAGES)).TextTokenizer.load(folder)
    translator = LineTranslator(model, saved, config, tokenizer)
    if options.input == STANDARD == output and sys.stdin and sys.stdin.isatty():
        print(f"{package.name()}: one sentence per line; Ctrl-D ends", file=sys.stderr)
        for number, line in enumerate(typed_lines(), start=1):
            [translation] = translator.translate([line])
            print(translation.text, flush=True)
            add_notes(f"line {number}", [translation], saved, config)
        return 0
    lines = list(typed_lines()) if options.input == STANDARD else package.data.read_lines(options.input)
    if output == STANDARD:
        translations = translator.translate(lines, progress=True)
        print("".join(f"{translation.text}\n" for translation in translations), end="")
    else:
        with in_one_piece(output) as unfinished:
            translations = translator.translate(lines, progress=True)
            text = "".join(f"{translation.text}\n" for translation in translations)
            unfinished.write_text(text, encoding="utf-8")
        if not is_stream(output):  # there, everything but translations would be in the way
            print(f"{len(lines)} translations in {output}")
    add_notes("standard input" if options.input == STANDARD else options.input, translations, saved, config)
    return 0


def decoding_settings(config: Config, options: argparse.Namespace) -> Config:
    """Returns the run's settings with the changes of the flags.

    Raises: ConfigError if they cannot be, or contradict each other.
    """
    given = {name: getattr(options, name) for name in ("beam_size", "length_penalty", "max_length")}
    changes = {name: value for name, value in given.items() if value is not None}
    changed = replace(config, **changes, cached=options.cached is not False)
    if options.length_penalty is not None and changed.beam_size == 1:
        why = f"--length-penalty {options.length_penalty} has no effect on greedy search"
        raise ConfigError(f"{why}: add --beam-size N")
    return changed


def typed_lines() -> Iterator[str]:
    r"""Yields the lines of standard input as they come; only "\n" (or "\r\n") ends a line.

    Raises: DataError if it is closed, or not UTF-8.
    """
    if sys.stdin is None:
        raise package.data.DataError("standard input: it is closed")
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise package.data.DataError(f"standard input:{number}: not UTF-8 text (byte {error.start})") from None


def add_notes(place: Path | str, translations: list[Translation], saved: Checkpoint, config: Config) -> None:
    """Says what a reader of the translations should know: unknown tokens, and lines that are cut."""
    note_unknown(place, [one.tokens for one in translations], saved.src_vocab)
    most = package.data.LONGEST["source"]
    if long := numbered([len(one.tokens) > most for one in translations]):
        note(f"{place}: {long}: too long, only the first {most} tokens are translated")
    if cut := numbered([one.is_cut for one in translations]):
        note(f"{place}: {cut}: the translation stops at {config.max_length} tokens; --max-length allows more")


def numbered(chosen: list[bool], most: int = 3) -> str:
    """Names the chosen lines, "lines 2, 5, 9 and 4 more"; nothing where there are none."""
    lines = [str(number) for number, is_chosen in enumerate(chosen, start=1) if is_chosen]
    more = f" and {len(lines) - most} more" if len(lines) > most else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:most])}{more}" if lines else ""
