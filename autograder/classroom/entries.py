"""From a platform's download to what is graded, one submission for each student, and the roll."""

import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationError

from foundation.assignment_file import Assignment
from foundation.command_line import UserError
from foundation.texts import printable

from ..grading.record import Model
from ..intake.submission import name_of
from ..platforms.download import PLATFORMS, read_download
from ..platforms.platform import UNDECIDED, HandedIn, Line, Stray, Student
from .roster import Index, hint_for, last_of, owners_of, plain, read_roster, turned

ROLL = "class.json"
DIGITS = 24  # of a name's hash; no two names share so many, not even by craft
SAFE = re.compile(rf"(?!.*-[0-9a-fA-F]{{{DIGITS}}}$)[\w@+-][\w.@+-]{{0,99}}", re.ASCII)
"""A name that may be a file's; none that looks like a derived one."""


def printable_student(student: Student) -> Student:
    """The student with printable ids, names and group; until then they are compared as they are written."""
    ids = {kind: printable(value) for kind, value in student.ids.items()}
    id_, name, group = map(printable, (student.id, student.name, student.group))
    return replace(student, id=id_, name=name, ids=ids, group=group)


class Roll(Model):
    """A class."""

    assignment: str  # the name of whose marks these are
    layout: str  # of the download, one of `download.PLATFORMS`
    folder: Line  # that holds the submissions
    has_roster: bool  # whether students come from a roster; without one nobody is known to be missing
    members: tuple[Annotated[Student, AfterValidator(printable_student)], ...]  # all students
    left_out: tuple[Stray, ...]  # entries that are not graded

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
                by_key.setdefault(member.key, []).append(member.name if times[member.name] == 1 else member.called)
        return {key: ", ".join(names) for key, names in by_key.items()}


def take_class(
    folder: Path,
    output: Path | None,
    assignment: Assignment,
    roster: Path | None = None,
    layout: str | None = None,
    deadline: datetime | None = None,
) -> tuple[Roll, list[HandedIn]]:
    """The roll of a class, and the submissions to be graded, in the order of the download.

    Without a roster, students are those whom the download names. Of clones, the last commit before a deadline counts.
    Raises: UserError where no submission counts, or the roster cannot be read; and where the records, if they go to an
    output folder, would lie among the submissions, or beside those of another assignment.
    """
    if output:
        _check_place(folder, output, assignment)
    download = read_download(folder, assignment, layout, deadline)
    students = read_roster(roster) if roster else ()
    claims = owners_of(download.submissions, students)
    owners = {submission: own for submission, (own, _) in claims.items()}
    if roster and not any(owners.values()) and (hint := hint_for(download.submissions, students)):
        layout = PLATFORMS[download.layout].title
        raise UserError(f"{roster}: no submission fits any of its students (layout: {layout}); {hint}")
    handed_in: dict[Student, list[HandedIn]] = {student: [] for student in students}
    for submission, own in owners.items():
        for student in own:
            handed_in.setdefault(student, []).append(submission)
    counting = {student: last_of(several) for student, several in handed_in.items()}
    keys = _keys([submission for submission in download.submissions if submission in counting.values()])
    if output and not keys:
        raise UserError(f"{folder}: no submission counts for any student; `list-class` has the reasons")
    left_out, others = list(download.strays), defaultdict[Student, list[str]](list)
    strays = [stray for stray in left_out if stray.people]
    for stray, (own, _) in zip(strays, Index(students).students_of([stray.people for stray in strays]), strict=True):
        for student in own:
            others[student].append(f"{stray.entry}: {stray.reason}")
    for submission, (own, why) in claims.items():
        if not own:
            left_out.append(Stray(submission.entry, why, needs_decision=True))
        elif submission not in keys:
            is_undecided = any(counting[student] is None for student in own)
            why = f"one of {UNDECIDED}" if is_undecided else "a later submission counts"
            left_out.append(Stray(submission.entry, why, needs_decision=is_undecided))
    roll = Roll(
        assignment=assignment.name,
        layout=download.layout,
        folder=str(download.folder),
        has_roster=bool(roster),
        members=tuple(
            replace(_with_submission(student, several, owners, keys), left_out="; ".join(others[student]))
            for student, several in handed_in.items()
        ),
        left_out=tuple(left_out),
    )
    return roll, [replace(submission, key=key) for submission, key in keys.items()]


def _check_place(folder: Path, output: Path, assignment: Assignment) -> None:
    above, below = (Path(os.path.realpath(path)) for path in (folder, output))
    if below.is_relative_to(above):  # an entry called `marks` could bring forged ones
        why = "lies in the folder of submissions, where one of them could bring forged records"
        raise UserError(f"--output {printable(str(output))}: {why}; name one beside it, such as --output ../marks")
    if (output / ROLL).exists():
        read_roll(output, assignment)


def _keys(submissions: Sequence[HandedIn]) -> dict[HandedIn, str]:
    """A file name for each record: the owner's if it is safe and like no other one, in any case; else a derived one."""
    times = Counter(each.owner for each in submissions)
    owners = {each: each.owner if times[each.owner] == 1 else f"{each.entry}/{each.owner}" for each in submissions}
    times = Counter(owner.casefold() for owner in owners.values())
    return {
        submission: owner if SAFE.fullmatch(owner) and times[owner.casefold()] == 1 else derived_name(owner)
        for submission, owner in owners.items()
    }


def derived_name(name: str) -> str:
    """A file name derived from any name."""
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:DIGITS]
    return f"{re.sub(r'[^A-Za-z0-9@+-]+', '_', name)[:60]}-{digest}"


def _with_submission(
    student: Student,
    several: Sequence[HandedIn],
    owners: Mapping[HandedIn, tuple[Student, ...]],
    keys: Mapping[HandedIn, str],
) -> Student:
    last = last_of(several)
    if last is None:
        return replace(student, undecided=tuple(each.entry for each in several))
    # by the roster, where the download has no times; there a partner may have none
    dates: list[HandedIn | Student] = [last, student, *owners[last]]
    dated = next((each for each in dates if each.submitted or each.unread_time or each.is_late is not None), last)
    is_group = bool(student.group) and last.people and plain(student.group) == plain(last.people[0].name)
    is_own = owners[last] == (student,) and len(last.people) == 1 and not is_group
    return replace(
        student,
        ids={**(last.people[0].ids if is_own else {}), **student.ids},  # a group's are not the student's
        key=keys[last],
        entry=last.entry,
        file=last.file,
        is_late=dated.is_late,
        submitted=dated.submitted,
        unread_time=dated.unread_time,
    )


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


def find_students(roll: Roll, text: str) -> tuple[Student, ...]:
    """The student whom an id or a name means, or all partners of a group or an entry. Raises: UserError for others."""
    students = [student for student in roll.members if student.id == text]
    if not students and plain(text):  # accents and the order of code points do not count
        for student in roll.members:
            handed_in = student.entry, name_of(Path(student.entry)), student.key
            names = *student.ids.values(), *turned(student.name), student.group, student.id, *handed_in
            students += [student] * (plain(text) in map(plain, names))
    if not students:
        expected = "expected an id, an e-mail address, a name, a group or an entry, as `list-class` shows them"
        raise UserError(f"{printable(text, 60)}: no student of the class is called so; {expected}")
    if len({student.key or student.id for student in students}) > 1:
        ids = ", ".join(student.id for student in students[:5])
        raise UserError(f"{printable(text, 60)}: {len(students)} students are called so; name one by id: {ids}")
    return tuple(students)
