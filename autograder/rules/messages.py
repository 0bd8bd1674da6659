"""A short-cut in words."""

from collections.abc import Callable, Iterable, Mapping

from .uses import ShortCut, find_short_cuts

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


def tell_short_cuts(
    sources: Mapping[str, tuple[str, str]],
    judged: Mapping[str, Iterable[str]],
    locate: Callable[[str, int], str] = "{}.py, line {}".format,
) -> dict[str, str]:
    """What students are told who try their own code: a message for each task whose components use short-cuts.

    Args:
        sources: module name -> path, text.
        judged: task -> its components.
        locate: as above.
    """
    found = find_short_cuts(sources, dict.fromkeys(component for own in judged.values() for component in own))
    used = {task: [(one, found[one]) for one in own if one in found] for task, own in judged.items()}
    return {task: explain_short_cuts(own, locate) for task, own in used.items() if own}
