"""Makes the assembled answers importable under the package's name."""

import linecache
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from ...intake.modules import Sources


class AnswerPackage(MetaPathFinder, Loader):
    """Part of the import system: knows the package and its modules, and takes each as it is when first imported."""

    def __init__(self, name: str, collect: Callable[[], Sources]) -> None:
        """Takes the package's name, and what gives its modules."""
        self.name = name
        self._collect = collect

    def install(self) -> None:
        """From now on imports of the package come here, in the place of an earlier one."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "name", None) != self.name]
        sys.meta_path.insert(0, self)
        self.forget()

    def forget(self) -> None:
        """Forgets what was imported: the next import takes the answers as they are then."""
        for name in [name for name in sys.modules if name == self.name or name.startswith(self.name + ".")]:
            del sys.modules[name]

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """A spec for the package or one of its modules."""
        package, _, module = fullname.partition(".")
        if package != self.name:
            return None
        source = self._collect().get(module or "__init__")
        if source is None:
            return None
        return ModuleSpec(fullname, self, origin=source[0], loader_state=source, is_package=not module)

    def get_source(self, fullname: str) -> str:
        """Lets tracebacks show lines."""
        return sys.modules[fullname].__spec__.loader_state[1]

    def exec_module(self, module: ModuleType) -> None:
        """Runs a module's code."""
        path, text = module.__spec__.loader_state
        module.__file__ = path
        linecache.cache.pop(path, None)  # the lines of an earlier text of that name
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))
