"""`python -m autograder grade-class`: a folder of submissions."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from foundation.assignment_file import Assignment, read_assignment
from foundation.places import ROOT
from foundation.whole_files import check_folder

from ..classroom.errors import ClassError
from ..classroom.folder import entries_of
from ..classroom.grading import grade_class
from ..classroom.staleness import Conditions
from ..diagnosis.catalogue import faults_of
from ..grading.record import read_record
from ..grading.seeds import seeds_of_term
from ..intake import Intake, IntakeError, name_of, take_in
from ..reports.class_summary import as_class_table, rows_of, write_summary
from ..reports.gradebook import Gradebook
from ..reports.pages import Graded, write_pages
from .arguments import Commands, add_gradebook, check_references, shared_arguments, status_of, version_of


def add_command(commands: Commands) -> None:
    """The command and its flags."""
    parser = commands.add_parser(
        "grade-class",
        parents=[shared_arguments()],
        help="grade a folder of submissions",
        description="Grade every entry of a folder: one folder, .zip, .tar.gz or notebook per submission. Writes "
        "class.html, students/NAME.html and records/NAME.json for each, summary.csv, summary.json and histogram.png. "
        "Stopped and started again, it resumes where it stopped; it regrades what has changed: a submission, the "
        "assignment, the grader.",
        epilog="example: python -m autograder grade-class submissions --output marks",
    )
    parser.set_defaults(run=run)
    parser.add_argument("folder", type=Path, help="one entry per submission")
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
    entries = entries_of(options.folder, options.output, assignment)
    books: dict[str, Gradebook] = {}
    if options.to_nbgrader:
        names = {entry.path.name: name_of(entry.path) for entry in entries}
        books = Gradebook.open_all(
            options.to_nbgrader, names, assignment, lambda line: print(f"note: {line}", file=sys.stderr)
        )
        for book in books.values():
            book.reset()
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
    found = {entry.path.name: read_record(entry.record) for entry in entries}
    records = {name: record for name, record in found.items() if record is not None}
    for entry in entries:
        name = entry.path.name
        if name in books and name in records:
            books[name].write(records[name])
            books[name].write_feedback(records[name], take_in_again(entry.path, options, assignment))
    write_summary(records, options.output)
    graded = [
        Graded(entry.record.stem, name_of(entry.path), records[entry.path.name])
        for entry in entries
        if entry.path.name in records
    ]
    write_pages(graded, assignment, {fault.id: fault for fault in faults_of(assignment)}, options.output)
    if options.json:
        print(json.dumps(rows_of(records), indent=2, ensure_ascii=False))
    else:
        print(as_class_table(records))
        print(f"\nlook at it in a browser: {options.output / 'class.html'}")
        print(f"records, pages of students, summary.csv, summary.json, histogram.png: {options.output}")
    return status_of(records.values())


def take_in_again(path: Path, options: argparse.Namespace, assignment: Assignment) -> Intake | None:
    """The sources of a submission that has been graded; None where it was refused."""
    try:
        return take_in(path, options.release, assignment)
    except IntakeError:
        return None
