"""Makes modules from a submission's source text, and puts stand-ins in the place of some components.

Used in both ways to run: in a student's own process and in the sandboxed worker. The importable modules are the same in
both: Python's own, and what students are asked to install. A worker cannot open files, so what is wanted is loaded
before it runs; see `intake/meanings.py`.
"""

import builtins
import importlib
import importlib.util
import inspect
import linecache
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from difflib import get_close_matches
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, NoReturn

PACKAGES = ("torch", "numpy", "matplotlib", "sacrebleu", "tqdm", "pytest", "IPython", "ipywidgets", "typing_extensions")
"""Import names of what `pyproject.toml` lists for students; the last three come with `jupyter` and `torch`."""
TORCH = {"amp", "autograd", "backends", "cuda", "distributions", "fft", "func", "linalg", "nn", "optim", "profiler"}
TORCH |= {"random", "special", "types", "utils.checkpoint", "utils.data", "utils.serialization"}
"""Parts of PyTorch that are loaded on demand; whatever `import torch` has loaded is there anyway."""
NEVER = {"antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter", "lib2to3", "webbrowser"}
NEVER |= {"test", "tests", "conftest", "distutils", "f2py"}
"""Modules, and parts of any package, that open a window, run something, or leave a thread behind."""
OWN_MODEL = "own_model"
"""The package within the submission's that holds the modules of a model of one's own, one with `adapters.py`."""


class MissingComponentError(AttributeError):
    """The submission has no component of that name."""


class Package(MetaPathFinder, Loader):
    """A package whose modules are compiled from memory.

    A module that cannot be imported does not take the modules that import it along: they find the stand-ins under its
    contract names. Its own error is kept, and raised when one of its own components is asked for.
    """

    def __init__(
        self,
        sources: Mapping[str, tuple[str, str]],
        contract: Mapping[str, Sequence[str]],
        stand_ins: object,
        name: str = "submission",
        settings_kept: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Makes the package importable.

        Args:
            sources: module name ("layers", "tools.soft", "__init__") -> path for tracebacks, source text.
            contract: module name -> names of its components.
            stand_ins: has the stand-in for a component, if there is one, as an attribute of the same name.
            name: of the package; no other package of the process may have it.
            settings_kept: a block in which each module runs; what it sets for the whole process ends with it.
        """
        self.sources, self.contract, self.stand_ins = sources, contract, stand_ins
        self.name, self._settings_kept = name, settings_kept
        self.more_builtins: dict[str, Callable[..., Any]] = {}  # in place of those of `builtins_for`
        self.compile: Callable[[str, str], CodeType] = partial(compile, mode="exec", dont_inherit=True)
        self.run: Callable[[CodeType, dict[str, Any]], object] = exec
        self._errors: dict[str, tuple[BaseException, TracebackType | None]] = {}
        self._missing: set[str] = set()  # components that their modules lack
        self._replaced: list[tuple[object, str, object]] = []
        self._isolated: str | None = None
        sys.meta_path.insert(0, self)

    def close(self) -> None:
        """Forgets the package."""
        self.restore()
        sys.meta_path.remove(self)
        for name in [name for name in sys.modules if name == self.name or name.startswith(self.name + ".")]:
            del sys.modules[name]

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """Part of the import system: knows the package and its modules, nothing else."""
        if fullname == self.name:
            return ModuleSpec(fullname, self, origin=self._source(fullname)[0], is_package=True)
        package, _, module = fullname.partition(".")
        described = describe(module, self.sources) if package == self.name and module else None
        return ModuleSpec(fullname, self, origin=described[0], is_package=described[1]) if described else None

    def get_source(self, fullname: str) -> str:
        """Part of the import system: lets tracebacks show lines."""
        return self._source(fullname)[1]

    def _source(self, fullname: str) -> tuple[str, str]:
        return self.sources.get(fullname.removeprefix(self.name).removeprefix(".") or "__init__", ("", ""))

    def exec_module(self, module: ModuleType) -> None:
        """Runs a module's code; where that fails, keeps the error and offers stand-ins."""
        path, text = self._source(module.__name__)
        if path:  # some look for their siblings with it; here siblings are simply imported
            module.__file__ = path
        linecache.cache.pop(path, None)  # the lines of an earlier text of that name
        short_name = module.__name__.removeprefix(self.name).removeprefix(".")
        try:
            code = self.compile(text, path)
            own = builtins_for(self.sources, str(module.__package__))
            vars(module)["__builtins__"] = {**own, **self.more_builtins}
            with self._settings_kept():
                self.run(code, vars(module))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also SystemExit: a submission may call exit() where it likes
            self._errors[short_name] = error, error.__traceback__  # each time it is raised, it gets a longer one
            vars(module)["__getattr__"] = partial(self._raise_first, short_name)
        for name in filter(partial(hasattr, self.stand_ins), self.contract.get(short_name, ())):
            if short_name in self._errors or name not in vars(module):
                self._missing.add(f"{short_name}.{name}")
                setattr(module, name, getattr(self.stand_ins, name))

    def _raise_first(self, module: str, name: str) -> NoReturn:
        """Stands for the names that a module lacks since it could not be imported: raises the error that was the first.

        Instead of AttributeError, which `from … import` hides, an ImportError like it.
        """
        if name.startswith("__"):  # the import system asks for some
            raise AttributeError(name)
        error, traceback = self._errors[module]
        if isinstance(error, AttributeError):
            error = ImportError(f"{type(error).__name__}: {error}")
        raise error.with_traceback(traceback)

    def get(self, component: str) -> Any:
        """The component "module.Name" of the submission, with the isolation that is in force.

        Raises what importing its module raised, or MissingComponentError where the module has no such name.
        """
        module_name, name = component.split(".")
        try:
            module = importlib.import_module(f"{self.name}.{module_name}")
        except ModuleNotFoundError as missing:
            if missing.name == f"{self.name}.{module_name}":
                missing.msg = f"there is no {module_name}.py"
            raise
        if module_name in self._errors:
            error, traceback = self._errors[module_name]
            raise error.with_traceback(traceback)
        value = vars(module).get(name)
        if component in self._missing or not callable(value):
            near = [other for other in get_close_matches(name, vars(module)) if other != name]
            hint = f"; did you mean {near[0]} to be it?" if near else ""
            raise MissingComponentError(f"{module_name}.py has no {name}{hint}")
        return value

    def isolate(self, component: str | None) -> None:
        """Puts stand-ins in the place of every other component; None = the submission as it is.

        Globals are replaced, which functions and methods look up when they run. What a component reaches in another
        way (a dictionary, `partial`, a default, a closure) meets a stand-in where it is built or called. What the
        component inherits from stays: it is part of it. So does a class with a `__new__` of its own, and a function
        with a closure. Stand-ins that are built of the component raise: their `isolate` gets its name.
        """
        getattr(self.stand_ins, "isolate", str)(component or "")
        if component == self._isolated:
            return
        self.restore()
        if component is None:
            return
        for module_name in self.contract:
            if module_name in self.sources:
                importlib.import_module(f"{self.name}.{module_name}")
        own_module, own_name = component.split(".")
        # Asked for one by one: a walk over sys.modules would copy its pages in every fork of the zygote.
        loaded = {name: sys.modules.get(f"{self.name}.{name}") for name in self.sources}
        own = vars(loaded[own_module]).get(own_name) if loaded.get(own_module) else None
        inherited = set(map(id, own.__mro__)) if isinstance(own, type) else set()
        instead = {
            id(vars(module)[name]): getattr(self.stand_ins, name)
            for module_name, names in self.contract.items()
            if (module := loaded.get(module_name))
            for name in names
            if name in vars(module) and name != own_name and hasattr(self.stand_ins, name)
            if id(vars(module)[name]) not in inherited
            if takes_what(vars(module)[name], getattr(self.stand_ins, name))
        }
        for module in filter(None, loaded.values()):
            for attribute, value in list(vars(module).items()):
                if id(value) in instead:
                    self._replace(module, attribute, instead[id(value)])
                    self._redirect(value, instead[id(value)])
        self._isolated = component

    def _replace(self, owner: object, attribute: str, value: object) -> None:
        self._replaced.append((owner, attribute, getattr(owner, attribute)))
        setattr(owner, attribute, value)

    def _redirect(self, original: object, stand_in: object) -> None:
        """Makes one of the submission's own classes build, and its functions call, the stand-in instead."""
        if not str(getattr(original, "__module__", "")).startswith(f"{self.name}."):
            return
        if isinstance(original, type) and original.__new__ in (object.__new__, _build):
            original.__new__ = _build  # type: ignore[assignment]  # for good: without it, arguments would be refused
            _built_instead[original] = stand_in
        elif isinstance(original, FunctionType) and not original.__code__.co_freevars:
            new = {"__code__": _call.__code__, "__defaults__": None, "__kwdefaults__": {"_stand_in": stand_in}}
            for attribute, value in new.items():
                self._replace(original, attribute, value)

    def restore(self) -> None:
        """Removes all stand-ins again."""
        for original in [kind for kind in _built_instead if kind.__module__.startswith(f"{self.name}.")]:
            del _built_instead[original]
        for module, attribute, value in reversed(self._replaced):
            setattr(module, attribute, value)
        self._replaced.clear()
        self._isolated = None


def takes_what(original: Any, stand_in: Any) -> bool:
    """True unless a component of a model of one's own has other names for its arguments: its callers have them, too."""
    if f".{OWN_MODEL}." not in f"{getattr(original, '__module__', '')}.":
        return True

    def names(function: Any) -> set[str]:
        parameters = inspect.signature(function).parameters.values()
        return {argument.name for argument in parameters if argument.kind is argument.POSITIONAL_OR_KEYWORD}

    is_module = hasattr(original, "forward") and hasattr(stand_in, "forward")
    has_forward = not is_module or names(stand_in.forward) <= names(original.forward)
    return has_forward and names(stand_in) <= names(original)


def describe(module: str, sources: Mapping[str, tuple[str, str]]) -> tuple[str, bool] | None:
    """The path of a module, and whether it is a folder, with or without `__init__.py`; None if there is none."""
    path, _ = sources.get(module, ("", ""))
    is_folder = any(name.startswith(f"{module}.") for name in sources)
    return (path, is_folder or path.endswith("/__init__.py")) if module in sources or is_folder else None


_built_instead: dict[type, Any] = {}
"""Classes with the stand-ins that are built in their place."""


def _build(kind: type, *arguments: object, **options: object) -> object:
    """The `__new__` of components: a stand-in where one is to be built; copies and subclasses are as always."""
    if kind in _built_instead and (arguments or options):
        return _built_instead[kind](*arguments, **options)
    return object.__new__(kind)


def _call(*arguments: object, _stand_in: Any, **options: object) -> object:
    """The code of functions in whose place a stand-in is called."""
    return _stand_in(*arguments, **options)


class NoShell:
    """Stands for IPython's shell, where there is none: its methods do nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments, **options: None


def is_harmless(name: str) -> bool:
    """True if importing a module of that name has no effect but to make it available."""
    package, _, rest = name.partition(".")
    parts = name.split(".")
    if any(part.startswith("_") or not part for part in parts) or NEVER & {*parts}:
        return name == "__future__"
    if package == "torch":
        return not rest or any(f"{rest}.".startswith(f"{part}.") for part in TORCH)
    return package in PACKAGES or package in sys.stdlib_module_names


def is_available(name: str) -> bool:
    """True if a submission finds the module of that name."""
    package = name.partition(".")[0]
    if package not in PACKAGES and package not in sys.stdlib_module_names:
        return False
    return is_harmless(name) or name in sys.modules


def builtins_for(modules: Mapping[str, tuple[str, str]], home: str) -> dict[str, object]:
    """The built-in names of a module of a submission: Python's own, those of a notebook, and an `import` with limits.

    `home` is its package: dots lead from there, whatever the module says of itself.
    """

    def import_available(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        level = level or level_in_own_model(name, home, modules)
        if level == 0:
            if not is_available(name):
                raise refusal(name, modules)
            builtins.__import__(name)
            for member in fromlist or ():
                full = f"{name}.{member}"
                if not (hasattr(sys.modules[name], member) or is_available(full)) and importlib.util.find_spec(full):
                    raise refusal(full, modules)
        try:
            return builtins.__import__(name, {"__package__": home}, locals, fromlist or (), level)
        except ModuleNotFoundError as error:
            package, _, missing = str(error.name).partition(".")
            if package == home.partition(".")[0]:
                error.msg = f"there is no {missing.removeprefix(f'{OWN_MODEL}.').replace('.', '/')}.py"
            raise

    notebook = {"get_ipython": NoShell, "display": lambda *objects, **options: None}
    return {**vars(builtins), **notebook, "input": read_nothing, "__import__": import_available}


def read_nothing(prompt: object = "") -> NoReturn:
    """Stands for `input`: in a notebook, a test would wait for an answer."""
    raise EOFError("nobody can answer input() while code is tested: leave it out")


def level_in_own_model(name: str, home: str, modules: Mapping[str, tuple[str, str]]) -> int:
    """The dots that make an absolute import within a model of one's own a relative one; 0 for any other import.

    `home` is the package of the module that imports. As in a script's folder, own modules come before Python's.
    """
    package, first = home.split("."), name.partition(".")[0]
    is_own = package[1:2] == [OWN_MODEL] and first not in PACKAGES and describe(f"{OWN_MODEL}.{first}", modules)
    return len(package) - 1 if is_own else 0


def refusal(name: str, modules: Container[str]) -> ModuleNotFoundError:
    """The error for a module that cannot be imported when graded, with what to do."""
    own = name if name in modules else name.partition(".")[2]
    if own in modules:
        right = f"write `from .{own} import …`"
    else:
        right = f"there are Python's own and {', '.join(PACKAGES)}; what no test needs, import where it is used"
    return ModuleNotFoundError(f"No module named {name!r} when graded: {right}", name=name)
