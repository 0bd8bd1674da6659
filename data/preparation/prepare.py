"""Turns any parallel text into a corpus in the format of the course.

Text is cut into words and punctuation marks; pairs that are empty, too long or duplicates are dropped; the rest is
split; and an encoding is learnt on the training split alone: byte pairs (one encoding per language, or *joint*, one
for both, as in Vaswani et al. 2017, section 5.1) or whole words. The encodings are saved as JSON files of the library
`tokenizers`, so that `python -m data encode` can prepare new text for the trained model.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from reference.translation.raw_text import LANGUAGES

from ..files import SEPARATOR, CorpusError
from .encodings import Encoding, empty_tokenizer, learn_bpe, learn_words
from .parallel import TextPair

SPLITS = ("train", "dev", "test")
MOST_CHARACTERS = 10_000  # longer lines are not sentences
MOST_TOKENS_READ = 511  # the most tokens that reference/ reads: it has 512 positions, and a target begins with <bos>

WordPair = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Choices:
    """How text becomes a corpus.

    Attributes:
        encoding: `bpe` or `words`.
        vocabulary: size of each language's encoding, at most.
        joint: one encoding for both languages.
        lowercase: no capital letters.
        most_tokens: pairs with a longer side (after encoding) are dropped.
        dev: pairs to take from the training text if there is no dev split.
        test: pairs to take from the training text if there is no test split.
        seed: of the draw of these pairs.
        pre_tokenizer: `signs` or `whitespace`: see `empty_tokenizer`.
        min_count: of whole words, those that occur less often in the training split are unknown.
        languages: codes of source and target, such as `de` and `en`.
    """

    encoding: str = "bpe"
    vocabulary: int = 18_000
    joint: bool = False
    lowercase: bool = False
    most_tokens: int = 100
    dev: int = 1000
    test: int = 1000
    seed: int = 0
    pre_tokenizer: str = "signs"
    min_count: int = 1
    languages: tuple[str, str] = ("source", "target")


def split_name(name: str) -> str:
    """Returns our name for a dataset's split: `validation` is our `dev`."""
    return "dev" if name.startswith("val") else name


def prepare(
    splits: Mapping[str, Iterable[TextPair]], choices: Choices, tick: Callable[[], object] = lambda: None
) -> tuple[dict[str, bytes], dict[str, object]]:
    """Makes the corpus' files.

    Args:
        splits: texts by split, `train` among them. Names that begin with `val` count as `dev`.
        choices: how text becomes a corpus.
        tick: called once per pair.

    Raises:
        CorpusError: if too little is left.
    """
    words, dropped = _words_of(splits, choices, tick)
    if not words["train"]:
        raise CorpusError(_nothing_left(dropped))
    words, encodings = _draw(words, choices)
    files: dict[str, bytes] = {}
    counts: dict[str, int] = {}
    longest = 0
    for split, pairs in words.items():
        lines = []
        for pair in pairs:
            tokens = _count_tokens(pair, encodings)
            if tokens > choices.most_tokens:
                dropped["too long"] += 1
                continue
            longest = max(longest, tokens)
            source, target = (
                " ".join(encoding.encode(" ".join(side))) for encoding, side in zip(encodings, pair, strict=True)
            )
            if split != "train" and choices.encoding == "words":
                target = " ".join(pair[1])  # these are references: an <unk> there would count as a match
            lines.append(f"{source}{SEPARATOR}{target}\n")
        counts[split] = len(lines)
        if lines:
            files[f"{split}.{choices.encoding}"] = "".join(lines).encode()
    if not counts["train"]:
        raise CorpusError(_nothing_left(dropped))
    names = tokenizer_names(choices)
    for name, encoding in zip(names, encodings, strict=True):
        files[name] = encoding.to_json().encode()
    files[LANGUAGES] = _describe_languages(choices).encode()
    return files, {**vars(choices), "pairs": counts, "longest": longest, "dropped": dict(dropped)}


def tokenizer_names(choices: Choices) -> tuple[str, str]:
    """Returns the names of the files with the encodings of both sides."""
    if choices.joint:
        return "tokenizer.json", "tokenizer.json"
    return f"tokenizer_{choices.languages[0]}.json", f"tokenizer_{choices.languages[1]}.json"


def _describe_languages(choices: Choices) -> str:
    """The file that tells `reference/` how raw text becomes tokens and back; see its `translation/raw_text.py`."""
    sides = zip(("source", "target"), choices.languages, tokenizer_names(choices), strict=True)
    described = {side: {"language": language, "tokenizer": name} for side, language, name in sides}
    return json.dumps({"encoding": choices.encoding, **described}, indent=2) + "\n"


def _words_of(
    splits: Mapping[str, Iterable[TextPair]], choices: Choices, tick: Callable[[], object]
) -> tuple[dict[str, list[WordPair]], Counter[str]]:
    """Cuts each split into words; drops pairs that are empty, too long, or in another split (test wins over training).

    A word has at least one token, so a pair with too many words can be dropped before there is an encoding.
    """
    named = {split_name(name): pairs for name, pairs in splits.items()}
    if "train" not in named:
        raise CorpusError(f"it has no split 'train', only {', '.join(splits) or 'nothing'}")
    dropped: Counter[str] = Counter()
    seen: set[tuple[str, ...]] = set()
    words: dict[str, list[WordPair]] = {}
    cut = Encoding(empty_tokenizer(choices.pre_tokenizer, choices.lowercase)).cut
    for split in reversed([split for split in SPLITS if split in named]):
        words[split] = []
        for texts in named[split]:
            tick()
            if max(map(len, texts)) > MOST_CHARACTERS:
                dropped["too long"] += 1
                continue
            source, target = map(cut, texts)
            if not source or not target:
                dropped["empty"] += 1
            elif max(len(source), len(target)) > choices.most_tokens:
                dropped["too long"] += 1
            elif tuple(source) in seen:
                dropped["source seen before"] += 1
            else:
                seen.add(tuple(source))
                words[split].append((source, target))
    return words, dropped


def _draw(
    words: dict[str, list[WordPair]], choices: Choices
) -> tuple[dict[str, list[WordPair]], tuple[Encoding, Encoding]]:
    """Takes missing splits out of the training text and learns the encodings on the rest.

    Only the encodings tell which pairs are too long, and only the draw tells what they may learn from. So if drawn
    pairs turn out too long, more are drawn and the encodings learnt again, until there are as many as asked for.
    """
    sizes = {split: getattr(choices, split) for split in SPLITS if split not in words}
    total = taken = sum(sizes.values())
    pairs = words["train"]
    drawing = random.Random(choices.seed)  # noqa: S311  # nothing depends on its secrecy
    order = drawing.sample(range(len(pairs)), len(pairs))
    while True:
        if 4 * taken > 3 * len(pairs):
            wanted = " and ".join(f"{size:,} of them for {split}" for split, size in sizes.items() if size)
            smaller = " or ".join(f"--{split}" for split, size in sizes.items() if size)
            reason = f" with at most {choices.most_tokens:,} tokens per side" if taken > total else ""
            raise CorpusError(f"{len(pairs):,} pairs are too few to take {wanted}{reason}; name a smaller {smaller}")
        drawn = set(order[:taken])
        encodings = _learn([pair for index, pair in enumerate(pairs) if index not in drawn], choices)
        short = [index for index in order[:taken] if _count_tokens(pairs[index], encodings) <= choices.most_tokens]
        if len(short) >= total:
            break
        taken += 2 * (total - len(short))
    chosen = {split: sorted(short.pop() for _ in range(size)) for split, size in sizes.items()}
    held_out = {index for indices in chosen.values() for index in indices}
    found = words | {split: [pairs[index] for index in indices] for split, indices in chosen.items()}
    found["train"] = [pair for index, pair in enumerate(pairs) if index not in held_out]
    return {split: found[split] for split in SPLITS}, encodings


def _learn(pairs: list[WordPair], choices: Choices) -> tuple[Encoding, Encoding]:
    """The encodings of both sides."""

    def learn(*sides: int) -> Encoding:
        def lines() -> Iterator[str]:
            return (" ".join(pair[side]) for side in sides for pair in pairs)

        rules = (choices.pre_tokenizer, choices.lowercase)
        if choices.encoding == "bpe":
            return learn_bpe(lines, choices.vocabulary, *rules)
        return learn_words(lines, choices.vocabulary, choices.min_count, *rules)

    if choices.joint:
        joint = learn(0, 1)
        return joint, joint
    return learn(0), learn(1)


def _count_tokens(pair: WordPair, encodings: tuple[Encoding, Encoding]) -> int:
    """Tokens of the longer side."""
    return max(len(encoding.encode(" ".join(side))) for encoding, side in zip(encodings, pair, strict=True))


def _nothing_left(dropped: Counter[str]) -> str:
    why = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items()) or "the text is empty"
    more = "; allow more with --most-tokens" if dropped["too long"] else ""
    return f"no pair is left for training ({why}){more}"
