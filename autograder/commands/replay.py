"""`python -m autograder replay`: a disputed mark, graded again with the inputs that it came from."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.counting import first_of
from foundation.places import ROOT
from foundation.printable_text import printable

from ..grading.launcher import open_grader
from ..grading.record import Record, read_record
from ..grading.recording import Recorder
from ..grading.seeds import content_hash, seeds_of_term
from ..grading.submission import events_of
from ..intake import take_in
from ..reports.gradescope import as_results
from ..reports.terminal import as_table
from .arguments import Commands, check_references, shared_arguments, version_of

MOST_NAMES = 5


def add_command(commands: Commands) -> None:
    """The command and its flags."""
    parser = commands.add_parser(
        "replay",
        parents=[shared_arguments()],
        help="grade a submission again with the seed of its record",
        description="Grade a submission again with the seed of its record, and compare the marks. The exit status is 1 "
        "if they differ.",
        epilog="example: python -m autograder replay marks/records/anna.json submissions/anna",
    )
    parser.set_defaults(run=run)
    parser.add_argument("record", type=Path, help="as `grade --record` and `grade-class` write it")
    parser.add_argument("submission", type=Path, help="what was graded")


def run(options: argparse.Namespace) -> int:
    """Grades again and compares; the exit status."""
    check_references(options.references)
    assignment = read_assignment(options.assignment)
    if not options.record.exists():
        raise UserError(f"{options.record}: No such file or directory; expected a record")
    old = read_record(options.record)
    if old is None:
        raise UserError(f"{options.record}: not a record; expected a file that `grade --record` has written")
    intake = take_in(options.submission, options.release, assignment)
    content = content_hash(intake.hashes)
    if content != old.judgement.content_hash:
        which = changes(old, intake.hashes)
        raise UserError(f"{options.submission}: not the files that {options.record} is about: {which}")
    seeds = seeds_of_term(ROOT, options.seed)
    if seeds.id_of(content) != old.judgement.seed_id:
        why = "was graded with another term's secret, or with --seed" if options.seed is None else "had another seed"
        raise UserError(f"{options.record}: {why}; name its seed with --seed N")
    if not seeds.has_sealed(old):
        print(f"note: {options.record}: not as this term's grader wrote it: its seal does not fit", file=sys.stderr)
    version = version_of(options, assignment)
    if version != old.judgement.grader_version:
        print(f"note: graded by version {old.judgement.grader_version}, replayed by {version}", file=sys.stderr)
    recorder = Recorder(old.submission, assignment, version)
    with open_grader(assignment, options.references, options.level) as grader:
        new = recorder.add_all(events_of(intake, seeds, grader, show_progress=sys.stderr.isatty()))
    found = differences(old, new)
    if options.json:
        print(json.dumps(as_results(new), indent=2, ensure_ascii=False))
    else:
        print(as_table(new))
        print("\n".join(["", *found] if found else ["", f"the marks are those of {options.record}"]))
    return int(bool(found))


def changes(old: Record, files: dict[str, str]) -> str:
    """Which files are not those of the record."""
    known = old.judgement.files
    names = [name for name in sorted({*known, *files}) if known.get(name) != files.get(name)]
    return first_of([printable(name, 60) for name in names], MOST_NAMES)


def differences(old: Record, new: Record) -> list[str]:
    """One line for each part whose state or score is another one."""
    before = {part.number: part for part in old.judgement.parts}
    lines = []
    for part in new.judgement.parts:
        was = before.get(part.number)
        if was is None:
            lines.append(f"{part.number} {part.title}: not in the record")
        elif (was.state, was.score) != (part.state, part.score):
            then, today = (
                f"{one.state}, {'no score' if one.score is None else f'{one.score:g} points'}" for one in (was, part)
            )
            lines.append(f"{part.number} {part.title}: {then} in the record; now {today}")
    return lines
