"""Raw text to the tokens of a corpus: "Ein Haus." to ["ein", "ha@@", "us", "."].

Where `data prepare` has made a corpus, `train` copies its `languages.json` into the run's folder, and the tokenizers of
the library `tokenizers` that it names:

    {"encoding": "bpe", "source": {"language": "de", "tokenizer": "tokenizer.json"}, "target": {...}}
"""

import json
from itertools import pairwise
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
    goes_on = [word == following for word, following in pairwise([*encoded.word_ids, None])]
    return [piece.removesuffix(END_OF_WORD) + mark * more for piece, more in zip(pieces, goes_on, strict=True)]
