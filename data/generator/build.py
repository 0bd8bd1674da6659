"""Building a corpus: draws sentences, writes them in both languages, aligns, splits and encodes them.

A hash of its French side decides once and for all which split a sentence may go to. So no French side is shared
between splits, not even those of different seeds, and all splits have the same distribution. Training and dev split
come from one random stream, that of the seed; the test split has its own, so that a fresh test set leaves the others
and the encoding as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from .. import files
from ..encodings import SPECIAL_IDS, Subwords, learn_subwords
from .draw import draw_sentence
from .draw.chance import Draw, Settings, Size
from .languages import Word
from .languages.english import English
from .languages.french import French
from .meaning import Key
from .tables import Lexicon

Progress = Callable[[int], object]
Link = tuple[int, int]
SAMPLE = 100
"""Students get the links of so many dev pairs: a phrase table of all links earns BLEU without any model."""


@dataclass(frozen=True)
class Pair:
    """A French sentence, its English translation, and links of word positions."""

    french: tuple[str, ...]
    english: tuple[str, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class BytePairs:
    """The byte pairs of both languages, and the most of them that a side may have."""

    french: Subwords
    english: Subwords
    max_tokens: int

    def fits(self, pair: Pair) -> bool:
        """True if both sides are short enough."""
        longest = max(self.french.length(pair.french), self.english.length(pair.english))
        return longest <= self.max_tokens

    def line(self, pair: Pair) -> str:
        """The pair as a line of the corpus."""
        return f"{self.french.encode(pair.french)}{files.SEPARATOR}{self.english.encode(pair.english)}"

    def links(self, pair: Pair) -> str:
        """The links between the pair's tokens in Pharaoh format: `0-0 1-2 2-1`."""
        french, english = (
            [0, *accumulate(len(encoding.pieces(word)) for word in side)]
            for encoding, side in ((self.french, pair.french), (self.english, pair.english))
        )
        return " ".join(
            f"{i}-{j}"
            for i, j in sorted(
                (i, j)
                for source, target in pair.links
                for i in range(french[source], french[source + 1])
                for j in range(english[target], english[target + 1])
            )
        )


@dataclass(frozen=True)
class Corpus:
    """Three splits and the encodings learnt on the first."""

    seed: int
    test_seed: int
    train: tuple[Pair, ...]
    dev: tuple[Pair, ...]
    test: tuple[Pair, ...]
    encodings: BytePairs

    def contents(self) -> dict[str, bytes]:
        """Content of each file by its path under the output folder."""
        line, links = self.encodings.line, self.encodings.links
        contents: dict[str, Iterable[str]] = {
            files.TRAIN: map(line, self.train),
            files.DEV: map(line, self.dev),
            files.TEST_SOURCE: (self.encodings.french.encode(pair.french) for pair in self.test),
            files.SAMPLE_ALIGN: map(links, self.dev[:SAMPLE]),
            files.TEST: map(line, self.test),
            files.TRAIN_ALIGN: map(links, self.train),
            files.DEV_ALIGN: map(links, self.dev),
            files.TEST_ALIGN: map(links, self.test),
        }
        return {name: "".join(f"{text}\n" for text in lines).encode() for name, lines in contents.items()}

    def manifest(self) -> files.Manifest:
        """The record of the corpus."""
        return files.Manifest(
            seed=self.seed,
            test_seed=self.test_seed,
            counts={"train": len(self.train), "dev": len(self.dev), "test": len(self.test)},
            vocabulary={
                "french": len(self.encodings.french.vocabulary(pair.french for pair in self.train)) + SPECIAL_IDS,
                "english": len(self.encodings.english.vocabulary(pair.english for pair in self.train)) + SPECIAL_IDS,
            },
            files={name: files.checksum(content) for name, content in sorted(self.contents().items())},
        )


def draw_pairs(
    lexicon: Lexicon, settings: Settings, seed: str, splits: tuple[str, ...], taken: set[tuple[str, ...]]
) -> Iterator[tuple[str, Pair]]:
    """Endless pairs, each with the split that it belongs to, one of `splits`, from one random stream.

    Each French side occurs once, and none in `taken`, to which they are added.
    """
    draw, size = Draw(seed, lexicon, settings), settings.size
    while True:
        sentence = draw_sentence(draw)
        source = French(sentence).write()
        french = tuple(word.text for word in source)
        split = split_of(french, size)
        if french in taken or len(french) > size.max_tokens or split not in splits:
            continue
        target = English(sentence).write()
        if len(target) <= size.max_tokens:
            taken.add(french)
            yield split, Pair(french, tuple(word.text for word in target), tuple(align(source, target)))


def split_of(french: tuple[str, ...], size: Size) -> str:
    """Returns the split of a sentence: its hash is a point on a line that is divided like the splits' sizes."""
    digest = hashlib.sha256(" ".join(french).encode()).digest()
    point = int.from_bytes(digest[:8], "big") / 2**64 * (size.train + size.dev + size.test)
    return "train" if point < size.train else "dev" if point < size.train + size.dev else "test"


def build(
    lexicon: Lexicon,
    settings: Settings,
    seed: int,
    test_seed: int | None = None,
    progress: Progress = lambda count: None,
) -> Corpus:
    """Draws a corpus.

    Args:
        lexicon: the words.
        settings: sizes, and how often each thing is drawn.
        seed: of training and dev split.
        test_seed: of the test split; None = the same seed.
        progress: called with the number of pairs drawn since the last call.
    """
    test_seed = seed if test_seed is None else test_seed
    main = draw_pairs(lexicon, settings, f"train and dev {seed}", ("train", "dev"), set())
    train, dev, encodings = _train_and_dev(main, settings.size, progress)

    def draw_test(number: int, taken: set[tuple[str, ...]]) -> tuple[Pair, ...]:
        stream = draw_pairs(lexicon, settings, f"test {number}", ("test",), taken)
        pairs = tuple(islice((pair for _, pair in stream if encodings.fits(pair)), settings.size.test))
        progress(len(pairs))
        return pairs

    test = draw_test(seed, set())
    if test_seed != seed:
        test = draw_test(test_seed, {pair.french for pair in test})
    return Corpus(seed, test_seed, train, dev, test, encodings)


def _train_and_dev(
    stream: Iterator[tuple[str, Pair]], size: Size, progress: Progress
) -> tuple[tuple[Pair, ...], tuple[Pair, ...], BytePairs]:
    """Draws until both splits are full of pairs that are short enough in the encoding learnt on the first.

    Dropping a pair from training changes the encoding, so it is learnt again until nothing more is dropped.
    """
    train: list[Pair] = []
    dev: list[Pair] = []

    def draw() -> None:
        split, pair = next(stream)
        pairs, wanted = (train, size.train) if split == "train" else (dev, size.dev)
        pairs.append(pair)
        progress(len(pairs) <= wanted)

    while True:
        while len(train) < size.train:
            draw()
        french = learn_subwords([pair.french for pair in train], size.french_vocabulary)
        english = learn_subwords([pair.english for pair in train], size.english_vocabulary)
        encodings = BytePairs(french, english, size.max_tokens)
        kept = [pair for pair in train if encodings.fits(pair)]
        if len(kept) == len(train):
            break
        progress(len(kept) - len(train))
        train = kept
    full = tuple(train)
    while len(short := list(filter(encodings.fits, dev))) < size.dev:
        draw()
    return full, tuple(short[: size.dev]), encodings


def align(source: Sequence[Word], target: Sequence[Word]) -> list[Link]:
    """Links between positions of words, sorted: (source, target).

    Words with one key translate each other. A word whose key has no counterpart (French *le* in *j'aime le chocolat*,
    English *do*) goes with the first of its fallback keys that has one.
    """
    by_source, by_target = _positions(source), _positions(target)
    links = {(i, j) for key, sources in by_source.items() for i in sources for j in by_target.get(key, ())}
    linked_source, linked_target = {i for i, _ in links}, {j for _, j in links}
    for i, word in enumerate(source):
        if i not in linked_source:
            links |= {(i, j) for j in next((by_target[key] for key in word.fallback if key in by_target), ())}
    for j, word in enumerate(target):
        if j not in linked_target:
            links |= {(i, j) for i in next((by_source[key] for key in word.fallback if key in by_source), ())}
    return sorted(links)


def _positions(words: Sequence[Word]) -> dict[Key, list[int]]:
    positions: dict[Key, list[int]] = {}
    for position, word in enumerate(words):
        for key in word.keys:
            positions.setdefault(key, []).append(position)
    return positions
