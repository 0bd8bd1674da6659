"""`python -m autograder list-class`: who has handed in what, before anything is graded."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.assignment_tables import LatePolicy
from foundation.texts import counted, printable

from ..classroom.downloads import (
    LAYOUTS,
    Download,
    HandedIn,
    Matched,
    Student,
    match,
    names_another,
    read_download,
    read_roster,
)
from .arguments import CLASS, FOLDER, Commands, add_parser


def add_commands(commands: Commands) -> None:
    """The command and its flags."""
    parser = add_parser(
        commands,
        "list-class",
        run,
        "list the submissions in a platform's download",
        "List the submissions in a download of Canvas, Moodle, Gradescope, nbgrader or GitHub Classroom, "
        "or in a folder with one entry per submission: who handed in what, what came late, who is missing, and which "
        "entries are not submissions. Nothing is graded. The exit status is 1 if a person has to decide something.",
        "submissions --roster roster.csv",
        (*CLASS, "json", "assignment"),
    )
    parser.add_argument("folder", type=Path, help=FOLDER)


def run(options: argparse.Namespace) -> int:
    """Lists a class; the exit status."""
    roster = read_roster(options.roster) if options.roster else ()
    assignment = read_assignment(options.assignment)
    download = read_download(options.folder, assignment, options.layout)
    matched = match(download, roster)
    if options.json:
        print(json.dumps(as_json(download, matched, bool(roster)), indent=2, ensure_ascii=False))
    else:
        print("\n".join(as_text(download, matched, len(roster), assignment.late)))
    is_undated = assignment.late is not None and any(dated(one, matched).unread_time for one in download.submissions)
    return int(is_undated or (bool(roster) and bool(matched.unmatched or matched.undecided)))


def as_text(download: Download, matched: Matched, n_students: int, policy: LatePolicy | None = None) -> list[str]:
    """The list for people."""
    submissions = download.submissions
    lines = [f"{download.folder}: {LAYOUTS[download.layout].title}", counted(len(submissions), "submission")]
    if n_students:
        lines[-1] += f", from {len(matched.counting)} of {counted(n_students, 'student')}"
    width = max(len(printable(one.entry, 60)) for one in submissions)
    told = ((printable(one.entry, 60), details(one, matched, policy)) for one in submissions)
    lines += ["", *(f"  {entry:<{width}}  {what}".rstrip() for entry, what in told)]
    undecided = [f"{s.name}: {listed(one.entry for one in several)}" for s, several in matched.undecided.items()]
    unmatched = []
    for one in matched.unmatched:
        fitting = [f"{student.name} ({student.id})" for student in matched.namesakes.get(one, ())[:5]]
        unmatched.append(f"{one.entry}: {' or '.join(fitting)}?" if fitting else one.entry)
    sections = {
        "more than one submission, and nothing tells which one counts": undecided,
        "no student in the roster, or more than one": unmatched if n_students else [],
        "nothing handed in": [described(student, matched) for student in matched.missing],
        "not submissions": [f"{stray.entry}: {stray.reason}" for stray in download.strays],
    }
    for heading, entries in sections.items():
        if entries:
            lines += ["", f"{heading}:", *(f"  {printable(entry, 160)}" for entry in entries)]
    return lines


def details(one: HandedIn, matched: Matched, policy: LatePolicy | None) -> str:
    """Who, when, and what else a person should know about a submission; by the policy, how late it is."""
    students = matched.students[one]
    texts = [listed(student.name for student in students) or listed(person.name for person in one.people)]
    if other := names_another(one, students):
        texts.append(f"named {other} there; if that is a group, the roster needs a column `group`")
    when = dated(one, matched)
    texts += [f"{when.submitted:%Y-%m-%d %H:%M %Z}".strip()] if when.submitted else []
    texts += [f"the time cannot be read: {when.unread_time}"] if when.unread_time else []
    days = policy.days_late(when.submitted) if policy and when.submitted else None
    texts += [f"{counted(days, 'day')} late"] if days else ["late"] if when.is_late and days is None else []
    if students and all(matched.counting.get(student) not in (one, None) for student in students):
        texts.append("a later one counts")
    return "; ".join(printable(text, 120) for text in (*texts, *one.notes) if text)


def dated(one: HandedIn, matched: Matched) -> HandedIn:
    """A submission with its time, which on Moodle the worksheet tells."""
    return one.dated_by(matched.students[one][0]) if matched.students[one] else one


def described(student: Student, matched: Matched) -> str:
    """A student without a submission, and which entries may be the student's."""
    name = student.name if student.id == student.name else f"{student.name} ({student.id})"
    perhaps = listed(matched.perhaps.get(student, ()))
    return f"{name}, but see {perhaps}" if perhaps else name


def listed(names: Iterable[str]) -> str:
    """Names in a line."""
    return ", ".join(name for name in names if name)


def as_json(download: Download, matched: Matched, has_roster: bool) -> dict[str, object]:
    """The list for programs."""
    return {
        "layout": download.layout,
        "folder": str(download.folder),
        "submissions": [
            {
                "entry": one.entry,
                "people": [{"name": person.name, **person.ids} for person in one.people],
                "students": [student.id for student in matched.students[one]],
                "late": when.is_late,
                "submitted": when.submitted.isoformat() if when.submitted else None,
                "unread_time": when.unread_time,
                "notes": list(one.notes),
            }
            for one in download.submissions
            for when in [dated(one, matched)]
        ],
        "unmatched": [one.entry for one in matched.unmatched] if has_roster else [],
        "namesakes": {one.entry: [student.id for student in students] for one, students in matched.namesakes.items()},
        "undecided": {student.id: [one.entry for one in several] for student, several in matched.undecided.items()},
        "missing": [student.id for student in matched.missing],
        "perhaps": {student.id: list(entries) for student, entries in matched.perhaps.items()},
        "strays": [{"entry": stray.entry, "reason": stray.reason} for stray in download.strays],
    }
