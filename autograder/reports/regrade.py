"""What a regrade changes or would change, for people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from foundation.texts import counted, printable

from ..classroom.regrading import Held
from ..grading.record import write_json

REGRADE = "regrade.json"
MOST_STUDENTS = 20
"""How many are shown, those whose marks change most; the file has all."""
MOST_REASONS = 10


def as_regrade_table(held: Sequence[Held], names: Mapping[str, str]) -> str:
    """Who changes, by how much, and because of which test; names by the submission's key."""
    n_kept, n_failed = (sum(getattr(one, kind) for one in held) for kind in ("is_kept", "has_failed"))
    lines = []
    if n_waiting := len(held) - n_kept - n_failed:
        lines.append(f"{counted(n_waiting, 'mark')} would change, and stay as they are until you add --keep:")
    elif n_kept:
        lines.append(f"{counted(n_kept, 'mark')} changed:")
    lines += _by_reason(held) if len(held) > MOST_STUDENTS else []
    for one in sorted(held, key=_difference, reverse=True)[:MOST_STUDENTS]:
        change = one.change
        lines.append(f"  {printable(names[one.entry.key], 40)}: {_points(change.before)} → {_points(change.after)}")
        for part in change.parts:
            why = f" ({'; '.join(printable(reason, 120) for reason in part.reasons)})" if part.reasons else ""
            lines.append(f"    {part.number} {part.title}: {_points(part.before)} → {_points(part.after)}{why}")
    if len(held) > MOST_STUDENTS:
        lines.append(f"  and {len(held) - MOST_STUDENTS} more, in {REGRADE}")
    if n_failed:
        lines.append(f"the grader failed over {n_failed} of them this time, so that the earlier marks stay")
    return "\n".join(lines)


def write_regrade(held: Sequence[Held], names: Mapping[str, str], output: Path) -> None:
    """Writes regrade.json, or removes an earlier one where nothing changes."""
    if not held:
        (output / REGRADE).unlink(missing_ok=True)
        return
    changes = [
        {
            "submission": printable(one.entry.entry),
            "students": names[one.entry.key],
            "kept": one.is_kept,
            "grader_failed": one.has_failed,
            **asdict(one.change),
        }
        for one in held
    ]
    write_json(output / REGRADE, changes)


def _by_reason(held: Sequence[Held]) -> Iterator[str]:
    """The most frequent reasons, with how many submissions they concern and by how much."""
    found: dict[str, list[float]] = {}
    for part in (part for one in held for part in one.change.parts):
        for reason in part.reasons:
            what = f"{part.number} {part.title} ({printable(reason, 120)})"
            found.setdefault(what, []).append((part.after or 0.0) - (part.before or 0.0))
    for what, changes in sorted(found.items(), key=lambda item: -len(item[1]))[:MOST_REASONS]:
        low, high = (f"{change:+g}" if change else "0" for change in (min(changes), max(changes)))
        yield f"  {len(changes)} × {what}: {low if low == high else f'{low} to {high}'}"
    if len(found) > MOST_REASONS:
        yield f"  and {counted(len(found) - MOST_REASONS, 'more reason')}"
    yield "  the largest changes:"


def _difference(one: Held) -> float:
    """By how much a mark changes; one that comes or goes first."""
    before, after = one.change.before, one.change.after
    return float("inf") if before is None or after is None else abs(after - before)


def _points(score: float | None) -> str:
    return "no mark" if score is None else f"{score:g}"
