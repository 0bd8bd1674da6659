"""What was found of faults under conditions: tables by condition and by component."""

from collections.abc import Callable, Iterable
from typing import Any

from ..markdown import table
from .proof import Conditional, Trial

STATES = ("found", "missed", "never held", "no difference")


def rows(trials: Iterable[Trial], key: Callable[[Trial], str]) -> list[tuple[str, int, int, int, int, int]]:
    """One row for each key: how many were tried, and how they ended."""
    grouped: dict[str, list[Trial]] = {}
    for trial in trials:
        grouped.setdefault(key(trial), []).append(trial)
    counted = []
    for name, some in grouped.items():
        found, missed, never, same = (sum(trial.state == state for trial in some) for state in STATES)
        counted.append((name, len(some), found, missed, never, same))
    return counted


def report_lines(result: Conditional, show_all: bool) -> list[str]:
    """The report for a terminal."""
    lines: list[str] = []
    for trial in result.trials:
        if show_all or trial.state in ("missed", "never held"):
            lines.append(f"{trial.state:<14} {trial.pair.fault.component.split('.')[1]:<30} {trial.pair.name}")
    for trial in result.wrongly_blamed:
        wrong = ", ".join(trial.verdict.wrongly_blamed(result.assignment)) or trial.verdict.grader_errors[0]
        lines.append(f"WRONG BLAME    {trial.pair.name}: {wrong}")
    head = f"{'':<44}{'tried':>7}{'found':>7}{'missed':>8}{'never held':>12}{'no difference':>15}"
    for title, key in TABLES.items():
        lines += ["", title.ljust(44) + head[44:]]
        lines += [
            f"{name:<44}{tried:>7}{found:>7}{missed:>8}{never:>12}{same:>15}"
            for name, tried, found, missed, never, same in rows(result.trials, key)
        ]
    return [*lines, "", summary(result), "CPU {:.0f} s, wall {:.0f} s".format(*result.seconds)]


TABLES: dict[str, Callable[[Trial], str]] = {
    "condition": lambda trial: trial.pair.condition,
    "component": lambda trial: trial.pair.fault.component,
    "kind": lambda trial: trial.pair.kind,
}


def summary(result: Conditional) -> str:
    """One line."""
    [(_, tried, found, missed, never, same)] = rows(result.trials, lambda _: "all")
    drawn = "all" if tried == result.of else f"a sample of {result.of}"
    return (
        f"{tried} faults under conditions ({drawn}): {found} found, {missed} missed, the condition of {never} never "
        f"held, {same} make no difference where it holds: {result.share:.1%} of those that might be found; "
        f"wrong blame: {len(result.wrongly_blamed)}"
    )


def as_data(result: Conditional) -> dict[str, Any]:
    """As JSON."""
    return {
        "share": round(result.share, 4),
        "of": result.of,
        "wrongly_blamed": [trial.pair.name for trial in result.wrongly_blamed],
        "trials": [
            {
                "fault": trial.pair.fault.id,
                "component": trial.pair.fault.component,
                "condition": trial.pair.condition,
                "kind": trial.pair.kind,
                "state": trial.state,
                "found_by": trial.verdict.killers,
                "lost_points": trial.verdict.lost,
            }
            for trial in result.trials
        ],
        "cpu_seconds": round(result.seconds[0], 1),
        "wall_seconds": round(result.seconds[1], 1),
    }


def as_page(result: Conditional) -> str:
    """The page for docs/proof."""
    head = ("tried", "found", "missed", "never held", "no difference")
    parts = ["# Faults that show only under a condition", summary(result)]
    for title, key in TABLES.items():
        parts.append(table((title, *head), rows(result.trials, key)))
    return "\n\n".join(parts) + "\n"
