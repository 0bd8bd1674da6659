"""From a platform's download to what is graded, one submission for each student, and the roll."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, ValidationError

from foundation.assignment_file import Assignment
from foundation.command_line import UserError
from foundation.texts import printable

from ..grading.record import Model, write_json
from ..intake.submission import name_of
from ..platforms.download import read_download
from ..platforms.handed_in import HandedIn
from .matching import hint_for, last_of, owners_of, plain
from .records import record_names
from .roster import Student, read_roster

ROLL = "class.json"
UNDECIDED = "several submissions, and it is not known which one counts"
MOST_CHARACTERS = 200
Line: TypeAlias = Annotated[
    str, BeforeValidator(lambda text: printable(text, MOST_CHARACTERS) if isinstance(text, str) else text)
]
"""One line without anything unprintable: names and files are whatever students chose."""


def take_class(
    folder: Path,
    output: Path,
    assignment: Assignment,
    roster: Path | None = None,
    layout: str | None = None,
    deadline: datetime | None = None,
) -> tuple[Roll, list[HandedIn]]:
    """A class whose records go to a folder, as `list_class` reads it, and at least one submission.

    Raises: UserError also where the records would lie among the submissions, or beside those of another assignment.
    """
    above, below = (Path(os.path.realpath(path)) for path in (folder, output))
    if below.is_relative_to(above):  # an entry called `marks` could bring forged ones
        why = "lies in the folder of submissions, where one of them could bring forged records"
        raise UserError(f"--output {printable(str(output))}: {why}; name one beside it, such as --output ../marks")
    if (output / ROLL).exists():
        read_roll(output, assignment)
    roll, entries = list_class(folder, assignment, roster, layout, deadline)
    if not entries:
        raise UserError(f"{folder}: no submission counts for any student; `list-class` has the reasons")
    return roll, entries


def list_class(
    folder: Path,
    assignment: Assignment,
    roster: Path | None = None,
    layout: str | None = None,
    deadline: datetime | None = None,
) -> tuple[Roll, list[HandedIn]]:
    """The roll of a class, and the submissions to be graded, in the order of the download.

    Without a roster, students are those whom the download names. Of clones, the last commit before a deadline counts.

    Raises: UserError where there is no submission, or the roster cannot be read or fits none.
    """
    download = read_download(folder, assignment, layout, deadline)
    students = read_roster(roster) if roster else ()
    owners = owners_of(download.submissions, students)
    if roster and not any(owners.values()) and (hint := hint_for(download.submissions, students)):
        raise UserError(f"{roster}: no submission fits any of its students; {hint}")
    handed_in: dict[Student, list[HandedIn]] = {student: [] for student in students}
    for submission, own in owners.items():
        for student in own:
            handed_in.setdefault(student, []).append(submission)
    counting = {student: last_of(several) for student, several in handed_in.items()}
    is_counting = {*counting.values()}
    keys = keys_of([submission for submission in download.submissions if submission in is_counting])
    left_out = []
    for submission in (submission for submission in download.submissions if submission not in keys):
        why, needs_decision = "a later submission counts", False
        if not owners[submission]:
            why, needs_decision = "fits no student in the roster, or not for sure, or more than one", True
        elif any(counting[student] is None for student in owners[submission]):
            why, needs_decision = f"one of {UNDECIDED}", True
        left_out.append(LeftOut(entry=submission.entry, reason=why, needs_decision=needs_decision))
    left_out += [LeftOut(**asdict(stray)) for stray in download.strays]
    roll = Roll(
        assignment=assignment.name,
        layout=download.layout,
        folder=str(download.folder),
        has_roster=bool(roster),
        members=tuple(member_of(student, several, owners, keys) for student, several in handed_in.items()),
        left_out=tuple(left_out),
    )
    return roll, [replace(submission, key=key) for submission, key in keys.items()]


def keys_of(submissions: Sequence[HandedIn]) -> dict[HandedIn, str]:
    """A key for each submission, by its owner where nothing else has that."""
    times = Counter(each.owner for each in submissions)
    owners = {each: each.owner if times[each.owner] == 1 else f"{each.entry}/{each.owner}" for each in submissions}
    names = record_names([*owners.values()])
    return {submission: names[owner] for submission, owner in owners.items()}


def member_of(
    student: Student,
    several: Sequence[HandedIn],
    owners: Mapping[HandedIn, tuple[Student, ...]],
    keys: Mapping[HandedIn, str],
) -> Member:
    """A student's line of the roll, with what the student has handed in."""
    member = Member(id=student.id, name=student.name, ids=student.ids, group=student.group)
    last = last_of(several)
    if last is None:
        return member.changed(undecided=tuple(each.entry for each in several))
    is_dated = last.submitted or last.unread_time or last.is_late is not None
    dated = last if is_dated else student  # by the roster, where the download has no times
    is_group = bool(student.group) and last.people and plain(student.group) == plain(last.people[0].name)
    is_own = owners[last] == (student,) and len(last.people) == 1 and not is_group
    return member.changed(
        ids={**(last.people[0].ids if is_own else {}), **student.ids},  # a group's are not the student's
        key=keys[last],
        entry=last.entry,
        file=last.file or last.source.name,
        is_late=dated.is_late,
        submitted=dated.submitted,
        unread_time=dated.unread_time,
    )


class Member(Model):
    """A student."""

    id: Line  # by which the course knows the student; unique
    name: Line  # for people
    ids: Mapping[str, Line] = {}  # by kind, as in `handed_in.Person`, for the marks' way back
    group: Line = ""  # whose marks the student shares; "" = none
    key: Line = ""  # names the record of the submission that counts; "" = none counts
    entry: Line = ""  # that submission's name in the download
    file: Line = ""  # the name of one of its files there; by which platforms find the student of feedback
    is_late: bool | None = None  # by the platform; None where it does not say
    submitted: datetime | None = None  # None where the platform does not say, or it cannot be read
    unread_time: Line = ""  # why the time cannot be read; "" where it can, or the platform does not say
    undecided: tuple[Line, ...] = ()  # submissions, where it is not known which one counts

    @property
    def called(self) -> str:
        """For people: the name, with the id where it is another one."""
        return self.id if self.name in ("", self.id) else f"{self.name} ({self.id})"

    @property
    def names(self) -> tuple[str, ...]:
        """All that the student is called by."""
        return self.id, self.ids.get("email", ""), self.name, self.entry, name_of(Path(self.entry)), self.key

    @property
    def undecided_reason(self) -> str:
        """The reason why a person has to choose a submission, for one who has several."""
        return f"{UNDECIDED}: {', '.join(self.undecided)}"

    @property
    def is_missing(self) -> bool:
        """True if the student handed in nothing."""
        return not self.key and not self.undecided


class LeftOut(Model):
    """An entry of the download that is not graded, and why."""

    entry: Line
    reason: Line
    needs_decision: bool = False


class Roll(Model):
    """A class."""

    assignment: str  # the name of whose marks these are
    layout: str  # of the download, one of `download.PLATFORMS`
    folder: Line  # that holds the submissions
    has_roster: bool  # whether students come from a roster; without one nobody is known to be missing
    members: tuple[Member, ...]  # all students
    left_out: tuple[LeftOut, ...]  # entries that are not graded

    @property
    def missing(self) -> tuple[Member, ...]:
        """The students who handed in nothing."""
        return tuple(member for member in self.members if member.is_missing)

    @property
    def to_decide(self) -> tuple[tuple[str, str], ...]:
        """Students with several submissions, of which a person has to choose one, and entries of nobody; why."""
        students = ((member.name, member.undecided_reason) for member in self.members if member.undecided)
        return (*students, *((stray.entry, stray.reason) for stray in self.left_out if stray.needs_decision))

    def names(self) -> dict[str, str]:
        """The students' names, by the key of their submission; partners share one."""
        by_key: dict[str, list[str]] = {}
        times = Counter(member.name for member in self.members)
        for member in self.members:
            if member.key:
                name = member.name if times[member.name] == 1 else f"{member.name} ({member.id})"
                by_key.setdefault(member.key, []).append(name)
        return {key: ", ".join(names) for key, names in by_key.items()}


def write_roll(roll: Roll, output: Path) -> None:
    """Writes the roll beside the records. Raises: NotWrittenError where that fails."""
    write_json(output / ROLL, roll.model_dump(mode="json"))


def read_roll(output: Path, assignment: Assignment) -> Roll:
    """The roll beside the records. Raises: UserError where there is none, or one of another assignment."""
    try:
        roll = Roll.model_validate_json((output / ROLL).read_bytes())
    except OSError as error:
        expected = "expected the folder that `grade-class --output` has written"
        raise UserError(f"{output / ROLL}: {error.strerror}; {expected}") from None
    except ValidationError:
        raise UserError(f"{output / ROLL}: not as `grade-class` of this version writes it; name a new folder") from None
    if roll.assignment != assignment.name:
        marks = f"has the marks of {roll.assignment!r}, not of {assignment.name!r}"
        raise UserError(f"{printable(str(output))}: {marks}; name its --assignment, or another folder")
    return roll


def find_student(roll: Roll, text: str) -> Member:
    """The student whom some text names: by id, e-mail, name, or the entry that was handed in.

    Raises: UserError where nobody is called so, or more than one.
    """
    students = [member for member in roll.members if member.id == text]
    if not students and plain(text):  # accents and the order of code points do not count
        students = [member for member in roll.members if plain(text) in map(plain, member.names)]
    if len(students) == 1:
        return students[0]
    if students:
        ids = ", ".join(member.id for member in students[:5])
        raise UserError(f"{printable(text, 60)}: {len(students)} students are called so; name one by id: {ids}")
    near = [member.called for member in roll.members if text.casefold() in member.name.casefold().split()]
    hint = f"; did you mean {' or '.join(near[:3])}?" if near else ""
    raise UserError(f"{printable(text, 60)}: no student of the class is called so{hint}")
