"""Modules that end their process when they are imported are found first, and replaced by one that only raises.

Otherwise a submission whose `layers.py` loops at its top level would lose every component, since all modules
are imported when one component is isolated from the others.
"""

from __future__ import annotations

from collections.abc import Callable

Sources = dict[str, tuple[str, str]]


def defuse(sources: Sources, end_of_import: Callable[[Sources, str], str]) -> Sources:
    """Return the sources with harmless ones in the place of those modules that end their process.

    Args:
        sources: module name -> path, source text.
        end_of_import: imports a module, with such sources, in a worker (the same one as long as it lives and the
            sources are the same); returns why the worker ended, or "".
    """
    names = [name for name in sources if name != "__init__"]
    suspects: dict[str, str] = {}
    for name in names:
        if reason := end_of_import(blank(sources, suspects), name):
            suspects[name] = reason
    for name in list(suspects):  # one may only have imported another
        others = {other: reason for other, reason in suspects.items() if other != name}
        if others and not end_of_import(blank(sources, others), name):
            del suspects[name]
    return blank(sources, suspects)


def blank(sources: Sources, reasons: dict[str, str]) -> Sources:
    """Replace modules by one that raises ImportError with the reason."""
    blanks = {
        name: ("", f"raise ImportError({f'{name}.py ended its process when it was imported: {reason}'!r})")
        for name, reason in reasons.items()
    }
    return {**sources, **blanks}
