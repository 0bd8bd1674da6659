"""Who has handed in what, as the store wants it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from ..entries import Entry
from ..roll import Roll
from .tables import HandedIn, Student, Submission


@dataclass(frozen=True)
class Owner:
    """Who has handed in a submission.

    Attributes:
        key: by which the course knows the student; unique.
        name: for people.
        email: "" = unknown.
        group: whose marks the student shares; "" = none.
    """

    key: str
    name: str
    email: str = ""
    group: str = ""


@dataclass(frozen=True)
class Received:
    """A submission that counts.

    Attributes:
        entry: its key, which stays when the same students hand in again.
        name: for people.
        owners: several for a group.
        submitted: when; None where the platform does not say.
        is_late: what the platform says; None where it does not say.
    """

    entry: str
    name: str
    owners: tuple[Owner, ...]
    submitted: datetime | None = None
    is_late: bool | None = None


def received_of(roll: Roll, entries: Iterable[Entry]) -> dict[str, Received]:
    """What a class has handed in, by the entry's key."""
    owners: dict[str, list[Owner]] = {}
    times = {}
    for member in roll.members:
        if member.key:
            owner = Owner(member.id, member.name, member.ids.get("email", ""), member.group)
            owners.setdefault(member.key, []).append(owner)
            times[member.key] = (member.submitted, member.is_late)
    return {
        entry.key: Received(entry.key, entry.name, tuple(owners.get(entry.key, ())), *times.get(entry.key, ()))
        for entry in entries
    }


def enrol(session: Session, everyone: Sequence[Received]) -> dict[str, int]:
    """Enters submissions and their students, or brings them up to date; the submissions' ids by entry."""
    students = {student.key: student for student in session.scalars(select(Student))}
    submissions = {one.entry: one for one in session.scalars(select(Submission))}
    owned: dict[int, set[int]] = {}
    for row in session.execute(select(HandedIn.submission_id, HandedIn.student_id)):
        owned.setdefault(row.submission_id, set()).add(row.student_id)
    for one in everyone:
        for owner in one.owners:
            student = students.setdefault(stored_name(owner.key), Student(key=stored_name(owner.key)))
            student.name, student.email = stored_name(owner.name), stored_name(owner.email)
            student.group_name = stored_name(owner.group)
            session.add(student)
        submission = submissions.setdefault(stored_name(one.entry), Submission(entry=stored_name(one.entry)))
        submission.name = stored_name(one.name)
        session.add(submission)
    session.flush()
    for one in everyone:
        submission = submissions[stored_name(one.entry)]
        owners = {students[stored_name(owner.key)].id for owner in one.owners}
        if owned.get(submission.id, set()) != owners:
            session.execute(delete(HandedIn).where(HandedIn.submission_id == submission.id))
            rows = [{"submission_id": submission.id, "student_id": owner} for owner in owners]
            if rows:
                session.execute(insert(HandedIn), rows)
    return {one.entry: submissions[stored_name(one.entry)].id for one in everyone}


def stored_name(text: str) -> str:
    """Any text, also a file name that is no Unicode, so that a database takes it; different ones stay different."""
    return stored_text(text.replace("\\", "\\\\"))


def stored_text(text: str) -> str:
    """Text for people, so that a database takes it: without what is no Unicode and zero bytes."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
