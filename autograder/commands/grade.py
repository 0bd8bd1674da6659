"""`python -m autograder grade`: one submission."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import ROOT
from foundation.whole_files import is_stream

from ..grading.launcher import open_grader
from ..grading.record import Record, write_json, write_record
from ..grading.recording import Recorder
from ..grading.seeds import seeds_of_term
from ..grading.submission import events_of, refusal
from ..intake import Intake, IntakeRefusedError, name_of, take_in
from ..reports.gradebook import Gradebook
from ..reports.gradescope import as_results
from ..reports.terminal import as_table
from .arguments import (
    Commands,
    add_gradebook,
    check_files,
    check_references,
    shared_arguments,
    status_of,
    version_of,
)


def add_command(commands: Commands) -> None:
    """The command and its flags."""
    parser = commands.add_parser(
        "grade",
        parents=[shared_arguments()],
        help="grade one submission",
        description="Grade one submission: component tests in a sandbox, and BLEU of its translations.txt.",
        epilog="example: python -m autograder grade submissions/anna --results results/anna.json",
    )
    parser.set_defaults(run=run)
    parser.add_argument("submission", type=Path, help="folder, .zip, .tar.gz or notebook")
    results = "in Gradescope's form; default: results.json"
    parser.add_argument("--results", type=Path, default=Path("results.json"), help=results)
    parser.add_argument("--no-training", action="store_true", help="leave out the short training run of the whole")
    parser.add_argument("--record", type=Path, help="write the full record too; `record-schema` prints its form")
    add_gradebook(parser)
    parser.add_argument("--student", help="with --to-nbgrader: nbgrader's id of the student")


def run(options: argparse.Namespace) -> int:
    """Grades one submission; the exit status."""
    if options.student is not None and options.to_nbgrader is None:
        raise UserError("--student is whose marks nbgrader gets: add --to-nbgrader, or leave it out")
    check_files([options.results, options.record])
    check_references(options.references)
    assignment = read_assignment(options.assignment)
    version = version_of(options, assignment)
    book = None
    if options.to_nbgrader is not None:
        if options.student is None:
            raise UserError("--to-nbgrader also needs --student ID: nbgrader's id of the student")
        book = Gradebook.open(options.to_nbgrader, options.student, assignment)
        if options.submission.exists():  # a mistyped path costs nobody's marks
            book.reset()

    def store(record: Record) -> None:
        if options.record and not is_stream(options.record):
            write_record(options.record, seeds.seal(record))
        if not is_stream(options.results):
            write_json(options.results, as_results(record))

    seeds = seeds_of_term(ROOT, options.seed)
    recorder = Recorder(name_of(options.submission), assignment, version)
    intake: Intake | None = None
    try:
        intake = take_in(options.submission, options.release, assignment)
    except IntakeRefusedError as error:
        record = recorder.add_all(refusal(error), store)
    else:
        with open_grader(assignment, options.references, options.level) as grader:
            flags = {"tries_training": not options.no_training, "show_progress": sys.stderr.isatty()}
            record = recorder.add_all(events_of(intake, seeds, grader, **flags), store)
    if book:
        book.write(record)
        book.write_feedback(record, intake)
    if options.record and is_stream(options.record):  # a pipe gets one result, not one after each part
        write_record(options.record, seeds.seal(record))
    if is_stream(options.results):  # last, for its reader may have gone
        write_json(options.results, as_results(record))
    if options.json:
        print(json.dumps(as_results(record), indent=2, ensure_ascii=False))
    else:
        print(as_table(record))
        print(f"results: {options.results}")
    return status_of([record])
