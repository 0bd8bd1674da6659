"""`python -m autograder grade-class`: a class."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from foundation.assignment_file import Assignment, read_assignment
from foundation.places import ROOT
from foundation.whole_files import check_folder

from ..classroom.entries import Entry, take_class
from ..classroom.errors import ClassError
from ..classroom.grading import grade_class
from ..classroom.results import results_of
from ..classroom.roll import Roll, write_roll
from ..classroom.staleness import Conditions
from ..diagnosis.catalogue import faults_of
from ..grading.record import Record, read_record
from ..grading.seeds import seeds_of_term
from ..intake import Intake, IntakeError, take_in
from ..reports.class_summary import as_class_table, rows_of, write_summary
from ..reports.gradebook import Gradebook
from ..reports.pages import write_pages
from .arguments import Commands, add_class, add_gradebook, check_references, shared_arguments, status_of, version_of


def add_command(commands: Commands) -> None:
    """The command and its flags."""
    parser = commands.add_parser(
        "grade-class",
        parents=[shared_arguments()],
        help="grade a class",
        description="Grade a platform's download, as `list-class` reads it: of each student the submission that "
        "counts. Writes class.html, students/NAME.html and records/NAME.json for each, summary.csv, summary.json, "
        "histogram.png, and class.json with the students. Stopped and started again, it resumes where it stopped; it "
        "regrades what has changed: a submission, the assignment, the grader. The exit status is 1 if the grader "
        "failed, or a person has to decide whose a submission is.",
        epilog="example: python -m autograder grade-class submissions --roster roster.csv --output marks",
    )
    parser.set_defaults(run=run)
    add_class(parser)
    parser.add_argument("--output", type=Path, default=Path("marks"), help="default: marks")
    parser.add_argument("--again", action="store_true", help="grade everything again")
    jobs = "how many submissions to grade at a time; default: one per core"
    parser.add_argument("--jobs", type=int, default=usable_cores(), help=jobs)
    add_gradebook(parser)


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(options: argparse.Namespace) -> int:
    """Grades all submissions of a class; the exit status."""
    check_folder(options.output)
    check_references(options.references)
    if options.jobs < 1:
        raise ClassError(f"--jobs {options.jobs}: expected at least 1")
    assignment = read_assignment(options.assignment)
    roll, entries = take_class(options.folder, options.output, assignment, options.roster, options.layout)
    books = open_books(options.to_nbgrader, roll, assignment) if options.to_nbgrader else {}
    conditions = Conditions(
        assignment,
        options.release,
        options.references,
        version_of(options, assignment),
        seeds_of_term(ROOT, options.seed),
        level=options.level,
        n_children=options.jobs,
        show_progress=sys.stderr.isatty(),
    )
    grade_class(entries, conditions, options.again)
    found = {entry.key: read_record(entry.record) for entry in entries}
    records = {key: record for key, record in found.items() if record is not None}
    write_books(books, entries, records, options.release, assignment)
    write_roll(roll, options.output)
    write_summary(roll, records, options.output)
    write_pages(roll, records, assignment, {fault.id: fault for fault in faults_of(assignment)}, options.output)
    if options.json:
        print(json.dumps(rows_of(results_of(roll, records)), indent=2, ensure_ascii=False))
    else:
        print(as_class_table(roll, records))
        print(f"\nlook at it in a browser: {options.output / 'class.html'}")
        print(f"records, pages of students, summary.csv, summary.json, histogram.png: {options.output}")
    return max(status_of(records.values()), int(roll.needs_decision))


def open_books(course: str, roll: Roll, assignment: Assignment) -> dict[str, list[Gradebook]]:
    """The gradebooks of the students with a submission, by its key; marks of an earlier run no longer count."""
    students = {member.id: member.ids.get("login", member.id) for member in roll.members if member.key}
    found = Gradebook.open_all(course, students, assignment, lambda line: print(f"note: {line}", file=sys.stderr))
    books: dict[str, list[Gradebook]] = {}
    for member in roll.members:
        if member.id in found:
            found[member.id].reset()
            books.setdefault(member.key, []).append(found[member.id])
    return books


def write_books(
    books: dict[str, list[Gradebook]],
    entries: Sequence[Entry],
    records: dict[str, Record],
    release: Path,
    assignment: Assignment,
) -> None:
    """Writes marks and feedback into the gradebook; partners get the same."""
    for entry in entries:
        if entry.key in books and entry.key in records:
            intake = take_in_again(entry, release, assignment)
            for book in books[entry.key]:
                book.write(records[entry.key])
                book.write_feedback(records[entry.key], intake)


def take_in_again(entry: Entry, release: Path, assignment: Assignment) -> Intake | None:
    """The sources of a submission that has been graded; None where it was refused."""
    try:
        return take_in(entry.source, release, assignment)
    except IntakeError:
        return None
