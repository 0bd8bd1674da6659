"""`python -m autograder grade-class`: a class."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from foundation.assignment_file import Assignment, read_assignment
from foundation.child_processes import usable_cores
from foundation.places import ROOT
from foundation.texts import first_of, printable
from foundation.whole_files import check_folder

from ..classroom.decisions import Decisions, decisions_in
from ..classroom.entries import Entry, Roll, take_class, write_roll
from ..classroom.grading import grade_class
from ..classroom.marks import Result, results_of
from ..classroom.records import RECORDS, WAITING, Results, hold
from ..classroom.regrading import Conditions
from ..diagnosis.catalogue import faults_of
from ..grading.seeds import seeds_of_term
from ..intake import IntakeError, take_in
from ..reports.class_summary import as_class_table, as_regrade_table, write_regrade, write_summary
from ..reports.gradebook import STUDENT, Gradebook
from ..reports.pages import write_pages
from .arguments import CLASS, FOLDER, GRADING, MOST_NAMES, Commands, add_parser, check_references, version_of


def add_commands(commands: Commands) -> None:
    """The command and its flags."""
    parser = add_parser(
        commands,
        "grade-class",
        run,
        "grade a class",
        "Grade a platform's download, as `list-class` reads it: for each student, the submission that "
        "counts. Writes class.html, students/NAME.html and records/NAME.json for each, summary.csv, summary.json, "
        "and class.json with the students. Stopped and started again, it resumes where it stopped; it "
        "regrades what has changed: a submission, the assignment, the grader. If that would change the mark of the "
        "same files, it shows whose mark, by how much and because of which test, and keeps the earlier mark until you "
        "add --keep. After a change of points or thresholds nothing is run. The exit status is 1 if the grader failed, "
        "marks wait for --keep, or a person has to decide who handed in a submission.",
        "submissions --roster roster.csv --output marks",
        (*GRADING, *CLASS, "output", "jobs", "to-nbgrader"),
    )
    parser.add_argument("folder", type=Path, help=FOLDER)
    parser.add_argument("--keep", action="store_true", help="let marks that a regrade changes count")
    parser.add_argument("--again", action="store_true", help="grade everything again; changes wait for --keep")


def run(options: argparse.Namespace) -> int:
    """Grades all submissions of a class; the exit status."""
    check_folder(options.output)
    check_references(options.references)
    assignment = read_assignment(options.assignment)
    roll, entries = take_class(options.folder, options.output, assignment, options.roster, options.layout)
    book = None if options.to_nbgrader is None else Gradebook(options.to_nbgrader, assignment)
    in_book = ids_in_nbgrader(roll) if book else {}
    conditions = Conditions(
        assignment,
        options.release,
        options.references,
        version_of(options, assignment),
        seeds_of_term(ROOT, options.seed),
        level=options.level,
        n_children=options.jobs or usable_cores(),
        show_progress=sys.stderr.isatty(),
    )
    with hold(options.output, RECORDS, WAITING):
        if book:
            book.reset(in_book.values())  # so that the marks of an earlier run no longer count
        stored = Results(options.output, conditions.seeds)
        held = grade_class(entries, conditions, stored, options.again, options.keep)
        records = stored.records(entry.key for entry in entries)
        decisions = decisions_in(options.output)
    note_strangers(decisions, roll)
    results = results_of(roll, records, decisions, assignment.late)
    write_roll(roll, options.output)
    write_summary(roll, results, options.output)
    names = roll.names()
    write_regrade(held, names, options.output)
    write_pages(roll, results, assignment, {fault.id: fault for fault in faults_of(assignment)}, options.output)
    if book:
        write_marks(book, in_book, entries, results, options.release, assignment)
    print(as_class_table(roll, results))
    print(f"\nlook at it in a browser: {options.output / 'class.html'}")
    print(f"records, pages of students, summary.csv, summary.json: {options.output}")
    if held:
        print(f"\n{as_regrade_table(held, names)}")
    waits = any(not one.is_kept for one in held)
    return int(waits or bool(roll.to_decide) or any(one.mark.needs_review for one in results if one.mark))


def note_strangers(decisions: Mapping[str, Decisions], roll: Roll) -> None:
    """Says for whom there are decisions by hand who is not in the class, so that they concern no mark."""
    strangers = sorted(decisions.keys() - {member.id for member in roll.members})
    if strangers:
        shown = first_of([printable(key, 40) for key in strangers], MOST_NAMES)
        print(f"note: decisions by hand for students who are not in this class: {shown}", file=sys.stderr)


def ids_in_nbgrader(roll: Roll) -> dict[str, str]:
    """The students' ids in nbgrader, by the id here; says who can have none."""
    ids = {member.id: member.ids.get("login", member.id) for member in roll.members if member.key}
    for one in (one for one in ids.values() if not STUDENT.fullmatch(one)):
        print(f"note: not in the gradebook: {printable(one, 60)} is no student's id in nbgrader", file=sys.stderr)
    return {student: one for student, one in ids.items() if STUDENT.fullmatch(one)}


def write_marks(
    book: Gradebook,
    in_book: Mapping[str, str],
    entries: Sequence[Entry],
    results: Sequence[Result],
    release: Path,
    assignment: Assignment,
) -> None:
    """Writes marks and feedback into the gradebook; what lateness costs is for nbgrader to say."""
    sources = {entry.key: entry.source for entry in entries}
    for result in results:
        if result.member.id in in_book and result.record and result.mark:
            try:
                intake = take_in(sources[result.member.key], release, assignment)
            except IntakeError:
                intake = None
            scores = {one.part.number: one.score for one in result.mark.parts}
            book.write(in_book[result.member.id], result.record, intake, scores)
