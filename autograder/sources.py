"""A package's modules as text and as syntax trees: what intake reads, rules, sandbox and tests work on.

Nothing here runs them. A module that cannot be read is refused with the reason. Students get this file with the tests,
intake they do not.
"""

import ast
import codecs
import io
import tokenize
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from foundation.command_line import UserError
from foundation.texts import line_of, printable

Source = tuple[str, str]
"""A module's path, for messages, and its text."""
Sources = Mapping[str, Source]
"""Modules by name: "layers", "__init__", and "tools.soft" for one in a folder beside the modules."""
Locate = Callable[[str, int], str]
"""From a module's name and a line number to the place where the student finds that line."""
SHOWN_NAME = 120
PRINTABLE = bytes([*b"\t\n\f\r", *range(0x20, 0x7F)])
HIDING = ("unicode-escape", "raw-unicode-escape", "idna")
"""Encodings in which a file reads otherwise than it looks."""


class IntakeError(UserError):
    """Nothing can be taken in; the message is one line: what is wrong, where, and what would be right.

    Attributes:
        reason: the message without the submission's name.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        """Takes both, or a message that names no submission."""
        super().__init__(message)
        self.reason = reason or message


class RefusedError(Exception):
    """Within this package: the reason alone, to which the caller adds the submission's name."""


def quote(name: str) -> str:
    """A file name from a submission, safe to show in a message."""
    return f"'{printable(name, SHOWN_NAME)}'"


def file_of(module: str, path: str = "") -> str:
    """The file of a module within its package, "tools/soft.py"; `path` tells whether it is a folder's own module."""
    return module.replace(".", "/") + ("/__init__.py" if path.endswith("/__init__.py") else ".py")


def in_module(module: str, line: int) -> str:
    """The place of a line where every module is a file of its own."""
    return f"{file_of(module)}, line {line}"


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


class TooNestedError(SyntaxError):
    """Code that is nested too deeply for this process; another one, with less on its stack, might parse it."""


def parse(text: str, is_compiled: bool = False) -> ast.Module | SyntaxError:
    """The syntax tree, or what is wrong with the text; warnings are suppressed.

    Args:
        text: of a module.
        is_compiled: also finds what only the compiler notices, such as a `return` outside a function; nothing is run.
            As in a notebook, `await` may stand outside one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like
            tree = ast.parse(text)
            if is_compiled:
                compile(tree, "<submission>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return tree
    except SyntaxError as error:
        return error
    except (RecursionError, MemoryError):
        return TooNestedError("its expressions are nested too deeply")
    except ValueError as error:  # NUL bytes, lone surrogates
        return SyntaxError(f"it cannot be compiled: {str(error)[:80]}")


@lru_cache(maxsize=64)
def tree_of(text: str) -> ast.Module | SyntaxError:
    """What `parse` finds, for those who only look at it: a submission's modules are looked at several times."""
    return parse(text)


@lru_cache(maxsize=32)
def statements_of(text: str) -> frozenset[str]:
    """The statements of a module, inner ones too, as `dump` gives them: what was handed out, and is nobody's own."""
    tree = parse(text)
    nodes = ast.walk(tree) if isinstance(tree, ast.Module) else ()
    return frozenset(dump(node) for node in nodes if isinstance(node, ast.stmt)) - {""}


def dump(node: ast.AST) -> str:
    """A node as text that shows no layout; "" where it is nested too deeply to be looked at."""
    try:
        return ast.dump(node)
    except RecursionError:
        return ""
