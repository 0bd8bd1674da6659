"""The package whose model is trained and used: `reference`, `student`, or any other with the contract's modules."""

from __future__ import annotations

import re
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from foundation.command_line import UserError

if TYPE_CHECKING:  # for checkers of types: what a package has to offer
    from reference.data import Batch as Batch
    from reference.data import Pair as Pair
    from reference.model import Transformer as Transformer
    from reference.vocab import Vocabulary as Vocabulary

MODULES = ("attention", "data", "decode", "embedding", "layers", "masks", "model", "train", "vocab")
NO_NAME = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")


class BrokenModuleError(UserError):
    """A module of the package cannot be imported, or lacks a name; the message names file, line and reason."""


class Package:
    """The package of a model.

        package = Package("student")
        package.model.Transformer     # what its module has, as it is imported now

    Modules are looked up at each use, so that in a notebook what was changed and imported anew counts. A module that
    cannot be imported is a mistake of the user, answered in one line.
    """

    def __init__(self, name: str) -> None:
        """Takes the name by which the package is imported."""
        self.name = name

    def __getattr__(self, module: str) -> Any:
        """Imports one of MODULES. Raises: BrokenModuleError."""
        if module not in MODULES:
            raise AttributeError(module)
        try:
            return import_module(f"{self.name}.{module}")
        except Exception as error:  # whatever the file does when it is imported
            raise BrokenModuleError(self._explain(error, module)) from error

    @property
    def folder(self) -> Path:
        """The folder of the package, which may have lost its `__init__.py`."""
        package = import_module(self.name)
        return Path(package.__file__).parent if package.__file__ else Path(package.__path__[0])

    def _explain(self, error: Exception, module: str) -> str:
        """Returns in one line why a module cannot be imported: the file, its line, and the error."""
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith(f"{self.name}."):
            return f"{str(error.name).replace('.', '/')}.py is missing{copy_of(error.name)}"
        if isinstance(error, ImportError) and (lacked := NO_NAME.match(str(error))):
            return f"{lacked[2].replace('.', '/')}.py has no {lacked[1]}{copy_of(lacked[2])}"
        if isinstance(error, SyntaxError):
            place = f"{self.name}/{Path(error.filename or module).with_suffix('.py').name}"
            if "codec can't decode" in error.msg:
                return f"{place}: it is not UTF-8 text; save it as UTF-8"
            return f"{place}, line {error.lineno}: this is not Python: {error.msg}"
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        own = [frame for frame in frames if frame.f_globals.get("__package__") == self.name]
        line = f", line {own[-1].f_lineno}" if own else ""
        place = Path(own[-1].f_code.co_filename).name if own else f"{module}.py"
        return f"{self.name}/{place}{line}: {type(error).__name__}: {error}"

    def without_name(self, error: AttributeError) -> str:
        """Returns in one line which file lacks a name, if one of the package's modules does; "" otherwise."""
        module = str(getattr(error.obj, "__name__", ""))
        is_ours = isinstance(error.obj, ModuleType) and module.startswith(f"{self.name}.")
        return f"{module.replace('.', '/')}.py has no {error.name}{copy_of(module)}" if is_ours else ""


def copy_of(module: str | None) -> str:
    """Returns where a student finds a file that was handed out; "" for another file."""
    is_ours = str(module).rpartition(".")[2] in MODULES
    return "; the archive that was handed out has a copy" if is_ours else ""
