"""Building a corpus: draws sentences, writes them in both languages, splits and encodes them.

Each split has its own stream of chance: ``train`` and ``dev`` hang on the seed, ``test`` on the test seed, so that
a fresh test set leaves the other splits and the encoding as they are. No French side stands twice in a corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .alignment import Link, align
from .bpe import Subwords, learn
from .draw.chance import Chance
from .draw.sentences import Sentences
from .english.sentences import write_english
from .french.sentences import write_french
from .settings import Settings
from .words.lexicon import Lexicon

DEFAULT_SEED = 2024
MAX_WORDS = 15
Progress = Callable[[int], object]


@dataclass(frozen=True)
class Pair:
    """A French sentence, its English translation, and links of word positions."""

    french: tuple[str, ...]
    english: tuple[str, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class Corpus:
    """Three splits and the encodings learnt on the first."""

    seed: int
    test_seed: int
    train: tuple[Pair, ...]
    dev: tuple[Pair, ...]
    test: tuple[Pair, ...]
    french: Subwords
    english: Subwords


class PairStream:
    """Endless pairs from one stream of chance, each French side once and none of ``taken``."""

    def __init__(self, lexicon: Lexicon, settings: Settings, seed: str, taken: set[tuple[str, ...]]):
        self._sentences = Sentences(lexicon, settings, Chance(seed, settings))
        self._taken = taken

    def __iter__(self) -> Iterator[Pair]:
        while True:
            sentence = self._sentences.draw()
            source = write_french(sentence)
            french = tuple(word.text for word in source)
            if french in self._taken or len(french) > MAX_WORDS:
                continue
            target = write_english(sentence)
            if len(target) > MAX_WORDS:
                continue
            self._taken.add(french)
            yield Pair(french, tuple(word.text for word in target), tuple(align(source, target)))


def build(
    lexicon: Lexicon,
    settings: Settings,
    seed: int = DEFAULT_SEED,
    test_seed: int | None = None,
    progress: Progress = lambda count: None,
) -> Corpus:
    """Draws a corpus. ``test_seed`` draws another test split; it then shares nothing with the usual one either.

    :param progress: called with the number of pairs made since the last call.
    """
    size = settings.size
    taken: set[tuple[str, ...]] = set()
    stream = iter(PairStream(lexicon, settings, f"train {seed}", taken))
    train, french, english = _training_split(stream, settings, progress)
    # what was too long for training is free again
    taken = {pair.french for pair in train}

    def draw(name: str, count: int) -> tuple[Pair, ...]:
        found: list[Pair] = []
        for pair in PairStream(lexicon, settings, name, taken):
            if fits(pair, french, english, size.max_tokens):
                found.append(pair)
                progress(1)
                if len(found) == count:
                    break
        return tuple(found)

    dev = draw(f"dev {seed}", size.dev)
    test = draw(f"test {seed}", size.test)
    if test_seed is not None and test_seed != seed:
        test = draw(f"test {test_seed} of {seed}", size.test)
    return Corpus(seed, seed if test_seed is None else test_seed, train, dev, test, french, english)


def _training_split(
    stream: Iterator[Pair], settings: Settings, progress: Progress
) -> tuple[tuple[Pair, ...], Subwords, Subwords]:
    """Draws until the split is full of pairs that are short enough in the encoding learnt on just this split.

    Dropping a pair changes the encoding, so it is learnt again until nothing more is dropped.
    """
    size = settings.size
    pairs: list[Pair] = []
    while True:
        progress(size.train - len(pairs))
        while len(pairs) < size.train:
            pairs.append(next(stream))
        french = learn([pair.french for pair in pairs], size.french_vocabulary)
        english = learn([pair.english for pair in pairs], size.english_vocabulary)
        kept = [pair for pair in pairs if fits(pair, french, english, size.max_tokens)]
        if len(kept) == len(pairs):
            return tuple(pairs), french, english
        progress(len(kept) - len(pairs))
        pairs = kept


def fits(pair: Pair, french: Subwords, english: Subwords, max_tokens: int) -> bool:
    """Whether both sides are short enough."""
    return french.length(pair.french) <= max_tokens and english.length(pair.english) <= max_tokens
