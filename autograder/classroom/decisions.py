"""What people decide about a student's marks: points, comments, late days, and those that cost nothing.

Decisions belong to a student and a task, not to a result, so they outlive every regrade. Each is a line of
`decisions.jsonl` in the class's folder; the last one counts, and earlier ones stay.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from foundation.command_line import UserError
from foundation.texts import printable

from ..grading.record import Model, NotWrittenError, now
from ..intake import name_of
from .downloads.matching import plain
from .entries import Member, Roll

FILE = "decisions.jsonl"
WHOLE = ""
"""In the place of a task's number: the whole submission."""


class Decision(Model):
    """One decision by hand."""

    student: str  # the id by which the course knows the student
    kind: Literal["points", "comment", "late"]
    task: str = WHOLE  # its number, of points and comments
    value: float | None = None  # points or days; None: the grader's points, the platform's days
    text: str  # why, or the comment; an empty one takes an earlier comment back
    by: str  # who decided
    at: datetime


@dataclass
class Decisions:
    """All that counts for one student."""

    points: dict[str, Decision] = field(default_factory=dict)  # by the task's number
    comments: dict[str, Decision] = field(default_factory=dict)  # likewise; `WHOLE` for the whole submission
    late_days: Decision | None = None  # by which the student was late; None = as the platform says


def find_student(roll: Roll, text: str) -> Member:
    """The student who handed in and whom some text names: by id, e-mail, name, or the entry that was handed in.

    Raises:
        UserError: where nobody is called so, or more than one.
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
        raise UserError(f"{printable(text, 60)}: {len(found)} students are called so; name one by id: {several}")
    near = [one.called for one in members if text.casefold() in one.name.casefold().split()]  # as people say
    hint = f"; did you mean {' or '.join(near[:3])}?" if near else ""
    raise UserError(f"{printable(text, 60)}: no student who handed in is called so{hint}")


def names_of(member: Member) -> list[str]:
    """All that a student is called by."""
    entry = member.entry, name_of(Path(member.entry)), member.key
    return [name for name in (member.id, member.ids.get("email", ""), member.name, *entry) if name]


def decide(
    output: Path,
    student: str,
    kind: Literal["points", "comment", "late"],
    value: float | None,
    text: str,
    by: str,
    task: str = WHOLE,
) -> None:
    """Enters a decision about a student of the class in a folder; see `Decision`.

    Raises:
        NotWrittenError: where that fails.
    """
    text, by = (typed.encode("utf-8", "backslashreplace").decode() for typed in (text, by))  # as a terminal sends it
    decision = Decision(student=student, kind=kind, task=task, value=value, text=text, by=by, at=now())
    try:
        with (output / FILE).open("a", encoding="utf-8") as file:
            file.write(f"{decision.model_dump_json()}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise NotWrittenError(output / FILE, error) from None


def decisions_in(output: Path) -> dict[str, Decisions]:
    """All that counts of a class, by the student's id.

    Raises:
        UserError: where a line is none of ours.
    """
    path = output / FILE
    last: dict[tuple[str, str, str], Decision] = {}
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), start=1):
        try:
            one = Decision.model_validate_json(line)
        except ValidationError:
            raise UserError(f"{path}, line {number}: no decision; expected a line as `override` writes it") from None
        last[one.student, one.kind, one.task] = one
    found: dict[str, Decisions] = {}
    for one in last.values():
        of_student = found.setdefault(one.student, Decisions())
        if one.kind == "points" and one.value is not None:
            of_student.points[one.task] = one
        elif one.kind == "comment" and one.text:
            of_student.comments[one.task] = one
        elif one.kind == "late" and one.value is not None:
            of_student.late_days = one
    return found
