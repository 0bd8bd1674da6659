"""`python -m autograder export-marks`: the marks of a class for a learning platform."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import ROOT
from foundation.texts import first_of, printable
from foundation.whole_files import check_folder

from ..classroom.decisions import decisions_in
from ..classroom.downloads import read_points, read_roster
from ..classroom.entries import read_roll
from ..classroom.marks import results_of
from ..classroom.records import Results
from ..grading.seeds import seeds_of_term
from ..reports.exports import PLATFORMS, About, export, marks_of
from .arguments import MOST_NAMES, Commands, add_parser

WITHOUT_ID = "no student in the roster, or more than one, has these ids or names, so enter these marks by hand"


def add_commands(commands: Commands) -> None:
    """The command and its flags."""
    parser = add_parser(
        commands,
        "export-marks",
        run,
        "write marks in a form that a learning platform imports",
        "Write the marks of a class as a table that a platform imports, and each student's page into an "
        "archive that Canvas and Moodle take as feedback. Nothing is graded: the results of `grade-class` count, with "
        "points by hand and late days. Students without a score get none there. The exit status is 1 if the platform "
        "could not find a student, or the assignment's column is not known.",
        "marks --for canvas --roster gradebook.csv",
        ("assignment",),
    )
    parser.add_argument("marks", type=Path, help="the folder that `grade-class --output` has written")
    parser.add_argument("--for", dest="platforms", nargs="+", required=True, choices=PLATFORMS, help="one or more")
    roster = "the platform's export of students, for their ids there: Canvas's gradebook, Moodle's grading worksheet"
    parser.add_argument("--roster", type=Path, metavar="CSV", help=roster)
    column = "Canvas's heading of the assignment (default: that of the roster, or else the title)"
    parser.add_argument("--column", default="", metavar="NAME", help=column)
    parser.add_argument("--output", type=Path, help="default: the folder export/ in MARKS")


def run(options: argparse.Namespace) -> int:
    """Exports marks; the exit status."""
    if options.column and "canvas" not in options.platforms:
        raise UserError("--column is Canvas's heading: add canvas to --for, or leave it out")
    output = options.output or options.marks / "export"
    check_folder(output)
    assignment = read_assignment(options.assignment)
    roll = read_roll(options.marks, assignment)
    records = Results(options.marks, seeds_of_term(ROOT)).records(roll.names())
    decisions = decisions_in(options.marks)
    if not records:
        raise UserError(f"{options.marks}: no records of this term's grader in it; run `grade-class` first")
    judgement = next(iter(records.values())).judgement
    results = results_of(roll, records, decisions, assignment.late)
    marks = marks_of(results, read_roster(options.roster) if options.roster else ())
    points = read_points(options.roster) if options.roster else {}
    about = About(judgement.assignment, judgement.max_score, options.column, points)
    exports = {name: export(name, marks, about, options.marks, output) for name in dict.fromkeys(options.platforms)}
    without = [result for result in results if result.score is None]
    for name, one in exports.items():
        print(f"{name}: {one.marks}, {one.feedback}")
    if without:
        tell("no score", [f"{result.member.name} ({result.status.value})" for result in without])
    for name, one in exports.items():
        for text in filter(None, (one.table.doubt, one.table.note)):
            print(f"note: {name}: {text}", file=sys.stderr)
        if one.table.unknown:
            what = "name its list of students with --roster" if not options.roster else WITHOUT_ID
            tell(f"not known to {name}; {what}", one.table.unknown)
        if one.without_feedback:
            tell(f"no feedback file for {name}, which knows only its own download", one.without_feedback)
    return int(any(one.table.unknown or one.table.doubt for one in exports.values()))


def tell(what: str, names: Sequence[str]) -> None:
    """Prints a note about some students."""
    print(f"note: {what}: {first_of([printable(name, 60) for name in names], MOST_NAMES)}", file=sys.stderr)
