"""Grades one submission in Gradescope's container: `python -m autograder.reports.gradescope`.

    /autograder/source/                    this package, the skeleton, the hidden references, the secret
    /autograder/submission/                what the student handed in
    /autograder/submission_metadata.json   when, for which due date, after which earlier attempts
    /autograder/results/results.json       the results; written early, and again after every part

Random inputs follow from the secret and the submission's content: the same files always earn the same marks, and
what one attempt has seen of its inputs is worth nothing in the next.
"""

import argparse
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from foundation.assignment_file import read_assignment
from foundation.command_line import INTERRUPTED, Parser, print_anywhere
from foundation.places import ROOT, TEST_REFERENCES

from ...grading.grader_version import grader_version
from ...grading.launcher import open_grader
from ...grading.record import Record, write_json
from ...grading.recording import Recorder
from ...grading.seeds import seeds_of_term
from ...grading.submission import events_of, refusal
from ...intake import IntakeRefusedError, take_in
from .metadata import MetadataError, read_metadata
from .results import failure, in_full


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 once the submission has its marks; 1 where it has none, be it damaged or the grader's fault."""
    print_anywhere()
    options = make_parser().parse_args(arguments)
    target = options.root / "results" / "results.json"
    try:
        results = grade_here(options.root, options.level, target)
    except KeyboardInterrupt:
        print("gradescope: stopped", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:  # whatever it is, it is our fault, and must not count as a zero
        traceback.print_exc()
        write_json(target, failure(f"{type(error).__name__}: {error}"))
        return 1
    write_json(target, results)
    return 0 if "score" in results else 1


def make_parser() -> argparse.ArgumentParser:
    """The flags."""
    parser = Parser(
        prog="python -m autograder.reports.gradescope",
        description="Grade the submission in a folder laid out like Gradescope's /autograder.",
        epilog="example: python -m autograder.reports.gradescope --root /autograder",
    )
    parser.add_argument("--root", type=Path, default=Path("/autograder"), help="default: /autograder")
    parser.add_argument("--level", default="auto", help="level of containment (default: auto, the best that works)")
    return parser


def grade_here(root: Path, level: str, target: Path) -> dict[str, Any]:
    """The results of `root/submission`; intermediate ones are written to `target`."""
    assignment = read_assignment()
    limits = assignment.limits
    limits = replace(limits, memory_mb=min(limits.memory_mb, limits.gradescope_memory_mb))
    assignment = replace(assignment, limits=limits)
    skeleton = ROOT / assignment.package
    metadata, notes = None, []
    try:
        metadata = read_metadata(root / "submission_metadata.json")
    except MetadataError as error:
        notes.append(f"late days and earlier attempts are unknown: {error}")

    def store(record: Record) -> None:
        write_json(target, in_full(record, metadata, notes))

    recorder = Recorder("submission", assignment, grader_version(assignment, skeleton, TEST_REFERENCES))
    try:
        intake = take_in(root / "submission", skeleton, assignment)
    except IntakeRefusedError as error:
        record = recorder.add_all(refusal(error), store)
    else:
        with open_grader(assignment, TEST_REFERENCES, level) as grader:
            record = recorder.add_all(events_of(intake, seeds_of_term(ROOT), grader), store)
    return in_full(record, metadata, notes)


if __name__ == "__main__":
    sys.exit(main())
