"""Encodings of text, learnt with the library `tokenizers` on a training split alone: byte pairs or whole words.

The bundled corpus is words already: `learn_subwords` gives each language a vocabulary of a given size. For other
text, `learn` makes files that are complete in themselves: `Tokenizer.from_file(path).encode(text)` normalises raw text,
cuts it, and puts `[BOS]` and `[EOS]` around it. In the lines of a corpus there are no such tokens, a piece that goes on
ends in `@@`, and what the encoding does not know is `<unk>`.
"""

import argparse
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers  # noqa: E402
from tokenizers.processors import TemplateProcessing  # noqa: E402
from tokenizers.trainers import BpeTrainer, WordLevelTrainer  # noqa: E402

from given.extras.raw_text import END_OF_WORD, UNKNOWN, split_text  # noqa: E402
from reference.vocab import CONTINUES, SEPARATOR  # noqa: E402

SPECIAL = ("[PAD]", UNKNOWN, "[BOS]", "[EOS]")  # in the order of their ids
UNKNOWN_WORD = "<unk>"  # in the lines of a corpus
SPLITS = ("train", "dev", "test")

Lines = Callable[[], Iterable[str]]
"""Gives the sentences, as often as it is called: words separated by spaces."""
Tokenizers = tuple[Tokenizer, Tokenizer]
"""Of source and target."""


def train_bpe(tokenizer: Tokenizer, lines: Lines, size: int, special: Sequence[str] = ()) -> Tokenizer:
    """Learns byte pairs (Sennrich et al. 2016), `size` tokens in all; none of them is special in the end.

    The library numbers the letters that end a word in the order of a hash table, which differs from process to process,
    and among equally frequent pairs the lower numbers win. As "special" tokens, behind those of `special`, we number
    them, so that every process learns the same.
    """
    endings = sorted({word[-1] for line in lines() for word in line.split(" ") if word})
    first = [*special, *(letter + END_OF_WORD for letter in endings)]
    trainer = BpeTrainer(vocab_size=size, end_of_word_suffix=END_OF_WORD, special_tokens=first, show_progress=False)
    tokenizer.train_from_iterator(lines(), trainer)
    return Tokenizer.from_str(json.dumps({**json.loads(tokenizer.to_str()), "added_tokens": []}))


# -- the bundled corpus ---------------------------------------------------------------------------------

ATTEMPTS = 8


def learn_subwords(sentences: Iterable[str], vocabulary: int) -> Tokenizer:
    """Learns the byte pairs of a language whose vocabulary on sentences of words is nearest to `vocabulary`."""
    lines = sorted(sentences)  # so that ties do not depend on their order
    words = {word for line in lines for word in line.split()}
    size = vocabulary  # letters and merges, of which some never occur alone
    attempts: list[tuple[int, Tokenizer]] = []
    for _ in range(ATTEMPTS):
        tokenizer = Tokenizer(models.BPE(end_of_word_suffix=END_OF_WORD))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        tokenizer = train_bpe(tokenizer, lambda: lines, size)
        too_many = len({piece for word in words for piece in encode(tokenizer, word)}) - vocabulary
        attempts.append((abs(too_many), tokenizer))
        if too_many == 0:
            break
        size -= too_many
    return min(attempts, key=lambda attempt: attempt[0])[1]


# -- other text -----------------------------------------------------------------------------------------


def language(text: str) -> str:
    """Reads the code of a language: it becomes part of a file's name."""
    if not re.fullmatch(r"\w[\w-]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the code of a language, such as de")
    return text


def number_or_share(text: str) -> int | str:
    """Reads a number of pairs, or their share: `500`, `10%`, `0.5%`."""
    if re.fullmatch(r"\d{1,2}(\.\d{1,9})?%", text):
        return text
    if re.fullmatch(r"\d{1,9}", text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected a number of pairs, or their share below 100%, such as 10%")


@dataclass(frozen=True)
class Choices:
    """How text becomes a corpus; the command has a flag for each field: see `flags.toml`."""

    encoding: str = "bpe"  # or words
    pre_tokenizer: str = "signs"  # or whitespace
    vocabulary: int = 18_000
    min_count: int = 1
    most_tokens: int = 100
    dev: int | str = 1000  # a number of pairs, or a share: "10%"
    test: int | str = 1000
    seed: int = 0
    languages: tuple[str, str] = ("source", "target")
    joint: bool = False
    lowercase: bool = False

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


def empty_tokenizer(choices: Choices, model: models.BPE | models.WordLevel | None = None) -> Tokenizer:
    """Makes a tokenizer that cuts text by the choices, and knows nothing else yet."""
    tokenizer = Tokenizer(model or models.WordLevel({UNKNOWN: 0}, UNKNOWN))
    # What would be misread in a line of a corpus goes: its separator, invisible characters, the mark of a piece.
    clean = [
        normalizers.NFC(),
        normalizers.Replace(Regex(rf"[\p{{Z}}\p{{C}}]|{'[|]' * len(SEPARATOR)}"), " "),
        normalizers.Replace(Regex("@(?=@)"), "@ "),
    ]
    tokenizer.normalizer = normalizers.Sequence(clean + [normalizers.Lowercase()] * choices.lowercase)
    signs = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(r"[\p{L}\p{N}\p{M}]+|."), "isolated")]
    )
    tokenizer.pre_tokenizer = signs if choices.pre_tokenizer == "signs" else pre_tokenizers.Whitespace()
    return tokenizer


def cut(tokenizer: Tokenizer, text: str) -> list[str]:
    """Cuts raw text into words: `L'homme !` into `L`, `'`, `homme`, `!`."""
    normal = tokenizer.normalizer.normalize_str(text)
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)]


def encode(tokenizer: Tokenizer, text: str) -> list[str]:
    """The tokens, as lines of a corpus have them, of raw text or of words separated by spaces."""
    if isinstance(tokenizer.model, models.BPE):
        return split_text(tokenizer, text, CONTINUES)
    tokens = tokenizer.encode(text, add_special_tokens=False).tokens
    return [UNKNOWN_WORD if token == UNKNOWN else token for token in tokens]


def learn(pairs: Iterable[tuple[str, str]], choices: Choices) -> Tokenizers:
    """Learns the encodings of both sides, or of both together, from pairs that can be read again and again."""

    def of(*sides: int) -> Tokenizer:
        return _learn_one(lambda: (pair[side] for side in sides for pair in pairs), choices)

    if choices.joint:
        joint = of(0, 1)
        return joint, joint
    return of(0), of(1)


def _learn_one(lines: Lines, choices: Choices) -> Tokenizer:
    """Learns byte pairs, special tokens included, or keeps the most frequent words; in any order, the same ones."""
    if choices.encoding == "bpe":
        model = models.BPE(unk_token=UNKNOWN, end_of_word_suffix=END_OF_WORD)
        tokenizer = train_bpe(empty_tokenizer(choices, model), lines, choices.vocabulary, SPECIAL)
        tokenizer.decoder = decoders.BPEDecoder(suffix=END_OF_WORD)
    else:
        tokenizer, size = empty_tokenizer(choices), len(SPECIAL) + choices.vocabulary
        trainer = WordLevelTrainer(
            vocab_size=size, min_frequency=choices.min_count, special_tokens=list(SPECIAL), show_progress=False
        )
        tokenizer.train_from_iterator(lines(), trainer)
    tokenizer.add_special_tokens(list(SPECIAL))
    around = [(token, tokenizer.token_to_id(token)) for token in ("[BOS]", "[EOS]")]
    tokenizer.post_processor = TemplateProcessing(
        single="[BOS] $A [EOS]", pair="[BOS] $A [EOS] [BOS]:1 $B:1 [EOS]:1", special_tokens=around
    )
    tokenizer.encode_special_tokens = True  # "[EOS]" in the text has no special meaning there
    return tokenizer
