"""Building a corpus: draws sentences, writes them in both languages, splits and encodes them.

A hash of its French side decides once and for all which split a sentence may go to. So no French side is shared
between splits, not even those of different seeds, and all splits have the same distribution. Training and dev split
come from one random stream, that of the seed; the test split has its own, so that a fresh test set leaves the others
and the encoding as they are.
"""

import hashlib
from collections.abc import Collection, Iterator
from itertools import chain, islice

from reference.vocab import SEPARATOR

from ..encodings import encode, learn_subwords
from .chance import Draw, Settings
from .english import English
from .entries import Lexicon
from .french import French
from .sentences import draw_sentence

TRAIN, DEV = "corpus/fren.train.bpe", "corpus/fren.dev.bpe"
TEST_SOURCE, TEST = "corpus/fren.test.src.bpe", "private/fren.test.bpe"
LANGUAGES = ("french", "english")
SPECIAL_IDS = 3  # pad, bos, eos: in the vocabulary, but not in the corpus

Pair = tuple[str, str]
"""A French sentence and its English translation: words, or their subwords, separated by spaces."""
Corpus = dict[str, list[Pair]]
"""The pairs of train, dev and test."""


def build(lexicon: Lexicon, settings: Settings, seed: int, test_seed: int) -> Corpus:
    """Draws a corpus, in subwords; the test split has a seed of its own."""
    size = settings["size"]
    train: list[Pair] = []
    dev: list[Pair] = []

    def in_subwords(pair: Pair) -> Pair:
        french, english = (" ".join(encode(*of_side)) for of_side in zip(tokenizers, pair, strict=True))
        return french, english

    def fits(pair: Pair) -> bool:
        return all(len(side.split()) <= size["max_tokens"] for side in in_subwords(pair))

    def draw_test(number: int, taken: set[str]) -> list[Pair]:
        stream = draw_pairs(lexicon, settings, f"test {number}", ("test",), taken)
        return list(islice(filter(fits, (pair for _, pair in stream)), size["test"]))

    stream = draw_pairs(lexicon, settings, f"train and dev {seed}", ("train", "dev"), set())
    while len(train) < size["train"]:
        while len(train) < size["train"]:
            split, pair = next(stream)
            (train if split == "train" else dev).append(pair)
        # Dropping a pair changes the encoding, so it is learnt again until nothing more is dropped.
        sizes = [size[f"{language}_vocabulary"] - SPECIAL_IDS for language in LANGUAGES]
        tokenizers = list(map(learn_subwords, zip(*train, strict=True), sizes))
        train = list(filter(fits, train))
    dev = list(islice(filter(fits, chain(dev, (pair for split, pair in stream if split == "dev"))), size["dev"]))
    test = draw_test(seed, set())
    if test_seed != seed:
        test = draw_test(test_seed, {french for french, _ in test})
    return {name: list(map(in_subwords, pairs)) for name, pairs in (("train", train), ("dev", dev), ("test", test))}


def contents_of(corpus: Corpus) -> dict[str, bytes]:
    """The content of each file by its path under the output folder."""
    train, dev, test = ([SEPARATOR.join(pair) for pair in pairs] for pairs in corpus.values())
    lines = {TRAIN: train, DEV: dev, TEST: test, TEST_SOURCE: [french for french, _ in corpus["test"]]}
    return {name: "".join(f"{line}\n" for line in of_file).encode() for name, of_file in lines.items()}


def vocabulary_of(corpus: Corpus) -> dict[str, int]:
    """The number of distinct tokens of the training split and of special ids, by language."""
    sides = zip(LANGUAGES, zip(*corpus["train"], strict=True), strict=True)
    return {language: len({token for text in side for token in text.split()}) + SPECIAL_IDS for language, side in sides}


def draw_pairs(
    lexicon: Lexicon, settings: Settings, seed: str, splits: Collection[str], taken: set[str]
) -> Iterator[tuple[str, Pair]]:
    """Endless pairs, each with the split that it belongs to, one of `splits`, from one random stream.

    Each French side occurs once, and none in `taken`, to which they are added.
    """
    draw, size = Draw(seed, lexicon, settings), settings["size"]
    while True:
        sentence = draw_sentence(draw)
        french = French(sentence).write()
        text = " ".join(french)
        # The hash is a point on a line that is divided like the splits' sizes.
        share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
        point = share * (size["train"] + size["dev"] + size["test"]) - size["train"]
        split = "train" if point < 0 else "dev" if point < size["dev"] else "test"
        if text in taken or len(french) > size["max_tokens"] or split not in splits:
            continue
        english = English(sentence).write()
        if len(english) <= size["max_tokens"]:
            taken.add(text)
            yield split, (text, " ".join(english))
