"""A short-cut in words."""

from collections.abc import Callable, Iterable

from .uses import ShortCut

MOST = 3


def explain_short_cuts(
    found: Iterable[tuple[str, list[ShortCut]]], locate: Callable[[str, int], str], most: int = MOST
) -> str:
    """What a student is told: which component uses what, and where.

    Args:
        found: components with their short-cuts.
        locate: "layers.py, line 12" for a module and a line.
        most: short-cuts that are quoted for each component.
    """
    lines = []
    for component, short_cuts in found:
        module, _, name = component.partition(".")
        lines.append(f"{name} ({module}.py) uses {short_cuts[0].name}; the assignment asks you to write it yourself:")
        for short_cut in short_cuts[:most]:
            lines += [f"{locate(short_cut.module, short_cut.line)}:", f"    {short_cut.code}"]
        if len(short_cuts) > most:
            lines.append(f"… and {len(short_cuts) - most} more")
    return "\n".join(lines)
