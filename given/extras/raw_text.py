"""Raw text to the tokens of a corpus: "Ein Haus." to ["ein", "ha@@", "us", "."].

Where `data prepare` has made a corpus, `languages.json` names the encoding (`bpe` or `words`) and, for `source` and
`target`, the language and the file of its tokenizer:

    {"encoding": "bpe", "source": {"language": "de", "tokenizer": "tokenizer.json"}, "target": {...}}

`train` copies these files from the corpus into the run folder. The tokenizers are those of the library `tokenizers`,
complete in themselves; it is needed for raw text only, not for training.
"""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer

from ..config import LANGUAGES

UNKNOWN = "[UNK]"  # the tokenizers' name for it
END_OF_WORD = "</w>"  # ends the last piece of a word in a tokenizer with byte pairs


def load_tokenizer(folder: Path) -> Tokenizer:
    """Loads the tokenizer of the source language that `folder` keeps."""
    name = json.loads((folder / LANGUAGES).read_bytes())["source"]["tokenizer"]
    tokenizer = Tokenizer.from_file(str(folder / Path(name).name))  # never a file of another folder
    tokenizer.encode_special_tokens = True  # "[EOS]" in the text has no special meaning there
    return tokenizer


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
