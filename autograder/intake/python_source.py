"""Reads Python source without running it: its text, its syntax tree, its imports."""

import ast
import codecs
import contextlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from foundation.sources import Source

from .errors import IntakeError, RefusedError

ENCODING_LINE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252", "mac-roman")


def decode(content: bytes) -> str:
    """The text of a Python file: UTF-8, or a common encoding that its first two lines declare (PEP 263).

    Raises:
        RefusedError: where it is not text.
    """
    name = "utf-8"
    if not content.startswith(codecs.BOM_UTF8):
        for line in content[:400].decode("latin-1").splitlines()[:2]:
            if match := ENCODING_LINE.match(line):
                name = match[1]
    with contextlib.suppress(LookupError):
        name = codecs.lookup(name).name
    if name not in ENCODINGS:
        raise RefusedError(f"its encoding is {name[:40]!r}; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig" if name == "utf-8" else name)
    except UnicodeDecodeError as error:
        where = f"byte 0x{content[error.start]:02x} in line {content.count(10, 0, error.start) + 1}"
        raise RefusedError(f"it is not UTF-8 text ({where}); save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads it, so that everyone counts the same lines


def read_modules(folder: Path) -> dict[str, Source]:
    """The modules of a folder, by name, as grading reads them: a byte order mark and Windows line ends are accepted.

    Raises:
        IntakeError: where a file cannot be read or is not text.
    """
    modules = {}
    for path in sorted(folder.glob("*.py")):
        try:
            modules[path.stem] = (str(path), decode(path.read_bytes()))
        except (RefusedError, OSError) as error:
            raise IntakeError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return modules


class TooNestedError(SyntaxError):
    """Code that is nested too deeply for this process; another one, with less on its stack, might parse it."""


def parse(text: str, is_compiled: bool = False) -> ast.Module | SyntaxError:
    """The syntax tree, or what is wrong with the text; warnings are suppressed.

    Args:
        text: of a module.
        is_compiled: also finds what only the compiler notices, such as a `return` outside a function; nothing is run.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like
            tree = ast.parse(text)
            if is_compiled:
                compile(tree, "<submission>", "exec", dont_inherit=True)
            return tree
    except SyntaxError as error:
        return error
    except (RecursionError, MemoryError):
        return TooNestedError("its expressions are nested too deeply")
    except ValueError as error:  # NUL bytes, lone surrogates
        return SyntaxError(f"it cannot be compiled: {str(error)[:80]}")


@dataclass(frozen=True)
class Imported:
    """One import of a module that is, or should be, a sibling.

    Attributes:
        name: of the module, or of the folder.
        line: of the import.
        is_folder: the module is in a folder beside the modules (`from .folder.name import …`).
    """

    name: str
    line: int
    is_folder: bool = False


def relative_imports(tree: ast.Module) -> Iterator[Imported]:
    """The sibling modules that a module imports: `from .name import …`, `from . import name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            if node.module:
                first, dot, _ = node.module.partition(".")
                yield Imported(first, node.lineno, bool(dot))
            else:
                yield from (Imported(alias.name, node.lineno) for alias in node.names)


def absolute_imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules that a module imports by their full names, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno
