"""`python -m autograder grade` and `replay`: one submission, and a disputed mark with the inputs that it came from."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from foundation.command_line import UserError
from foundation.whole_files import check_file

from ..classroom.grading import change_of
from ..classroom.marks import mark_of
from ..grading.record import Record, content_hash, new_record, read_record, write_json, write_record
from ..grading.submission import grade_alone, grade_submission, open_grader
from ..intake.submission import take_in
from ..reports.gradescope import as_results
from ..reports.terminal import as_table
from .arguments import GRADING, Commands, add_command, conditions_of, print_sandbox_gaps


def add_commands(commands: Commands) -> None:
    """The commands and their flags."""
    parser = add_command(commands, "grade", grade, "submissions/anna --results results/anna.json", GRADING)
    parser.add_argument("submission", type=Path, help="folder, .zip or notebook")
    results = "results in Gradescope's format; default: results.json"
    parser.add_argument("--results", type=Path, default=Path("results.json"), help=results)
    parser.add_argument("--record", type=Path, help="write the full record too")
    parser = add_command(commands, "replay", replay, "marks/records/anna.json submissions/anna", GRADING)
    parser.add_argument("record", type=Path, help="as `grade --record` and `grade-class` write it")
    parser.add_argument("submission", type=Path, help="the submission that was graded")


def grade(options: argparse.Namespace) -> int:
    """Grade one submission.

    Run its component tests in a sandbox, and score its translations.txt by BLEU.
    """
    for path in filter(None, (options.results, options.record)):
        check_file(path)
    conditions = conditions_of(options)

    def store(record: Record) -> None:
        """Writes the results so far."""
        if options.record:
            write_record(options.record, conditions.seeds.seal(record))
        write_json(options.results, as_results(record))

    record = grade_alone(options.submission, conditions, store)
    print_sandbox_gaps(conditions.assignment)
    print(as_table(record))
    print(f"results: {options.results}")
    return int(any(part.score is None for part in record.judgement.parts))


def replay(options: argparse.Namespace) -> int:
    """Grade a submission again with the seed of its record.

    Compare the marks with those of the record. The exit status is 1 if they differ.
    """
    conditions = conditions_of(options)
    assignment, seeds, version = conditions.assignment, conditions.seeds, conditions.grader_version
    if not options.record.exists():
        raise UserError(f"{options.record}: No such file or directory; expected a record")
    old = read_record(options.record)
    if old is None:
        raise UserError(f"{options.record}: not a record; expected a file that `grade --record` has written")
    intake = take_in(options.submission, options.release, assignment)
    content = content_hash(intake.hashes)
    if content != old.judgement.content_hash:
        raise UserError(f"{options.submission}: not the files that {options.record} is about")
    if seeds.id_of_tests != old.judgement.seed_id:
        why = "was graded with another term's secret, or with --seed" if options.seed is None else "had another seed"
        raise UserError(f"{options.record}: {why}; name its seed with --seed N")
    if not seeds.has_sealed(old):
        print(f"note: {options.record}: not as this term's grader wrote it: its seal does not fit", file=sys.stderr)
    if version != old.judgement.grader_version:
        print(f"note: graded by version {old.judgement.grader_version}, replayed by {version}", file=sys.stderr)
    new = new_record(old.submission, assignment, version)
    with open_grader(assignment, options.references, options.level) as grader:
        *_, new = grade_submission(intake, new, seeds, grader, show_progress=sys.stderr.isatty())
    change = change_of(mark_of(old.judgement), mark_of(new.judgement))
    print(as_table(new))
    print("\n".join(["", *(change.parts if change else [f"the marks are those of {options.record}"])]))
    return int(bool(change))
