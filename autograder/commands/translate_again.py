"""`python -m autograder translate-again`: does a checkpoint give the translations that were handed in?"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment, read_assignment
from foundation.child_processes import usable_cores
from foundation.command_line import positive
from foundation.places import ROOT
from foundation.printable_text import printable
from foundation.whole_files import check_folder

from ..classroom.entries import take_class
from ..classroom.kept_answers import KeptAnswers
from ..classroom.records import hold
from ..classroom.staleness import contents_of
from ..grading.grader_version import grader_version
from ..grading.record import write_json
from ..grading.seeds import seeds_of_term
from ..intake import take_in
from ..sandbox.containment.layers import LEVELS
from ..sandbox.containment.zygote import Zygote, living
from .arguments import Commands, add_assignment, add_layout, add_references, add_release, check_mode

if TYPE_CHECKING:  # needs PyTorch
    from ..classroom.similarity.translating_again import CheckedClass

FILE, KEPT = "translated-again.json", "translated-again"
"""What was found of a class, and the folder in which it is kept for the next run."""
CHECKING = ("autograder/classroom/similarity",)
"""What the findings depend on besides the grader."""
LINES = 100
SHOWN = 10
IN_WORDS = {
    "differs": "come out otherwise, for a person to look at:",
    "not translated": "could not be translated, for a person to look at:",
    "agrees": "agree with their checkpoints",
    "nothing to check": "without a checkpoint, or without translations",
}


def add_command(commands: Commands) -> None:
    """The command and its flags."""
    parser = commands.add_parser(
        "translate-again",
        help="check translations against checkpoints, in the sandbox",
        description="Translate a random sample of the test sentences again, with a student's checkpoint and code, and "
        "compare with the submission's translations.txt. All of it runs in the sandbox. With --class, do so for every "
        "submission with a best.pt, and write translated-again.html and translated-again.json; stopped and started "
        "again, or after a few have handed in again, it translates only what is new. What differs is for a person to "
        "judge; no mark depends on it. The exit status is 1 if it does not agree (with --class: if any does not).",
        epilog="example: python -m autograder translate-again submissions --class --roster roster.csv --output marks",
    )
    parser.set_defaults(run=run)
    what = "folder, .zip, .tar.gz or notebook, with translations.txt; with --class a download"
    parser.add_argument("submission", type=Path, help=what)
    parser.add_argument("--class", action="store_true", dest="is_class", help="check every student of a class")
    add_layout(parser)
    parser.add_argument("--output", type=Path, help="with --class: where to write; default: marks")
    jobs = "with --class: how many submissions at a time; default: one per core"
    parser.add_argument("--jobs", type=positive, help=jobs)
    checkpoint = "of one submission: a file that `train` saved; default: best.pt in the submission"
    parser.add_argument("--checkpoint", type=Path, help=checkpoint)
    parser.add_argument("--lines", type=positive, default=LINES, help=f"size of the sample (default: {LINES})")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    add_references(parser)
    level = "level of containment (default: auto, the best that works)"
    parser.add_argument("--level", default="auto", choices=LEVELS, help=level)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    add_release(parser)
    add_assignment(parser)


def run(options: argparse.Namespace) -> int:
    """Translates again; the exit status."""
    check_mode(options, of_class=("roster", "layout", "jobs", "output"), of_one=("checkpoint",))
    if options.jobs is None:
        options.jobs = usable_cores()
    assignment = read_assignment(options.assignment)
    return run_class(options, assignment) if options.is_class else run_one(options, assignment)


def run_one(options: argparse.Namespace, assignment: Assignment) -> int:
    """Checks one submission; the exit status."""
    intake = take_in(options.submission, options.release, assignment)
    from ..classroom.similarity.translating_again import bytes_of, draw_sample, translate_again  # imports PyTorch

    sample = draw_sample(options.references, options.lines, options.seed)
    checkpoint = bytes_of(options.checkpoint) if options.checkpoint else None
    with Zygote(assignment, options.level) as zygote:
        found = translate_again(intake, checkpoint, sample, assignment, zygote)
    if options.json:
        print(json.dumps({**asdict(found), "agrees": found.agrees}, indent=2, ensure_ascii=False))
        return int(not found.agrees)
    if found.problem:
        print(f"not translated: {found.problem}")
        return 1
    n_equal = found.sampled - len(found.differing)
    more = "" if found.agrees else ": for a person to look at"
    print(f"{n_equal} of {found.sampled} sampled lines are the same{more}")
    for one in found.differing[:SHOWN]:
        print(f"  line {one.number}")
        print(f"    handed in: {printable(one.submitted, 200)}")
        print(f"    again:     {printable(one.again, 200)}")
    return int(not found.agrees)


def run_class(options: argparse.Namespace, assignment: Assignment) -> int:
    """Checks a class; the exit status."""
    output = options.output or Path("marks")
    check_folder(output)
    seeds, shows = seeds_of_term(ROOT), sys.stderr.isatty()
    roll, entries = take_class(options.submission, output, assignment, options.roster, options.layout)
    zygote = Zygote(assignment, options.level)  # before PyTorch is imported here
    try:
        from ..classroom.similarity.translating_again import (
            Checked,
            CheckedClass,
            Outcome,
            check_class,
            check_entry,
            draw_sample,
            unchecked,
        )
        from ..reports.pages.similar_pages import write_translated_page

        sample = draw_sample(options.references, options.lines, options.seed)
        version = grader_version(assignment, options.release, options.references, CHECKING)
        checked = CheckedClass(lines=options.lines, seed=options.seed, version=version)

        def renew() -> None:
            nonlocal zygote
            zygote = living(zygote, assignment, options.level)

        with hold(output / KEPT):  # not all of the output: a class may be graded meanwhile
            kept = KeptAnswers(output / KEPT, Checked, f"{checked.model_dump_json()} {options.level}", seeds)
            contents, unreadable = contents_of(entries, options.release, assignment, options.jobs, shows)
            found = kept.up_to_date(entries, contents)
            found |= {entry.key: unchecked(entry, Outcome.NOTHING, reason) for entry, reason in unreadable.items()}
            submissions = check_class(
                entries,
                roll.names(),
                found,
                kept,
                lambda entry: check_entry(entry, options.release, sample, assignment, zygote),
                renew,
                options.jobs,
                shows,
            )
    finally:
        zygote.close()
    checked = checked.changed(submissions=submissions)
    write_json(output / FILE, checked.model_dump(mode="json"))
    page = write_translated_page(checked, assignment, output)
    if options.json:
        print(json.dumps(checked.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        print("\n".join(as_text(checked)))
        print(f"\nlook at the lines side by side in a browser: {page}")
    return int(any(one.outcome.needs_a_look for one in checked.submissions))


def as_text(found: CheckedClass) -> list[str]:
    """What was found, for people."""
    from ..classroom.similarity.translating_again import Outcome

    lines = []
    for outcome in Outcome:
        some = [one for one in found.submissions if one.outcome is outcome]
        if some:
            lines.append(f"{len(some)} {IN_WORDS[outcome]}")
        if outcome.needs_a_look:
            lines += [
                f"  {one.name}: {one.reason or f'{one.same} of {one.sampled} lines are the same'}" for one in some
            ]
    return lines
