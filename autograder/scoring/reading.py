r"""Reads translations and references: from the bytes of an untrusted file to sentences, or one clear error.

Only `\n` ends a line (`\r\n` counts as one line end), as in `wc -l` and in the files of the course. Python's
`str.splitlines` would also split at a lone `\r`, at U+2028 and at seven other characters, so that a sentence with one
of them would shift every later sentence against its reference. Blank lines at the end are no sentences, unless they
are needed to have one for each reference.
"""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

from foundation.command_line import UserError
from foundation.texts import counted, line_of, printable

MAX_BYTES = 10_000_000
MAX_LINES = 100_000
MAX_LINE_CHARACTERS = 5_000
MAX_COMPOSED_CHARACTERS = 1_000
"""Longer lines stay as they are: composing takes quadratic time where someone heaps accents on one letter."""
SEPARATOR = "|||"
BPE_MARK = "@@"

Note = Callable[[str], None]
"""Called with a line of text for everything that is not an error but worth knowing."""


class ScoringError(UserError):
    """Input that cannot be scored; the message is one line: what is wrong, where, and what would be right."""


def read_translations(
    path: str | os.PathLike[str], *, expected: int | None = None, name: str | None = None, note: Note | None = None
) -> list[str]:
    """Reads one translation per line; an empty line is an empty translation.

    Args:
        path: a text file in UTF-8. Where every line has the form `src|||tgt`, the part after `|||` is taken.
        expected: the number of references. Any other number of lines is an error.
        name: of the file in messages; by default its path.
        note: see `Note`.

    Returns:
        The translations in the file's order, with byte-pair marks.

    Raises:
        ScoringError: where the file cannot be read as that.
    """
    name = printable(name or os.fspath(path))
    return parse_translations(_read_bytes(path, name), name, expected=expected, note=note)


def parse_translations(
    content: bytes, name: str, *, expected: int | None = None, note: Note | None = None
) -> list[str]:
    """As `read_translations`, but for the content of a file; `name` is its name in messages."""
    note = note or (lambda line: None)
    lines = _split(_decode(content, name), name)
    if expected is not None:
        n_written = len(lines)
        lines = _without_blank_end(lines, expected)
        if len(lines) < n_written:
            note(f"{name}: blank lines at the end are not counted ({n_written - len(lines)})")
        if len(lines) != expected:
            numbers = f"{counted(len(lines), 'line')}, but there are {counted(expected, 'reference')}"
            raise ScoringError(f"{name}: {numbers}; write one translation per line, in the references' order")
    translations = _target_sides(lines, name)
    if translations is not lines:
        note(f"{name}: every line has the form src|||tgt, so only what follows ||| is scored")
    empty = [number for number, line in enumerate(translations, start=1) if not line.strip()]
    if empty:
        note(f"{name}: {len(empty)} of {len(lines)} translations have no text (first: line {empty[0]})")
    return translations


def read_references(path: str | os.PathLike[str], *, name: str | None = None) -> list[str]:
    """Reads one reference per line, either plain or as `src|||tgt`, with byte-pair marks. Raises: ScoringError."""
    name = printable(name or os.fspath(path))
    references = _target_sides(_without_blank_end(_split(_decode(_read_bytes(path, name), name), name), 1), name)
    for number, line in enumerate(references, start=1):
        if not line.strip():
            raise ScoringError(f"{name}: line {number} has no reference; every line needs one")
    return references


def undo_bpe(line: str) -> str:
    """The sentence that is compared: `trus@@ t@@ wor@@ thy` becomes `trustworthy`.

    Args:
        line: a sentence. A mark at its end, where a translation was cut off inside a word, is removed.

    Returns:
        The sentence with single spaces between its words, in Unicode's composed form (NFC): `é` may also be written as
        `e` and an accent (NFD), which looks the same and is the same text.
    """
    joined = " ".join(line.split()).replace(BPE_MARK + " ", "").removesuffix(BPE_MARK)
    return joined if len(joined) > MAX_COMPOSED_CHARACTERS else unicodedata.normalize("NFC", joined)


def _read_bytes(path: str | os.PathLike[str], name: str) -> bytes:
    """The bytes of a file, one more than `MAX_BYTES` at most."""
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = str(error.strerror or type(error).__name__).lower()
        raise ScoringError(f"{name}: {reason}; name a text file that can be read") from None


def _decode(data: bytes, name: str) -> str:
    """The text of a file in UTF-8, without its byte-order mark."""
    if len(data) > MAX_BYTES:
        raise ScoringError(f"{name}: is too large; at most {MAX_BYTES / 1e6:g} MB are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte 0x{data[error.start]:02x} at offset {error.start} (line {line_of(error)})"
        raise ScoringError(f"{name}: not UTF-8: {place}; save the file as UTF-8") from None
    if not text:
        raise ScoringError(f"{name}: is empty")
    return text


def _split(text: str, name: str) -> list[str]:
    r"""The lines of a text: each ends with `\n` or `\r\n`, the last one may lack it."""
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if len(lines) > MAX_LINES:
        raise ScoringError(f"{name}: {len(lines):,} lines are too many; at most {MAX_LINES:,} are read")
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_CHARACTERS:
            limit = f"at most {MAX_LINE_CHARACTERS:,} are read as one sentence"
            raise ScoringError(f"{name}: line {number} is {len(line):,} characters long; {limit}")
    return lines


def _without_blank_end(lines: list[str], least: int) -> list[str]:
    """The lines without blank ones at the end, but at least so many."""
    end = len(lines)
    while end > least and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _target_sides(lines: list[str], name: str) -> list[str]:
    """The part after `|||` of every line; the same list where no line has `|||`."""
    counts = [line.count(SEPARATOR) for line in lines]
    if not any(counts):
        return lines
    for number, count in enumerate(counts, start=1):
        if count > 1:
            raise ScoringError(f"{name}: line {number} has ||| {count} times; src|||tgt has it once")
    if not all(counts):
        having, lacking = counts.index(1) + 1, counts.index(0) + 1
        problem = f"line {having} has |||, but line {lacking} does not"
        raise ScoringError(f"{name}: {problem}; write src|||tgt in every line or in none")
    return [line.split(SEPARATOR)[1].strip() for line in lines]
