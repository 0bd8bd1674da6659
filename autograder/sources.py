"""A package's modules as text and as syntax trees: what intake reads, rules, sandbox and tests work on.

Nothing here runs them. A module that cannot be read is refused with the reason. Students get this file with the tests,
intake they do not.
"""

import ast
import codecs
import io
import tokenize
import warnings
from collections.abc import Callable, Iterator, Mapping
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


class IntakeRefusedError(IntakeError):
    """The submission exists but cannot be graded. This is a result with a reason, not an operator's mistake.

    Attributes:
        hashes: file name -> sha256 of the files that were read.
    """

    def __init__(self, name: str, reason: str, hashes: dict[str, str] | None = None) -> None:
        """Takes the submission's file name and the reason."""
        super().__init__(f"{printable(name, SHOWN_NAME)}: {reason}", reason)
        self.hashes = hashes or {}


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


def failing_module(name: str, reason: str) -> Source:
    """A module to put in place of one that cannot be used: importing it raises ImportError with the reason."""
    return file_of(name), f"raise ImportError({reason!r})\n"


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


def resolve(importer: str, is_package: bool, level: int, name: str | None) -> str | None:
    """The module that `from .name import …` means.

    Args:
        importer: name of the module that the line stands in, within the submission: "layers", "tools.soft".
        is_package: whether that is the `__init__.py` of a folder.
        level: number of dots.
        name: after the dots, or None.

    Returns:
        Its name within the submission, "" for the submission itself; None if the dots lead out of it.
    """
    parts = importer.split(".") if is_package else importer.split(".")[:-1]
    if level > len(parts) + 1:
        return None
    return ".".join([*parts[: len(parts) + 1 - level], *filter(None, [name])])


@lru_cache(maxsize=64)
def relative_imports(text: str, importer: str, path: str = "") -> tuple[str, ...]:
    """All that may be modules of the submission and that one of them imports, folders before what is in them.

    Args:
        text: of the module; where it cannot be read, it imports nothing.
        importer: its name within the submission.
        path: where it was read from.
    """
    tree, found = tree_of(text), list[str]()
    for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
        if isinstance(node, ast.ImportFrom):
            level, module, names = node.level, node.module or "", [alias.name for alias in node.names]
        elif isinstance(node, ast.Call):
            level, module, names = _imported_by_call(node)
        else:
            continue
        origin = resolve(importer, path.endswith("/__init__.py"), level, module) if level else None
        if origin is not None:
            parts = origin.split(".") if origin else []
            found += (".".join(parts[:length]) for length in range(1, len(parts) + 1))
            found += (".".join([*parts, name]) for name in names)
    return tuple(found)


def _imported_by_call(call: ast.Call) -> tuple[int, str, list[str]]:
    """The number of dots, module and names that `import_module` or `__import__` is called with; 0 for other calls."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called not in ("import_module", "__import__"):
        return 0, "", []
    match call.args:
        case [ast.Constant(value=str(name)), _, _, ast.List(elts=names), ast.Constant(value=int(level))]:
            return level, name, [str(one.value) for one in names if isinstance(one, ast.Constant)]
        case [ast.Constant(value=str(name)), *_]:
            return len(name) - len(name.lstrip(".")), name.lstrip("."), []
        case [
            ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id="__package__")), ast.Constant(value=str(name))])
            | ast.BinOp(left=ast.Name(id="__package__"), right=ast.Constant(value=str(name))),
            *_,
        ]:
            return 1, name.removeprefix("."), []
    return 0, "", []


def absolute_imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules that a module imports by their full names, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno
        elif isinstance(node, ast.Call):
            level, module, _ = _imported_by_call(node)
            if module and not level:
                yield module, node.lineno
