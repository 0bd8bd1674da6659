"""`python -m autograder list-class`: who has handed in what, before anything is graded."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.assignment_tables import LatePolicy
from foundation.texts import counted, printable

from ..classroom.downloads import LAYOUTS
from ..classroom.entries import Entry, Roll, list_class
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
    assignment = read_assignment(options.assignment)
    roll, entries = list_class(options.folder, assignment, options.roster, options.layout)
    if options.json:
        print(json.dumps(roll.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        print("\n".join(as_text(roll, entries, assignment.late)))
    is_undated = assignment.late is not None and any(member.unread_time for member in roll.members)
    return int(is_undated or bool(roll.to_decide))


def as_text(roll: Roll, entries: Sequence[Entry], policy: LatePolicy | None) -> list[str]:
    """The list for people."""
    count = counted(len(entries), "submission")
    if roll.has_roster:
        count += f", from {sum(bool(m.key) for m in roll.members)} of {counted(len(roll.members), 'student')}"
    lines = [f"{roll.folder}: {LAYOUTS[roll.layout].title}", count, ""]
    width = max((len(printable(one.entry, 60)) for one in entries), default=0)
    lines += [f"  {printable(one.entry, 60):<{width}}  {details(one, policy)}".rstrip() for one in entries]
    sections = {
        "for you to decide": [f"{what}: {why}" for what, why in roll.to_decide],
        "nothing handed in": [member.called for member in roll.missing],
        "left out": [f"{one.entry}: {one.reason}" for one in roll.left_out if not one.needs_decision],
    }
    for heading, told in sections.items():
        if told:
            lines += ["", f"{heading}:", *(f"  {printable(one, 160)}" for one in told)]
    return lines


def details(entry: Entry, policy: LatePolicy | None) -> str:
    """Who, when, and what else a person should know about a submission; by the policy, how late it is."""
    texts, member = [", ".join(one.name for one in entry.members)], entry.members[0]
    texts += [f"{member.submitted:%Y-%m-%d %H:%M %Z}".strip()] if member.submitted else []
    texts += [f"the time cannot be read: {member.unread_time}"] if member.unread_time else []
    days = policy.days_late(member.submitted) if policy and member.submitted else None
    texts += [f"{counted(days, 'day')} late"] if days else ["late"] if member.is_late and days is None else []
    return "; ".join(printable(text, 120) for text in texts)
