"""Encodings of other text: byte pairs or whole words, saved as JSON files of the library `tokenizers`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from ..bpe import Subwords
from ..files import CorpusError

UNKNOWN = "<unk>"


class WholeWords:
    """An encoding in which each word is one token; rare words are unknown to it."""

    def __init__(self, model: Tokenizer) -> None:
        """Takes a trained model; see `train`."""
        self._model = model

    @classmethod
    def train(cls, sentences: Iterable[Sequence[str]], size: int) -> WholeWords:
        """Keeps the `size` most frequent words."""
        counts = Counter(word for sentence in sentences for word in sentence)
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[:size]
        model = Tokenizer(WordLevel({word: index for index, word in enumerate([UNKNOWN, *frequent])}, UNKNOWN))
        model.pre_tokenizer = WhitespaceSplit()
        return cls(model)

    def to_json(self) -> str:
        """The file of the library `tokenizers`."""
        return self._model.to_str(pretty=True)

    def length(self, sentence: Sequence[str]) -> int:
        """How many tokens the sentence has."""
        return len(sentence)

    def encode(self, sentence: Iterable[str]) -> str:
        """The sentence as a line of the corpus."""
        return " ".join(UNKNOWN if self._model.token_to_id(word) is None else word for word in sentence)


Encoding = Subwords | WholeWords


def read_encoding(path: Path) -> Encoding:
    """Reads an encoding from a JSON file.

    Raises:
        CorpusError: if it is missing or not such a file.
    """
    try:
        text = path.read_text(encoding="utf-8")
        model = Tokenizer.from_str(text)
        kind = json.loads(text)["model"]["type"]
        return Subwords(model) if kind == "BPE" else {"WordLevel": WholeWords}[kind](model)
    except OSError as problem:
        raise CorpusError(f"{path}: {problem.strerror or problem}") from None
    except Exception:  # the library raises plain ones
        raise CorpusError(f"{path}: not an encoding that 'python -m data prepare' wrote") from None
