"""Building a corpus: draws sentences, writes them in both languages, splits and encodes them.

A hash of its French side decides once and for all which split a sentence may go to. So no French side is shared
between splits, not even those of different seeds, and all splits have the same distribution. Training and dev split
come from one random stream, that of the seed; the test split has its own, so that a fresh test set leaves the others
and the encoding as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from .. import files
from ..encodings import Subwords, learn_subwords
from .chance import Draw, Settings
from .english import English
from .entries import Lexicon
from .french import French
from .sentences import draw_sentence

LANGUAGES = ("french", "english")
SPECIAL_IDS = 3  # pad, bos, eos: in the vocabulary, but not in the corpus

Words = tuple[str, ...]


class Pair(NamedTuple):
    """The words of a French sentence and of its English translation."""

    french: Words
    english: Words


@dataclass(frozen=True)
class Corpus:
    """Three splits, and the byte pairs of both languages, learnt on the first."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    subwords: list[Subwords]

    def contents(self) -> dict[str, bytes]:
        """Content of each file by its path under the output folder."""
        contents: dict[str, Iterable[str]] = {
            files.TRAIN: map(self._line, self.train),
            files.DEV: map(self._line, self.dev),
            files.TEST: map(self._line, self.test),
            files.TEST_SOURCE: (" ".join(self.subwords[0].encode(pair.french)) for pair in self.test),
        }
        return {name: "".join(f"{text}\n" for text in lines).encode() for name, lines in contents.items()}

    def _line(self, pair: Pair) -> str:
        french, english = (" ".join(tokens) for tokens in encode(pair, self.subwords))
        return f"{french}{files.SEPARATOR}{english}"

    def vocabulary(self) -> dict[str, int]:
        """Distinct tokens of the training split and the special ids, by language."""
        sides = zip(*(encode(pair, self.subwords) for pair in self.train), strict=True)
        sizes = [len(set(chain.from_iterable(side))) + SPECIAL_IDS for side in sides]
        return dict(zip(LANGUAGES, sizes, strict=True))


def encode(pair: Pair, subwords: Sequence[Subwords]) -> list[list[str]]:
    """The tokens of both sides."""
    return [of_side.encode(words) for of_side, words in zip(subwords, pair, strict=True)]


def build(lexicon: Lexicon, settings: Settings, seed: int, test_seed: int) -> Corpus:
    """Draws a corpus.

    Args:
        lexicon: the words.
        settings: sizes, and how often each thing is drawn.
        seed: of training and dev split.
        test_seed: of the test split.
    """
    size = settings["size"]
    train: list[Pair] = []
    dev: list[Pair] = []

    def fits(pair: Pair) -> bool:
        return all(len(side) <= size["max_tokens"] for side in encode(pair, subwords))

    def draw_test(number: int, taken: set[Words]) -> list[Pair]:
        stream = draw_pairs(lexicon, settings, f"test {number}", ("test",), taken)
        return list(islice(filter(fits, (pair for _, pair in stream)), size["test"]))

    stream = draw_pairs(lexicon, settings, f"train and dev {seed}", ("train", "dev"), set())
    while len(train) < size["train"]:
        while len(train) < size["train"]:
            split, pair = next(stream)
            (train if split == "train" else dev).append(pair)
        # Dropping a pair changes the encoding, so it is learnt again until nothing more is dropped.
        sides = list(zip(*train, strict=True))
        subwords = [learn_subwords(sides[n], size[f"{LANGUAGES[n]}_vocabulary"] - SPECIAL_IDS) for n in (0, 1)]
        train = list(filter(fits, train))
    dev = list(islice(filter(fits, chain(dev, (pair for split, pair in stream if split == "dev"))), size["dev"]))
    test = draw_test(seed, set())
    if test_seed != seed:
        test = draw_test(test_seed, {pair.french for pair in test})
    return Corpus(train, dev, test, subwords)


def draw_pairs(
    lexicon: Lexicon, settings: Settings, seed: str, splits: Collection[str], taken: set[Words]
) -> Iterator[tuple[str, Pair]]:
    """Endless pairs, each with the split that it belongs to, one of `splits`, from one random stream.

    Each French side occurs once, and none in `taken`, to which they are added.
    """
    draw, size = Draw(seed, lexicon, settings), settings["size"]
    while True:
        sentence = draw_sentence(draw)
        french = tuple(French(sentence).write())
        split = split_of(french, size)
        if french in taken or len(french) > size["max_tokens"] or split not in splits:
            continue
        english = tuple(English(sentence).write())
        if len(english) <= size["max_tokens"]:
            taken.add(french)
            yield split, Pair(french, english)


def split_of(french: Words, size: dict[str, int]) -> str:
    """Returns the split of a sentence: its hash is a point on a line that is divided like the splits' sizes."""
    digest = hashlib.sha256(" ".join(french).encode()).digest()
    point = int.from_bytes(digest[:8], "big") / 2**64 * (size["train"] + size["dev"] + size["test"])
    return "train" if point < size["train"] else "dev" if point < size["train"] + size["dev"] else "test"
