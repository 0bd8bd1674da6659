"""Lines of text to their best translations, and how these are written down."""

import json
from dataclasses import dataclass
from typing import Any

from ..data import LONGEST, SEPARATOR
from ..model import Transformer
from ..running.checkpoint import Checkpoint
from ..running.config import Config, ConfigError
from ..vocab import join_subwords
from .choosing import Hypothesis, Search, choose_search, find_n_best_search
from .raw_text import TextTokenizer
from .translate import decode_all
from .unknown_words import replace_unknown


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
        model: Transformer,
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
        return self.tokenizer.split(line) if self.tokenizer else line.split(SEPARATOR)[0].split()

    def translate(self, lines: list[str], progress: bool = False) -> list[Translation]:
        """Translates lines; of one that the model cannot read as a whole, the first tokens."""
        model, saved = self.model, self.saved
        all_tokens = [self.split(line) for line in lines]
        sources = [tokens[: LONGEST["source"]] for tokens in all_tokens]
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
        join = self.tokenizer.join if self.tokenizer else join_subwords
        return [
            Candidate(join(tokens), hypothesis.score, hypothesis.log_p)
            for tokens, hypothesis in zip(all_tokens, hypotheses, strict=True)
        ]


def without_scores(search: Search[list[int]]) -> Search[list[Hypothesis]]:
    """Makes a search for one hypothesis of each sentence."""

    def search_one(*arguments: Any, **options: Any) -> list[list[Hypothesis]]:
        return [[Hypothesis(ids)] for ids in search(*arguments, **options)]

    return search_one
