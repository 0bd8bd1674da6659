"""A package's modules as text and as syntax trees: what intake reads, rules, sandbox and tests work on.

A model with names and files of its own is handed in with `adapters.py`, which has a function or a class for each
component that is to be judged. Its modules are in a package within the submission's, so that none is taken for one of
the contract's: these are the release's, and take the components from `adapters`.
"""

import ast
import re
import symtable
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from foundation.assignment_file import released_folder
from foundation.assignment_tables import Contract
from foundation.command_line import UserError
from foundation.texts import line_of

from ..sandbox.worker.loading import OWN_MODEL

Source = tuple[str, str]  # a module's path, for messages, and its text
Sources = Mapping[str, Source]
"""Modules by name: "layers", "__init__", and "tools.soft" for one in a folder beside the modules."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Locate = Callable[[str, int], str]
"""From a module's name and a line number to the place where the student finds that line."""
MOST_PARTS = 200
MOST_DIGITS = 3_000
LONG_NUMBER = re.compile(rf"0[xXoObB][\da-fA-F_]{{{MOST_DIGITS}}}")
"""Python refuses more in decimal digits; others it reads, and cannot write."""
LONG_NAME = re.compile(rf"(?<!\w)(?:[^\W\d]\w*+[\s\\]*+\.[\s\\]*+){{{MOST_PARTS}}}")
"""A dotted name of so many parts: Python's parser takes gigabytes for one of 50,000, since it joins them one by one."""
ADAPTERS = "adapters"
KIT = "(the kit's) "
"""Begins the paths of the contract's modules in a submission with `adapters.py`, whose own may have the same names."""


class IntakeError(UserError):
    """Nothing can be taken in; the message is one line: what is wrong, where, and what would be right."""


class RefusedError(Exception):
    """Within this package: the reason alone, to which the caller adds the submission's name."""


def file_of(module: str, path: str = "") -> str:
    """The file of a module as its author knows it, "tools/soft.py"; `path` shows whether it is a folder's own."""
    if path.startswith(KIT):
        return path
    module = module.removeprefix(f"{OWN_MODEL}.")
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


def failing_module(name: str, reason: str) -> Source:
    """A module to put in place of one that cannot be used: importing it raises ImportError with the reason."""
    return file_of(name), f"raise ImportError({reason!r})\n"


def read_modules(folder: Path) -> dict[str, Source]:
    """The modules of a folder and of folders in it: "layers", "tools.soft" for `tools/soft.py`. Raises: IntakeError."""
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


def read_release(release: Path, contract: Contract) -> Sources:
    """The modules of the skeleton that was handed out. Raises: IntakeError."""
    modules = {module: (file_of(module, path), text) for module, (path, text) in read_modules(release).items()}
    missing = [module for module in (*contract.modules, "__init__") if module not in modules]
    if missing:
        raise IntakeError(f"{release}: not the assignment's skeleton: {missing[0]}.py is missing")
    return modules


def read_sources(folder: Path, release: Path) -> dict[str, Source]:
    """A submission's modules; missing ones, and `__init__` always, are the release's. Raises: IntakeError."""
    own = read_modules(folder)
    own.pop("__init__", None)
    if ADAPTERS in own:
        own = {f"{OWN_MODEL}.{module}": source for module, source in own.items()}
    return {**read_modules(release), **own}


def read_own_sources() -> dict[str, Source]:
    """The modules of the students' package of the kit's own assignment. Raises: IntakeError."""
    folder = released_folder()
    return read_sources(folder, folder)


def parse(text: str, is_compiled: bool = False) -> ast.Module | SyntaxError:
    """The syntax tree of a module, or what is wrong with it; compiled as a notebook's cell, more is found."""
    if LONG_NAME.search(text):
        return SyntaxError(f"a name of more than {MOST_PARTS} parts")
    if LONG_NUMBER.search(text):
        return SyntaxError(f"a number of more than {MOST_DIGITS} digits")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like
            tree = ast.parse(text)
            if is_compiled:
                compile(_without_finally(ast.parse(text)), "<submission>", "exec", dont_inherit=True)
            return tree
    except SyntaxError as error:
        return error
    except (RecursionError, MemoryError):
        return SyntaxError("its expressions are nested too deeply")
    except ValueError as error:  # NUL bytes, lone surrogates
        return SyntaxError(f"it cannot be compiled: {str(error)[:80]}")


def _without_finally(tree: ast.Module) -> ast.Module:
    """The tree with `finally` blocks at the end of the tried ones: it compiles, or fails, alike.

    Python's compiler copies such a block for each way out of it: a few that are nested take gigabytes.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.Try, ast.TryStar)) and node.finalbody:
            node.body, node.finalbody = [*node.body, *node.finalbody], [ast.copy_location(ast.Pass(), node)]
    return tree


@lru_cache(maxsize=64)
def tree_of(text: str) -> ast.Module | SyntaxError:
    """The result of `parse`, for those who only look at it: a submission's modules are looked at several times."""
    return parse(text)


def names_in(text: str) -> tuple[set[str], set[str]]:
    """The names that code gives a value, and those that it looks up outside itself; none where it does not compile."""
    if isinstance(parse(text, is_compiled=True), SyntaxError):
        return set(), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like
        waiting = [symtable.symtable(text, "<submission>", "exec")]
    own = waiting[0].get_symbols()
    binds = {symbol.get_name() for symbol in own if symbol.is_assigned() or symbol.is_imported()}
    read = {symbol.get_name() for symbol in own if symbol.is_referenced()}
    while waiting:
        scope = waiting.pop()
        read |= {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()}
        waiting += scope.get_children()
    return binds, read


def adapt(sources: Sources, contract: Contract) -> dict[str, Source]:
    """The modules; where some are of a model of one's own, the contract's take from `adapters` what it offers.

    A module of the contract that the model imports, and lacks, is the release's.
    """
    adapted, adapters = dict(sources), f"{OWN_MODEL}.{ADAPTERS}"
    if adapters not in sources:
        return adapted
    names, _ = names_in(sources[adapters][1])
    is_broken = isinstance(tree_of(sources[adapters][1]), SyntaxError)  # each component is to say so
    for module, components in contract.modules.items():
        path, text = sources[module]
        if not path.startswith(KIT):
            offered = ", ".join(name for name in components if is_broken or name in names)
            text = f"{text.rstrip()}\n\nfrom .{adapters} import {offered}\n" if offered else text
            adapted[module] = (f"{KIT}{module}.py", text)
        adapted.setdefault(f"{OWN_MODEL}.{module}", (f"{KIT}{OWN_MODEL}/{module}.py", f"from ..{module} import *\n"))
    return adapted
