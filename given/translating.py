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
from torch import Tensor

from foundation.whole_files import in_one_piece, is_stream

from . import package
from .config import Config, ConfigError
from .decoding import (
    Hypothesis,
    Search,
    add_checkpoint_flag,
    choose_search,
    decode_all,
    find_cached_search,
    find_n_best_search,
    forced_decode,
    has_cache,
    load_model,
    note_unknown,
)
from .raw_text import LANGUAGES, TextTokenizer
from .run_folder import Checkpoint


def replace_unknown(
    model: package.model.Transformer,
    source: list[str],
    translations: list[list[int]],
    src_vocab: package.vocab.Vocabulary,
    tgt_vocab: package.vocab.Vocabulary,
    diagonal: Tensor | None = None,
) -> list[list[str]]:
    """Puts the source word with the highest cross-attention in the place of each unknown token.

    The weights are averaged over all heads of all layers.

    Args:
        model: that made the translations.
        source: tokens of one sentence.
        translations: of this sentence, as ids without bos and eos.
        src_vocab: the source vocabulary of the model.
        tgt_vocab: the target vocabulary of the model.
        diagonal: the mask that the model was trained with, or None.

    Returns:
        The tokens of each translation.
    """
    all_tokens = [tgt_vocab.decode(ids) for ids in translations]
    if not any(package.vocab.UNK_ID in ids for ids in translations):
        return all_tokens
    batch = package.data.Batch.from_ids([src_vocab.encode(source)] * len(translations), translations, diagonal)
    _, weights = forced_decode(model, batch.to(next(model.parameters()).device))
    best = torch.stack(weights["cross"]).mean(dim=(0, 2)).argmax(dim=-1)  # (b, t): a source position for each token
    return [
        [
            word_at(source, position) if token == package.vocab.UNK else token
            for token, position in zip(tokens, positions, strict=False)
        ]
        for tokens, positions in zip(all_tokens, best.tolist(), strict=True)
    ]


def word_at(tokens: list[str], position: int) -> str:
    """Returns the whole word that the token at `position` is a piece of."""
    first, last = position, position
    while first > 0 and tokens[first - 1].endswith(package.vocab.CONTINUES):
        first -= 1
    while last + 1 < len(tokens) and tokens[last].endswith(package.vocab.CONTINUES):
        last += 1
    return package.vocab.join_subwords(tokens[first : last + 1])


@dataclass(frozen=True)
class Candidate:
    """One translation of a line."""

    text: str
    score: float | None  # log p / length ** length_penalty; only beam search with the cache tells both
    log_p: float | None


@dataclass(frozen=True)
class Translation:
    """A line with its translations, the best one first; an empty line has one, which is empty."""

    line: str
    tokens: list[str]
    candidates: list[Candidate]
    is_cut: bool = False  # whether the best one ends only because it may not be longer

    def as_text(self) -> str:
        """The best translation alone."""
        return self.candidates[0].text

    def as_n_best(self, number: int) -> str:
        """A line for each translation, as Moses writes them: number of the source ||| text ||| log p ||| score."""
        return "\n".join(
            f"{number} ||| {one.text} ||| logp= {one.log_p or 0:.4f} ||| {one.score or 0:.4f}"
            for one in self.candidates
        )

    def as_json(self, number: int) -> str:
        """A line of JSON; scores where they are known."""
        found = {"number": number, "source": self.line, "translation": self.candidates[0].text}
        if self.candidates[0].score is None:
            return json.dumps(found, ensure_ascii=False)
        best = [{"translation": one.text, "score": one.score, "log_p": one.log_p} for one in self.candidates]
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

        Raises:
            ConfigError: if there are no scores, since the model's layers are not the reference's.
        """
        self.model, self.saved, self.config, self.tokenizer = model, saved, config, tokenizer
        self.replaces_unknown = replaces_unknown
        search = None
        if n_best:
            search = find_n_best_search(model, n_best, config.beam_size, config.length_penalty)
            if search is None:
                raise ConfigError(
                    "--n-best needs the key/value cache, which only the reference has, for its own layers"
                )
        self._search = search or without_scores(
            choose_search(model, config.beam_size, config.length_penalty, config.cached)
        )

    def split(self, line: str) -> list[str]:
        """Cuts a line into tokens."""
        return self.tokenizer.split(line) if self.tokenizer else line.split(package.data.SEPARATOR)[0].split()

    def translate(self, lines: list[str], progress: bool = False) -> list[Translation]:
        """Translates lines; of one that the model cannot read as a whole, the first tokens."""
        model, saved = self.model, self.saved
        all_tokens = [self.split(line) for line in lines]
        sources = [tokens[: package.data.LONGEST["source"]] for tokens in all_tokens]
        found = decode_all(
            model, sources, saved.src_vocab, self.config, self._search, diagonal=saved.diagonal, progress=progress
        )
        translations = []
        for line, tokens, source, hypotheses in zip(lines, all_tokens, sources, found, strict=True):
            if hypotheses is None:
                translations.append(Translation(line, tokens, [Candidate("", None, None)]))
                continue
            is_cut = len(hypotheses[0].ids) == self.config.max_length
            translations.append(Translation(line, tokens, self._candidates(source, hypotheses), is_cut))
        return translations

    def _candidates(self, source: list[str], hypotheses: list[Hypothesis]) -> list[Candidate]:
        saved, all_ids = self.saved, [hypothesis.ids for hypothesis in hypotheses]
        if self.replaces_unknown:
            all_tokens = replace_unknown(self.model, source, all_ids, saved.src_vocab, saved.tgt_vocab, saved.diagonal)
        else:
            all_tokens = [saved.tgt_vocab.decode(ids) for ids in all_ids]
        join = self.tokenizer.join if self.tokenizer else package.vocab.join_subwords
        return [
            Candidate(join(tokens), hypothesis.score, hypothesis.log_p)
            for tokens, hypothesis in zip(all_tokens, hypotheses, strict=True)
        ]


def without_scores(search: Search[list[int]]) -> Search[list[Hypothesis]]:
    """Makes a search for one hypothesis of each sentence."""

    def search_one(*arguments: Any, **options: Any) -> list[list[Hypothesis]]:
        return [[Hypothesis(ids)] for ids in search(*arguments, **options)]

    return search_one


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
            why = "these layers are not the reference's, so decoding takes longer"
            print(f"{package.name()}: note: {why}", file=sys.stderr)
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
        raise package.data.DataError("standard input: it is closed")
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise package.data.DataError(f"standard input:{number}: not UTF-8 text (byte {error.start})") from None


def add_notes(place: Path | str, translations: list[Translation], saved: Checkpoint, config: Config) -> None:
    """Says what a reader of the translations should know: unknown tokens, and lines that are cut."""
    note_unknown(place, [translation.tokens for translation in translations], saved.src_vocab)
    most = package.data.LONGEST["source"]
    long = [number for number, one in enumerate(translations, start=1) if len(one.tokens) > most]
    if long:
        why = f"too long, only the first {most} tokens are translated"
        print(f"{package.name()}: note: {place}: {numbered(long)}: {why}", file=sys.stderr)
    cut = [number for number, one in enumerate(translations, start=1) if one.is_cut]
    if cut:
        why = f"the translation stops at {config.max_length} tokens; --max-length allows more"
        print(f"{package.name()}: note: {place}: {numbered(cut)}: {why}", file=sys.stderr)


def numbered(lines: list[int], most: int = 3) -> str:
    """Names lines: "lines 2, 5, 9 and 4 more"."""
    more = f" and {len(lines) - most} more" if len(lines) > most else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:most]))}{more}"
