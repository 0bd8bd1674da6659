"""Raw text to the tokens of a corpus, and back.

    text = TextTokenizer.load(Path("runs/deen"))     # a run folder, or a folder that `data prepare` wrote
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
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foundation.command_line import UserError

from .. import package
from ..config import LANGUAGES

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer
    from tokenizers import Tokenizer


UNKNOWN = "[UNK]"  # the tokenizers' name for it
END_OF_WORD = "</w>"  # ends the last piece of a word in a tokenizer with byte pairs

MISSING = "raw text needs the packages tokenizers and sacremoses: pip install tokenizers sacremoses"
HYPHENS = ("-", "\N{HYPHEN}", "\N{NON-BREAKING HYPHEN}")
ENGLISH_ENDINGS = {"s", "t", "m", "d", "re", "ve", "ll"}  # of don't, he's, we'll
GERMANIC = {"de", "en", "nl"}  # elsewhere an apostrophe between two words belongs to both: l'homme, dell'acqua


class TextError(UserError):
    """Raw text cannot be read or written; the message says why."""


class TextTokenizer:
    """The tokenizers of a corpus: raw source text to tokens, tokens of the target to text."""

    def __init__(self, source: Tokenizer, target_language: str) -> None:
        """Takes the source's tokenizer and the code of the target language, such as `en`; see `load`."""
        self.source, self.target_language = source, target_language
        source.encode_special_tokens = True  # "[EOS]" in the text has no special meaning there

    @classmethod
    def load(cls, folder: Path) -> TextTokenizer:
        """Loads the tokenizers that `folder` keeps. Raises: TextError if it keeps none, or a library is missing."""
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise TextError(MISSING) from None
        files = tokenizer_files(folder)
        if not files:
            raise TextError(f"{folder}: has no {LANGUAGES}, so only tokens can be translated; `data prepare` writes it")
        languages = json.loads(files[LANGUAGES])
        name = languages["source"]["tokenizer"]
        try:
            source = Tokenizer.from_str(files[name].decode())
        except Exception:  # the library raises plain ones
            raise TextError(f"{folder / name}: not a file of the library tokenizers") from None
        return cls(source, languages["target"]["language"])

    def split(self, text: str) -> list[str]:
        """Cuts one line of raw text into tokens of the source language; unknown words or letters stay as they are."""
        return split_text(self.source, text, package.vocab.CONTINUES)

    def join(self, tokens: Iterable[str]) -> str:
        """Joins tokens of the target language to text: pieces to words, then signs to words."""
        words = join_compounds(package.vocab.join_subwords(tokens).split(), self.target_language)
        return str(self._detokenizer.detokenize(words, unescape=False))

    @cached_property
    def _detokenizer(self) -> MosesDetokenizer:
        try:
            from sacremoses import MosesDetokenizer
        except ImportError:
            raise TextError(MISSING) from None
        return MosesDetokenizer(lang=self.target_language)


def tokenizer_files(folder: Path) -> dict[str, bytes]:
    """Reads `languages.json` and the tokenizers that it names; a folder without it has none.

    Raises: TextError if one cannot be read.
    """
    path = folder / LANGUAGES
    if not path.is_file():
        return {}
    try:
        files = {LANGUAGES: path.read_bytes()}
        sides: dict[str, Any] = json.loads(files[LANGUAGES])
        for side in ("source", "target"):
            if not isinstance(sides[side]["language"], str):
                raise TypeError
            name = Path(sides[side]["tokenizer"]).name  # never a file of another folder
            files[name] = (folder / name).read_bytes()
    except OSError as error:
        raise TextError(f"{error.filename or path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise TextError(f"{path}: not a file that `data prepare` wrote") from None
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


def join_compounds(words: list[str], language: str) -> list[str]:
    """Joins what cutting at every sign took apart: don ' t, l ' homme, t - shirt, 3 . 5."""
    joined: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        while joined_next := _sign_between(word, words[index + 1 : index + 3], language):
            word, index = word + joined_next, index + 2
        joined.append(word)
        index += 1
    return joined


def _sign_between(left: str, following: list[str], language: str) -> str:
    """The next sign and word if they belong to `left`, or nothing."""
    if len(following) < 2:
        return ""
    sign, right = following
    if sign in (".", ",", ":") and left[-1].isdecimal() and right[0].isdecimal():
        return sign + right
    if not (left[-1].isalpha() and right[0].isalpha()):
        return ""
    is_joined = sign in HYPHENS
    if sign in ("'", "’"):
        is_joined = language not in GERMANIC or right.lower() in ENGLISH_ENDINGS
    return sign + right if is_joined else ""
