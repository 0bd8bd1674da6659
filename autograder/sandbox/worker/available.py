"""What a submission can import when it is graded: Python's own modules, and what students are told to install.

A student's own run asks the same questions and gives the same answers, whatever else is installed there. A worker
cannot open files, so what is wanted is loaded before the submission runs; see `autograder/sandbox/imports.py`.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from types import ModuleType

PACKAGES = (
    "torch",
    "numpy",
    "matplotlib",
    "sacrebleu",
    "tqdm",
    "pytest",
    "IPython",
    "ipywidgets",
    "typing_extensions",
)
"""Import names of what `pyproject.toml` lists for students; the last three come with `jupyter` and `torch`."""
TORCH = {"amp", "autograd", "backends", "cuda", "distributions", "fft", "func", "linalg", "nn", "optim", "profiler"}
TORCH |= {"random", "special", "types", "utils.checkpoint", "utils.data", "utils.serialization"}
"""Parts of PyTorch that are loaded on demand; whatever `import torch` has loaded is there anyway."""
NOT_FOR_US = {"antigravity", "this", "idlelib", "turtle", "turtledemo", "test", "tkinter", "lib2to3", "webbrowser"}
NEVER = {"test", "tests", "conftest", "distutils", "f2py"}
"""Parts of any package that run something, leave a thread behind or raise pytest's own exceptions."""


class NoShell:
    """Stands for IPython's shell, where there is none: `get_ipython().run_line_magic(…)` does nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **options: None


def is_harmless(name: str) -> bool:
    """Whether importing a module of that name has no effect but to make it available."""
    package, _, rest = name.partition(".")
    parts = name.split(".")
    if any(part.startswith("_") or not part for part in parts) or package in NOT_FOR_US or NEVER & {*parts}:
        return name == "__future__"
    if package == "torch":
        return not rest or any(f"{rest}.".startswith(f"{part}.") for part in TORCH)
    return package in PACKAGES or package in sys.stdlib_module_names


def is_available(name: str) -> bool:
    """Whether a submission finds the module of that name."""
    package = name.partition(".")[0]
    if package not in PACKAGES and package not in sys.stdlib_module_names:
        return False
    return is_harmless(name) or name in sys.modules


def builtins_for(modules: Container[str]) -> dict[str, object]:
    """The built-in names of a submission's modules: Python's own, those of a notebook, and an `import` with limits.

    Args:
        modules: names of the submission's modules, which must be imported relatively.
    """

    def import_available(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level == 0:
            if not is_available(name):
                raise refusal(name, modules)
            builtins.__import__(name)
            for member in fromlist or ():
                full = f"{name}.{member}"
                if not (hasattr(sys.modules[name], member) or is_available(full)) and importlib.util.find_spec(full):
                    raise refusal(full, modules)
        return builtins.__import__(name, globals, locals, fromlist or (), level)

    notebook = {"get_ipython": NoShell, "display": lambda *objects, **options: None}
    return {**vars(builtins), **notebook, "__import__": import_available}


def refusal(name: str, modules: Container[str]) -> ModuleNotFoundError:
    """Says that a module cannot be imported when graded, and what to do."""
    own = name if name in modules else name.partition(".")[2]
    if own in modules:
        right = f"write `from .{own} import …`"
    else:
        right = f"there are Python's own and {', '.join(PACKAGES)}; what no test needs, import where it is used"
    return ModuleNotFoundError(f"No module named {name!r} when graded: {right}", name=name)
