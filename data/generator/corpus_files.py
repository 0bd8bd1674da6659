"""The corpus as files: their names, their bytes, the manifest, and whether they agree with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..bpe import SPECIAL_IDS
from ..files import SEPARATOR, CorpusError
from .build import Corpus, Pair, spread, to_pharaoh

DATA_FOLDER = Path(__file__).resolve().parents[1]
MANIFEST = DATA_FOLDER / "manifest.json"
GENERATED = DATA_FOLDER / "private" / "generated.json"
"""The manifest of what `generate` has written last, recorded as the course's or not."""
PUBLIC = "corpus"
PRIVATE = "private"
TRAIN, DEV = f"{PUBLIC}/fren.train.bpe", f"{PUBLIC}/fren.dev.bpe"
TEST_SOURCE = f"{PUBLIC}/fren.test.src.bpe"
TEST = f"{PRIVATE}/fren.test.bpe"
TRAIN_ALIGN, DEV_ALIGN, TEST_ALIGN = (f"{PRIVATE}/fren.{split}.align" for split in ("train", "dev", "test"))
SAMPLE_ALIGN = f"{PUBLIC}/fren.dev.align"
SAMPLE = 100
"""Students get the links of so many dev pairs: a phrase table of all links earns BLEU without any model."""


@dataclass(frozen=True)
class Manifest:
    """What `manifest.json` records: seeds, sizes and a checksum of each file."""

    seed: int
    test_seed: int
    counts: dict[str, int]
    vocabulary: dict[str, int]
    files: dict[str, str]

    def to_json(self) -> str:
        """The file's text."""
        return json.dumps(self.__dict__, indent=2, sort_keys=True) + "\n"


def render(corpus: Corpus) -> dict[str, bytes]:
    """Bytes of each file by its path under the output folder."""

    def pairs(split: tuple[Pair, ...]) -> bytes:
        lines = (f"{corpus.french.encode(p.french)} {SEPARATOR}{corpus.english.encode(p.english)}\n" for p in split)
        return "".join(lines).replace(f" {SEPARATOR}", SEPARATOR).encode()

    def sources(split: tuple[Pair, ...]) -> bytes:
        return "".join(f"{corpus.french.encode(p.french)}\n" for p in split).encode()

    def alignments(split: tuple[Pair, ...]) -> bytes:
        return "".join(f"{to_pharaoh(token_links(corpus, p))}\n" for p in split).encode()

    return {
        TRAIN: pairs(corpus.train),
        DEV: pairs(corpus.dev),
        TEST_SOURCE: sources(corpus.test),
        SAMPLE_ALIGN: alignments(corpus.dev[:SAMPLE]),
        TEST: pairs(corpus.test),
        TRAIN_ALIGN: alignments(corpus.train),
        DEV_ALIGN: alignments(corpus.dev),
        TEST_ALIGN: alignments(corpus.test),
    }


def token_links(corpus: Corpus, pair: Pair) -> list[tuple[int, int]]:
    """The pair's links between BPE tokens."""
    french = [len(corpus.french.pieces(word)) for word in pair.french]
    english = [len(corpus.english.pieces(word)) for word in pair.english]
    return spread(pair.links, french, english)


def describe(corpus: Corpus, files: Mapping[str, bytes]) -> Manifest:
    """The manifest of a corpus."""
    french = corpus.french.vocabulary(pair.french for pair in corpus.train)
    english = corpus.english.vocabulary(pair.english for pair in corpus.train)
    return Manifest(
        seed=corpus.seed,
        test_seed=corpus.test_seed,
        counts={"train": len(corpus.train), "dev": len(corpus.dev), "test": len(corpus.test)},
        vocabulary={"french": len(french) + SPECIAL_IDS, "english": len(english) + SPECIAL_IDS},
        files={name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    )


def read_manifest(path: Path = MANIFEST) -> Manifest:
    """The manifest on disk.

    Raises:
        CorpusError: if it is missing or lacks a field.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Manifest(**{name: content[name] for name in Manifest.__dataclass_fields__})
    except FileNotFoundError:
        raise CorpusError(f"{path}: there is no manifest") from None
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as problem:
        raise CorpusError(f"{path}: not a manifest: {type(problem).__name__} {problem}") from None


def files_of_others(recorded: Manifest) -> list[str]:
    """Return the names of files in `data/` that a corpus consists of and that the generator has not written."""
    made = [recorded, *([read_manifest(GENERATED)] if GENERATED.is_file() else [])]
    return [
        name
        for name in (TRAIN, DEV, TEST_SOURCE, TEST)
        if (DATA_FOLDER / name).is_file()
        and hashlib.sha256((DATA_FOLDER / name).read_bytes()).hexdigest() not in [one.files.get(name) for one in made]
    ]


def read_folder(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Reads the corpus's files from disk.

    Raises:
        CorpusError: if a file is missing.
    """
    found = {}
    for name in names:
        try:
            found[name] = (folder / name).read_bytes()
        except OSError:
            raise CorpusError(f"{folder / name}: missing; 'python -m data generate' writes it") from None
    return found


def differences(expected: Manifest, files: Mapping[str, bytes], whose: str) -> list[str]:
    """A line for each file whose bytes differ from the manifest's."""
    sums = {name: hashlib.sha256(files[name]).hexdigest() for name in expected.files}
    return [
        f"{name}: {whose} has sha256 {found[:12]}, the manifest {expected.files[name][:12]}"
        for name, found in sums.items()
        if found != expected.files[name]
    ]
