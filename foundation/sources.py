"""A package's modules as text: what intake reads, and rules, sandbox and tests work on."""

from collections.abc import Callable, Mapping

Source = tuple[str, str]
"""A module's path, for messages, and its text."""

Sources = Mapping[str, Source]
"""Modules by name: "layers", "__init__"."""

Locate = Callable[[str, int], str]
"""From a module's name and a line number to the place where the student finds that line."""


def in_module(module: str, line: int) -> str:
    """The place of a line where every module is a file of its own."""
    return f"{module}.py, line {line}"


def failing_module(name: str, reason: str) -> Source:
    """A module to put in place of one that cannot be used: importing it raises ImportError with the reason."""
    return f"{name}.py", f"raise ImportError({reason!r})\n"
