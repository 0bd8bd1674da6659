"""`python -m autograder grade`: one submission, perhaps one whose mark is disputed."""

from __future__ import annotations

import argparse
from pathlib import Path

from foundation.command_line import UserError
from foundation.whole_files import check_file

from ..classroom.grading import change_of
from ..classroom.marks import mark_of
from ..grading.record import Record, read_record, write_json, write_record
from ..grading.submission import grade_alone
from ..reports.gradescope import as_results
from ..reports.terminal import as_table
from .arguments import GRADING, Commands, add_command, conditions_of, print_sandbox_gaps


def add_commands(commands: Commands) -> None:
    """The command and its flags."""
    parser = add_command(commands, "grade", grade, "submissions/anna --results results/anna.json", GRADING)
    parser.add_argument("submission", type=Path, help="folder, .zip or notebook")
    results = "results in Gradescope's format; default: results.json"
    parser.add_argument("--results", type=Path, default=Path("results.json"), help=results)
    parser.add_argument("--record", type=Path, help="write the full record too")
    against = "compare the marks with those of an earlier record of these files, such as marks/records/anna.json"
    parser.add_argument("--against", type=Path, metavar="RECORD", help=against)


def grade(options: argparse.Namespace) -> int:
    """Grade one submission.

    Run its component tests in a sandbox, and score its translations.txt by BLEU. With --against, a disputed mark is
    compared; the exit status is 1 if it differs.
    """
    for path in filter(None, (options.results, options.record)):
        check_file(path)
    conditions = conditions_of(options)
    old = read_record(options.against) if options.against else None
    if options.against and not options.against.is_file():
        raise UserError(f"{options.against}: no such file; expected a record that `grade-class` has written")
    if options.against and old is None:
        raise UserError(f"{options.against}: not a record; expected a file that `grade-class` has written")

    def store(record: Record) -> None:
        """Writes the results so far."""
        if options.record:
            write_record(options.record, conditions.seeds.seal(record))
        write_json(options.results, as_results(record))

    record = grade_alone(options.submission, conditions, store)
    print_sandbox_gaps(conditions.assignment)
    print(as_table(record))
    print(f"results: {options.results}")
    has_gaps = any(part.score is None for part in record.judgement.parts)
    if old is None:
        return int(has_gaps)
    before, after = (
        (each.content_hash, each.seed_id, each.grader_version) for each in (old.judgement, record.judgement)
    )
    kinds = ("files", "inputs (name its --seed)", "versions of the grader")
    for kind, was, is_now in zip(kinds, before, after, strict=True):
        if was != is_now:
            print(f"note: {options.against} is about other {kind}")
    if not conditions.seeds.has_sealed(old):
        print(f"note: {options.against} is not as this term's grader wrote it: its seal does not fit")
    change = change_of(mark_of(old.judgement), mark_of(record.judgement))
    print("\n".join(change.parts if change else [f"the marks are those of {options.against}"]))
    return int(has_gaps or bool(change))
