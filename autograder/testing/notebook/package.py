"""Makes the assembled answers importable under the package's name."""

import linecache
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from foundation.sources import Source, Sources

from ...sandbox.worker.loading import describe


class AnswerPackage(MetaPathFinder, Loader):
    """Finds and loads the package and its modules; each has the text that it had when first imported."""

    def __init__(self, name: str, collect: Callable[[], Sources]) -> None:
        """Takes the package's name, and a function that returns its current modules."""
        self.name = name
        self._collect = collect
        self._imported: dict[str, Source] = {}

    def install(self) -> None:
        """Sends imports of the package here, in place of an earlier finder of that name."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "name", None) != self.name]
        sys.meta_path.insert(0, self)
        self.forget()

    def forget(self) -> None:
        """Forgets the imported modules, so that the next import uses the current answers."""
        for name in [name for name in sys.modules if name == self.name or name.startswith(self.name + ".")]:
            del sys.modules[name]

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """A spec for the package or one of its modules."""
        package, _, module = fullname.partition(".")
        if package != self.name:
            return None
        sources = self._collect()
        if not module:
            if "__init__" not in sources:
                return None
            self._imported[fullname] = sources["__init__"]
            return ModuleSpec(fullname, self, origin=sources["__init__"][0], is_package=True)
        found = describe(module, sources)
        if found is None:
            return None
        self._imported[fullname] = sources.get(module, ("", ""))
        return ModuleSpec(fullname, self, origin=found[0], is_package=found[1])

    def get_source(self, fullname: str) -> str:
        """Lets tracebacks show lines."""
        return self._imported[fullname][1]

    def exec_module(self, module: ModuleType) -> None:
        """Runs a module's code."""
        path, text = self._imported[module.__name__]
        module.__file__ = path
        linecache.cache.pop(path, None)  # has the lines of an earlier text
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))  # noqa: S102  an import runs code
