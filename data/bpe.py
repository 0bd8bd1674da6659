"""Byte-pair encoding with the library `tokenizers`, written with `@@` after each piece that continues.

The encoding is learnt on the training split only. Its size is chosen so that the number of *distinct tokens of the
encoded training split*, plus the three special ids, is as close as possible to the vocabulary asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from tokenizers import Tokenizer  # noqa: E402
from tokenizers.models import BPE  # noqa: E402
from tokenizers.pre_tokenizers import WhitespaceSplit  # noqa: E402
from tokenizers.trainers import BpeTrainer  # noqa: E402

from given.extras.raw_text import END_OF_WORD  # noqa: E402
from reference.vocab import CONTINUES  # noqa: E402

SPECIAL_IDS = 3  # pad, bos, eos: in the vocabulary, but not in the corpus
ATTEMPTS = 8

Lines = Callable[[], Iterable[str]]
"""Gives the sentences, as often as it is called: words separated by spaces."""


def train_bpe(tokenizer: Tokenizer, lines: Lines, size: int, special: Sequence[str] = ()) -> Tokenizer:
    """Learns byte pairs (Sennrich et al. 2016), the same in every process.

    The library numbers the letters that end a word in the order of a hash table, which differs from process to process,
    and among equally frequent pairs the lower numbers win. As "special" tokens we number them.

    Args:
        tokenizer: with an empty BPE model that marks the ends of words by `END_OF_WORD`; it is trained.
        lines: the sentences.
        size: tokens, special ones included.
        special: tokens that get the first numbers.

    Returns:
        The tokenizer, in which no token is special any more.
    """
    endings = sorted({word[-1] for line in lines() for word in line.split(" ") if word})
    first = [*special, *(letter + END_OF_WORD for letter in endings)]
    trainer = BpeTrainer(vocab_size=size, end_of_word_suffix=END_OF_WORD, special_tokens=first, show_progress=False)
    tokenizer.train_from_iterator(lines(), trainer)
    return Tokenizer.from_str(json.dumps({**json.loads(tokenizer.to_str()), "added_tokens": []}))


class Subwords:
    """One language's encoding."""

    def __init__(self, model: Tokenizer):
        """Takes a trained model; see `train`."""
        self._model = model
        self._pieces: dict[str, tuple[str, ...]] = {}

    @classmethod
    def train(cls, sentences: Sequence[Sequence[str]], size: int) -> Subwords:
        """Learns pieces from tokenized sentences; `size` counts letters and merges."""
        model = Tokenizer(BPE(end_of_word_suffix=END_OF_WORD))
        model.pre_tokenizer = WhitespaceSplit()
        # sorted, so that ties do not depend on the order of the sentences
        lines = sorted(" ".join(sentence) for sentence in sentences)
        return cls(train_bpe(model, lambda: lines, size))

    def to_json(self) -> str:
        """Returns the JSON file of the library `tokenizers`."""
        return self._model.to_str(pretty=True)

    def pieces(self, word: str) -> tuple[str, ...]:
        """Cuts a word into pieces: `lower -> low@@ er`. Letters that training never saw stand alone."""
        if word not in self._pieces:
            tokens = self._model.encode(word).tokens
            plain = [token.removesuffix(END_OF_WORD) for token in tokens]
            if "".join(plain) != word:
                plain = list(word)
            self._pieces[word] = tuple(piece + CONTINUES for piece in plain[:-1]) + (plain[-1],)
        return self._pieces[word]

    def length(self, sentence: Iterable[str]) -> int:
        """Counts the tokens of a sentence."""
        return sum(len(self.pieces(word)) for word in sentence)

    def encode(self, sentence: Iterable[str]) -> str:
        """The sentence as a line of the corpus."""
        return " ".join(piece for word in sentence for piece in self.pieces(word))

    def vocabulary(self, sentences: Iterable[Sequence[str]]) -> set[str]:
        """Distinct tokens of the encoded sentences."""
        return {piece for sentence in sentences for word in sentence for piece in self.pieces(word)}


def learn(sentences: Sequence[Sequence[str]], vocabulary: int) -> Subwords:
    """Learns the encoding whose vocabulary on `sentences` is nearest to `vocabulary` (special ids included)."""
    wanted = vocabulary - SPECIAL_IDS
    size = wanted
    found: list[tuple[int, Subwords]] = []
    for _ in range(ATTEMPTS):
        subwords = Subwords.train(sentences, size)
        too_many = len(subwords.vocabulary(sentences)) - wanted
        found.append((abs(too_many), subwords))
        if too_many == 0:
            break
        size -= too_many
    return min(found, key=lambda attempt: attempt[0])[1]
