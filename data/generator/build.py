"""Building a corpus: draws sentences, writes them in both languages, splits and encodes them.

A hash of its French side decides once and for all which split a sentence may go to. So no French side is shared
between splits, not even those of different seeds, and all splits have the same distribution. Training and dev split
come from one random stream, that of the seed; the test split has its own, so that a fresh test set leaves the others
and the encoding as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ..bpe import Subwords, learn
from .draw import draw_sentence
from .draw.chance import Draw
from .languages import Word
from .languages.english import English
from .languages.french import French
from .meaning import Key
from .settings import Settings, Size
from .tables import Lexicon

Progress = Callable[[int], object]
Link = tuple[int, int]


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
    size = settings.size
    test_seed = seed if test_seed is None else test_seed
    main = draw_pairs(lexicon, settings, f"train and dev {seed}", ("train", "dev"), set())
    train, dev, french, english = _train_and_dev(main, size, progress)

    def draw_test(number: int, taken: set[tuple[str, ...]]) -> tuple[Pair, ...]:
        stream = draw_pairs(lexicon, settings, f"test {number}", ("test",), taken)
        pairs = (pair for _, pair in stream if fits(pair, french, english, size.max_tokens))
        found = tuple(islice(pairs, size.test))
        progress(len(found))
        return found

    test = draw_test(seed, set())
    if test_seed != seed:
        test = draw_test(test_seed, {pair.french for pair in test})
    return Corpus(seed, test_seed, train, dev, test, french, english)


def _train_and_dev(
    stream: Iterator[tuple[str, Pair]], size: Size, progress: Progress
) -> tuple[tuple[Pair, ...], tuple[Pair, ...], Subwords, Subwords]:
    """Draws until both splits are full of pairs that are short enough in the encoding learnt on the first.

    Dropping a pair from training changes the encoding, so it is learnt again until nothing more is dropped.
    """
    train: list[Pair] = []
    dev: list[Pair] = []

    def draw() -> None:
        split, pair = next(stream)
        kind, wanted = (train, size.train) if split == "train" else (dev, size.dev)
        kind.append(pair)
        progress(len(kind) <= wanted)

    while True:
        while len(train) < size.train:
            draw()
        french = learn([pair.french for pair in train], size.french_vocabulary)
        english = learn([pair.english for pair in train], size.english_vocabulary)
        kept = [pair for pair in train if fits(pair, french, english, size.max_tokens)]
        if len(kept) == len(train):
            break
        progress(len(kept) - len(train))
        train = kept
    full = tuple(train)
    while len(short := [pair for pair in dev if fits(pair, french, english, size.max_tokens)]) < size.dev:
        draw()
    return full, tuple(short[: size.dev]), french, english


def fits(pair: Pair, french: Subwords, english: Subwords, max_tokens: int) -> bool:
    """Whether both sides are short enough."""
    return french.length(pair.french) <= max_tokens and english.length(pair.english) <= max_tokens


def align(source: Sequence[Word], target: Sequence[Word]) -> list[Link]:
    """Links between positions of words, sorted: (source, target)."""
    by_source, by_target = _index(source), _index(target)
    links = {(i, j) for key, positions in by_source.items() for i in positions for j in by_target.get(key, ())}
    linked_source, linked_target = {i for i, _ in links}, {j for _, j in links}
    extra: set[Link] = set()
    for i, found in enumerate(source):
        if i not in linked_source:
            extra |= {(i, j) for j in _fallback(found, by_target)}
    for j, found in enumerate(target):
        if j not in linked_target:
            extra |= {(i, j) for i in _fallback(found, by_source)}
    return sorted(links | extra)


def _index(words: Sequence[Word]) -> dict[Key, list[int]]:
    index: dict[Key, list[int]] = {}
    for position, found in enumerate(words):
        for key in found.keys:
            index.setdefault(key, []).append(position)
    return index


def _fallback(found: Word, index: dict[Key, list[int]]) -> list[int]:
    for key in found.fallback:
        if key in index:
            return index[key]
    return []


def spread(links: Sequence[Link], source_pieces: Sequence[int], target_pieces: Sequence[int]) -> list[Link]:
    """Links between BPE tokens, given how many tokens each word has."""
    source_start, target_start = _starts(source_pieces), _starts(target_pieces)
    return sorted(
        (source_start[i] + a, target_start[j] + b)
        for i, j in links
        for a in range(source_pieces[i])
        for b in range(target_pieces[j])
    )


def _starts(pieces: Sequence[int]) -> list[int]:
    starts = [0]
    for count in pieces:
        starts.append(starts[-1] + count)
    return starts


def to_pharaoh(links: Sequence[Link]) -> str:
    """One line of a file in Pharaoh format: `0-0 1-2 2-1`."""
    return " ".join(f"{i}-{j}" for i, j in links)
