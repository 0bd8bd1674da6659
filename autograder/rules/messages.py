"""Describes short-cuts to students."""

from collections.abc import Iterable, Mapping

from foundation.contract import Forbidden
from foundation.sources import Locate, Sources, in_module

from .evaluation import Evaluator
from .uses import ShortCut, find_short_cuts
from .values import Binding

MOST = 3


def explain_short_cuts(found: Iterable[tuple[str, list[ShortCut]]], locate: Locate, most: int = MOST) -> str:
    """The message: which component uses what, and where.

    Args:
        found: components with their short-cuts.
        locate: where the student finds a line.
        most: the number of short-cuts that are quoted per component.
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
    sources: Sources,
    judged: Mapping[str, Iterable[str]],
    forbidden: Forbidden,
    locate: Locate = in_module,
    evaluator: Evaluator | None = None,
    code: dict[str, list[Binding]] | None = None,
) -> dict[str, str]:
    """The messages in a student's own run, by task, for the tasks whose components use short-cuts.

    Args:
        sources: all modules.
        judged: task -> its components.
        forbidden: what they must not use.
        locate: where the student finds a line.
        evaluator: of these modules, where several searches share one.
        code: takes the code of each component; see `find_short_cuts`.
    """
    components = dict.fromkeys(component for own in judged.values() for component in own)
    found = find_short_cuts(sources, components, forbidden, evaluator=evaluator, code=code)
    used = {task: [(one, found[one]) for one in own if one in found] for task, own in judged.items()}
    return {task: explain_short_cuts(own, locate) for task, own in used.items() if own}
