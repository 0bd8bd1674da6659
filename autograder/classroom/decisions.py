"""What people decide about a student's marks: points, comments, late days, and those that cost nothing.

Decisions belong to a student and a task, not to a result, so they outlive every regrade. The last one counts; earlier
ones stay in the database, with who entered them and when.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from foundation.texts import printable

from ..grading.record import now
from ..intake import name_of
from .database import Database, Decided, StoreError
from .downloads.matching import plain
from .entries import Member, Roll

WHOLE = ""
"""In the place of a task's number: the whole submission."""


@dataclass(frozen=True)
class Decision:
    """One decision by hand."""

    value: float | None  # points, or days; None = all days of a waiver; of a comment always None
    text: str  # why, or the comment
    by: str
    at: datetime


@dataclass
class Decisions:
    """All that counts for one student."""

    points: dict[str, Decision] = field(default_factory=dict)  # by the task's number
    comments: dict[str, Decision] = field(default_factory=dict)  # likewise; `WHOLE` for the whole submission
    late_days: Decision | None = None  # by which the student was late; None = as the platform says
    waiver: Decision | None = None  # of late days; None = none


def find_student(roll: Roll, text: str) -> Member:
    """The student who handed in and whom some text names: by id, e-mail, name, or the entry that was handed in.

    Raises:
        StoreError: where nobody is called so, or more than one.
    """
    members = [member for member in roll.members if member.key]
    found = [member for member in members if member.id == text]
    for alike in (str.casefold, plain):  # accents, spaces and the order of code points last
        if not found and (said := alike(text)):
            found = [member for member in members if said in map(alike, names_of(member))]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(member.id for member in found[:5])
        raise StoreError(f"{printable(text, 60)}: {len(found)} students are called so; name one by id: {several}")
    known = {name: member.called for member in members for name in names_of(member)}
    near = [name for name in known if text.casefold() in name.casefold().split()]  # a first name, as people say
    near = near[:3] or difflib.get_close_matches(text, known, n=1, cutoff=0.5)
    hint = f"; did you mean {' or '.join(known[name] for name in near)}?" if near else ""
    raise StoreError(f"{printable(text, 60)}: no student who handed in is called so{hint}")


def names_of(member: Member) -> list[str]:
    """All that a student is called by."""
    entry = member.entry, name_of(Path(member.entry)), member.key
    return [name for name in (member.id, member.ids.get("email", ""), member.name, *entry) if name]


def decide(
    database: Database,
    student: str,
    kind: Literal["points", "comment", "late", "waiver"],
    value: float | None,
    text: str,
    by: str,
    task: str = WHOLE,
) -> None:
    """Enters a decision about a student.

    Args:
        database: of the class.
        student: the id.
        kind: "late" says by how many days a student was late, "waiver" how many of them cost nothing.
        value: points or days. None: the grader's points again, the platform's days, or all days waived.
        text: why, or the comment; an empty one takes an earlier comment back.
        by: who decides.
        task: of points and comments.
    """
    said = {"text": as_unicode(text), "by": as_unicode(by), "at": now().isoformat()}
    decided = Decided(student=student, kind=kind, task=task, value=value, **said)
    database.do(lambda session: session.add(decided))


def as_unicode(text: str) -> str:
    """Text that was typed, so that a database takes it, whatever the terminal has sent."""
    return text.encode("utf-8", "backslashreplace").decode()


def decisions_in(database: Database) -> Mapping[str, Decisions]:
    """All that counts, by the student's id."""

    def work(session: Session) -> dict[str, Decisions]:
        last: dict[tuple[str, str, str], Decision] = {}
        for row in session.scalars(select(Decided).order_by(Decided.id)):
            last[row.student, row.kind, row.task] = Decision(
                row.value, row.text, row.by, datetime.fromisoformat(row.at)
            )
        found: dict[str, Decisions] = {}
        for (student, kind, task), one in last.items():
            of_student = found.setdefault(student, Decisions())
            if kind == "points" and one.value is not None:
                of_student.points[task] = one
            elif kind == "comment" and one.text:
                of_student.comments[task] = one
            elif kind == "late" and one.value is not None:
                of_student.late_days = one
            elif kind == "waiver":
                of_student.waiver = one
        return found

    return database.do(work)
