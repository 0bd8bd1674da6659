"""Python source of a submission: from bytes to text, and what can be read from it without running it."""

import ast
import codecs
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import RefusedError

ENCODING_LINE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252", "mac-roman")


def decode(content: bytes) -> str:
    """The text of a Python file: UTF-8, or what its first two lines say (PEP 263) if that is a usual one.

    Raises:
        RefusedError: where it is no text.
    """
    name = "utf-8"
    if not content.startswith(codecs.BOM_UTF8):
        for line in content[:400].decode("latin-1").splitlines()[:2]:
            if match := ENCODING_LINE.match(line):
                name = match[1]
    try:
        name = codecs.lookup(name).name
    except LookupError:
        pass
    if name not in ENCODINGS:
        raise RefusedError(f"its encoding is {name[:40]!r}; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig" if name == "utf-8" else name)
    except UnicodeDecodeError as error:
        where = f"byte 0x{content[error.start]:02x} in line {content.count(10, 0, error.start) + 1}"
        raise RefusedError(f"it is not UTF-8 text ({where}); save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads it, so that all count the same lines


class TooNestedError(SyntaxError):
    """Code that this process cannot parse; another one, with less on its stack, might."""


def parse(text: str, is_compiled: bool = False) -> ast.Module | SyntaxError:
    """The syntax tree, or what is wrong. The compiler's warnings and its ways to give up are kept quiet.

    Args:
        text: of a module.
        is_compiled: also looks for what only the compiler notices, a `return` outside a function; nothing is run.
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
    """One import of a module that is, or should be, a sibling: `name` from line `line`.

    `is_folder`: it lies in a folder beside the modules (`from .folder.name import …`).
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
    """The modules that a module imports by their full names, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno
