"""Turns any parallel text into a corpus in the format of the course.

Text is cut into words and punctuation marks; pairs that are empty, too long or duplicates are dropped; the rest is
split; and an encoding is learnt on the training split alone: byte pairs (one encoding per language, or *joint*, one
for both, as in Vaswani et al. 2017, section 5.1) or whole words. The encodings are saved as JSON files of the library
`tokenizers`, so that new text can be prepared for the trained model.

The text is read once and then only from the disk, so memory does not grow with the number of pairs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from given.raw_text import LANGUAGES

from ..files import SEPARATOR, CorpusError
from .choices import SPLITS, Choices
from .drawing import Encodings, draw
from .parallel import TextPair
from .sentences import SentencePairs, clean

MOST_TOKENS_READ = 511  # the most tokens that reference/ reads: it has 512 positions, and a target begins with <bos>


def prepare(
    splits: Mapping[str, Iterable[TextPair]],
    choices: Choices,
    folder: Path,
    known: Encodings | None = None,
    tick: Callable[[], object] = lambda: None,
) -> dict[str, Any]:
    """Writes the files of the corpus.

    Args:
        splits: texts by split, `train` among them. Names that begin with `val` count as `dev`.
        choices: how text becomes a corpus.
        folder: an empty one for the files.
        known: encodings to use again; None = they are learnt.
        tick: called once per pair.

    Returns:
        A summary: the choices, and what became of the text.

    Raises:
        CorpusError: if too little is left.
    """
    found, dropped = clean(splits, choices, folder, tick)
    if not len(found["train"]):
        raise CorpusError(_nothing_left(dropped))
    drawn, encodings = draw(found["train"], [split for split in SPLITS if split not in found], choices, known)
    writer = _LineWriter(choices, encodings, folder)
    counts = {split: writer.write(split, (found | drawn)[split]) for split in SPLITS}
    for split in found:
        (folder / f"{split}.sentences").unlink()
    if writer.too_long:
        dropped["too long"] += writer.too_long
    if not counts["train"]:
        raise CorpusError(_nothing_left(dropped))
    if choices.arrow:
        from given import package

        package.use("reference")  # before the next import, which asks for its types
        from given.extras.arrow_corpus import write_arrow  # here, since it takes a second to load

        lines = folder / f"train.{choices.encoding}"
        write_arrow(lines, folder / "train.arrow")
        lines.unlink()
    for name, encoding in zip(choices.tokenizer_names, encodings, strict=True):
        (folder / name).write_text(encoding.to_json(), encoding="utf-8")
    (folder / LANGUAGES).write_text(_describe_languages(choices), encoding="utf-8")
    return {**vars(choices), "pairs": counts, "longest": writer.longest, "dropped": dict(dropped)}


class _LineWriter:
    """Writes splits as lines `source|||target` of tokens.

    Attributes:
        longest: tokens of the longest source and target that were written.
        too_long: pairs that were left out.
    """

    def __init__(self, choices: Choices, encodings: Encodings, folder: Path) -> None:
        self.choices, self.encodings, self.folder = choices, encodings, folder
        self.longest = {"source": 0, "target": 0}
        self.too_long = 0

    def write(self, split: str, pairs: SentencePairs) -> int:
        """Writes a split unless it is empty; returns the number of its pairs."""
        if not len(pairs):
            return 0
        # These are references: an <unk> there would count as a match.
        has_true_words = split != "train" and self.choices.encoding == "words"
        count = 0
        path = self.folder / f"{split}.{self.choices.encoding}"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for pair in pairs:
                source, target = (encoding.encode(side) for encoding, side in zip(self.encodings, pair, strict=True))
                if max(len(source), len(target)) > self.choices.most_tokens:
                    self.too_long += 1
                    continue
                for side, tokens in (("source", source), ("target", target)):
                    self.longest[side] = max(self.longest[side], len(tokens))
                file.write(f"{' '.join(source)}{SEPARATOR}{pair[1] if has_true_words else ' '.join(target)}\n")
                count += 1
        if not count:
            path.unlink()
        return count


def _describe_languages(choices: Choices) -> str:
    """The file that tells how raw text becomes tokens and back; see `given/raw_text.py`."""
    sides = zip(("source", "target"), choices.languages, choices.tokenizer_names, strict=True)
    described = {side: {"language": language, "tokenizer": name} for side, language, name in sides}
    return json.dumps({"encoding": choices.encoding, **described}, indent=2) + "\n"


def _nothing_left(dropped: Counter[str]) -> str:
    why = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items()) or "the text is empty"
    more = "; allow more with --most-tokens" if dropped["too long"] else ""
    return f"no pair is left for training ({why}){more}"
