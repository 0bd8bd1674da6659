"""What a regrade changes or would change, for people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foundation.printable_text import printable

from ..classroom.keeping import Held
from ..grading.record import write_json

REGRADE = "regrade.json"
MOST_STUDENTS = 20
"""How many are shown; the file has all."""


def as_regrade_table(held: Sequence[Held], names: Mapping[str, str]) -> str:
    """Who changes, by how much, and because of which test; names by the submission's key."""
    n_kept, n_failed = (sum(getattr(one, kind) for one in held) for kind in ("is_kept", "has_failed"))
    lines = []
    if n_waiting := len(held) - n_kept - n_failed:
        lines.append(f"{_marks(n_waiting)} would change, and stay as they are until you add --keep:")
    elif n_kept:
        lines.append(f"{_marks(n_kept)} changed:")
    for one in held[:MOST_STUDENTS]:
        lines += _lines(one, printable(names[one.entry.key], 40))
    if len(held) > MOST_STUDENTS:
        lines.append(f"  and {len(held) - MOST_STUDENTS} more")
    if n_failed:
        lines.append(f"the grader failed over {n_failed} of them this time, so that the earlier marks stay")
    return "\n".join(lines)


def write_regrade(held: Sequence[Held], names: Mapping[str, str], output: Path) -> None:
    """Writes regrade.json, or removes an earlier one where nothing changes.

    Raises:
        NotWrittenError: where that fails.
    """
    if not held:
        (output / REGRADE).unlink(missing_ok=True)
        return
    changes = [
        {
            "submission": one.entry.entry,
            "students": names[one.entry.key],
            "before": one.change.before,
            "after": one.change.after,
            "kept": one.is_kept,
            "grader_failed": one.has_failed,
            "parts": [
                {
                    "number": part.number,
                    "title": part.title,
                    "before": part.before,
                    "after": part.after,
                    "reasons": part.reasons,
                }
                for part in one.change.parts
            ],
        }
        for one in held
    ]
    write_json(output / REGRADE, changes)


def _lines(one: Held, name: str) -> Iterator[str]:
    yield f"  {name}: {_points(one.change.before)} → {_points(one.change.after)}"
    for part in one.change.parts:
        reasons = "; ".join(printable(reason, 120) for reason in part.reasons)
        yield f"    {part.number} {part.title}: {_points(part.before)} → {_points(part.after)}" + (
            f" ({reasons})" if reasons else ""
        )


def _points(score: float | None) -> str:
    return "no mark" if score is None else f"{score:g}"


def _marks(number: int) -> str:
    return "1 mark" if number == 1 else f"{number} marks"
