"""Checks a corpus: is it what the manifest says, and does it have the properties that the README promises?"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from foundation.texts import line_of

from ..bpe import SPECIAL_IDS, join_pieces
from ..files import SEPARATOR, CorpusError
from .corpus_files import (
    DEV,
    DEV_ALIGN,
    SAMPLE,
    SAMPLE_ALIGN,
    TEST,
    TEST_ALIGN,
    TEST_SOURCE,
    TRAIN,
    TRAIN_ALIGN,
    Manifest,
)
from .settings import Size

VOCABULARY_TOLERANCE = 10
_LINKS = re.compile(r"(\d{1,4}-\d{1,4} ?)*")


def read_folder(folder: Path, names: Mapping[str, str]) -> dict[str, bytes]:
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
    """Returns a line for each file whose bytes differ from the manifest's."""
    lines = []
    for name, checksum in expected.files.items():
        found = hashlib.sha256(files[name]).hexdigest() if name in files else "nothing"
        if found != checksum:
            lines.append(f"{name}: {whose} has sha256 {found[:12]}, the manifest {checksum[:12]}")
    return lines


def broken_promises(files: Mapping[str, bytes], size: Size) -> list[str]:
    """Returns a line for each promise of the README that the files break."""
    text: dict[str, list[str]] = {}
    problems = []
    for name, content in files.items():
        try:
            text[name] = content.decode("utf-8").splitlines()
        except UnicodeDecodeError as error:
            problems.append(f"{name}:{line_of(error)}: not UTF-8: {error.reason}")
    if problems:
        return problems
    pairs = {name: [tuple(line.split(SEPARATOR)) for line in text[name]] for name in (TRAIN, DEV, TEST)}
    for name, expected in ((TRAIN, size.train), (DEV, size.dev), (TEST, size.test), (TEST_SOURCE, size.test)):
        if len(text[name]) != expected:
            problems.append(f"{name}: {len(text[name])} lines, expected {expected}")
    for name, split in pairs.items():
        for number, pair in enumerate(split, start=1):
            if len(pair) != 2 or not all(pair):
                problems.append(f"{name}:{number}: not a pair of two sides with {SEPARATOR!r} between them")
            elif max(len(side.split()) for side in pair) > size.max_tokens:
                problems.append(f"{name}:{number}: a side is longer than {size.max_tokens} tokens")
    if problems:
        return problems
    return [
        *_shared(pairs),
        *_vocabularies(pairs[TRAIN], size),
        *_leaks(text, pairs[TEST]),
        *_alignments(text, pairs),
    ]


def _shared(pairs: Mapping[str, list[tuple[str, ...]]]) -> list[str]:
    seen: dict[str, str] = {}
    problems = []
    for name, split in pairs.items():
        for number, (french, _) in enumerate(split, start=1):
            words = join_pieces(french)
            if words in seen:
                problems.append(f"{name}:{number}: its French side also occurs at {seen[words]}")
            seen[words] = f"{name}:{number}"
    return problems


def _vocabularies(train: list[tuple[str, ...]], size: Size) -> list[str]:
    problems = []
    wanted = (("French", size.french_vocabulary), ("English", size.english_vocabulary))
    for side, (language, expected) in enumerate(wanted):
        found = len({token for pair in train for token in pair[side].split()}) + SPECIAL_IDS
        if abs(found - expected) > VOCABULARY_TOLERANCE:
            problems.append(f"{TRAIN}: {language} vocabulary of {found}, expected about {expected}")
    return problems


def _leaks(text: Mapping[str, list[str]], test: list[tuple[str, ...]]) -> list[str]:
    if text[TEST_SOURCE] != [french for french, _ in test]:
        return [f"{TEST_SOURCE}: not the French sides of {TEST}, in order"]
    return [
        f"{TEST_SOURCE}:{number}: holds a reference"
        for number, line in enumerate(text[TEST_SOURCE], start=1)
        if SEPARATOR in line
    ]


def _alignments(text: Mapping[str, list[str]], pairs: Mapping[str, list[tuple[str, ...]]]) -> list[str]:
    problems = []
    for corpus, name in ((TRAIN, TRAIN_ALIGN), (DEV, DEV_ALIGN), (TEST, TEST_ALIGN)):
        if len(text[name]) != len(pairs[corpus]):
            problems.append(f"{name}: {len(text[name])} lines, {corpus} has {len(pairs[corpus])}")
            continue
        for number, (line, (french, english)) in enumerate(zip(text[name], pairs[corpus], strict=True), start=1):
            if not _LINKS.fullmatch(line):
                problems.append(f"{name}:{number}: not links such as 0-0 1-2, with spaces between them")
                continue
            links = [tuple(map(int, link.split("-"))) for link in line.split()]
            sources, targets = {source for source, _ in links}, {target for _, target in links}
            if sources != set(range(len(french.split()))) or targets != set(range(len(english.split()))):
                problems.append(f"{name}:{number}: does not link every token of both sides")
    if text[SAMPLE_ALIGN] != text[DEV_ALIGN][:SAMPLE]:
        problems.append(f"{SAMPLE_ALIGN}: not the first {SAMPLE} lines of {DEV_ALIGN}")
    return problems
