"""`translate`: translates the lines of a file, or line by line what somebody types."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from foundation.whole_files import in_one_piece, is_stream

from . import package
from .config import Config, ConfigError
from .decoding import (
    Hypothesis,
    add_checkpoint_flag,
    choose_search,
    decode_all,
    find_cached_search,
    forced_decode,
    has_cache,
    load_model,
    note,
    note_unknown,
)
from .raw_text import LANGUAGES, TextTokenizer
from .run_folder import Checkpoint

SOURCES = Path("data/corpus/fren.test.src.bpe")
TRANSLATIONS = Path("translations.txt")
STANDARD = Path("-")  # standard input or output
OF_TOKENS = (".bpe", ".words")  # endings of a corpus' files


@dataclass(frozen=True)
class Translation:
    """A line with its translations, the best one first; an empty line has one, which is empty."""

    line: str
    tokens: list[str]
    texts: list[str]
    hypotheses: list[Hypothesis]
    is_cut: bool = False  # whether the best one ends only because it may not be longer

    def as_n_best(self, number: int) -> str:
        """A line for each translation, as Moses writes them: number of the source ||| text ||| log p ||| score."""
        both = zip(self.texts, self.hypotheses, strict=True)
        return "\n".join(
            f"{number} ||| {text} ||| logp= {one.log_p or 0:.4f} ||| {one.score or 0:.4f}" for text, one in both
        )

    def as_json(self, number: int) -> str:
        """A line of JSON; scores where they are known."""
        found = {"number": number, "source": self.line, "translation": self.texts[0]}
        if self.hypotheses[0].score is None:
            return json.dumps(found, ensure_ascii=False)
        both = zip(self.texts, self.hypotheses, strict=True)
        best = [{"translation": text, "score": one.score, "log_p": one.log_p} for text, one in both]
        return json.dumps({**found, "n_best": best}, ensure_ascii=False)


class LineTranslator:
    """Translates lines with a trained model."""

    def __init__(
        self,
        model: package.model.Transformer,
        saved: Checkpoint,
        config: Config,
        tokenizer: TextTokenizer | None = None,
        *,
        n_best: int = 0,
        replaces_unknown: bool = False,
    ) -> None:
        """Chooses the search.

        Args:
            model: in eval mode.
            saved: has its vocabularies and its diagonal mask.
            config: how to decode.
            tokenizer: for raw text; None = lines are tokens, or `source|||target`.
            n_best: so many translations of each line, with scores; 0 = one, without.
            replaces_unknown: put source words in the place of unknown tokens.
        """
        self.model, self.saved, self.config, self.tokenizer = model, saved, config, tokenizer
        self.n_best, self.replaces_unknown = n_best, replaces_unknown
        if n_best:
            search = find_cached_search(model, config.beam_size, config.length_penalty, n_best)
            if search is None:
                raise ConfigError(
                    "--n-best needs the key/value cache, which only the reference has, for its own layers"
                )
        else:
            search = choose_search(model, config.beam_size, config.length_penalty, config.cached)
        self._search = search

    def split(self, line: str) -> list[str]:
        """Cuts a line into tokens."""
        return self.tokenizer.split(line) if self.tokenizer else line.split(package.data.SEPARATOR)[0].split()

    def translate(self, lines: list[str], progress: bool = False) -> list[Translation]:
        """Translates lines; of one that the model cannot read as a whole, the first tokens."""
        vocab, diagonal = self.saved.src_vocab, self.saved.diagonal
        all_tokens = [self.split(line) for line in lines]
        sources = [tokens[: package.data.LONGEST["source"]] for tokens in all_tokens]
        found = decode_all(self.model, sources, vocab, self.config, self._search, diagonal=diagonal, progress=progress)
        return list(map(self._translation, lines, all_tokens, sources, found))

    def _translation(self, line: str, tokens: list[str], source: list[str], found: list[Any] | None) -> Translation:
        if found is None:
            return Translation(line, tokens, [""], [Hypothesis([])])
        hypotheses: list[Hypothesis] = found if self.n_best else [Hypothesis(found)]
        all_ids = [one.ids for one in hypotheses]
        if self.replaces_unknown:
            written = replace_unknown(self.model, self.saved, source, all_ids)
        else:
            written = [self.saved.tgt_vocab.decode(ids) for ids in all_ids]
        join = self.tokenizer.join if self.tokenizer else package.vocab.join_subwords
        is_cut = len(all_ids[0]) == self.config.max_length
        return Translation(line, tokens, [join(one) for one in written], hypotheses, is_cut)


def replace_unknown(
    model: package.model.Transformer, saved: Checkpoint, source: list[str], translations: list[list[int]]
) -> list[list[str]]:
    """Puts the source word with the highest cross-attention in the place of each unknown token of some translations.

    It is often a name, and right as it is. The method is that of Jean et al. 2015, "On Using Very Large Target
    Vocabulary", without a dictionary; the weights are averaged over all heads of all layers.
    """
    all_tokens = [saved.tgt_vocab.decode(ids) for ids in translations]
    if not any(package.vocab.UNK_ID in ids for ids in translations):
        return all_tokens
    sources = [saved.src_vocab.encode(source)] * len(translations)
    batch = package.data.Batch.from_ids(sources, translations, saved.diagonal).to(next(model.parameters()).device)
    cross = torch.stack(forced_decode(model, batch)[1]["cross"])
    best = cross.mean(dim=(0, 2)).argmax(dim=-1).tolist()  # (b, t): a source position for each token
    return [
        [word_at(source, p) if token == package.vocab.UNK else token for token, p in zip(tokens, row, strict=False)]
        for tokens, row in zip(all_tokens, best, strict=True)
    ]


def word_at(tokens: list[str], position: int) -> str:
    """Returns the whole word that the token at `position` is a piece of."""
    first, last = position, position
    while first > 0 and tokens[first - 1].endswith(package.vocab.CONTINUES):
        first -= 1
    while last + 1 < len(tokens) and tokens[last].endswith(package.vocab.CONTINUES):
        last += 1
    return package.vocab.join_subwords(tokens[first : last + 1])


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
            note("these layers are not the reference's, so decoding takes longer")
    is_raw = not options.tokens and options.input.suffix not in OF_TOKENS
    folder = options.checkpoint.parent
    tokenizer = TextTokenizer.load(folder) if is_raw and (folder / LANGUAGES).is_file() else None
    n_best = options.n_best or 0
    translator = LineTranslator(model, saved, config, tokenizer, n_best=n_best, replaces_unknown=options.replace_unk)

    def shown(translation: Translation, number: int) -> str:
        if options.json:
            return translation.as_json(number)
        return translation.as_n_best(number) if options.n_best else translation.texts[0]

    if options.input == STANDARD == output and sys.stdin and sys.stdin.isatty():
        print(f"{package.name()}: one sentence per line; Ctrl-D ends", file=sys.stderr)
        for number, line in enumerate(typed_lines()):
            [translation] = translator.translate([line])
            print(shown(translation, number), flush=True)
            add_notes(f"line {number + 1}", [translation], saved, config)
        return 0
    lines = list(typed_lines()) if options.input == STANDARD else package.data.read_lines(options.input)
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

    Raises: ConfigError if they cannot be, or contradict each other.
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
