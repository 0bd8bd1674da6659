"""How text becomes a corpus: all choices of `prepare`, and the presets of known corpora."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

SPLITS = ("train", "dev", "test")
PRESETS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Choices:
    """How text becomes a corpus.

    Attributes:
        encoding: `bpe` or `words`.
        vocabulary: size of each language's encoding, at most.
        joint: one encoding for both languages.
        lowercase: no capital letters.
        most_tokens: pairs with a longer side (after encoding) are dropped.
        dev: pairs to take from the training text if there is no dev split, or their share: "10%".
        test: likewise if there is no test split.
        seed: of the draw of these pairs.
        pre_tokenizer: `signs` or `whitespace`: see `empty_tokenizer`.
        min_count: of whole words, those that occur less often in the training split are unknown.
        languages: codes of source and target, such as `de` and `en`.
        arrow: the training split is a file for memory mapping, not lines.
    """

    encoding: str = "bpe"
    vocabulary: int = 18_000
    joint: bool = False
    lowercase: bool = False
    most_tokens: int = 100
    dev: int | str = 1000
    test: int | str = 1000
    seed: int = 0
    pre_tokenizer: str = "signs"
    min_count: int = 1
    languages: tuple[str, str] = ("source", "target")
    arrow: bool = False

    @property
    def tokenizer_names(self) -> tuple[str, str]:
        """The files with the encodings of source and target."""
        if self.joint:
            return "tokenizer.json", "tokenizer.json"
        return f"tokenizer_{self.languages[0]}.json", f"tokenizer_{self.languages[1]}.json"

    @property
    def of_encodings(self) -> dict[str, Any]:
        """Those that shape the encodings."""
        names = ("encoding", "vocabulary", "joint", "lowercase", "pre_tokenizer", "min_count")
        return {name: getattr(self, name) for name in names} | {"languages": list(self.languages)}


def count_of(size: int | str, total: int) -> int:
    """Returns how many of `total` pairs `size` is; what remains of a share is rounded down.

    >>> count_of(500, 32_332), count_of("10%", 32_332)
    (500, 3234)
    """
    if isinstance(size, int):
        return size
    return math.ceil(Fraction(size.removesuffix("%")) / 100 * total)
