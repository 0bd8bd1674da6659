"""Finds modules that end their process when imported, and replaces each by one that only raises.

Otherwise a submission whose `layers.py` loops at its top level would lose every component, since isolating one
component imports all modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autograder.sources import Sources, failing_module


def defuse(sources: Sources, end_of_import: Callable[[Sources, str], str], names: Iterable[str]) -> Sources:
    """The sources with every module replaced that ends its process.

    Args:
        sources: all modules.
        end_of_import: imports a module of such sources in a worker, which it may keep for the next call; returns why
            the worker ended, or "".
        names: of the modules to try.
    """
    suspects: dict[str, str] = {}
    for name in names:
        if name == "__init__":
            continue
        if reason := end_of_import(without(sources, suspects), name):
            suspects[name] = reason
    for name in list(suspects):  # a suspect may only have imported another one
        others = {other: reason for other, reason in suspects.items() if other != name}
        if others and not end_of_import(without(sources, others), name):
            del suspects[name]
    return without(sources, suspects)


def without(sources: Sources, reasons: dict[str, str]) -> Sources:
    """The sources with some modules replaced by ones whose import raises the reason."""
    replaced = {
        name: failing_module(name, f"{name}.py ended its process when it was imported: {reason}")
        for name, reason in reasons.items()
    }
    return {**sources, **replaced}
