"""What people decide about a student's marks: points, comments, late days that cost nothing.

Decisions belong to a student and a task, not to a result, so they outlive every regrade. The last one counts; earlier
ones stay in the database, with who entered them and when.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from foundation.texts import printable

from ...grading.record import now
from ..downloads.matching import plain
from .database import Database, StoreError
from .results import stored_name, stored_text
from .tables import Comment, HandedIn, LateDays, Override, Student, Submission, Waiver

WHOLE = ""
"""In the place of a task's number: the whole submission."""


@dataclass(frozen=True)
class Decision:
    """One decision by hand.

    Attributes:
        value: points, or days; None = all days of a waiver; of a comment always None.
        text: why, or the comment.
        by: who entered it.
        at: when.
    """

    value: float | None
    text: str
    by: str
    at: datetime


@dataclass
class Decisions:
    """All that counts for one student.

    Attributes:
        points: by the task's number.
        comments: likewise; `WHOLE` for the whole submission.
        late_days: by which the student was late; None = as the platform says.
        waiver: of late days; None = none.
    """

    points: dict[str, Decision] = field(default_factory=dict)
    comments: dict[str, Decision] = field(default_factory=dict)
    late_days: Decision | None = None
    waiver: Decision | None = None


class ByHand:
    """Decisions by hand in a class's database."""

    def __init__(self, database: Database) -> None:
        """Works on a database."""
        self._database = database

    def find_student(self, text: str) -> str:
        """The key of the student whom some text names: by key, e-mail, name, or the entry that he or she handed in.

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
        students = self._database.do(work)
        found = [key for key, _ in students if key == wanted]
        for alike in (str.casefold, plain):  # accents, spaces and the order of code points last
            found = found or [k for k, names in students if alike(wanted) and alike(wanted) in map(alike, (k, *names))]
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(printable(key, 60) for key in found[:5])
            raise StoreError(f"{printable(text, 60)}: {len(found)} students are called so; name one by id: {several}")
        known = [name for key, names in students for name in (key, *names) if name]
        near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
        hint = f"; did you mean {printable(near[0], 60)}?" if near else "; grade the class first" if not known else ""
        raise StoreError(f"{printable(text, 60)}: no student who handed in is called so{hint}")

    def give_points(self, key: str, task: str, points: float | None, why: str, by: str) -> None:
        """Gives a student points for a task; None: from now on, the grader's again."""
        self._enter(key, Override(task=task, points=points, text=stored_text(why), by=stored_text(by), at=now()))

    def comment(self, key: str, task: str, text: str, by: str) -> None:
        """Comments on a task or, with `WHOLE`, on the submission; takes the place of an earlier comment there."""
        self._enter(key, Comment(task=task, text=stored_text(text), by=stored_text(by), at=now()))

    def set_late_days(self, key: str, days: int | None, why: str, by: str) -> None:
        """Says by how many days a student was late; None: as the platform says."""
        self._enter(key, LateDays(days=days, text=stored_text(why), by=stored_text(by), at=now()))

    def waive(self, key: str, days: int | None, why: str, by: str) -> None:
        """Lets late days cost a student nothing: so many, or all of them."""
        self._enter(key, Waiver(days=days, text=stored_text(why), by=stored_text(by), at=now()))

    def decisions(self) -> Mapping[str, Decisions]:
        """All that counts, by the student's key."""

        def work(session: Session) -> dict[str, Decisions]:
            found: dict[str, Decisions] = {}
            keys = {student.id: student.key for student in session.scalars(select(Student))}
            for given in session.scalars(select(Override).order_by(Override.id)):
                of_student = found.setdefault(keys[given.student_id], Decisions())
                of_student.points[given.task] = Decision(given.points, given.text, given.by, given.at)
            for said in session.scalars(select(Comment).order_by(Comment.id)):
                of_student = found.setdefault(keys[said.student_id], Decisions())
                of_student.comments[said.task] = Decision(None, said.text, said.by, said.at)
            for late in session.scalars(select(LateDays).order_by(LateDays.id)):
                of_student = found.setdefault(keys[late.student_id], Decisions())
                of_student.late_days = None if late.days is None else Decision(late.days, late.text, late.by, late.at)
            for waived in session.scalars(select(Waiver).order_by(Waiver.id)):
                of_student = found.setdefault(keys[waived.student_id], Decisions())
                of_student.waiver = Decision(waived.days, waived.text, waived.by, waived.at)
            for of_student in found.values():  # what was taken back
                of_student.points = {task: one for task, one in of_student.points.items() if one.value is not None}
                of_student.comments = {task: one for task, one in of_student.comments.items() if one.text}
            return found

        return self._database.do(work)

    def _enter(self, key: str, row: Override | Comment | LateDays | Waiver) -> None:
        def work(session: Session) -> None:
            row.student_id = session.scalars(select(Student.id).where(Student.key == key)).one()
            session.add(row)

        self._database.do(work)
