"""A package's modules as text and as syntax trees: what intake reads, rules, sandbox and tests work on.

Nothing here runs them. A module that cannot be read is refused with the reason. Students get this file with the tests,
intake they do not.

A course that has a model with names and files of its own hands in its modules as they are, and `adapters.py` beside
them: a function, or a class, for each component that is to be judged. It has the component's name and takes the
contract's arguments, which tests may pass by name:

    def MultiHeadedAttention(d_model, n_heads):
        return mine.AttentionBlock(dim=d_model, heads=n_heads)      # an nn.Module with the contract's forward

What it does not offer is as it was handed out.
"""

import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from foundation.assignment_tables import Contract
from foundation.command_line import UserError
from foundation.texts import line_of, printable

Source = tuple[str, str]
"""A module's path, for messages, and its text."""
Sources = Mapping[str, Source]
"""Modules by name: "layers", "__init__", and "tools.soft" for one in a folder beside the modules."""
Locate = Callable[[str, int], str]
"""From a module's name and a line number to the place where the student finds that line."""
Version = tuple[int, int]
"""Of Python."""
Token = tuple[str, str, int]
"""Kind as in `tokenize.tok_name`, text, line."""
FREE_F_STRINGS = (3, 12)
"""The first Python whose f-strings may hold any expression; `feature_version` does not tell (PEP 701)."""
SHOWN_NAME = 120
ADAPTERS = "adapters"


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
    """The text of a Python file in UTF-8, with or without a byte order mark. Raises: RefusedError for anything else."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"byte 0x{content[error.start]:02x} in line {line_of(error)}"
        raise RefusedError(f"it is not UTF-8 text ({where}); save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads it, so that everyone counts the same lines


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


def read_sources(folder: Path, release: Path) -> dict[str, Source]:
    """The modules of a submission's folder; missing ones, and `__init__` always, are taken from the release.

    Raises:
        IntakeError: where a file cannot be read or is not text.
    """
    released = read_modules(release)
    own = read_modules(folder)
    own.pop("__init__", None)
    return {**released, **own}


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
        return SyntaxError("its expressions are nested too deeply")
    except ValueError as error:  # NUL bytes, lone surrogates
        return SyntaxError(f"it cannot be compiled: {str(error)[:80]}")


@lru_cache(maxsize=64)
def tree_of(text: str) -> ast.Module | SyntaxError:
    """What `parse` finds, for those who only look at it: a submission's modules are looked at several times."""
    return parse(text)


def check_syntax(path: str, text: str, version: Version) -> None:
    """Checks a module against the Python that grades.

    Args:
        path: for the message.
        text: of a module that this process's Python can read; other ones are left to it.
        version: of the Python that grades.

    Raises:
        SyntaxError: with the line, what is newer, and the version.
    """
    try:
        ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    try:
        ast.parse(text, path, feature_version=version)
        what, line = "", 0
    except SyntaxError as error:
        what, line = error.msg, error.lineno or 1
    if not what and version < FREE_F_STRINGS and (line := newer_f_string(tokens_of(text))):
        what = "the braces of an f-string hold neither its quotes nor a backslash"
    if what:
        shown = ".".join(map(str, version))
        source = text.split("\n")[line - 1]
        raise SyntaxError(f"{what}; you are graded by Python {shown}", (path, line, None, source))


def tokens_of(text: str) -> Iterable[Token]:
    """The tokens of a module."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        yield tokenize.tok_name[token.type], token.string, token.start[0]


def newer_f_string(tokens: Iterable[Token]) -> int:
    """The first line with an f-string that Python 3.11 cannot read; 0 if there is none.

    Up to 3.11 an f-string ends at the first quotes like its own, and what is in braces holds no backslash.

    Args:
        tokens: as Python 3.12 and later give them, which split f-strings into their parts.
    """
    around: list[tuple[str, int]] = []  # of each f-string: its quotes, the number of open braces
    for kind, text, line in tokens:
        if kind == "FSTRING_END":
            around.pop()
        within = around[:-1] if kind == "FSTRING_MIDDLE" else [one for one in around if one[1]]
        if any(quotes in text or "\\" in text for quotes, _ in within):
            return line
        if kind == "FSTRING_START":
            around.append((text.lstrip("fFrRbBuU"), 0))
        elif kind == "OP" and text in "{}" and around:
            quotes, depth = around[-1]
            around[-1] = (quotes, depth + (1 if text == "{" else -1))
    return 0


def is_newer(version: Version) -> bool:
    """Whether this Python is newer than the one that grades, so that there is something to check."""
    return sys.version_info[:2] > version


def adapt(sources: Sources, contract: Contract) -> dict[str, Source]:
    """The modules, where each of the contract's takes from `adapters` the components that stand there."""
    adapted = dict(sources)
    tree = parse(sources[ADAPTERS][1]) if ADAPTERS in sources else None
    names = {name for statement in getattr(tree, "body", ()) for name in _bound_by(statement)}
    for module, components in contract.modules.items():
        if module in sources and (offered := [name for name in components if name in names]):
            path, text = sources[module]
            adapted[module] = (path, f"{text.rstrip()}\n\nfrom .{ADAPTERS} import {', '.join(offered)}\n")
    return adapted


def _bound_by(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top level gives to functions, classes, imports and other values."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []
