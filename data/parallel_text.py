"""Turns any parallel text into a corpus in the format of the course: read, cut into words, cleaned, split, encoded.

The encoding is one per language, or *joint*, one for both, as in Vaswani et al. 2017, section 5.1. The text is read
once and then only from the disk: memory holds a short hash of each source.
"""

import gzip
import hashlib
import json
import math
import random
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tqdm import tqdm

from foundation.command_line import UserError
from given.config import LANGUAGES
from reference.vocab import SEPARATOR

from .encodings import SPLITS, Choices, Tokenizers, cut, empty_tokenizer, encode, learn

HUB_SECONDS = 4.0
MOST_CHARACTERS = 10_000  # longer lines are not sentences

TextPair = tuple[str, str]


def read_files(source: Path, target: Path) -> Iterator[TextPair]:
    """Reads pairs of lines of two files (UTF-8, `.gz` or not). Raises: UserError where one has more lines."""
    for number, pair in enumerate(zip_longest(_read_lines(source), _read_lines(target))):
        if None in pair:
            path = source if pair[0] is None else target
            hint = "line n of one must translate line n of the other"
            raise UserError(f"{path} ends after {number:,} lines, before the other file; {hint}")
        yield pair


def read_columns(path: Path, columns: tuple[int, int]) -> Iterator[TextPair]:
    """Reads pairs of columns, numbered from 1, without empty lines. Raises: UserError where there are too few."""
    for number, line in enumerate(_read_lines(path), start=1):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) < max(columns):
            counts = f"{len(cells)} columns, separated by tabs; expected at least {max(columns)}"
            raise UserError(f"{path}:{number}: {counts} (--columns names source and target)")
        yield cells[columns[0] - 1], cells[columns[1] - 1]


def _read_lines(path: Path) -> Iterator[str]:
    r"""Reads line by line; only "\n" ends one, as everywhere in the kit: line n must stay line n."""
    number = 1
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                yield line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n")
    except (OSError, EOFError, zlib.error) as problem:
        raise UserError(f"{path}: {getattr(problem, 'strerror', None) or problem}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}:{number}: not UTF-8 text") from None


def read_dataset(name: str, config: str | None, languages: TextPair) -> dict[str, Iterator[TextPair]]:
    """The splits of a dataset, on the hub or in a folder, whose rows have a text per language.

    The texts are in a field `translation` or in columns. Raises: UserError if it cannot be loaded, or has none.
    """
    import datasets  # takes seconds to load
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError

    datasets.disable_progress_bars()
    if not Path(name).exists():
        try:
            HfApi().dataset_info(name, timeout=HUB_SECONDS)
        except HfHubHTTPError:  # it answers; loading says what is wrong with the name
            pass
        except Exception:  # it does not answer: only what is in the cache can be loaded, without its half a minute
            datasets.config.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE = True
    try:
        splits = datasets.load_dataset(name, config)
    except Exception as problem:  # of a dozen libraries: no such name, no such configuration, a damaged file
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise UserError(f"--dataset {name}: it cannot be loaded: {first}") from None

    def rows(split: str) -> Iterator[TextPair]:
        for row in splits[split]:
            texts = row["translation"] if isinstance(row.get("translation"), dict) else row
            # An empty cell of a table is None.
            if not all(side in texts and isinstance(texts[side] or "", str) for side in languages):
                known, expected = ", ".join(map(str, texts)), " and ".join(languages)
                raise UserError(f"--dataset {name}: a row has {known}; expected texts in {expected}")
            yield texts[languages[0]] or "", texts[languages[1]] or ""

    return {split: rows(split) for split in splits}


@dataclass(frozen=True)
class SentencePairs:
    """The pairs of a split, words separated by spaces: lines `source|||target` of a file, `count` in all."""

    path: Path
    count: int

    def __iter__(self) -> Iterator[TextPair]:
        """Reads the pairs from the file."""
        with self.path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                source, _, target = line.rstrip("\n").partition(SEPARATOR)
                yield source, target


def prepare(
    splits: Mapping[str, Iterable[TextPair]], choices: Choices, folder: Path, known: Tokenizers | None = None
) -> dict[str, Any]:
    """Writes the files of the corpus to an empty folder; returns the choices, and numbers of pairs kept and dropped.

    A split whose name begins with `val` counts as `dev`; the encodings are learnt unless `known`.
    Raises: UserError where too little is left.
    """
    with tempfile.TemporaryDirectory(prefix="sentences-", dir=folder) as name:
        sentences, dropped = clean(splits, choices, Path(name))
        draw(sentences, choices)
        encodings = known or learn(sentences["train"], choices)
        counts, longest = {}, [0, 0]
        for split, pairs in sentences.items():
            path = folder / f"{split}.{choices.encoding}"
            counts[split], lengths = write_split(split, pairs, encodings, choices, path)
            longest = list(map(max, longest, lengths))
            if too_long := pairs.count - counts[split]:
                dropped["too long"] += too_long
    if not counts["train"]:
        raise UserError(_nothing_left(dropped))
    for name, encoding in zip(choices.tokenizer_names, encodings, strict=True):
        (folder / name).write_text(encoding.to_str(pretty=True), encoding="utf-8")
    # how raw text becomes tokens; see `given/extras/raw_text.py`
    sides = zip(("source", "target"), choices.languages, choices.tokenizer_names, strict=True)
    described = {side: {"language": language, "tokenizer": name} for side, language, name in sides}
    text = json.dumps({"encoding": choices.encoding, **described}, indent=2)
    (folder / LANGUAGES).write_text(text + "\n", encoding="utf-8")
    return {
        **vars(choices),
        "pairs": {split: counts[split] for split in SPLITS},
        "longest": dict(zip(("source", "target"), longest, strict=True)),
        "dropped": dict(dropped),
    }


def split_name(name: str) -> str:
    """Returns our name for a dataset's split: `validation` is our `dev`."""
    return "dev" if name.startswith("val") else name


def clean(
    splits: Mapping[str, Iterable[TextPair]], choices: Choices, folder: Path
) -> tuple[dict[str, SentencePairs], Counter[str]]:
    """Cuts each split into words; drops pairs that are empty, too long, or in another split (test wins over training).

    A word has at least one token, so a pair with too many words can be dropped now. Returns the pairs by split, and
    counts of the dropped ones by reason.
    """
    named = {split_name(name): pairs for name, pairs in splits.items()}
    if "train" not in named:
        raise UserError(f"it has no split 'train', only {', '.join(splits)}")
    tokenizer = empty_tokenizer(choices)
    dropped: Counter[str] = Counter()
    seen: set[bytes] = set()
    sentences = {}
    for split in reversed([split for split in SPLITS if split in named]):
        path, count = folder / split, 0
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for texts in tqdm(named[split], desc=split, unit="pair", delay=2, leave=False, disable=None):
                is_sentence = max(map(len, texts)) <= MOST_CHARACTERS
                source, target = (cut(tokenizer, text) if is_sentence else [] for text in texts)
                line = " ".join(source)
                mark = hashlib.blake2b(line.encode(), digest_size=8).digest()
                if not is_sentence or max(len(source), len(target)) > choices.most_tokens:
                    dropped["too long"] += 1
                elif not source or not target:
                    dropped["empty"] += 1
                elif mark in seen:
                    dropped["source seen before"] += 1
                else:
                    seen.add(mark)
                    file.write(f"{line}{SEPARATOR}{' '.join(target)}\n")
                    count += 1
        sentences[split] = SentencePairs(path, count)
    if not sentences["train"].count:
        raise UserError(_nothing_left(dropped))
    return sentences, dropped


def draw(sentences: dict[str, SentencePairs], choices: Choices) -> None:
    """Takes the missing splits out of the training text, and adds them. Raises: UserError where it is too short."""
    pairs = sentences["train"]
    sizes = {split: getattr(choices, split) for split in SPLITS if split not in sentences}
    for split, size in sizes.items():
        if isinstance(size, str):  # a share, rounded up, so that training keeps the rest rounded down
            sizes[split] = math.ceil(Fraction(size.removesuffix("%")) / 100 * pairs.count)
    total = sum(sizes.values())
    if 4 * total > 3 * pairs.count:
        wanted = " and ".join(f"{size:,} of them for {split}" for split, size in sizes.items())
        raise UserError(f"{pairs.count:,} pairs are too few to take {wanted}; name a smaller --dev or --test")
    drawn = random.Random(choices.seed).sample(range(pairs.count), total)  # noqa: S311  # nothing depends on its secrecy
    names = [split for split, size in sizes.items() for _ in range(size)]
    split_of = dict(zip(drawn, names, strict=True))
    for split in ("train", *sizes):
        path = pairs.path.with_name(f"drawn-{split}")
        with pairs.path.open("rb") as file, path.open("wb") as drawn_file:
            drawn_file.writelines(line for n, line in enumerate(file) if split_of.get(n, "train") == split)
        sentences[split] = SentencePairs(path, sizes.get(split, pairs.count - total))


def write_split(
    split: str, pairs: SentencePairs, encodings: Tokenizers, choices: Choices, path: Path
) -> tuple[int, list[int]]:
    """Writes a split unless it is empty; returns the number of pairs, and the most tokens of a source and a target."""
    # Words of dev and test are references: an <unk> there would count as a match.
    has_true_words = split != "train" and choices.encoding == "words"
    count, longest = 0, [0, 0]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for pair in pairs:
            sides = [encode(encoding, side) for encoding, side in zip(encodings, pair, strict=True)]
            lengths = list(map(len, sides))
            if max(lengths) <= choices.most_tokens:
                longest = list(map(max, longest, lengths))
                target = pair[1] if has_true_words else " ".join(sides[1])
                file.write(f"{' '.join(sides[0])}{SEPARATOR}{target}\n")
                count += 1
    if not count:
        path.unlink()
    return count, longest


def _nothing_left(dropped: Counter[str]) -> str:
    why = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items()) or "the text is empty"
    return f"no pair is left for training ({why})"
