"""What people decide about a student's marks: points, comments, late days, and those that cost nothing.

Decisions belong to a student and a task, not to a result, so they outlive every regrade. The last one counts; earlier
ones stay in the database, with who entered them and when.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from foundation.texts import printable

from ...grading.record import now
from ..downloads.matching import plain
from .database import Database, StoreError
from .results import stored_name, stored_text
from .tables import Decided, HandedIn, Student, Submission

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


def find_student(database: Database, text: str) -> tuple[str, str]:
    """The key and name of the student whom some text names: by key, e-mail, name, or the entry that was handed in.

    Raises:
        StoreError: where nobody is called so, or more than one.
    """

    def work(session: Session) -> list[tuple[str, tuple[str, ...]]]:
        entries: dict[int, list[str]] = {}
        pairs = select(HandedIn.student_id, Submission.entry, Submission.name)
        for row in session.execute(pairs.join(Submission, Submission.id == HandedIn.submission_id)):
            entries.setdefault(row.student_id, []).extend((row.entry, row.name))
        students = session.scalars(select(Student).order_by(Student.key))
        return [(one.key, (one.email, one.name, *entries.get(one.id, ()))) for one in students]

    wanted = stored_name(text)
    students = database.do(work)
    found = [(key, names[1]) for key, names in students if key == wanted]
    for alike in (str.casefold, plain):  # accents, spaces and the order of code points last
        if not found and (said := alike(wanted)):
            found = [(key, names[1]) for key, names in students if said in map(alike, (key, *names))]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(printable(key, 60) for key, _ in found[:5])
        raise StoreError(f"{printable(text, 60)}: {len(found)} students are called so; name one by id: {several}")
    known = {name: called(key, names[1]) for key, names in students for name in (key, *names) if name}
    near = [name for name in known if wanted.casefold() in name.casefold().split()]  # a first name, as people say
    near = near[:3] or difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = (
        f"; did you mean {' or '.join(known[name] for name in near)}?"
        if near
        else "; grade the class first"
        if not known
        else ""
    )
    raise StoreError(f"{printable(text, 60)}: no student who handed in is called so{hint}")


def called(key: str, name: str) -> str:
    """A student for people: the name, with the key where it is another one."""
    return printable(key, 60) if name in ("", key) else f"{printable(name, 60)} ({printable(key, 60)})"


def decide(
    database: Database,
    key: str,
    kind: Literal["points", "comment", "late", "waiver"],
    value: float | None,
    text: str,
    by: str,
    task: str = WHOLE,
) -> None:
    """Enters a decision about the student with a key.

    Args:
        database: of the class.
        key: as `find_student` gives it.
        kind: "late" says by how many days a student was late, "waiver" how many of them cost nothing.
        value: points or days. None: the grader's points again, the platform's days, or all days waived.
        text: why, or the comment; an empty one takes an earlier comment back.
        by: who decides.
        task: of points and comments.
    """

    def work(session: Session) -> None:
        student = session.scalars(select(Student.id).where(Student.key == key)).one()
        said = {"text": stored_text(text), "by": stored_text(by), "at": now()}
        session.add(Decided(student_id=student, kind=kind, task=task, value=value, **said))

    database.do(work)


def decisions_in(database: Database) -> Mapping[str, Decisions]:
    """All that counts, by the student's key."""

    def work(session: Session) -> dict[str, Decisions]:
        last: dict[tuple[str, str, str], Decision] = {}
        query = select(Student.key, Decided).join(Decided, Decided.student_id == Student.id).order_by(Decided.id)
        for key, row in session.execute(query):
            last[key, row.kind, row.task] = Decision(row.value, row.text, row.by, row.at)
        found: dict[str, Decisions] = {}
        for (key, kind, task), one in last.items():
            of_student = found.setdefault(key, Decisions())
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
