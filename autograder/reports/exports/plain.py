"""A table for any other system: who, how many points, and what a person should know."""

from __future__ import annotations

from collections.abc import Sequence

from ..spreadsheets import as_score
from .marks import About, Mark, Table

HEADING = ("id", "name", "email", "group", "score", "max_score", "late", "status", "reason", "comment")


def table(marks: Sequence[Mark], about: About) -> Table:
    """A line for each student, without a score where there is none."""
    rows = []
    for mark in marks:
        result, member = mark.result, mark.result.member
        rows.append(
            {
                "id": member.id,
                "name": member.name,
                "email": mark.ids.get("email", ""),
                "group": member.group,
                "score": as_score(result.score),
                "max_score": as_score(about.max_score),
                "late": "unknown" if member.unread_time else "late" if member.is_late else "",
                "status": result.status.value,
                "reason": result.reason,
                "comment": mark.comment,
            }
        )
    return Table(HEADING, rows)


def feedback_file(mark: Mark) -> str | None:
    """No platform reads these: a name is made from the student's id."""
    return None
