"""``python -m data prepare``: any parallel text in the format of the course.

Text is cut into words and signs, pairs that are empty, too long or doubled are dropped, the rest is split, and an
encoding is learnt on the training split alone: byte pairs (each language its own, or one for both: *joint*, as
Vaswani et al. 2017, section 5.1, have it), or whole words. The encodings are saved as the JSON files of the library
``tokenizers``, so that ``python -m data encode`` can prepare new text for the trained model.
"""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .bpe import Subwords
from .encodings import WholeWords
from .files import SEPARATOR, CorpusError
from .parallel import TextPair

SPLITS = ("train", "dev", "test")
MOST_CHARACTERS = 10_000  # of a sentence; what is longer is no sentence

WordPair = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Choices:
    """How text becomes a corpus.

    :param encoding: ``bpe`` or ``words``.
    :param vocabulary: size of each language's encoding, at most.
    :param joint: one encoding for both languages.
    :param lowercase: no capital letters.
    :param most_tokens: a pair with a longer side (after encoding) is dropped.
    :param dev, test: pairs that are taken from the training text where it comes without these splits.
    :param seed: of the drawing of these pairs.
    """

    encoding: str = "bpe"
    vocabulary: int = 18_000
    joint: bool = False
    lowercase: bool = False
    most_tokens: int = 100
    dev: int = 1000
    test: int = 1000
    seed: int = 0


def cut_words(text: str, lowercase: bool = False) -> list[str]:
    """Words and signs: runs of letters, digits and marks; every other visible character stands alone.

    >>> cut_words("L'homme, 3.5 % !")
    ['L', "'", 'homme', ',', '3', '.', '5', '%', '!']
    """
    text = unicodedata.normalize("NFC", text).replace(SEPARATOR, " ")
    words: list[str] = []
    joined = False
    for sign in text.lower() if lowercase else text:
        kind = unicodedata.category(sign)
        if kind[0] in "LNM":
            if joined:
                words[-1] += sign
            else:
                words.append(sign)
            joined = True
        else:
            joined = False
            if kind[0] not in "ZC":
                words.append(sign)
    return words


def prepare(
    splits: dict[str, Iterable[TextPair]], choices: Choices, tick: Callable[[], object] = lambda: None
) -> tuple[dict[str, bytes], dict[str, object]]:
    """The corpus' files by name, and what a reader of the summary wants to know.

    :param splits: texts by split; ``train`` is a must. Names that begin with ``val`` count as ``dev``.
    :param tick: is called once a pair.
    :raises CorpusError: where too little is left.
    """
    words, dropped = _words_of(splits, choices, tick)
    if not words["train"]:
        raise CorpusError(f"no pair is left for training ({_told(dropped)})")
    sides = [[pair[side] for pair in words["train"]] for side in (0, 1)]
    learn = (Subwords if choices.encoding == "bpe" else WholeWords).train
    if choices.joint:
        encodings = [learn(sides[0] + sides[1], choices.vocabulary)] * 2
    else:
        encodings = [learn(side, choices.vocabulary) for side in sides]
    files: dict[str, bytes] = {}
    counts: dict[str, int] = {}
    for split, pairs in words.items():
        lines = []
        for pair in pairs:
            source, target = (encoding.encode(side) for encoding, side in zip(encodings, pair, strict=True))
            if max(len(source.split(" ")), len(target.split(" "))) > choices.most_tokens:
                dropped["too long"] += 1
            else:
                lines.append(f"{source}{SEPARATOR}{target}\n")
        counts[split] = len(lines)
        if lines:
            files[f"{split}.{choices.encoding}"] = "".join(lines).encode()
    if not counts["train"]:
        raise CorpusError(f"no pair is left for training ({_told(dropped)}); allow more with --most-tokens")
    names = ("tokenizer",) if choices.joint else ("source.tokenizer", "target.tokenizer")
    for name, encoding in zip(names, encodings, strict=False):
        files[f"{name}.json"] = encoding.to_json().encode()
    return files, {**vars(choices), "pairs": counts, "dropped": dict(dropped)}


def _words_of(
    splits: dict[str, Iterable[TextPair]], choices: Choices, tick: Callable[[], object]
) -> tuple[dict[str, list[WordPair]], Counter]:
    """Words of each split, without what is empty, endless, or stands in another split (test first, training last)."""
    named = {("dev" if name.startswith("val") else name): pairs for name, pairs in splits.items()}
    if "train" not in named:
        raise CorpusError(f"there is no split 'train' in it, only {', '.join(splits) or 'nothing'}")
    dropped: Counter = Counter()
    seen: set[tuple[str, ...]] = set()
    words: dict[str, list[WordPair]] = {}
    for split in reversed(SPLITS):
        words[split] = []
        for texts in named.get(split, ()):
            tick()
            if max(map(len, texts)) > MOST_CHARACTERS:
                dropped["too long"] += 1
                continue
            source, target = (cut_words(text, choices.lowercase) for text in texts)
            if not source or not target:
                dropped["empty"] += 1
            elif tuple(source) in seen:
                dropped["source seen before"] += 1
            else:
                seen.add(tuple(source))
                words[split].append((source, target))
    words = {split: words[split] for split in SPLITS}
    chance = random.Random(choices.seed)
    for split, size in (("dev", choices.dev), ("test", choices.test)):
        if split not in named and size:
            if 2 * size > len(words["train"]):
                raise CorpusError(
                    f"{len(words['train']):,} pairs are too few to take {size:,} of them for {split}; name a "
                    f"smaller --{split}"
                )
            chosen = set(chance.sample(range(len(words["train"])), size))
            words[split] = [pair for index, pair in enumerate(words["train"]) if index in chosen]
            words["train"] = [pair for index, pair in enumerate(words["train"]) if index not in chosen]
    return words, dropped


def _told(dropped: Counter) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in dropped.items()) or "the text is empty"
