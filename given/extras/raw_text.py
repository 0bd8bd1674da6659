"""Raw text to the tokens of a corpus, and back.

    text = TextTokenizer.load(Package("student"), Path("runs/deen"))   # a run, or what `data prepare` wrote
    text.split("Ein Haus.")                          # ["ein", "ha@@", "us", "."]: what the model reads
    text.join(["a", "ho@@", "use", "."])             # "a house.": what people read

Such a folder has `languages.json`, which names the encoding (`bpe` or `words`) and, for `source` and `target`, the
language and the file of its tokenizer:

    {"encoding": "bpe", "source": {"language": "de", "tokenizer": "tokenizer.json"}, "target": {...}}

`train` copies these files from the corpus into the run folder. The tokenizers are those of the library `tokenizers`,
complete in themselves; it and `sacremoses` are needed for raw text only, not for training.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import LANGUAGES
from ..package import Package

if TYPE_CHECKING:
    from tokenizers import Tokenizer

UNKNOWN = "[UNK]"  # the tokenizers' name for it
END_OF_WORD = "</w>"  # ends the last piece of a word in a tokenizer with byte pairs
GERMANIC = {"de", "en", "nl"}  # elsewhere an apostrophe between two words belongs to both: l'homme, dell'acqua
IN_NUMBER = re.compile(r"(?<=\d) ([.,:]) (?=\d)")
HYPHEN = re.compile(r"(?<=[^\W\d_]) ([-\N{HYPHEN}\N{NON-BREAKING HYPHEN}]) (?=[^\W\d_])")
APOSTROPHE = re.compile(r"(?<=[^\W\d_]) (['’]) (?=[^\W\d_])")
ENGLISH_APOSTROPHE = re.compile(r"(?<=[^\W\d_]) (['’]) (?=(?:s|t|m|d|re|ve|ll)\b)", re.IGNORECASE)  # don't, he's


class TextTokenizer:
    """The tokenizers of a corpus: raw source text to tokens, tokens of the target to text."""

    def __init__(self, package: Package, source: Tokenizer, target_language: str) -> None:
        """Takes the source's tokenizer and the code of the target language, such as `en`; see `load`."""
        from sacremoses import MosesDetokenizer

        self.vocab, self.source, self.target_language = package.vocab, source, target_language
        source.encode_special_tokens = True  # "[EOS]" in the text has no special meaning there
        self._detokenizer = MosesDetokenizer(lang=target_language)

    @classmethod
    def load(cls, package: Package, folder: Path) -> TextTokenizer:
        """Loads the tokenizers that `folder` keeps."""
        from tokenizers import Tokenizer

        files = tokenizer_files(folder)
        languages = json.loads(files[LANGUAGES])
        source = Tokenizer.from_str(files[languages["source"]["tokenizer"]].decode())
        return cls(package, source, languages["target"]["language"])

    def split(self, text: str) -> list[str]:
        """Cuts one line of raw text into tokens of the source language; unknown words or letters stay as they are."""
        return split_text(self.source, text, self.vocab.CONTINUES)

    def join(self, tokens: Iterable[str]) -> str:
        """Joins tokens of the target language to text: pieces to words, then signs to words."""
        text = IN_NUMBER.sub(r"\1", self.vocab.join_subwords(tokens))
        text = HYPHEN.sub(r"\1", text)
        text = (ENGLISH_APOSTROPHE if self.target_language in GERMANIC else APOSTROPHE).sub(r"\1", text)
        return str(self._detokenizer.detokenize(text.split(), unescape=False))


def tokenizer_files(folder: Path) -> dict[str, bytes]:
    """Reads `languages.json` and the tokenizers that it names."""
    files = {LANGUAGES: (folder / LANGUAGES).read_bytes()}
    languages = json.loads(files[LANGUAGES])
    for side in ("source", "target"):
        name = Path(languages[side]["tokenizer"]).name  # never a file of another folder
        files[name] = (folder / name).read_bytes()
    return files


def split_text(tokenizer: Tokenizer, text: str, mark: str) -> list[str]:
    """Cuts text into tokens as corpora have them: `mark` ends a piece that goes on, an unknown piece is itself."""
    text = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
    encoded = tokenizer.encode(text, add_special_tokens=False)
    pieces = encoded.tokens
    if UNKNOWN in pieces:
        places = zip(pieces, encoded.offsets, strict=True)
        pieces = [text[slice(*place)] if piece == UNKNOWN else piece for piece, place in places]
    words = encoded.word_ids
    is_last = [index + 1 == len(words) or words[index + 1] != word for index, word in enumerate(words)]
    return [
        piece.removesuffix(END_OF_WORD) + ("" if is_end else mark)
        for piece, is_end in zip(pieces, is_last, strict=True)
    ]
