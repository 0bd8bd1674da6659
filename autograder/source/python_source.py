"""Reads a submission's modules: from bytes to text, whatever encoding they declare."""

import codecs
import io
import tokenize
from pathlib import Path

from foundation.printable_text import line_of, printable
from foundation.sources import Source

from .errors import IntakeError, RefusedError

PRINTABLE = bytes([*b"\t\n\f\r", *range(0x20, 0x7F)])
HIDING = ("unicode-escape", "raw-unicode-escape", "idna")
"""Encodings in which a file reads otherwise than it looks."""


def decode(content: bytes) -> str:
    """The text of a Python file: UTF-8, or the encoding that its first two lines declare (PEP 263).

    Every encoding is read in which Python reads source and ASCII stands for itself.

    Raises:
        RefusedError: where it is not text.
    """
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:  # an unknown encoding, or bytes that are none
        name = "utf-8"
        if str(error).startswith(("unknown encoding", "encoding problem")):
            raise RefusedError(f"{printable(str(error), 80)}; save it as UTF-8") from None
    name = codecs.lookup(name).name
    if name in HIDING or not is_ascii_itself_in(name):
        raise RefusedError(f"its encoding is {name[:40]!r}; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig" if name == "utf-8" else name)
    except UnicodeDecodeError as error:
        where = f"byte 0x{content[error.start]:02x} in line {line_of(error)}"
        shown = "UTF-8" if name.startswith("utf-8") else name
        raise RefusedError(f"it is not {shown} text ({where}); save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads it, so that everyone counts the same lines


def is_ascii_itself_in(encoding: str) -> bool:
    """Whether an encoding is one of text that leaves ASCII as it is."""
    try:
        return PRINTABLE.decode(encoding) == PRINTABLE.decode("ascii")
    except (LookupError, UnicodeError):  # of other things than text, or not as it is
        return False


def read_modules(folder: Path) -> dict[str, Source]:
    """The modules of a folder and of folders in it, as grading reads them: "layers", "tools.soft" for `tools/soft.py`.

    A byte order mark and Windows line ends are accepted.

    Raises:
        IntakeError: where a file cannot be read or is not text.
    """
    modules = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if not all(part.isidentifier() and part != "__pycache__" for part in parts):
            continue
        is_package = len(parts) > 1 and parts[-1] == "__init__"
        try:
            modules[".".join(parts[:-1] if is_package else parts)] = (str(path), decode(path.read_bytes()))
        except (RefusedError, OSError) as error:
            raise IntakeError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return modules
