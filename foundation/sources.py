"""A package's modules as text: what intake reads, and rules, sandbox and tests work on."""

from collections.abc import Callable, Mapping

Source = tuple[str, str]
"""A module's path, for messages, and its text."""

Sources = Mapping[str, Source]
"""Modules by name: "layers", "__init__", and "tools.soft" for one in a folder beside the modules."""

Locate = Callable[[str, int], str]
"""From a module's name and a line number to the place where the student finds that line."""


def file_of(module: str, path: str = "") -> str:
    """The file of a module within its package, "tools/soft.py"; `path` tells whether it is a folder's own module."""
    return module.replace(".", "/") + ("/__init__.py" if path.endswith("/__init__.py") else ".py")


def in_module(module: str, line: int) -> str:
    """The place of a line where every module is a file of its own."""
    return f"{file_of(module)}, line {line}"


def failing_module(name: str, reason: str) -> Source:
    """A module to put in place of one that cannot be used: importing it raises ImportError with the reason."""
    return file_of(name), f"raise ImportError({reason!r})\n"
