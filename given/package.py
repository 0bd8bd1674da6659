"""The package whose model is trained and used: `reference`, `student`, or any other with the contract's modules.

    package.use("student")        # first of all; the package's `__main__` does it
    package.model.Transformer     # from then on: what its modules have, as they are imported now

Modules are looked up at each use, so that in a notebook what was changed and imported anew counts. A module that cannot
be imported is a mistake of the user, told in one line.
"""

import re
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from foundation.command_line import UserError

if TYPE_CHECKING:  # for checkers of types: what a package has to offer
    from reference import attention as attention
    from reference import data as data
    from reference import decode as decode
    from reference import embedding as embedding
    from reference import layers as layers
    from reference import masks as masks
    from reference import model as model
    from reference import train as train
    from reference import vocab as vocab

MODULES = ("attention", "data", "decode", "embedding", "layers", "masks", "model", "train", "vocab")
NO_NAME = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_names: list[str] = []  # of the package, once it is known


def use(name: str) -> None:
    """Sets the package of the model, for this process."""
    _names[:] = [name]


def name() -> str:
    """Returns the name of the package. Raises: RuntimeError if `use` was not called."""
    if not _names:
        raise RuntimeError("whose model? Call `given.package.use` with the name of its package first")
    return _names[0]


class BrokenModuleError(UserError):
    """A module of the package cannot be imported, or lacks a name; the message says which file, which line, and why."""


def folder() -> Path:
    """Returns the folder of the package, which may have lost its `__init__.py`."""
    package = import_module(name())
    return Path(package.__file__).parent if package.__file__ else Path(package.__path__[0])


def load(module: str) -> ModuleType:
    """Imports a module of the package. Raises: BrokenModuleError."""
    try:
        return import_module(f"{name()}.{module}")
    except Exception as error:  # whatever the file does when it is imported
        raise BrokenModuleError(explain(error, module)) from error


def explain(error: Exception, module: str) -> str:
    """Returns in one line why a module cannot be imported: the file, its line, and the error."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith(f"{name()}."):
        return f"{str(error.name).replace('.', '/')}.py is missing{copy_of(error.name)}"
    if isinstance(error, ImportError) and (lacked := NO_NAME.match(str(error))):
        return f"{lacked[2].replace('.', '/')}.py has no {lacked[1]}{copy_of(lacked[2])}"
    if isinstance(error, SyntaxError):
        place = f"{name()}/{Path(error.filename or module).with_suffix('.py').name}"
        if "codec can't decode" in error.msg:
            return f"{place}: it is not UTF-8 text; save it as UTF-8"
        return f"{place}, line {error.lineno}: this is not Python: {error.msg}"
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [frame for frame in frames if frame.f_globals.get("__package__") == name()]
    line = f", line {own[-1].f_lineno}" if own else ""
    place = Path(own[-1].f_code.co_filename).name if own else f"{module}.py"
    return f"{name()}/{place}{line}: {type(error).__name__}: {error}"


def without_name(error: AttributeError) -> str:
    """Returns in one line which file lacks a name, if one of the package's modules does; "" otherwise."""
    module = str(getattr(error.obj, "__name__", ""))
    is_ours = isinstance(error.obj, ModuleType) and module.startswith(f"{name()}.")
    return f"{module.replace('.', '/')}.py has no {error.name}{copy_of(module)}" if is_ours else ""


def copy_of(module: str | None) -> str:
    """Returns where a student finds a file that was handed out; "" for another file."""
    is_ours = str(module).rpartition(".")[2] in MODULES
    return "; the archive that was handed out has a copy" if is_ours else ""


def __getattr__(module: str) -> ModuleType:
    if module not in MODULES:
        raise AttributeError(module)
    return load(module)
